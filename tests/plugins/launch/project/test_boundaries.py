"""After how long a run is of no use, and what was ended from outside before that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob
from jpo.plugins.launch.ledger import Entry
from jpo.plugins.launch.project.boundaries import ended_early, longest_training_seconds, startup_seconds, training_of
from jpo.project.load import load
from jpo.records import Identity, Outcome, Run, RunStatus

DIGITS = Identity("digits", "cnn", "pytorch")
JOB = LaunchJob("run-1", DIGITS, ("true",), Path("/"))


def run(seconds: float | None, status: RunStatus = RunStatus.SUCCEEDED, *, converged: bool | None = None) -> Run:
    return Run("run-1", DIGITS, {}, status, None, 1e9, Outcome(duration_seconds=seconds, converged=converged), "csv")


def ended(took: float, *, longest: float | None = None) -> Entry:
    end = JobStatus(JobState.ENDED, ended_as=RunStatus.STOPPED, started_at=1000.0, ended_at=1000.0 + took)
    return Entry(replace(JOB, longest_seconds=longest), "local", 999.0, "id", end)


def test_the_shortest_run_that_reached_its_target_counts(tmp_path: Path) -> None:
    settings = load(None, None, {}, {"launch": {"stop_at": 3.0}})
    runs = [run(50, RunStatus.STOPPED), run(60, converged=False), run(100), run(80, converged=True), run(None)]
    assert longest_training_seconds(settings, runs) == 240
    assert longest_training_seconds(settings, runs[:2]) is None
    assert longest_training_seconds(load(None, None, {}, {"launch": {"stop_at": 0}}), runs) is None


def test_where_no_target_says_that_models_are_as_good_values_are_measured_by_their_own_runs(tmp_path: Path) -> None:
    settings = load(None, None, {}, {"launch": {"stop_at": 2.0}})
    small, large = {"batch_size": 32.0}, {"batch_size": 64.0}
    runs = [replace(run(100), parameters=small), replace(run(30), parameters=large)]
    assert longest_training_seconds(settings, runs, small) == 200
    assert longest_training_seconds(settings, runs, large) == longest_training_seconds(settings, runs) == 60
    assert longest_training_seconds(settings, runs, {"batch_size": 16.0}) == 60
    with_target = [*runs, run(50, converged=True)]
    assert longest_training_seconds(settings, with_target, small) == 60


def test_what_a_run_takes_besides_training() -> None:
    assert startup_seconds(ended(130), run(100)) == 30
    assert startup_seconds(ended(90), run(100)) == 0  # clocks of two machines
    assert startup_seconds(ended(130), None) is None
    assert startup_seconds(Entry(JOB, "local", 0.0), run(100)) is None


@pytest.mark.parametrize(
    ("entry", "found", "longest", "early"),
    [
        (ended(40), run(20, RunStatus.STOPPED), 200.0, True),
        (ended(230), run(200, RunStatus.STOPPED), 200.0, False),
        (ended(100, longest=100.0), run(70, RunStatus.STOPPED), None, False),
        (ended(100, longest=500.0), run(70, RunStatus.STOPPED), None, True),
        (ended(40), run(20, RunStatus.FAILED), 200.0, False),
        (ended(40), None, 200.0, False),
    ],
)
def test_what_was_ended_before_its_boundary_was_cut_off(
    entry: Entry, found: Run | None, longest: float | None, early: bool
) -> None:
    assert ended_early(entry, found, longest) is early


def test_the_log_says_since_when_it_trains_however_little_of_it_is_there(tmp_path: Path) -> None:
    entry = ended(1)
    folder = tmp_path / "run-1" / "runs"
    folder.mkdir(parents=True)
    assert training_of(entry, tmp_path).started_at is None
    head = "# run_id=run-1\n# dataset=digits\n# model=cnn\n# framework=pytorch\n"
    (folder / "run-1.csv").write_text(head)
    assert training_of(entry, tmp_path).started_at is None
    (folder / "run-1.csv").write_text(f"{head}# start=1234.5\ntime,epoch,sam")
    assert (training_of(entry, tmp_path).started_at, training_of(entry, tmp_path).over) == (1234.5, False)
    (folder / "run-1.csv").write_bytes(b"\xff\xfe\x00")
    assert training_of(entry, tmp_path).started_at is None
