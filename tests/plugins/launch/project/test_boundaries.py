"""After how long a run is of no use, and what was ended from outside before that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob
from jpo.plugins.launch.ledger import Entry
from jpo.plugins.launch.project.boundaries import ended_early, longest_trial_seconds, startup_seconds, training_of
from jpo.project.load import load
from jpo.records import Identity, Outcome, Run, RunStatus

DIGITS = Identity("digits", "cnn", "pytorch")
JOB = LaunchJob("run-1", DIGITS, ("true",), Path("/"))


def run(seconds: float | None, status: RunStatus = RunStatus.SUCCEEDED, *, converged: bool | None = None) -> Run:
    return Run("run-1", DIGITS, {}, status, None, 1e9, Outcome(duration_seconds=seconds, converged=converged), "csv")


def ended(took: float, *, longest: float | None = None) -> Entry:
    end = JobStatus(JobState.ENDED, ended_as=RunStatus.STOPPED, started_at=1000.0, ended_at=1000.0 + took)
    return Entry(replace(JOB, longest_seconds=longest), "local", 999.0, "id", end)


SMALL, LARGE = {"batch_size": 32.0}, {"batch_size": 64.0}


def with_values(values: dict[str, float], *seconds: float) -> list[Run]:
    return [replace(run(each), parameters=values) for each in seconds]


def longest(stop_at: float, *runs: Run) -> float | None:
    return longest_trial_seconds(load(None, None, {}, {"launch": {"stop_at": stop_at}}), runs)


def test_a_trial_may_take_a_multiple_of_what_the_best_values_usually_do() -> None:
    known = [*with_values(SMALL, 100.0, 100.0), *with_values(LARGE, 60.0, 60.0)]
    assert longest(3.0, *known) == pytest.approx(180.0)
    assert longest(3.0, *known, run(50, RunStatus.STOPPED), run(40, converged=False), run(None)) == pytest.approx(180.0)
    assert longest(3.0, run(50, RunStatus.STOPPED), run(60, converged=False)) is None
    assert longest(0.0, *known) is None


def test_where_equal_runs_differ_much_a_trial_may_take_what_19_of_20_of_the_best_do() -> None:
    """Half of the runs take twice as long as the other half: twice the usual time is nothing unusual there."""
    noisy = longest(2.0, *with_values(SMALL, *[50.0, 100.0] * 4))
    assert noisy is not None
    assert noisy > 2 * 70.0
    calm = longest(2.0, *with_values(SMALL, *[70.0, 71.0] * 4))
    assert calm == pytest.approx(141.0, rel=0.01)


def test_values_that_were_lucky_once_are_not_what_a_trial_has_to_beat() -> None:
    usual = with_values(SMALL, *[80.0, 125.0] * 5)
    lucky = longest(1.0, *usual, *with_values(LARGE, 75.0))
    assert lucky is not None
    assert lucky > 1.4 * 75.0


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


def test_in_a_search_by_loss_alone_a_slow_trial_goes_on() -> None:
    longest = {
        (goal, by): longest_trial_seconds(load(None, None, {}, {"agent": {"goal": goal}, "preference": by}), [run(10.0)])
        for goal, by in (("search", "loss=1"), ("search", "time=0.5,loss=0.5"), ("recurring", "loss=1"))
    }
    assert [seconds is None for seconds in longest.values()] == [True, False, False]
