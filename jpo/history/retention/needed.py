"""Old runs that are still needed: those without which a suggestion, its explanation or an undo would be another one.

Besides the newest runs, on which forecasts rest, a suggestion looks at the start of a history, at what did best, at what failed,
at how much memory a configuration took, and at what followed a suggestion that may still be undone. Nothing here knows a store.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from heapq import nlargest, nsmallest

from jpo.history.runs import RecordedRun
from jpo.records import Run

BEST = 20
"""Runs of least duration, cost and loss, and of highest accuracy, each."""
FAILURES = 20
"""Newest runs that did not end well."""
CONFIGURATIONS = 100
"""Configurations of which the first run is kept: what was tried is not tried again."""
SUGGESTIONS = 100
"""Newest suggestions of a workload whose runs are kept: among them is the one in force, and what can be undone."""

LEAST: tuple[Callable[[Run], float | None], ...] = (
    lambda run: run.outcome.duration_seconds,
    lambda run: run.outcome.cost_usd,
    lambda run: run.outcome.val_loss,
    lambda run: None if run.outcome.val_accuracy is None else -run.outcome.val_accuracy,
)

PEAKS: tuple[Callable[[Run], float | None], ...] = (lambda run: run.outcome.gpu_memory_gib, lambda run: run.outcome.memory_gib)


def needed_runs(recorded: Sequence[RecordedRun], *, newest: int, followed: Collection[str]) -> set[str]:
    """Ids of the runs that are kept.

    Args:
        recorded: all runs of one workload on record, oldest first.
        newest: how many of the newest are kept in any case.
        followed: ids of the suggestions whose runs are kept.
    """
    runs = [entry.run for entry in recorded]
    kept = {run.run_id for run in runs[-newest:]}
    kept |= {entry.run.run_id for entry in recorded if entry.suggestion_id in followed}
    for some in (beginnings(runs), best(runs), last_failures(runs), largest(runs)):
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


def best(runs: Sequence[Run]) -> Iterator[Run]:
    """The best that ended well, by each measure."""
    well = [run for run in runs if run.ended_well]
    for measure in LEAST:
        measured = [(value, -at) for at, run in enumerate(well) if (value := measure(run)) is not None]
        yield from (well[-at] for _, at in nsmallest(BEST, measured))  # of equal ones the newest


def last_failures(runs: Sequence[Run]) -> Iterator[Run]:
    yield from [run for run in runs if not run.ended_well][-FAILURES:]


def largest(runs: Sequence[Run]) -> Iterator[Run]:
    """Runs that took most memory, of a GPU and of the machine: by them the guard knows what does not fit."""
    for peak in PEAKS:
        measured = [(value, at) for at, run in enumerate(runs) if (value := peak(run)) is not None]
        yield from (runs[at] for _, at in nlargest(BEST, measured))
