"""Pictures: what was saved over time, and of a workload its runs, parameters, forecasts against what came, and trade-off."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from jpo.plugins.page.configurations import Effect
from jpo.plugins.page.report.answer import SAVED
from jpo.plugins.page.report.record import Review, ReviewedSuggestion, WorkloadReview
from jpo.records import Word, in_order
from jpo.report.document import Marks, Plot
from jpo.report.history import PastRun
from jpo.wording import names, numbers

Places = tuple[tuple[float, float], ...]
LARGEST = 1e15
"""Whatever is larger is no measurement, and would push all others to the edge."""


def saved_over_time(review: Review, quantity: str) -> Plot:
    """What all workloads together have saved by each run's end; it ends where the total is."""
    ended = sorted(saved for workload in review.workloads for saved in workload.saved_by_run.get(quantity, ()))
    if not ended:
        return Plot("", "", "", "", ())
    totals = accumulate(saved for _, saved in ended)
    points = tuple(zip([at for at, _ in ended], totals, strict=True))
    began = min(workload.since for workload in review.workloads if workload.since is not None)
    total = numbers.written(quantity, points[-1][1], review.currency)
    description = f"{numbers.counted(len(points), 'run')} since JPO's first change; what they saved adds up to {total}."
    return _steps(f"{SAVED[quantity]} so far", description, quantity, ((began, 0.0), *points), "saved")


def _steps(title: str, description: str, quantity: str, points: Places, label: str = "") -> Plot:
    """A value that holds until the next run."""
    return Plot(title, description, "moment", quantity, (Marks("", points),), "ended (UTC)", label, stairs=points)


def parameters(workload: WorkloadReview) -> Iterator[Plot]:
    """The values of each parameter that changed, run by run, and what the newest of them did."""
    given = [
        (
            one.past.recorded.run.ended_at,
            {**(one.past.suggestion.values.suggested if one.past.suggestion else {}), **run.parameters},
        )
        for one in workload.runs
        if abs((run := one.past.recorded.run).ended_at) < LARGEST
    ]
    for name in in_order(name for _, values in given for name in values):
        points = tuple((at, values[name]) for at, values in given if name in values and not isinstance(values[name], Word))
        different = len({value for _, value in points})
        if different < 2:
            continue
        holds = [places[0] for places in zip(points[1:-1], points, strict=False) if places[0][1] != places[1][1]]
        effect = workload.front.effects.get(name)
        said = f"{different} values in {numbers.counted(len(points), 'run')}{effect_of(name, effect) if effect else ''}."
        yield _steps(f"{names.heading(name)}, run by run", said, name, (points[0], *holds, points[-1]))


def effect_of(name: str, effect: Effect) -> str:
    """ "; 64 → 256: -47% time (-52% to -42%), 19 and 12 runs"."""
    old, new, found = effect
    change = numbers.expected("change", found.change, bounds=True)
    return f"; {numbers.from_to(name, old, new)}: {change} time, {found.runs_before} and {found.runs_after} runs"


def over_time(workload: WorkloadReview) -> Plot:
    """The duration of each run where it ended, and when JPO changed the values."""
    past = [reviewed.past for reviewed in workload.runs]
    before, after = (
        places([one for one in past if one.recorded.run.ended_well and (one.suggestion is not None) is followed])
        for followed in (False, True)
    )
    stopped, failed = (
        places([one for one in past if not one.recorded.run.ended_well and one.ending.startswith("stopped") is ended])
        for ended in (True, False)
    )
    changed = tuple(
        (made.suggestion.created_at, _change(made))
        for made in workload.decisions
        if made.suggestion.changes and made.fate == "written"
    )
    shown = f"{numbers.counted(len((*before, *after, *stopped, *failed)), 'run')} by their end and duration"
    lines = f"; JPO wrote other values {numbers.times(len(changed))}" if changed else ""
    key = "A dashed line stands at each of these times: point at it for what changed." if changed else ""
    marks = (
        Marks("followed no suggestion", before, "dim"),
        Marks("followed a suggestion", after),
        Marks("stopped", stopped, "warning", hollow=True),
        Marks("failed", failed, "bad"),
    )
    return Plot(
        "Runs over time", f"{shown}{lines}.", "moment", "duration_seconds", marks, "ended (UTC)", moments=changed, key=key
    )


def _change(made: ReviewedSuggestion) -> str:
    """ "trial: batch 64 → 128"."""
    changes = (f"{names.short(change.parameter)} {change.old_text} → {change.new_text}" for change in made.suggestion.changes)
    return f"{made.suggestion.decision.kind}: {', '.join(changes)}"


def places(past: list[PastRun]) -> Places:
    pairs = [(one.recorded.run.ended_at, one.recorded.run.outcome.duration_seconds) for one in past]
    return tuple((at, seconds) for at, seconds in pairs if seconds is not None and seconds < LARGEST and abs(at) < LARGEST)


def against_forecast(workload: WorkloadReview) -> Plot:
    """The duration that a suggestion expected, and that of each run which followed it and ended well."""
    found: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for reviewed in workload.runs:
        past = reviewed.past
        expected = past.suggestion and past.suggestion.next.duration_seconds
        seconds = past.recorded.run.outcome.duration_seconds
        if past.compared and expected and seconds and max(expected.mean, seconds) < LARGEST:
            found[past.compared.inside].append((expected.mean, seconds))
    inside, outside = tuple(found[True]), tuple(found[False])
    counted = numbers.counted(len((*inside, *outside)), "run")
    description = f"Of {counted}, {len(inside)} inside the 90% interval of the forecast."
    key = "On the dashed line it was right."
    marks = (Marks("inside the interval", inside, "good"), Marks("outside", outside, "bad"))
    axes = ("duration_seconds", "duration_seconds")
    return Plot("Duration against its forecast", description, *axes, marks, "forecast", "actual", diagonal=True, key=key)


def trade_off(workload: WorkloadReview) -> Plot:
    """The medians of each configuration, and those that nothing beats."""
    front = workload.front
    x, y = front.quantities[0], front.quantities[-1]
    measured = [(point, point.values[x], point.values[y]) for point in front.points]
    places = [
        (point, (a, b)) for point, a, b in measured if a is not None and b is not None and abs(a) < LARGEST and abs(b) < LARGEST
    ]
    corners = tuple(place for point, place in places if point.on_front)
    others = tuple(place for point, place in places if not point.on_front)
    today = tuple(place for point, place in places if point.parameters == workload.today)
    if not corners:
        return Plot("", "", "", "", ())
    more = " (more is better)" if front.maximised else ""
    named = f"{names.heading(x)} and {names.heading(y)}"
    tried = numbers.counted(len((*corners, *others)), "configuration")
    best = f"{len(corners)} of {tried} not beaten by another one in {named}"
    key = "A ring: the values of the newest suggestion." if today else ""
    marks = (
        Marks("newest suggestion", today, "warning", hollow=True),
        Marks("beaten by another one", others, "dim"),
        Marks("on the front", corners),
    )
    stairs = () if front.maximised else corners
    return Plot("Measured trade-off", f"{best}.", x, y, marks, y_label=f"{names.heading(y)}{more}", stairs=stairs, key=key)
