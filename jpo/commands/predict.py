"""`jpo predict`: what runs would take, cost and use with today's values and with others, and what that rests on.

The store and CSV logs are read, no server is asked, and nothing is written. Answers to "cheapest in time" and "fastest within the
budget" come from the rows of --vary, else from all that the limits allow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import constraints
from constraints import Facts, Limits
from jpo.cost import CostComparison, Prices, check_sla, compare, usd_of_text, usd_per_hour
from jpo.errors import UsageError
from jpo.forecast.trials import Trial
from jpo.history.undo import pin_notes
from jpo.optimizer.expectations import Basis, cost, disagree, expectations
from jpo.optimizer.prediction import Answer, Expected, Option, Prediction, Row
from jpo.optimizer.question import Question, asked_for, can_be_scaled
from jpo.optimizer.request import Request
from jpo.optimizer.suggestion import gpu_memory_gib_now
from jpo.optimizer.surrogate import Surrogate, surrogate_of, with_configuration
from jpo.optimizer.what_if import Bounds, mean_of
from jpo.project.collect import collect
from jpo.project.load import LoadedSettings
from jpo.project.project import open_project
from jpo.project.request import request_of
from jpo.project.trial_logs import read_trials
from jpo.records import Parameters, Run, Workload, same
from jpo.report import prediction_json, prediction_text

MOST_OPTIONS = 3
DISAGREE = "history and trials disagree; what is narrower for today's values counts, or for a job with a target the history"
ONE_SHARE = (
    "trials on one share of the data cannot tell training from an evaluation that uses all of it; log a row before each "
    "evaluation, or add a trial on another share, e.g. 5% beside 20%"
)
HAS_TARGET = "the job stops at a target of its own: from trials, times are those of all epochs"


@dataclass(frozen=True, eq=False, slots=True)
class Scene:
    """All that rows are made of."""

    workload: Workload
    limits: Limits
    request: Request
    basis: Basis
    runs: Sequence[Run]


def predict(path: Path, settings: LoadedSettings, question: Question, *, seed: int, now: float) -> Prediction:
    """Read, look ahead, tabulate, answer.

    Raises:
        UsageError: JPO-E823, values that cannot be, too many rows; JPO-E824, a budget where no price is known.
    """
    with open_project(path, settings, now=now, read_only=True) as job:
        workload, currency = job.workload, job.currency
        budget = None if question.max_cost is None else usd_of_text(question.max_cost, currency, option="--max-cost")
        trials = read_trials(question.trials, workload.identity, question.fraction, now=now)
        if trials:
            can_be_scaled(workload)
        known = collect(job)
    runs = [run for run in known.runs if run.run_id not in {one.run_id for one in trials}]  # a log of a trial may lie among them
    request = request_of(job, runs)
    asked = asked_for(question, workload, request)
    surrogate = surrogate_of(request, runs, seed=seed, others=known.others)
    beside = {tuple(values.values()): with_configuration(surrogate, values, seed=seed, others=known.others) for values in asked}
    basis = Basis(workload.identity, surrogate, trials, known.others, job.settings.values.prices.gpu_type, seed, beside)
    scene = Scene(workload, job.limits, request, basis, runs)
    rows = table(asked, scene, spot=question.spot)
    answer = None
    if question.deadline_seconds is not None or budget is not None:
        rows, answer = answered(rows, question, Bounds(question.deadline_seconds, budget, currency), scene)
    more = warnings(rows, trials) | never_varied(rows, runs, trials) | dict.fromkeys(pin_notes(workload), "JPO-I846")
    notes, codes = (*known.evidence.notes, *more), tuple(dict.fromkeys((*known.codes, *more.values())))
    return Prediction(path, workload.identity, len(runs), tuple(rows), notes, codes, answer, currency)


def warnings(rows: Sequence[Row], trials: Sequence[Trial]) -> dict[str, str]:
    """What must be known to read the figures: sentence -> reason code."""
    told = {}
    if any(disagree([row.expected, *row.beside]) for row in rows):
        told[DISAGREE] = "JPO-W821"
    shares = {one.fraction for one in trials}
    if shares and len(shares) == 1 and shares != {1.0} and all(one.evaluation is None for one in trials):
        told[ONE_SHARE] = "JPO-W822"
    if any(one.has_target for one in trials):
        told[HAS_TARGET] = "JPO-W823"
    return told


def never_varied(rows: Sequence[Row], runs: Sequence[Run], trials: Sequence[Trial]) -> dict[str, str]:
    """Parameters of which all evidence has one value, and rows another: sentence -> reason code."""
    seen = [run.parameters for run in runs if run.ended_well] + [one.parameters for one in trials]
    told = {}
    for name in dict.fromkeys(name for row in rows for name in row.parameters):
        values = {values[name] for values in seen if name in values}
        if len(values) == 1 and any(row.parameters[name] not in values for row in rows):
            what = f"{name} was {values.pop():g} whenever it ran"
            told[f"{what}: what another value does is known from simulated jobs alone"] = "JPO-W824"
    return told


def rendered(prediction: Prediction, form: str, *, width: int, colour: bool) -> str:
    """The prediction as text or JSON."""
    if form == "json":
        return prediction_json.render(prediction)
    return prediction_text.render(prediction, width=width, colour=colour)


def table(asked: Sequence[Parameters], scene: Scene, *, spot: bool) -> list[Row]:
    """A row for each configuration; with `spot` two, on demand and on spot prices."""
    ways = (False, True) if spot else (None,)
    found = zip(asked, expectations(asked, scene.basis), strict=True)
    return [row_of(values, expected, scene, way) for values, expected in found for way in ways]


def row_of(values: Parameters, expected: Sequence[Expected], scene: Scene, spot: bool | None) -> Row:
    """One configuration with the word of the limits and of [sla]."""
    prices = scene.request.prices if spot is None else replace(scene.request.prices, spot=spot)
    if spot is not None:
        expected = [priced(one, values, scene.basis.surrogate_of(values), prices) for one in expected]
    memory = gpu_memory_gib_now(scene.workload.current, scene.runs)
    facts = Facts(gpu_memory_gib_now=memory, usd_per_hour_next=usd_per_hour(values, prices))
    today = scene.workload.current
    return Row(
        parameters=values,
        differs={name: value for name, value in values.items() if value != today[name]},
        spot=spot,
        expected=expected[0],
        beside=tuple(expected[1:]),
        runs=sum(run.ended_well and same(run.parameters, values) for run in scene.runs if run.parameters),
        why_not=tuple(one.message for one in constraints.check(today, values, scene.limits, facts).violations),
        sla=check_sla(scene.request.targets, expected[0].forecast),
    )


def priced(one: Expected, values: Parameters, surrogate: Surrogate, prices: Prices) -> Expected:
    """The same expectation on other prices."""
    return replace(one, forecast=replace(one.forecast, cost_usd=cost(one.forecast.duration_seconds, values, surrogate, prices)))


def answered(rows: list[Row], question: Question, bounds: Bounds, scene: Scene) -> tuple[list[Row], Answer]:
    """The answer, and the table with the rows that it names: among those of --vary, else all that have the values of --set.

    Raises:
        UsageError: JPO-E824, a budget where the cost of no row is known.
    """
    pool = rows if question.varied else [*rows, *further(rows, scene, spot=question.spot)]
    pool = [row for row in pool if same(row.parameters, question.chosen)]
    if bounds.usd is not None and all(row.expected.forecast.cost_usd is None for row in pool):
        finding, remedy = "what runs cost is unknown: no price is known, or no time", "name prices in [prices], or give --trials"
        raise UsageError("--max-cost", finding, remedy, code="JPO-E824")
    keeping = sorted((row for row in pool if row.allowed and bounds.kept(row)), key=bounds.order)
    nearest = min((row for row in pool if row.allowed), key=bounds.miss, default=min(pool, key=bounds.miss))
    best = keeping[0] if keeping else nearest
    timely = Bounds(bounds.seconds, None)
    faster = dearer(best, [row for row in pool if row.allowed and timely.kept(row)], scene.request.prices)
    shown = [*rows, *(row for row in (best, *(row for row, _ in faster)) if row not in rows)]
    supported = math.isfinite(bounds.miss(best)) or bool(keeping)
    return shown, Answer(
        deadline_seconds=bounds.seconds,
        max_cost_usd=bounds.usd,
        met=bool(keeping),
        row=shown.index(best) if supported else None,
        probability=bounds.probability(best) if supported else None,
        words=bounds.words(best, met=bool(keeping)),
        options=tuple(option_of(shown.index(row), comparison) for row, comparison in faster),
    )


def further(rows: Sequence[Row], scene: Scene, *, spot: bool) -> list[Row]:
    """All other configurations that the limits allow."""
    candidates, known = scene.basis.surrogate.candidates, [row.parameters for row in rows]
    allowed = [candidates.parameters(row) for row in range(len(candidates.values)) if candidates.admissible[row]]
    return table([values for values in allowed if values not in known], scene, spot=spot)


def dearer(best: Row, keeping: Sequence[Row], prices: Prices) -> list[tuple[Row, CostComparison]]:
    """What is faster than the answer and dearer, and faster than all that costs less."""
    found: list[tuple[Row, CostComparison]] = []
    fastest = mean_of(best, "duration_seconds")
    for row in sorted(keeping, key=lambda row: mean_of(row, "cost_usd")):
        if mean_of(row, "duration_seconds") < fastest:
            fastest = mean_of(row, "duration_seconds")
            found.append((row, side_by_side(best, row, prices)))
    return found[:MOST_OPTIONS]


def side_by_side(best: Row, row: Row, prices: Prices) -> CostComparison:
    """Two rows, each at the cost that its own prices (spot or not) make."""
    some, other = best.expected.forecast, row.expected.forecast
    times = {"before_duration": some.duration_seconds, "after_duration": other.duration_seconds}
    comparison = compare(best.parameters, row.parameters, prices, **times)
    return replace(comparison, cost_usd_before=some.cost_usd, cost_usd_after=other.cost_usd)


def option_of(index: int, comparison: CostComparison) -> Option:
    """An alternative for the table."""
    saved = comparison.seconds_saved
    assert saved is not None, "its time is known: it is faster"
    return Option(index, saved.mean, comparison.usd_more, comparison.usd_per_saved_hour)
