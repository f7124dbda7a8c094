from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from jpo.launch.course import start
from jpo.launch.job import JobState, JobStatus
from jpo.launch.ledger import Entry, folder_of, read, write
from jpo.project.launch.accounts import accounted_for
from jpo.project.launch.engines import launcher_of, ledger_of
from jpo.project.launch.jobs import job_of
from jpo.project.launch.source import launched
from jpo.project.project import open_history
from jpo.project.workload import read_workload
from jpo.records import RunStatus

if TYPE_CHECKING:
    from conftest import Repository


def test_runs_that_nobody_followed_go_on_record_and_damage_is_left_aside(repository: Repository) -> None:
    path, settings = repository()
    path.write_text(path.read_text().replace("gpus = 2", "gpus = 0").replace("cpus = 4", "cpus = 1"))
    ledger, workload = ledger_of(settings), read_workload(path, settings, now=0.0)
    launcher = launcher_of(settings, environ=os.environ, detached=True)
    job = job_of(workload, settings, (sys.executable, "-c", "raise SystemExit(4)"), run_id="run-1")
    entry = start(job, launcher, ledger, now=time.time())
    write(ledger, Entry(entry.job, entry.engine, entry.asked_at))  # as if killed before it was noted
    (folder_of(ledger, "damaged")).mkdir()
    (folder_of(ledger, "damaged") / "launch.json").write_text("{")
    folder_of(ledger, "far").mkdir()
    write(ledger, Entry(job_of(workload, settings, ("true",), run_id="far"), "slurm", 0.0))
    folder_of(ledger, "by-hand").mkdir()
    end = JobStatus(JobState.ENDED, 0, RunStatus.SUCCEEDED, started_at="soon", ended_at=1.0)  # type: ignore[arg-type]
    write(ledger, Entry(job_of(workload, settings, ("true",), run_id="by-hand"), "local", 0.0, "id", end))
    with open_history(settings) as store:
        for _ in range(100):
            if any(each.run for each in accounted_for(settings, store, os.environ, now=time.time())):
                break
            time.sleep(0.05)
        (run,) = store.runs_of(workload.identity)
        assert (run.run_id, run.status) == ("run-1", "failed")
        assert launched(settings, store, now=time.time()) == ()
    assert read(ledger, "run-1").recorded  # type: ignore[union-attr]


def test_without_keeping_nothing_is_noted(repository: Repository) -> None:
    path, settings = repository()
    path.write_text(path.read_text().replace("gpus = 2", "gpus = 0").replace("cpus = 4", "cpus = 1"))
    ledger, workload = ledger_of(settings), read_workload(path, settings, now=0.0)
    job = job_of(workload, settings, ("true",), run_id="run-1")
    start(job, launcher_of(settings, environ=os.environ, detached=True), ledger, now=time.time())
    with open_history(settings) as store:
        assert launched(settings, store, now=time.time(), keep=False) == ()
    assert read(ledger, "run-1").end is None  # type: ignore[union-attr]
