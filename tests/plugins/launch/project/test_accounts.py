from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from simulated_engine import SimulatedLauncher, VirtualRun

from jpo.errors import LaunchError
from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob
from jpo.plugins.launch.ledger import Entry, folder_of, locked, read, write
from jpo.plugins.launch.lifecycle import start
from jpo.plugins.launch.project import accounts, source
from jpo.plugins.launch.project.accounts import accounted_for
from jpo.plugins.launch.project.command import Invocation
from jpo.plugins.launch.project.engines import launcher_of
from jpo.plugins.launch.project.jobs import job_of
from jpo.plugins.launch.project.source import launched, ledger_of
from jpo.project.project import open_history
from jpo.project.tables.faults import Origin
from jpo.project.workload import read_workload
from jpo.records import Finished, Note, RunStatus

if TYPE_CHECKING:
    from opened_repository import Repository


def test_runs_that_nobody_followed_go_on_record_and_damage_is_left_aside(repository: Repository) -> None:
    path, settings = repository()
    path.write_text(path.read_text().replace("gpus = 2", "gpus = 0").replace("cpus = 4", "cpus = 1"))
    ledger, workload = ledger_of(settings), read_workload(path, settings, now=0.0)
    launcher = launcher_of(settings, environ=os.environ, detached=True)
    job = job_of(workload, settings, Invocation((sys.executable, "-c", "raise SystemExit(4)")), run_id="run-1")
    entry = start(job, launcher, ledger, now=time.time())
    write(ledger, Entry(entry.job, entry.engine, entry.asked_at))  # as if killed before it was noted
    (folder_of(ledger, "damaged")).mkdir()
    (folder_of(ledger, "damaged") / "launch.json").write_text("{")
    folder_of(ledger, "far").mkdir()
    write(ledger, Entry(job_of(workload, settings, Invocation(("true",)), run_id="far"), "slurm", 0.0))
    folder_of(ledger, "by-hand").mkdir()
    end = JobStatus(JobState.ENDED, 0, RunStatus.SUCCEEDED, started_at="soon", ended_at=1.0)  # type: ignore[arg-type]
    write(ledger, Entry(job_of(workload, settings, Invocation(("true",)), run_id="by-hand"), "local", 0.0, "id", end))
    with open_history(settings) as store:
        for _ in range(1200):
            if any(each.run for each in accounted_for(settings, store, os.environ, now=time.time())):
                break
            time.sleep(0.05)
        (run,) = store.runs_of(workload.identity)
        assert (run.run_id, run.status) == ("run-1", "failed")
        assert launched(settings, store, now=time.time()).runs == ()
    assert read(ledger, "run-1").recorded  # type: ignore[union-attr]


def test_without_keeping_nothing_is_noted(repository: Repository) -> None:
    path, settings = repository()
    path.write_text(path.read_text().replace("gpus = 2", "gpus = 0").replace("cpus = 4", "cpus = 1"))
    ledger, workload = ledger_of(settings), read_workload(path, settings, now=0.0)
    job = job_of(workload, settings, Invocation(("true",)), run_id="run-1")
    start(job, launcher_of(settings, environ=os.environ, detached=True), ledger, now=time.time())
    with open_history(settings) as store:
        assert launched(settings, store, now=time.time(), keep=False) == Finished()
    assert read(ledger, "run-1").end is None  # type: ignore[union-attr]


def test_what_another_process_is_at_is_not_waited_for(repository: Repository) -> None:
    path, settings = repository()
    ledger, workload = ledger_of(settings), read_workload(path, settings, now=0.0)
    with locked(folder_of(ledger, "run-1")), open_history(settings) as store:
        write(ledger, Entry(job_of(workload, settings, Invocation(("true",)), run_id="run-1"), "local", 0.0))
        assert accounted_for(settings, store, os.environ, now=1.0) == ()


class Cluster(SimulatedLauncher):
    """An engine that may be away."""

    away, asked = False, 0

    def find(self, job: LaunchJob, folder: Path) -> str | None:
        self.asked += 1
        if self.away:
            raise LaunchError("slurmctld", "is away", code="JPO-E754")
        return super().find(job, folder)


def test_a_run_of_a_cluster_that_nobody_noted_goes_on_record_and_one_that_is_away_is_asked_once(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, settings = repository()
    ledger, workload = ledger_of(settings), read_workload(path, settings, now=0.0)
    times = [100.0]
    cluster = Cluster(lambda *_: VirtualRun(60.0, ended_as=RunStatus.FAILED), lambda: times[0])
    monkeypatch.setattr(accounts, "launcher_of", lambda *_all, **_named: cluster)
    for run_id in ("run-1", "run-2"):
        job = job_of(workload, settings, Invocation(("true",)), run_id=run_id)
        (folder_of(ledger, run_id) / "runs").mkdir(parents=True)
        write(ledger, Entry(job, "slurm", 99.0))
        cluster.submit(job, folder_of(ledger, run_id))
    times[0] = 200.0
    with open_history(settings) as store:
        cluster.away = True
        assert (accounted_for(settings, store, {}, now=200.0, engines={"slurm"}), cluster.asked) == ((), 1)
        said = "How run run-1 and 1 other run ended on slurm is not known (slurmctld: is away [JPO-E754]); `jpo watch` asks again"
        assert launched(settings, store, now=200.0) == Finished(doubts=(Note("JPO-W777", said, "slurm"),))
        assert cluster.asked == 2
        cluster.away = False
        found = launched(settings, store, now=200.0)
        assert ([run.run_id for run in found.runs], found.doubts) == (["run-1", "run-2"], ())
        cluster.away = True
        assert launched(settings, store, now=201.0) == Finished()


def test_an_engine_that_hangs_is_not_waited_for(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    path, settings = repository()
    ledger, workload = ledger_of(settings), read_workload(path, settings, now=0.0)
    monkeypatch.setattr(accounts, "launcher_of", lambda *_all, **_named: time.sleep(5))
    monkeypatch.setattr(source, "LONGEST_SECONDS", 0.2)
    folder_of(ledger, "run-1").mkdir(parents=True)
    write(ledger, Entry(job_of(workload, settings, Invocation(("true",)), run_id="run-1"), "aws", 99.0))
    begun = time.monotonic()
    with open_history(settings) as store:
        (note,) = launched(settings, store, now=200.0).doubts
    assert note.text.startswith("How run run-1 ended on aws is not known (no answer within 0.2 s)")
    assert time.monotonic() - begun < 3


def test_an_entry_that_somebody_wrote_by_hand_ends_no_suggestion(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("boto3")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")
    aws = 'region = "us-east-1"\nimage = "ami-1"\nbucket = "b"\ninstance_profile = "p"\n'
    path, settings = repository(f"[launch.aws]\n{aws}")
    ledger, workload = ledger_of(settings), read_workload(path, settings, now=0.0)
    folder_of(ledger, "run-1").mkdir(parents=True)
    write(ledger, Entry(job_of(workload, settings, Invocation(("true",)), run_id="run-1"), "aws", 99.0, "///"))  # of no region
    with open_history(settings) as store:
        (note,) = launched(settings, store, now=200.0).doubts
    assert note.text.startswith("How run run-1 ended on aws is not known (its entry is damaged: ")


def test_a_broken_engine_of_a_package_ends_no_suggestion(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    point = metadata.EntryPoint("odd", "no.such.module:Engine", "jpo.engines")
    monkeypatch.setattr(metadata, "entry_points", lambda **asked: [point] if asked["name"] == "odd" else [])
    path, settings = repository()
    ledger, workload = ledger_of(settings), read_workload(path, settings, now=0.0)
    for run_id, engine in (("run-1", "odd"), ("run-2", "gone")):
        folder_of(ledger, run_id).mkdir(parents=True)
        write(ledger, Entry(job_of(workload, settings, Invocation(("true",)), run_id=run_id), engine, 99.0))
    with open_history(settings) as store:
        (note,) = launched(settings, store, now=200.0).doubts
    assert note.text.startswith("How run run-1 ended on odd is not known (jpo.engines odd")
    assert "cannot be imported" in note.text


def test_credentials_that_a_branch_chooses_are_not_used_to_ask(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    path, settings = repository()
    ledger, workload = ledger_of(settings), read_workload(path, settings, now=0.0)
    monkeypatch.setattr(accounts, "launcher_of", lambda *_all, **_named: pytest.fail("asked"))
    folder_of(ledger, "run-1").mkdir(parents=True)
    write(ledger, Entry(job_of(workload, settings, Invocation(("true",)), run_id="run-1"), "kubernetes", 99.0))
    settings = replace(settings, origins={**settings.origins, "launch.kubernetes.context": Origin("file", "jpo.toml")})
    with open_history(settings) as store:
        (note,) = launched(settings, store, now=200.0).doubts
    assert "[launch.kubernetes] context: chooses credentials" in note.text


@pytest.mark.parametrize(("keep", "goes"), [("1h", True), ("2h", False), ("0s", False)])
def test_the_folder_of_a_run_goes_as_long_after_its_end_as_the_setting_says(
    repository: Repository, keep: str, goes: bool
) -> None:
    path, settings = repository(f'[launch]\nkeep = "{keep}"\n')
    ledger, workload = ledger_of(settings), read_workload(path, settings, now=0.0)
    end = JobStatus(JobState.ENDED, 0, RunStatus.SUCCEEDED, started_at=50.0, ended_at=100.0)
    folder_of(ledger, "run-1").mkdir(parents=True)
    entry = Entry(job_of(workload, settings, Invocation(("true",)), run_id="run-1"), "local", 10.0, "id", end, recorded=True)
    write(ledger, entry)
    with open_history(settings) as store:
        launched(settings, store, now=5000.0, keep=False)
        assert folder_of(ledger, "run-1").is_dir()
        launched(settings, store, now=5000.0)
    assert folder_of(ledger, "run-1").is_dir() is not goes
    assert read(ledger, "run-1") is not None
