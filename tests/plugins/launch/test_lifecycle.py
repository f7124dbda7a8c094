"""A run starts once and ends on record, whatever dies in between."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jpo.errors import LaunchError
from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob, Needs, Room
from jpo.plugins.launch.ledger import read
from jpo.plugins.launch.lifecycle import CANCEL_SECONDS, GIVE_UP_SECONDS, cancel, follow, start
from jpo.records import Identity, RunStatus

JOB = LaunchJob("night-1", Identity("digits", "cnn", "pytorch"), ("train",), Path("/srv"))
DONE = JobStatus(JobState.ENDED, 0, RunStatus.SUCCEEDED, started_at=1.0, ended_at=2.0)


@dataclass
class Engine:
    """An engine whose answers are given, an exception among them is raised; it counts what it is asked."""

    answers: Iterator[object]
    name: str = "simulated"
    submitted: list[str] = field(default_factory=list)
    dies: bool = False

    def room(self, needs: Needs) -> Room:
        return Room()

    def refuse(self, job: LaunchJob) -> None: ...

    def submit(self, job: LaunchJob, folder: Path) -> str:
        if job.run_id not in self.submitted:
            self.submitted.append(job.run_id)
        if self.dies:
            raise KeyboardInterrupt
        return "7"

    def status(self, engine_id: str) -> JobStatus:
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, JobStatus)
        return answer

    def cancel(self, engine_id: str) -> None: ...

    def collect(self, engine_id: str, folder: Path) -> None: ...


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


UNREACHABLE = LaunchError("slurm", "does not answer", code="JPO-E754")


def test_a_start_that_was_cut_off_is_made_again_and_starts_nothing_twice(tmp_path: Path) -> None:
    engine = Engine(iter(()), dies=True)
    with pytest.raises(KeyboardInterrupt):
        start(JOB, engine, tmp_path, now=5.0)
    cut_off = read(tmp_path, "night-1")
    assert cut_off is not None
    assert cut_off.engine_id is None
    engine.dies = False
    assert start(JOB, engine, tmp_path, now=6.0).engine_id == "7"
    assert engine.submitted == ["night-1"]


def test_an_engine_that_restarts_is_waited_for(tmp_path: Path) -> None:
    engine, clock = Engine(iter([UNREACHABLE, UNREACHABLE, DONE])), Clock()
    entry = start(JOB, engine, tmp_path, now=5.0)
    assert list(follow(entry, engine, tmp_path, clock=clock, sleep=clock.sleep)) == [DONE]
    ended = read(tmp_path, "night-1")
    assert ended is not None
    assert ended.end == DONE


def test_an_engine_that_stays_away_is_an_error_and_the_run_stays_in_the_ledger(tmp_path: Path) -> None:
    engine, clock = Engine(iter([UNREACHABLE] * 10_000)), Clock()
    entry = start(JOB, engine, tmp_path, now=5.0)
    with pytest.raises(LaunchError, match="does not answer"):
        list(follow(entry, engine, tmp_path, clock=clock, sleep=clock.sleep))
    assert clock.now > GIVE_UP_SECONDS
    assert read(tmp_path, "night-1") == entry


def test_a_run_that_is_over_is_not_asked_about_again(tmp_path: Path) -> None:
    engine, clock = Engine(iter([DONE])), Clock()
    entry = start(JOB, engine, tmp_path, now=5.0)
    list(follow(entry, engine, tmp_path, clock=clock, sleep=clock.sleep))
    again = start(JOB, engine, tmp_path, now=9.0)
    assert list(follow(again, engine, tmp_path, clock=clock, sleep=clock.sleep)) == [DONE]


def test_the_end_that_another_process_brought_home_counts_and_not_what_the_engine_has_forgotten_since(tmp_path: Path) -> None:
    """Two that follow one run: once the first has collected it, nothing of it need be left on the engine."""
    engine, clock = Engine(iter([DONE, JobStatus(JobState.UNKNOWN, reason="was it deleted?")])), Clock()
    entry = start(JOB, engine, tmp_path, now=5.0)
    for _ in range(2):
        assert list(follow(entry, engine, tmp_path, clock=clock, sleep=clock.sleep)) == [DONE]
    ended = read(tmp_path, "night-1")
    assert ended is not None
    assert ended.end == DONE


def test_a_cancelled_run_is_waited_for_though_its_engine_is_away_for_a_moment(tmp_path: Path) -> None:
    running = JobStatus(JobState.RUNNING, started_at=1.0)
    engine, clock = Engine(iter([running, UNREACHABLE, DONE])), Clock()
    entry = start(JOB, engine, tmp_path, now=5.0)
    assert cancel(entry, engine, tmp_path, sleep=clock.sleep)
    ended = read(tmp_path, "night-1")
    assert ended is not None
    assert ended.end == DONE


def test_who_cancels_is_let_go_after_a_while_and_the_run_stays_in_the_ledger(tmp_path: Path) -> None:
    engine, clock = Engine(iter([JobStatus(JobState.RUNNING, started_at=1.0)] * 1000)), Clock()
    entry = start(JOB, engine, tmp_path, now=5.0)
    assert not cancel(entry, engine, tmp_path, sleep=clock.sleep)
    assert CANCEL_SECONDS <= clock.now < CANCEL_SECONDS + 1.0
    assert read(tmp_path, "night-1") == entry


def test_what_cannot_be_looked_at_is_no_end_of_a_cancelled_run(tmp_path: Path) -> None:
    engine = Engine(iter([LaunchError("slurm", "refuses", code="JPO-E753")]))
    entry = start(JOB, engine, tmp_path, now=5.0)
    with pytest.raises(LaunchError, match="refuses"):
        cancel(entry, engine, tmp_path, sleep=Clock().sleep)


def test_a_full_disk_is_said_and_nothing_is_submitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Path.mkdir

    def full(path: Path, *given: object, **named: object) -> None:
        if path.name == "runs":
            raise OSError(errno.ENOSPC, "No space left on device")
        make(path, *given, **named)  # type: ignore[arg-type]

    engine = Engine(iter(()))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", full)
        with pytest.raises(LaunchError, match="No space left on device") as caught:
            start(JOB, engine, tmp_path, now=1.0)
    assert (caught.value.code, engine.submitted) == ("JPO-E752", [])
    assert start(JOB, engine, tmp_path, now=1.0).engine_id == "7"
