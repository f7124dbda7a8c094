from __future__ import annotations

from jpo.plugins.launch.job import Room
from jpo.plugins.launch.project.waiting import queued
from jpo.records import Queued


def test_it_is_done_when_it_has_waited_and_run() -> None:
    assert queued("slurm", Room(wait_seconds=600.0), 3600.0, now=1000.0) == Queued("slurm", 600.0, 5200.0)


def test_what_is_unknown_stays_unknown() -> None:
    assert queued("slurm", Room(wait_seconds=0.0), None, now=1000.0) == Queued("slurm", 0.0, None)
    assert queued("slurm", Room(free_gpus=4), 3600.0, now=1000.0) is None
    assert queued("slurm", None, 3600.0, now=1000.0) is None
