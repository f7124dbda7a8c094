"""The contract suite of launchers: what every engine must do, whatever it is.

It runs on each in tests/plugins/launch/engines/*/test_launcher.py.
An engine's test gives a Bench: the launcher, commands that behave as named, and a way to let time pass.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from jpo.errors import LaunchError
from jpo.plugins.launch.job import JobState, LaunchJob, Needs
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.ledger import Entry, entries, read
from jpo.plugins.launch.lifecycle import ask_status, follow, recorded, start
from jpo.records import Identity, RunStatus

DIGITS = Identity("digits", "cnn", "pytorch")
numbers = itertools.count(1)


@contextmanager
def interrupted_once_submitted(launcher: type[Launcher]) -> Iterator[None]:
    """Ctrl-C when the engine has a job, and the ledger has not what the engine calls it."""
    submit = launcher.submit

    def interrupted(*told: Any) -> str:
        submit(*told)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launcher, "submit", interrupted)
        yield


class VirtualClock:
    """Unix seconds that pass only while somebody sleeps."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Bench:
    """An engine on trial.

    Attributes:
        launcher: made anew by each call, as a new process would: it may keep nothing in memory that the next one needs.
        commands: "succeeds" prints "hello" and writes a run log, "fails" exits with 3, "lasts" goes on for a minute and more.
        clock, sleep: of the engine; virtual or real.
        too_many_gpus: more than there are.
    """

    launcher: Callable[[], Launcher]
    commands: Mapping[str, tuple[str, ...]]
    ledger: Path
    folder: Path
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    too_many_gpus: int = 10_000
    run_ids: list[str] = field(default_factory=list)

    def job(self, command: str, **changes: object) -> LaunchJob:
        run_id = f"run-{next(numbers)}"
        self.run_ids.append(run_id)
        return replace(LaunchJob(run_id, DIGITS, self.commands[command], self.folder), **changes)  # type: ignore[arg-type]

    def start(self, job: LaunchJob) -> Entry:
        return start(job, self.launcher(), self.ledger, now=self.clock())

    def finish(self, entry: Entry) -> Entry:
        *_, last = follow(entry, self.launcher(), self.ledger, clock=self.clock, sleep=self.sleep)
        assert last.over
        return self.entry(entry.job.run_id)

    def entry(self, run_id: str) -> Entry:
        found = read(self.ledger, run_id)
        assert found is not None
        return found

    def until_it_runs(self, entry: Entry) -> None:
        for _ in range(1200):
            status = ask_status(entry, self.launcher(), self.ledger)
            if status.state is not JobState.WAITING:
                break
            self.sleep(0.1)
        assert status.state is JobState.RUNNING, status


class Contract:
    """Inherited by one class per engine, which has a fixture `bench`; the one place where inheritance is the plain way."""

    def test_a_run_that_succeeds_is_accounted_for_with_output_and_log(self, bench: Bench) -> None:
        entry = bench.finish(bench.start(bench.job("succeeds")))
        assert entry.end is not None
        assert entry.end.ended_as is RunStatus.SUCCEEDED
        assert entry.end.exit_code == 0
        assert entry.end.started_at is not None
        assert entry.end.ended_at is not None
        assert entry.end.ended_at >= entry.end.started_at
        folder = bench.ledger / entry.job.run_id
        assert "hello" in (folder / "output.log").read_text()
        assert list((folder / "runs").glob("*.csv"))

    def test_a_run_that_fails_says_so(self, bench: Bench) -> None:
        end = bench.finish(bench.start(bench.job("fails"))).end
        assert end is not None
        assert end.ended_as is RunStatus.FAILED
        assert end.exit_code not in (0, None)

    def test_submitting_twice_starts_once(self, bench: Bench) -> None:
        job = bench.job("lasts")
        first = bench.start(job)
        folder = (bench.ledger / job.run_id).absolute()
        assert bench.launcher().submit(job, folder) == first.engine_id  # as after kill -9 between submission and ledger
        assert bench.start(job) == first
        bench.launcher().cancel(str(first.engine_id))
        bench.finish(first)

    def test_what_was_submitted_though_nobody_noted_it_is_found(self, bench: Bench) -> None:
        job = bench.job("lasts")
        folder = (bench.ledger / job.run_id).absolute()
        assert bench.launcher().find(job, folder) is None
        entry = bench.start(job)
        assert bench.launcher().find(job, folder) == entry.engine_id
        bench.launcher().cancel(str(entry.engine_id))
        bench.finish(entry)

    def test_another_job_under_the_same_id_is_refused(self, bench: Bench) -> None:
        job = bench.job("lasts")
        first = bench.start(job)
        with pytest.raises(LaunchError, match="id of its own") as caught:
            bench.start(replace(job, command=("other",)))
        assert caught.value.code == "JPO-E750"
        bench.launcher().cancel(str(first.engine_id))
        bench.finish(first)

    def test_a_cancelled_run_stops_and_cancelling_again_does_nothing(self, bench: Bench) -> None:
        entry = bench.start(bench.job("lasts"))
        bench.until_it_runs(entry)
        bench.launcher().cancel(str(entry.engine_id))
        end = bench.finish(entry).end
        assert end is not None
        assert end.ended_as is RunStatus.STOPPED
        bench.launcher().cancel(str(entry.engine_id))
        assert bench.finish(entry).end == end

    def test_a_run_beyond_its_time_is_ended(self, bench: Bench) -> None:
        end = bench.finish(bench.start(bench.job("lasts", longest_seconds=2.0))).end
        assert end is not None
        assert end.ended_as is RunStatus.STOPPED

    def test_what_could_never_run_is_refused_before_it_starts(self, bench: Bench) -> None:
        job = bench.job("succeeds", needs=Needs(gpus=bench.too_many_gpus))
        with pytest.raises(LaunchError) as caught:
            bench.start(job)
        assert caught.value.code == "JPO-E755"
        assert caught.value.remedy
        assert read(bench.ledger, job.run_id) is None

    def test_an_id_that_no_engine_gave_is_unknown(self, bench: Bench) -> None:
        entry = bench.finish(bench.start(bench.job("succeeds")))
        status = bench.launcher().status(str(entry.engine_id)[:-1] + ("8" if str(entry.engine_id)[-1] != "8" else "9"))
        assert status.state is JobState.UNKNOWN

    def test_every_run_stands_in_the_ledger_until_it_is_on_record(self, bench: Bench) -> None:
        entry = bench.finish(bench.start(bench.job("succeeds")))
        assert [each.recorded for each in entries(bench.ledger) if each.job.run_id == entry.job.run_id] == [False]
        recorded(entry, bench.ledger)
        assert bench.entry(entry.job.run_id).recorded
