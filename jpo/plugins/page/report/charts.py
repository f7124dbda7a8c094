"""Pictures: what was saved over time, and of a workload its runs, forecasts against what came, and the measured trade-off."""

from __future__ import annotations

from jpo.plugins.page.report.record import Review, ReviewedSuggestion, WorkloadReview
from jpo.report.document import Marks, Plot
from jpo.report.history import PastRun
from jpo.wording import names, numbers

Places = tuple[tuple[float, float], ...]
LARGEST = 1e15
"""Whatever is larger is no measurement, and would push all others to the edge."""


def saved_over_time(review: Review) -> Plot:
    """The time that all workloads together have saved by each run's end; it ends where the total is."""
    ended = sorted(saved for workload in review.workloads for saved in workload.saved_by_run)
    points, total = list[tuple[float, float]](), 0.0
    for at, seconds in ended:
        total += seconds
        points.append((at, total))
    if not points:
        return Plot("", "", "", "", ())
    began = min(workload.since for workload in review.workloads if workload.since is not None)
    description = (
        f"{numbers.counted(len(points), 'run')} since JPO's first change; what they saved adds up to {numbers.duration(total)}."
    )
    marks = (Marks("all jobs together", ((began, 0.0), *points)),)
    return Plot("Time saved so far", description, "moment", "duration_seconds", marks, "ended (UTC)", "saved")


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
    return Plot("Measured trade-off", f"{best}.", x, y, marks, y_label=f"{names.heading(y)}{more}", front=stairs, key=key)
