"""Doubts about runs that are used all the same, though their source contradicts itself; each kind is said once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from jpo.records import Note, Run, RunStatus, advice
from jpo.telemetry.outcome import MeasuredRun

SELF_CONTRADICTION = "JPO-W125"
"""Code of a run that is used though its log, or what else reports it, contradicts itself."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A contradiction in one run: of which kind, in words with its place, and what is made of it where those do not say it."""

    kind: str
    finding: str
    remedy: str = ""


MORE_IS_SAID = frozenset(
    {("oom_killed", "failed")} | {(said, seen) for said in ("diverged", "stopped") for seen in ("failed", "succeeded")}
)
"""What a job says, and what its pod shows, where the job only says more."""


def ending_doubts(measured: MeasuredRun, run: Run) -> tuple[Doubt, ...]:
    """That a job says that it ended in another way than the cluster saw, or than its loss shows.

    Args:
        run: what was made of it.
    """
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
