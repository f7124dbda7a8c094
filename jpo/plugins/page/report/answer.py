"""The answer first: what JPO brought, in a sentence, and where it cost more than it brought, with the reason."""

from jpo.plugins.page.report.record import Review, ReviewedSuggestion, WorkloadReview
from jpo.plugins.page.savings import ALWAYS
from jpo.records import same
from jpo.report.before_after import changes
from jpo.report.document import Inline, Span
from jpo.wording import numbers

SAVED = {
    "duration_seconds": "Time saved",
    "cost_usd": "Money saved",
    "energy_joules": "Energy saved",
    "co2_kg": "CO2 saved",
}
NO_CHANGE = "JPO changed nothing yet"
UNKNOWN = " What that saved is unknown: too few runs before the first change, or none after it."
MOST_LOSSES = 3
"""That are named."""


def answer(review: Review) -> Inline:
    """What JPO brought: "4 of 5 jobs tuned. Time saved: 20h (0s to 48h). 1 of them takes more than before: ..."."""
    tuned = [one for one in review.workloads if one.since is not None]
    if not tuned:
        return f"{NO_CHANGE}."
    saved = [
        f" {SAVED[name]}: {numbers.expected(name, sum_, bounds=True, currency=review.currency)}."
        for name, sum_ in review.saved.items()
        if sum_
    ]
    losing = sorted(filter(lost, tuned), key=lambda one: one.saved[0].saved.mean if one.saved[0].saved else 0.0)
    of = f"{len(tuned)} of " if len(tuned) < len(review.workloads) else ""
    said = f"{of}{numbers.counted(len(review.workloads), 'job')} tuned.{''.join(saved) or UNKNOWN}"
    if not losing:
        return said
    which = "; ".join(f"{one.identity} ({why_lost(one)})" for one in losing[:MOST_LOSSES])
    more = f", and {len(losing) - MOST_LOSSES} more" if losing[MOST_LOSSES:] else ""
    who = "It takes" if len(tuned) == 1 else f"{len(losing)} of them {'takes' if len(losing) == 1 else 'take'}"
    return (f"{said} ", Span(f"{who} more than before: {which}{more}.", "bad"))


def lost(workload: WorkloadReview) -> bool:
    """Whether the runs since JPO's first change took more time or money than as many models before, by more than chance."""
    return any(one.quantity in ALWAYS and one.saved is not None and one.saved.high < 0 for one in workload.saved)


def why_lost(workload: WorkloadReview) -> str:
    """The change whose values took most, in all runs that had them, and what to do; or that runs stopped from outside are why."""
    since = [one.past for one in workload.runs if one.past.recorded.run.ended_at >= (workload.since or 0.0)]
    stopped = [past.recorded.run.outcome.duration_seconds or 0.0 for past in since if past.ending == "stopped"]
    if (lost_seconds := workload.saved[0].saved) and 0 < -lost_seconds.mean <= sum(stopped):
        said = f"{numbers.counted(len(stopped), 'run')} stopped from outside took {numbers.duration(sum(stopped))}"
        return f"{said} and brought no model; all others together took less than before"
    took = list[tuple[float, ReviewedSuggestion]]()
    for each in workload.decisions:
        more = each.spent.before if each.spent else 0.0
        if each.suggestion.changes or not took:
            took.append((more, each))
        else:
            took[-1] = took[-1][0] + more, took[-1][1]
    seconds, worst = max(took, key=lambda pair: pair[0])
    made, undo = worst.suggestion, what_to_do(workload, worst)
    if seconds <= 0:
        return undo
    if worst.runs and worst.actual.median is None:
        undo = f"no model came of it, `jpo explain {made.suggestion_id}` says why"
    return f"{numbers.duration(seconds)} of it by {made.decision.kind} {changes(made)}; {undo}"


def what_to_do(workload: WorkloadReview, worst: ReviewedSuggestion) -> str:
    """Put the first values back, unless they are in force again, or those that took most are no longer."""
    changed = (made.suggestion for made in workload.decisions if made.suggestion.changes and made.fate in ("written", "unknown"))
    first = next(changed, worst.suggestion)
    if same(first.values.current, workload.today):
        return "the values from before are in force again"
    if not same(worst.suggestion.values.suggested, workload.today):
        return "its values are no longer in force"
    return f"`jpo rollback {first.suggestion_id}` puts the values from before back"
