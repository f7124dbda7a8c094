"""Rows of a prediction: configurations with what is expected of them, the word of the limits and of [sla], and what to know."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import constraints
from constraints import Facts, Limits
from jpo.cost import check_sla, usd_per_hour
from jpo.cost.price import rented
from jpo.optimizer.candidates import admissible_of
from jpo.optimizer.expectations import Basis, cost, disagree, expectations
from jpo.optimizer.prediction import Expected, Row
from jpo.optimizer.request import Request
from jpo.optimizer.suggestion import gpu_memory_gib_now
from jpo.records import Note, Parameters, Run, same
from jpo.wording import numbers

DISAGREE = "history and trials disagree; what is narrower for today's values counts, or for a job with a target the history"
ONE_SHARE = (
    "trials on one share of the data cannot tell training from an evaluation that uses all of it; log a row before each "
    "evaluation, or add a trial on another share, e.g. 5% in addition to 20%"
)
HAS_TARGET = "the job stops at a target of its own: from trials, times are those of all epochs"


@dataclass(frozen=True, eq=False, slots=True)
class RowBasis:
    """All that rows are made of."""

    request: Request
    limits: Limits
    evidence: Basis
    runs: Sequence[Run]
    now: float
    """Unix seconds, for the age of prices."""


def rows_of(configurations: Sequence[Parameters], basis: RowBasis, *, spot: bool) -> list[Row]:
    """A row for each configuration; with `spot` two, on demand and on spot prices."""
    ways = (False, True) if spot else (None,)
    pairs = zip(configurations, expectations(configurations, basis.evidence), strict=True)
    return [_row(values, expected, basis, way) for values, expected in pairs for way in ways]


def further_rows(rows: Sequence[Row], basis: RowBasis, *, spot: bool) -> list[Row]:
    """All other configurations that the limits allow."""
    shown = [row.parameters for row in rows]
    allowed = admissible_of(basis.evidence.surrogate.candidates)
    return rows_of([values for values in allowed if values not in shown], basis, spot=spot)


def warnings(rows: Sequence[Row], basis: RowBasis) -> Iterator[Note]:
    """What must be known to read the figures."""
    trials = basis.evidence.trials
    if any(disagree([row.expected, *row.further]) for row in rows):
        yield Note("JPO-W821", DISAGREE)
    shares = {trial.fraction for trial in trials}
    if shares and len(shares) == 1 and shares != {1.0} and all(trial.evaluation is None for trial in trials):
        yield Note("JPO-W822", ONE_SHARE)
    if any(trial.has_target for trial in trials):
        yield Note("JPO-W823", HAS_TARGET)
    seen = [run.parameters for run in basis.runs if run.ended_well] + [trial.parameters for trial in trials]
    for name in dict.fromkeys(name for row in rows for name in row.parameters):
        values = {values[name] for values in seen if name in values}
        if len(values) == 1 and any(row.parameters[name] not in values for row in rows):
            what = f"{name} was {numbers.plain(values.pop())} whenever it ran"
            yield Note("JPO-W824", f"{what}: what another value does is known from simulated jobs alone")


def _row(values: Parameters, expected: Sequence[Expected], basis: RowBasis, spot: bool | None) -> Row:
    """One configuration with the word of the limits and of [sla]."""
    request, today = basis.request, basis.request.current
    prices = request.prices if spot is None else replace(request.prices, spot=spot)
    surrogate = basis.evidence.surrogate_of(values)
    if spot is not None:
        usd = [cost(each.forecast.duration_seconds, values, surrogate, prices) for each in expected]
        expected = [replace(e, forecast=replace(e.forecast, cost_usd=on)) for e, on in zip(expected, usd, strict=True)]
    facts = Facts(gpu_memory_gib_now=gpu_memory_gib_now(today, basis.runs), usd_per_hour_next=usd_per_hour(values, prices))
    return Row(
        parameters=values,
        differs={name: value for name, value in values.items() if value != today[name]},
        spot=spot,
        expected=expected[0],
        further=tuple(expected[1:]),
        runs=sum(run.ended_well and same(run.parameters, values) for run in basis.runs if run.parameters),
        why_not=tuple(violation.message for violation in constraints.check(today, values, basis.limits, facts).violations),
        sla=check_sla(request.wanted.targets, expected[0].forecast),
        failure=surrogate.failure_chance(surrogate.row(values)) if surrogate.runs else None,
        instance=rented(values, prices, now=basis.now),
    )
