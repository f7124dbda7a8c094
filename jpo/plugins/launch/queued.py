"""When a run that is submitted now would be done: what its engine says about waiting, and what is expected of the run."""

from __future__ import annotations

from jpo.plugins.launch.job import Room
from jpo.records import Queued


def queued(engine: str, room: Room | None, run_seconds: float | None, *, now: float) -> Queued | None:
    """The run in its engine's queue; None where the engine does not say how long it would wait.

    Args:
        run_seconds: how long it is expected to take.
        now: unix seconds.
    """
    if room is None or room.wait_seconds is None:
        return None
    starts_at = now + room.wait_seconds
    return Queued(engine, room.wait_seconds, None if run_seconds is None else starts_at + run_seconds)
