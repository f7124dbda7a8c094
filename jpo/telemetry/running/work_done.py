"""How much of its work a run has done, and when it may end: by what it reports, and by what earlier runs took.

Samples tell more than epochs, which are counted when they are finished. Where nothing is reported, as of labelled pods, runs with
the same values that ended well say how long it takes.
"""

import statistics
from collections.abc import Sequence
from dataclasses import replace

from jpo.records import Run, Running, same

LEAST_SHARE = 0.02
"""Of the work that must be done before its pace says anything: a job warms up."""
LIKE_IT = 5
"""Newest runs with the same values that say how long it takes."""


def with_progress(running: Running, past: Sequence[Run]) -> Running:
    """The run with how far it is and when it may end, by past runs of its workload, oldest first; None where nothing tells."""
    share = share_done(running, past)
    return replace(running, share_done=share, ends_at=_end(running, share, past))


def share_done(running: Running, past: Sequence[Run]) -> float | None:
    """Share of its epochs, by samples where an earlier run tells how many an epoch has; at most 1."""
    epochs = running.parameters.get("epochs")
    if not epochs:
        return None
    outcomes = (run.outcome for run in reversed(past))
    per_epoch = next((one.samples / one.epochs for one in outcomes if one.samples and one.epochs), None)
    if running.samples is not None and per_epoch:
        return min(1.0, running.samples / (per_epoch * epochs))
    return None if running.epochs_done is None else min(1.0, running.epochs_done / epochs)


def _end(running: Running, share: float | None, past: Sequence[Run]) -> float | None:
    elapsed, start = running.elapsed_seconds, running.started_at
    if elapsed is None or start is None:
        return None
    if share is not None and share >= LEAST_SHARE:
        return start + elapsed / share
    alike = [run for run in past if run.ended_well and same(run.parameters, running.parameters)]
    took = [run.outcome.duration_seconds for run in alike[-LIKE_IT:] if run.outcome.duration_seconds]
    return start + statistics.median(took) if took else None
