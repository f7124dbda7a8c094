"""Fleets of a few runs."""

from __future__ import annotations

from jpo.plugins.lab.fleet import Fleet, Lane
from jpo.records import Identity, Outcome, Run, RunStatus

GOOD, BAD = RunStatus.SUCCEEDED, RunStatus.OOM_KILLED


def run(seconds: float, status: RunStatus = GOOD, **measured: float) -> Run:
    outcome = Outcome(duration_seconds=seconds, cost_usd=seconds / 100, **measured)  # type: ignore[arg-type]
    return Run("r", Identity("d", "m", "f"), {"batch_size": 32.0}, status, None, 1.0, outcome, "observe")


def lane(unchanged: list[Run], tuned: list[Run], goal: float | None = 1.0) -> Lane:
    return Lane("dataset-00/m/f", {"batch_size": 32.0}, tuple(unchanged), tuple(tuned), goal, 0.5)


def fleet(*lanes: Lane, last: int = 2) -> Fleet:
    return Fleet(lanes, len(lanes[0].tuned), last, 0, False, "safe", {"time": 0.5, "cost": 0.5})
