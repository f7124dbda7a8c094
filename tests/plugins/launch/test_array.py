"""Several runs started together, on an engine in virtual time; arrays of SLURM are in tests/launch/slurm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from simulated_engine import SimulatedLauncher, VirtualRun

from jpo.errors import LaunchError
from jpo.plugins.launch.job import LaunchJob
from jpo.plugins.launch.launcher import StartsTogether
from jpo.plugins.launch.ledger import entries, read
from jpo.plugins.launch.lifecycle import start, start_together
from jpo.records import Identity

JOB = LaunchJob("b1", Identity("digits", "cnn", "pytorch"), ("python", "train.py"), Path("/srv/digits"))
JOBS = [JOB, replace(JOB, run_id="b2")]


class Together(SimulatedLauncher):
    killed = False
    names: tuple[str, ...] = ()

    def submit_all(self, jobs: Sequence[LaunchJob], folders: Sequence[Path], name: str) -> list[str]:
        if self.killed:
            raise KeyboardInterrupt
        self.names += (name,)
        return [self.submit(job, folder) for job, folder in zip(jobs, folders, strict=True)]


def engine() -> Together:
    return Together(lambda *_: VirtualRun(60.0), lambda: 100.0)


def test_each_run_has_its_entry_and_its_config(tmp_path: Path) -> None:
    launcher = engine()
    assert isinstance(launcher, StartsTogether)
    assert not isinstance(SimulatedLauncher(lambda *_: VirtualRun(1.0), lambda: 0.0), StartsTogether)
    start_together(JOBS, launcher, tmp_path, "job-b", now=100.0, config=b"[training]\n")
    assert [(entry.job, entry.engine_id) for entry in entries(tmp_path)] == [(job, job.run_id) for job in JOBS]
    assert (tmp_path / "b2" / "config.ini").read_bytes() == b"[training]\n"
    assert launcher.names == ("job-b",)


def test_killed_before_the_engine_heard_of_them_each_can_be_started(tmp_path: Path) -> None:
    launcher = engine()
    launcher.killed = True
    with pytest.raises(KeyboardInterrupt):
        start_together(JOBS, launcher, tmp_path, "job-b", now=100.0)
    assert [entry.engine_id for entry in entries(tmp_path)] == [None, None]
    assert [start(job, launcher, tmp_path, now=101.0).engine_id for job in JOBS] == ["b1", "b2"]


def test_an_id_that_another_job_has_starts_nothing(tmp_path: Path) -> None:
    launcher = engine()
    start(replace(JOBS[1], command=("other",)), launcher, tmp_path, now=99.0)
    with pytest.raises(LaunchError, match="id of its own"):
        start_together(JOBS, launcher, tmp_path, "job-b", now=100.0)
    assert launcher.names == ()
    assert read(tmp_path, "b1") is not None
