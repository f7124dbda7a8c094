"""Trade-off of configurations on some axes: what runs have measured, what else is predicted, and which of them are worth it.

Facts and predictions stay apart: a configuration that was measured counts as measured, whatever is predicted of it.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from jpo.agent.safety.recovery import LIKELY_TO_FAIL
from jpo.cost import check_sla, comparison, outcome_of
from jpo.errors import UsageError
from jpo.forecast.measurements import runs_at_candidates
from jpo.forecast.pareto import hypervolume, non_dominated, reference_beyond, spread
from jpo.optimizer.pareto.choices import AgentChoices
from jpo.optimizer.pareto.front import Front, Point, Unshown, Volumes, maximised
from jpo.optimizer.request import Request
from jpo.optimizer.surrogate import Surrogate
from jpo.records import Floats, Forecast, Identity, Interval, Known, Note, Quality, Run
from jpo.wording.numbers import money

OBJECTIVES = {
    "time": "duration_seconds",
    "cost": "cost_usd",
    "loss": "val_loss",
    "efficiency": "gpu_utilisation",
    "accuracy": "val_accuracy",
}
"""Name on the command line -> quantity; efficiency is that of the CPUs where no run has measured GPUs."""
MOST_PREDICTED = 12
"""Rows that people read; the front goes on between them."""

Points = Mapping[int, Point]
"""Row of the candidates -> its point."""
Targets = Mapping[str, float]


@dataclass(frozen=True, eq=False, slots=True)
class Tradeoff:
    """Trade-off: everything known and predicted of a workload on some axes.

    Attributes:
        axes: objective -> quantity.
        facts: configurations which runs that ended well have measured, by medians.
        guesses: configurations that could be run and were not measured, with their forecasts.
        left_out: why runs and configurations are neither -> how many.
        metric: the user's own, which may be an axis.
    """

    surrogate: Surrogate
    axes: Mapping[str, str]
    targets: Targets
    facts: Points
    guesses: Points
    left_out: Mapping[Unshown, int]
    metric: Quality | None = None


def axes_of(
    asked: Sequence[str] | None, surrogate: Surrogate, metric: Quality | None = None
) -> tuple[dict[str, str], str | None]:
    """Axes of a trade-off: objective -> quantity, and what must be said where it is not what one would expect.

    Args:
        asked: names of OBJECTIVES, or of the metric; None: time and cost, or where no cost is known time and what else is.
        metric: the user's own.

    Raises UsageError: JPO-E833, the cost was asked for and is not known of any run.
    """
    well = [run for run in surrogate.runs if run.ended_well]
    of_gpus = any(run.outcome.gpu_utilisation is not None for run in well)
    quantities = {**OBJECTIVES, "efficiency": "gpu_utilisation" if of_gpus else "cpu_utilisation"}
    if metric is not None:
        quantities[metric.name] = metric.name
    measurable = {name for name, of in quantities.items() if any(value_of(run, of, surrogate) is not None for run in well)}
    if not well or "cost" in measurable or (asked and "cost" not in asked):
        return {name: quantities[name] for name in asked or ("time", "cost")}, None
    if asked:
        remedy = "name prices in [prices], or leave cost out, e.g. --objectives time,loss"
        raise UsageError("--objectives", "what the runs cost is not known", remedy, code="JPO-E833")
    qualities = ("loss", "accuracy", *([metric.name] if metric else []))
    of_model = next((name for name in qualities if name in measurable), "loss")
    instead = ("time", "efficiency" if "efficiency" in measurable else of_model)
    note = f"the cost is unknown, so this is a front of {' and '.join(instead)}; one of time and cost needs [prices]"
    return {name: quantities[name] for name in instead}, note


def value_of(run: Run, quantity: str, surrogate: Surrogate) -> float | None:
    """Value that a run measured; None where it did not. What it does not report of its parameters had today's value."""
    today = surrogate.candidates.parameters(surrogate.candidates.current)
    return outcome_of(run.completed(today), quantity, surrogate.prices)


def front_of(
    identity: Identity,
    choices: AgentChoices,
    request: Request,
    known: Known,
    axes: Mapping[str, str],
    limits: Mapping[str, float],
    note: str | None = None,
) -> Front:
    """Front of a workload; `axes`, `note`: of `axes_of`; `limits`: of `volumes`."""
    tradeoff = trade_off(choices.surrogate, axes, request.wanted.targets, request.wanted.metric)
    points, hidden = on_show(tradeoff, choices.marks, choices.preferred, request.wanted.usd_per_saved_hour)
    notes = [Note("JPO-I831", note)] if note else []
    if request.wanted.usd_per_saved_hour is not None and any(point.trade for point in points):
        worth = money(request.wanted.usd_per_saved_hour, request.currency)
        held = "" if request.boldness.explore == "on" else "; what is not acceptable is not suggested"
        against = f"acceptable is judged against today's values: an hour is worth {worth} to you{held}"
        notes.append(Note("JPO-I634", against))
    if not tradeoff.facts:
        finding = f"no run that ended well is on record with {' and '.join(axes)}; there is no front yet"
        notes.append(Note("JPO-I832", finding))
    if choices.suggested is None:
        notes.append(Note("JPO-I833", "nothing is admissible now"))
    return Front(
        workload=identity,
        objectives=axes,
        points=points,
        today=request.current,
        suggested=choices.suggested_parameters,
        because=choices.because,
        preferences=choices.preferred_parameters,
        volumes=volumes(tradeoff, limits),
        left_out={**tradeoff.left_out, **({Unshown("crowded"): hidden} if hidden else {})},
        evidence=known.evidence.noting(notes),
        currency=request.currency,
        metric=request.wanted.metric,
    )


def trade_off(surrogate: Surrogate, axes: Mapping[str, str], targets: Targets, metric: Quality | None = None) -> Tradeoff:
    """Trade-off on these axes: facts and guesses. `targets`: those of [sla]; `metric`: the user's own."""
    left_out = Counter[Unshown]()
    facts = measured(surrogate, axes, targets, left_out)
    guesses = predicted(surrogate, axes, targets, facts, left_out)
    return Tradeoff(surrogate, axes, targets, facts, guesses, left_out, metric)


def measured(surrogate: Surrogate, axes: Mapping[str, str], targets: Targets, left_out: Counter[Unshown]) -> Points:
    """Medians of the runs that ended well and measured everything, per configuration."""
    values_by_row: dict[int, list[dict[str, float]]] = {}
    for at in runs_at_candidates(surrogate.candidates, surrogate.runs):
        measures = {quantity: value_of(at.run, quantity, surrogate) for quantity in axes.values()}
        values = {quantity: value for quantity, value in measures.items() if value is not None}
        if not at.run.ended_well:
            left_out[Unshown("failed")] += 1
        elif len(values) < len(axes):
            left_out[Unshown("unmeasured", tuple(name for name in measures if name not in values))] += 1
        else:
            values_by_row.setdefault(at.row, []).append(values)
    points = {}
    for row, runs in values_by_row.items():
        medians = {quantity: median(values[quantity] for values in runs) for quantity in axes.values()}
        certain = Forecast().having({quantity: Interval(value, value, value) for quantity, value in medians.items()})
        failure, breaks = surrogate.failure_chance(row), broken(certain, targets)
        points[row] = Point(surrogate.candidates.parameters(row), len(runs), medians, failure=failure, breaks=breaks)
    return points


def predicted(
    surrogate: Surrogate, axes: Mapping[str, str], targets: Targets, facts: Points, left_out: Counter[Unshown]
) -> Points:
    """Forecasts of what could be run and was not measured."""
    points: dict[int, Point] = {}
    if surrogate.belief.duration_seconds is None:
        return points
    for row in map(int, np.flatnonzero(surrogate.candidates.admissible)):
        if row in facts:
            continue
        point = forecast(surrogate, row, axes, targets)
        if len(point.values) < len(axes):
            left_out[Unshown("unforecast")] += 1
        elif surrogate.belief.p_fail[row] > LIKELY_TO_FAIL:
            left_out[Unshown("risky")] += 1
        else:
            points[row] = point
    return points


def forecast(surrogate: Surrogate, row: int, axes: Mapping[str, str], targets: Targets) -> Point:
    """Point that is expected of a configuration; without a value where nothing supports one."""
    expected = surrogate.forecast(row)
    bounds = {quantity: interval for quantity in axes.values() if (interval := expected.of(quantity)) is not None}
    means = {quantity: interval.mean for quantity, interval in bounds.items()}
    failure, breaks = surrogate.failure_chance(row), broken(expected, targets)
    return Point(surrogate.candidates.parameters(row), 0, means, bounds, failure=failure, breaks=breaks)


def broken(expected: Forecast, targets: Targets) -> tuple[str, ...]:
    """SLA targets that are not kept in expectation."""
    return tuple(check.name for check in check_sla(targets, expected) if check.verdict == "broken")


def on_show(
    of: Tradeoff, marks: Mapping[int, Sequence[str]], preferred: Mapping[str, int], usd_per_saved_hour: float | None = None
) -> tuple[tuple[Point, ...], int]:
    """Points to show: all measured, the predicted on the front, and what is marked; and how many on the front that leaves out.

    `marks`, `preferred`: of `AgentChoices`; `usd_per_saved_hour`: what an hour less is worth; None = not said.
    """
    today = of.surrogate.forecast(of.surrogate.candidates.current)
    every = {**of.facts, **of.guesses}
    non_dominated_rows = dict(zip(of.facts, non_dominated(coordinates(of.facts.values(), of)), strict=True))
    expected = dict(zip(every, non_dominated(coordinates(every.values(), of)), strict=True))
    best = [row for row in of.guesses if expected[row]]
    listed = [best[at] for at in spread(coordinates((of.guesses[row] for row in best), of), MOST_PREDICTED)]
    rows = dict.fromkeys((*of.facts, *listed, *marks, *preferred.values()))
    points = [
        replace(
            every.get(row) or forecast(of.surrogate, row, of.axes, of.targets),
            on_front=bool(non_dominated_rows.get(row, False)),
            on_expected_front=bool(expected.get(row, False)),
            marks=tuple(marks.get(row, ())),
            preferred=tuple(name for name, its in preferred.items() if its == row),
            trade=comparison.trade_off(today, of.surrogate.forecast(row), usd_per_saved_hour),
        )
        for row in rows
    ]
    first = next(iter(of.axes.values()))
    points.sort(key=lambda point: (not point.runs, point.values.get(first, math.inf)))
    return tuple(points), len(set(best) - set(rows))


def volumes(of: Tradeoff, limits: Mapping[str, float]) -> Volumes | None:
    """Hypervolume of the facts, and with the guesses; None where nothing says up to where.

    `limits`: what the user wants of the reference point, by quantity; a tenth beyond the worst fact elsewhere.
    """
    facts, quantities = coordinates(of.facts.values(), of), tuple(of.axes.values())
    usual = dict(zip(quantities, reference_beyond(facts), strict=True)) if of.facts else {}
    end = {**usual, **{quantity: sign(quantity, of.metric) * value for quantity, value in limits.items()}}
    if len(end) < len(quantities):
        return None
    reference = [float(end[quantity]) for quantity in quantities]
    measured_volume = hypervolume(facts, reference)
    guesses = (coordinates(of.guesses.values(), of, unlucky=unlucky) for unlucky in (False, True))
    expected, unlucky = (beyond(measured_volume, hypervolume(np.vstack([facts, more]), reference)) for more in guesses)
    shown = {quantity: sign(quantity, of.metric) * value for quantity, value in zip(quantities, reference, strict=True)}
    return Volumes(shown, measured_volume, expected, unlucky)


def beyond(measured_volume: float, volume: float) -> float:
    """Volume with further points, which is that of the measured ones where they only change its rounding."""
    return measured_volume if math.isclose(measured_volume, volume, rel_tol=1e-9) else volume


def coordinates(points: Iterable[Point], of: Tradeoff, *, unlucky: bool = False) -> Floats:
    """Coordinates of points, shape (n, m), smaller is better; `unlucky`: guesses at the worse ends of their intervals."""
    signs = {quantity: sign(quantity, of.metric) for quantity in of.axes.values()}

    def value(point: Point, quantity: str) -> float:
        interval = point.bounds.get(quantity) if unlucky else None
        if interval is None:
            return point.values[quantity]
        return interval.low if signs[quantity] < 0 else interval.high

    rows = [[sign * value(point, quantity) for quantity, sign in signs.items()] for point in points]
    return np.array(rows, dtype=np.float64).reshape(-1, len(signs))


def sign(quantity: str, metric: Quality | None) -> float:
    """Factor that makes smaller better."""
    return -1.0 if maximised(quantity, metric) else 1.0
