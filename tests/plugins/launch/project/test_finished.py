from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jpo.plugins.launch.during.adjustment import NOTHING, Adjustment
from jpo.plugins.launch.job import JobState, JobStatus
from jpo.plugins.launch.ledger import Entry, folder_of, read, write
from jpo.plugins.launch.project.command import Invocation
from jpo.plugins.launch.project.finished import EndedRun, ended_run, put_on_record
from jpo.plugins.launch.project.jobs import job_of
from jpo.plugins.launch.project.place import ledger_of
from jpo.plugins.launch.watching import account
from jpo.project.project import open_history
from jpo.project.workload import read_workload
from jpo.records import Finished, Outcome, RunStatus

if TYPE_CHECKING:
    from opened_repository import Repository

HEAD = "# run_id={}\n# dataset=digits\n# model=cnn\n# framework=pytorch\n# batch_size=64\n# start=1000\n"
HEAD += "time,epoch,samples,train_loss,val_loss\n"
FAILED = JobStatus(JobState.ENDED, 1, RunStatus.FAILED, "exit code 1", "", 990.0, 1100.0, None, 2.0, 220.0)


def finished(
    repository: Repository, end: JobStatus, log: str | None, toml: str = "", place: str = ".jpo/launches/run-1/runs/run-1.csv"
) -> EndedRun:
    path, settings = repository(toml)
    job = job_of(read_workload(path, settings, now=0.0), settings, Invocation(("true",)), run_id="run-1")
    entry, ledger = Entry(job, "local", 989.0, "id", end), ledger_of(settings)
    folder_of(ledger, "run-1").mkdir(parents=True, exist_ok=True)
    write(ledger, entry)
    if log is not None:
        (path.parent / place).parent.mkdir(parents=True, exist_ok=True)
        (path.parent / place).write_text(log)
        os.utime(path.parent / place, (1050, 1050))
    return ended_run(entry, ledger, settings)


@pytest.mark.parametrize(
    ("said", "seen", "status"),
    [
        ("", RunStatus.FAILED, RunStatus.FAILED),
        ("", RunStatus.OOM_KILLED, RunStatus.OOM_KILLED),
        ("", RunStatus.STOPPED, RunStatus.STOPPED),
        ("failed", RunStatus.STOPPED, RunStatus.STOPPED),
        ("failed", RunStatus.OOM_KILLED, RunStatus.OOM_KILLED),
        ("succeeded", RunStatus.FAILED, RunStatus.FAILED),
        ("succeeded", RunStatus.STOPPED, RunStatus.SUCCEEDED),
        ("diverged", RunStatus.FAILED, RunStatus.DIVERGED),
    ],
)
def test_how_a_run_ended_is_what_its_log_says_unless_its_engine_knows_better(
    repository: Repository, said: str, seen: RunStatus, status: RunStatus
) -> None:
    trailer = f"# end=1061\n# status={said}\n" if said else ""
    end = JobStatus(JobState.ENDED, 1, seen, "", "", 990.0, 1100.0, None, 2.0, 220.0)
    run = finished(repository, end, f"{HEAD.format('run-1')}1060,1,100,0.5,0.6\n{trailer}").run
    assert run is not None
    assert run.status is status
    assert run.outcome.duration_seconds == (61.0 if said else 100.0)
    assert run.outcome.memory_gib == 2.0
    assert (run.parameters["batch_size"], run.parameters["learning_rate"]) == (64.0, 0.1)
    assert run.source == "csv"


def test_a_loss_that_is_no_number_means_diverged(repository: Repository) -> None:
    run = finished(repository, FAILED, f"{HEAD.format('run-1')}1060,1,100,nan,nan\n").run
    assert run is not None
    assert run.status is RunStatus.DIVERGED
    assert run.outcome.val_loss is None


@pytest.mark.parametrize("log", [None, "", "no log at all\n", "# run_id=run-1\n"])
def test_a_run_without_a_log_is_what_its_engine_says(repository: Repository, log: str | None) -> None:
    ended = finished(repository, FAILED, log)
    assert ended.run is not None
    assert ended.log is None
    assert (ended.run.status, ended.run.source) == (RunStatus.FAILED, "launch")
    assert ended.run.outcome.known == {
        "duration_seconds": 110.0,
        "cpu_utilisation": 0.5,
        "memory_gib": 2.0,
        "cpu_cores_mean": 2.0,
    }
    assert bool(ended.notes) == (log is not None)


def test_a_log_where_settings_have_them_counts_if_it_is_of_this_run(repository: Repository) -> None:
    text = f"{HEAD.format('mine')}1060,1,100,0.5,0.6\n# end=1061\n# status=succeeded\n"
    toml = '[csv]\nlogs = ["logs/*.csv"]\n'
    ended = finished(repository, FAILED, text, toml, "logs/mine.csv")
    assert ended.run is not None
    assert ended.run.run_id == "mine"
    older = finished(repository, FAILED, text.replace("start=1000", "start=900"), toml, "logs/mine.csv")
    assert older.log is None


def test_what_prometheus_reports_is_left_to_it(repository: Repository, tmp_path: Path) -> None:
    ended = finished(repository, FAILED, None, '[prometheus]\nurl = "http://127.0.0.1:1"\n')
    assert ended.reported_elsewhere


def test_an_end_that_a_coarse_clock_puts_before_the_start_is_an_end(repository: Repository) -> None:
    end = JobStatus(JobState.ENDED, None, RunStatus.STOPPED, "lost", "", 1000.005, 1000.0)
    run = finished(repository, end, None).run
    assert run is not None
    assert (run.ended_at, run.outcome.duration_seconds) == (1000.005, 0.0)


def test_what_a_log_says_of_model_and_data_is_told(repository: Repository) -> None:
    text = f"# model_parameters=11689512\n# train_samples=50000\n# optimizer=sgd\n{HEAD.format('run-1')}1060,1,100,0.5,0.6\n"
    assert finished(repository, FAILED, text).facts == {"model_parameters": 11689512.0, "train_samples": 50000.0}


@pytest.mark.parametrize(
    ("run_id", "model", "place"),
    [
        ("run-1", "CNN", ".jpo/launches/run-1/runs/run-1.csv"),
        ("mine", "cnn", ".jpo/launches/run-1/runs/mine.csv"),
        ("mine", "CNN", "logs/mine.csv"),
    ],
)
def test_a_run_is_what_was_launched_whatever_its_log_calls_itself(
    repository: Repository, run_id: str, model: str, place: str
) -> None:
    text = f"{HEAD.format(run_id).replace('=cnn', f'={model}')}1060,1,100,0.5,0.6\n"
    ended = finished(repository, FAILED, text, '[csv]\nlogs = ["logs/*.csv"]\n', place)
    assert ended.run is not None
    assert (ended.run.run_id, ended.run.identity.model, ended.run.outcome.val_loss) == ("run-1", "cnn", 0.6)
    assert ended.run.source == f"csv: {run_id} of digits/{model}/pytorch"
    (note,) = ended.notes
    assert note.code == "JPO-W775"
    said = f"Its log is of run {run_id} of digits/{model}/pytorch; it counts as what was launched, run-1 of digits/cnn/pytorch"
    assert note.text == said


def test_a_second_log_of_a_run_is_its_own(repository: Repository) -> None:
    place = ".jpo/launches/run-1/runs/run-1-2.csv"
    ended = finished(repository, FAILED, f"{HEAD.format('run-1-2')}1060,1,100,0.5,0.6\n", place=place)
    assert ended.run is not None
    assert (ended.run.run_id, ended.run.source, ended.notes) == ("run-1", "csv", ())


def test_a_run_that_never_started_is_no_run(repository: Repository) -> None:
    assert finished(repository, JobStatus(JobState.UNKNOWN), None).run is None


def test_it_goes_on_record_once(repository: Repository) -> None:
    finished(repository, FAILED, None)
    _, settings = repository()
    ledger = ledger_of(settings)
    entry = read(ledger, "run-1")
    assert entry is not None
    with open_history(settings) as store:
        for _ in range(2):
            put_on_record(entry, ledger, settings, store, now=2000.0)
        assert [run.run_id for run in store.runs_of(entry.job.identity)] == ["run-1"]
    assert read(ledger, "run-1").recorded  # type: ignore[union-attr]


def test_where_runs_report_losses_one_without_a_log_is_no_proof_of_speed(repository: Repository) -> None:
    """`jpo run -- true` after nights of training: 14 ms that end well must not become what the job takes."""
    done = replace(FAILED, exit_code=0, ended_as=RunStatus.SUCCEEDED, reason="")
    finished(repository, done, None)
    _, settings = repository()
    ledger = ledger_of(settings)
    entry = read(ledger, "run-1")
    assert entry is not None
    with open_history(settings) as store:
        silent = put_on_record(entry, ledger, settings, store, now=2000.0).run
        assert silent is not None
        assert silent.status is RunStatus.SUCCEEDED  # no run of this job ever said more
        trained = replace(silent, run_id="night-1", outcome=Outcome(duration_seconds=3600.0, val_loss=0.4))
        store.record(Finished((trained,)), now=2000.0)
        again = replace(entry, job=replace(entry.job, run_id="run-2"))
        folder_of(ledger, "run-2").mkdir()
        write(ledger, again)
        silent = put_on_record(again, ledger, settings, store, now=3000.0).run
        assert silent is not None
        assert silent.status is RunStatus.STOPPED


@pytest.mark.parametrize(("longest", "took", "stops", "missed"), [
    (None, 100.0, True, False),
    (None, 100.0, False, None),
    (100.0, 99.0, False, False),
    (1000.0, 100.0, False, None),
])  # fmt: skip
def test_who_was_stopped_by_jpo_or_its_limit_missed_the_target_and_who_was_cancelled_did_not(
    repository: Repository, longest: float | None, took: float, stops: bool, missed: bool | None
) -> None:
    """Also where the user cancelled it after longer than any other took."""
    end = JobStatus(JobState.ENDED, None, RunStatus.STOPPED, "cancelled", "", 1000.0, 1000.0 + took)
    log = f"{HEAD.format('run-1')}1060,1,100,0.5,0.6\n"
    reached = finished(repository, end, log).run
    assert reached is not None
    _, settings = repository("")
    ledger = ledger_of(settings)
    entry = read(ledger, "run-1")
    assert entry is not None
    with open_history(settings) as store:
        well = replace(reached.outcome, duration_seconds=20.0, converged=True)
        store.record(Finished((replace(reached, run_id="run-0", status=RunStatus.SUCCEEDED, outcome=well),)), now=2000.0)
        if stops:
            with account.deciding(ledger, "run-1") as made:
                made.append(Adjustment(1090.0, "too far", applied=True, actual=NOTHING))
        ended = put_on_record(
            replace(entry, job=replace(entry.job, longest_seconds=longest)), ledger, settings, store, now=2000.0
        )
    assert ended.run is not None
    assert ended.run.outcome.converged is missed
    assert ended.run.missed is (missed is False)
