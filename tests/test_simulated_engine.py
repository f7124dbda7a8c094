"""The simulated engine keeps the contract of launchers."""

from __future__ import annotations

from pathlib import Path

import pytest
from launches import Bench, Contract, VirtualClock
from simulated_engine import SimulatedLauncher, VirtualRun, until

from jpo.plugins.launch.job import LaunchJob, Needs
from jpo.records import RunStatus

OUTCOMES = {
    "succeeds": VirtualRun(60.0, 5.0, log="# run_id=run\n", output="hello\n"),
    "fails": VirtualRun(1.0, ended_as=RunStatus.FAILED),
    "lasts": VirtualRun(3600.0),
}


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def bench(tmp_path: Path, clock: VirtualClock) -> Bench:
    def simulate(job: LaunchJob, _start: float) -> VirtualRun:
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


LOG = "# run_id=run\n# start=100\ntime,epoch\n110,1\n120,2\n# end=120\n# status=succeeded\n"


@pytest.mark.parametrize(("moment", "epochs"), [(115.0, 1), (120.0, 2), (200.0, 2)])
def test_a_log_holds_what_was_written_by_then_and_not_its_end(moment: float, epochs: int) -> None:
    assert until(LOG, moment) == "".join(LOG.splitlines(keepends=True)[: 3 + epochs])


def test_a_log_without_rows_is_none() -> None:
    assert until("# run_id=run\n", 200.0) == ""


def test_the_log_of_a_cancelled_run_says_when_it_was_stopped(tmp_path: Path, clock: VirtualClock) -> None:
    start = clock()
    log = LOG.replace("110", str(start + 10)).replace("120", str(start + 20))
    launcher = SimulatedLauncher(lambda _job, _start: VirtualRun(20.0, log=log), clock)
    job = Bench(lambda: launcher, {"lasts": ("lasts",)}, tmp_path / "launches", tmp_path, clock, clock.sleep).job("lasts")
    (tmp_path / "runs").mkdir()
    launcher.submit(job, tmp_path)
    clock.sleep(12)
    launcher.status(job.run_id)
    path = tmp_path / "runs" / f"{job.run_id}.csv"
    assert path.read_text() == until(log, start + 12)
    launcher.cancel(job.run_id)
    launcher.collect(job.run_id, tmp_path)
    assert path.read_text().endswith(f"# end={start + 12}\n# status=stopped\n")
