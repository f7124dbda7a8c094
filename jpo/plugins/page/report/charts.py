"""Pictures: what was saved over time, and of a workload its runs, parameters and trade-off."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise

from jpo.plugins.page.configurations import Effect
from jpo.plugins.page.report.answer import SAVED
from jpo.plugins.page.report.record import Review, WorkloadReview
from jpo.records import Word, in_order
from jpo.report.before_after import changes
from jpo.report.document import Emphasis, Marks, Plot
from jpo.wording import names, numbers

Places = tuple[tuple[float, float], ...]
ENDED: Mapping[str, Emphasis] = {
    "followed no suggestion": "dim",
    "followed a suggestion": "",
    "stopped": "warning",
    "failed": "bad",
}
KINDS = {"return": "undone"}
"""Words for kinds of changes, where another one says more in a few letters."""
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
    return Plot(title, description, "moment", quantity, (Marks("", points, joined="steps"),), "ended (UTC)", label)


def parameters(workload: WorkloadReview) -> Iterator[Plot]:
    """The values of each parameter that changed, run by run, and what the newest of them did."""
    every = ((each.past.recorded.run, each.past.suggestion) for each in workload.runs)
    runs = [run.completed(made.values.suggested if made else {}) for run, made in every if abs(run.ended_at) < LARGEST]
    for name in in_order(name for run in runs for name in run.parameters):
        given = [(run.ended_at, run.parameters[name]) for run in runs if abs(run.parameters.get(name, LARGEST)) < LARGEST]
        different = len({value for _, value in given})
        if different > 1 and not any(isinstance(value, Word) for _, value in given):
            steps = [later for earlier, later in pairwise(given) if later[1] != earlier[1] or later is given[-1]]
            ran = numbers.counted(len(given), "run")
            said = f"{names.heading(name)}: {different} values in {ran}{effect_of(name, workload.front.effects)}."
            yield _steps(f"{names.heading(name)}, run by run", said, name, (given[0], *steps))


def effect_of(name: str, effects: Mapping[str, Effect]) -> str:
    """ "; 64 → 256: -47% (-52% to -42%) time, 19 and 12 runs"; empty where it was not measured."""
    if name not in effects:
        return ""
    old, new, found = effects[name]
    change = numbers.expected("change", found.change, bounds=True)
    return f"; {numbers.from_to(name, old, new)}: {change} time, {found.runs_before} and {found.runs_after} runs"


def over_time(workload: WorkloadReview) -> Plot:
    """The duration of each run where it ended, and when JPO changed the values."""
    found = defaultdict[str, list[tuple[float, float]]](list)
    for past in (reviewed.past for reviewed in workload.runs):
        run, kind = past.recorded.run, "followed a suggestion" if past.suggestion else "followed no suggestion"
        if not run.ended_well:
            kind = "stopped" if past.ending.startswith("stopped") else "failed"
        if (seconds := run.outcome.duration_seconds) is not None and max(seconds, abs(run.ended_at)) < LARGEST:
            found[kind].append((run.ended_at, seconds))
    changed = tuple(
        (made.suggestion.created_at, f"{KINDS.get(kind := made.suggestion.decision.kind, kind)}: {changes(made.suggestion)}")
        for made in workload.decisions
        if made.suggestion.changes and made.fate == "written"
    )
    shown = f"{numbers.counted(sum(map(len, found.values())), 'run')} by their end and duration"
    lines = f"; JPO wrote other values {numbers.times(len(changed))}" if changed else ""
    key = "A dashed line marks each of these times: its label says what changed; point at one without." if changed else ""
    marks = tuple(Marks(name, tuple(found[name]), emphasis, hollow=name == "stopped") for name, emphasis in ENDED.items())
    axes = ("moment", "duration_seconds")
    return Plot("Runs over time", f"{shown}{lines}.", *axes, marks, "ended (UTC)", moments=changed, key=key)


def trade_off(workload: WorkloadReview) -> Plot:
    """The medians of each configuration, and those that nothing beats."""
    front = workload.front
    x, y = front.quantities[0], front.quantities[-1]
    measured = [(point, (point.values[x], point.values[y])) for point in front.points]
    known = [(point, (a, b)) for point, (a, b) in measured if a is not None and b is not None and max(abs(a), abs(b)) < LARGEST]
    corners, others = (tuple(place for point, place in known if point.on_front is best) for best in (True, False))
    today = tuple(place for point, place in known if point.parameters == workload.today)
    if not corners:
        return Plot("", "", "", "", ())
    more = " (more is better)" if front.maximised else ""
    named = f"{names.heading(x)} and {names.heading(y)}"
    best = f"{len(corners)} of {numbers.counted(len(known), 'configuration')} not beaten by another one in {named}"
    key = "A ring: the values of the newest suggestion." if today else ""
    marks = (
        Marks("newest suggestion", today, "warning", hollow=True),
        Marks("beaten by another one", others, "dim"),
        Marks("on the front", corners, joined="" if front.maximised else "steps"),
    )
    return Plot("Measured trade-off", f"{best}.", x, y, marks, y_label=f"{names.heading(y)}{more}", key=key)
