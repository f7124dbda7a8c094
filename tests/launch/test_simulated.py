"""The simulated engine keeps the contract of launchers."""

from __future__ import annotations

from pathlib import Path

import pytest
from launches import Bench, Contract, VirtualClock

from jpo.launch.job import LaunchJob, Needs
from jpo.launch.simulated import SimulatedLauncher, VirtualCourse
from jpo.records import RunStatus

OUTCOMES = {
    "succeeds": VirtualCourse(60.0, 5.0, log="# run_id=run\n", output="hello\n"),
    "fails": VirtualCourse(1.0, ended_as=RunStatus.FAILED),
    "lasts": VirtualCourse(3600.0),
}


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def bench(tmp_path: Path, clock: VirtualClock) -> Bench:
    def simulate(job: LaunchJob, _start: float) -> VirtualCourse:
        return OUTCOMES[job.command[0]]

    launcher = SimulatedLauncher(simulate, clock)  # what it plays lives in it, as an engine's jobs live in the engine
    commands = {name: (name,) for name in OUTCOMES}
    return Bench(lambda: launcher, commands, tmp_path / "launches", tmp_path, clock, clock.sleep)


class TestSimulated(Contract):
    """All of the contract."""


def test_room_shrinks_while_jobs_run(bench: Bench, clock: VirtualClock) -> None:
    launcher = bench.launcher()
    entry = bench.start(bench.job("lasts", needs=Needs(gpus=5)))
    assert launcher.room(Needs(gpus=4)).free_gpus == 3
    assert launcher.room(Needs(gpus=4)).wait_seconds is None
    bench.finish(entry)
    assert launcher.room(Needs(gpus=4)).free_gpus == 8
