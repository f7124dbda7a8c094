"""Old runs that are still needed: those without which a suggestion, its explanation or an undo would be another one.

Besides the newest runs, on which forecasts rest, a suggestion looks at the start of a history, at what did best, at what failed,
at how much memory a configuration took, and at what followed a suggestion that may still be undone. Nothing here knows a store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import nsmallest

from jpo.history.runs import RecordedRun
from jpo.records import Run

BEST = 20
"""Runs of least duration, cost and loss, of highest accuracy, and of most memory, each."""
FAILURES = 20
"""Newest runs that did not end well."""
CONFIGURATIONS = 100
"""Configurations of which the first run is kept: what was tried is not tried again."""
SUGGESTIONS = 100
"""Newest suggestions of a workload whose runs are kept: among them is the one in force, and what can be undone."""

LEAST = {"duration_seconds": 1, "cost_usd": 1, "val_loss": 1, "val_accuracy": -1}
"""Of runs that ended well, by what they are the best; -1: more is better."""
PEAKS = {"gpu_memory_gib": -1, "memory_gib": -1}
"""By these runs the guard knows what does not fit."""


def needed_runs(recorded: Sequence[RecordedRun], *, newest: int, followed: Collection[str]) -> set[str]:
    """Ids of the runs that are kept.

    Args:
        recorded: all runs of one workload on record, oldest first.
        newest: how many of the newest are kept in any case.
        followed: ids of the suggestions whose runs are kept.
    """
    runs = [entry.run for entry in recorded]
    well, failed = ([run for run in runs if run.ended_well is ended] for ended in (True, False))
    kept = {run.run_id for run in runs[-newest:]}
    kept |= {entry.run.run_id for entry in recorded if entry.suggestion_id in followed}
    for some in (beginnings(runs), extremes(well, LEAST), failed[-FAILURES:], extremes(runs, PEAKS)):
        kept |= {run.run_id for run in some}
    return kept


def beginnings(runs: Sequence[Run]) -> Iterator[Run]:
    """The first run, the first that ended well, and the first of each of the first configurations."""
    yield from runs[:1]
    yield from [run for run in runs if run.ended_well][:1]
    first: dict[tuple[object, ...], Run] = {}
    for run in runs:
        first.setdefault(tuple(sorted(run.parameters.items())), run)
        if len(first) == CONFIGURATIONS:
            break
    yield from first.values()


def extremes(runs: Sequence[Run], signs: Mapping[str, int]) -> Iterator[Run]:
    """The runs with the least of each quantity, or with the most where its sign is -1; of equal ones the newest."""
    for quantity, sign in signs.items():
        measured = [(sign * value, -at) for at, run in enumerate(runs) if (value := run.outcome.of(quantity)) is not None]
        yield from (runs[-at] for _, at in nsmallest(BEST, measured))
