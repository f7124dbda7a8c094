"""Doubts about runs that are used all the same, though their source contradicts itself, and runs that are no evidence.

Each kind is said once: a thousand runs with one mistake are one sentence, with examples and a count.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from jpo.records import Note, Run, RunStatus, Skipped, advice
from jpo.telemetry.outcome import CONTRADICTORY, IMPOSSIBLE, NO_SECONDS, UNTIMELY, UNTOLD, MeasuredRun

SELF_CONTRADICTION = "JPO-W125"
"""Code of a run that is used though its log, or what else reports it, contradicts itself."""
CAUSES = {
    IMPOSSIBLE: "values that cannot be",
    CONTRADICTORY: "reports that contradict each other",
    UNTIMELY: "times that cannot be",
    NO_SECONDS: "times in another unit than seconds",
    UNTOLD: "nothing that could be learnt from",
}
"""By reason code: what runs of one kind have in common."""
MOST_EXAMPLES = 3
MORE_IS_SAID = frozenset(
    {("oom_killed", "failed")} | {(said, seen) for said in ("diverged", "stopped") for seen in ("failed", "succeeded")}
)
"""What a job says, and what its pod shows, where the job only says more."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A contradiction in one run: of which kind, in words with its place, and what is made of it where those do not say it."""

    kind: str
    finding: str
    remedy: str = ""


def ending_doubts(measured: MeasuredRun, run: Run) -> tuple[Doubt, ...]:
    """That a job says that it ended in another way than the cluster saw, or than its loss shows."""
    said, seen = next(iter(measured.statuses), None), measured.seen_to_end
    if said is None:
        return ()
    where, counts = f"run {run.run_id} says that it ended as {said}", f"it counts as {run.status.value}"
    if run.status is RunStatus.DIVERGED and said == RunStatus.SUCCEEDED:
        return (Doubt("nan at the end", f"{where}, and its last loss is nan", counts),)
    if seen is None or said == seen or (said, seen.value) in MORE_IS_SAID:
        return ()
    return (Doubt(f"{said}, {seen.value}", f"{where}, and its pod as {seen.value}", counts),)


def once_each(found: Sequence[Doubt], what: str = "log") -> tuple[Note, ...]:
    """One note for each kind, with the number of further logs or runs."""
    notes = []
    for _, same in groupby(sorted(found, key=lambda doubt: doubt.kind), key=lambda doubt: doubt.kind):
        first, *others = same
        more = f" (and the same in {len(others)} more {what}{'' if len(others) == 1 else 's'})" if others else ""
        notes.append(
            advice(SELF_CONTRADICTION, first.finding, first.remedy + more)
            if first.remedy
            else Note(SELF_CONTRADICTION, first.finding + more)
        )
    return tuple(notes)


def by_cause(skipped: Sequence[Skipped]) -> tuple[Skipped, ...]:
    """One entry for all runs of a cause, which it cites, after those that have none in common (a log that cannot be read); of
    these, too, many whose reasons differ in their place alone are one."""
    groups: dict[str, list[Skipped]] = defaultdict(list)
    alike: dict[str, list[Skipped]] = defaultdict(list)
    for run in skipped:
        if run.code in CAUSES:
            groups[run.code].append(run)
        else:
            alike[run.reason.partition(": ")[2] or run.reason].append(run)
    each = (as_one(groups[code]) for code in CAUSES if code in groups)
    alone = ([as_one(some, "logs")] if len(some) > MOST_EXAMPLES else some for some in alike.values())
    return *chain.from_iterable(alone), *(replace(cause, reason=f"{cause.reason} [{cause.code}]") for cause in each)


def as_one(runs: Sequence[Skipped], what: str = "") -> Skipped:
    """Several of a kind: `what` they are, else by their code."""
    first = runs[0]
    if len(runs) == 1:
        return first
    more = f" and {len(runs) - MOST_EXAMPLES} more" if len(runs) > MOST_EXAMPLES else ""
    examples = ", ".join(run.run_id for run in runs[:MOST_EXAMPLES]) + more
    reason = f"{len(runs)} {what or f'runs with {CAUSES[first.code]}'}, the first: {first.reason}"
    return Skipped(examples, reason, first.code, len(runs))
