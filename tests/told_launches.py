"""Stories of a launch, told by processes that come and go, while one call to the engine goes wrong; the same for every engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from faulty_path import Path as Route
from faulty_path import Wrong

from jpo.errors import LaunchError
from jpo.plugins.launch.job import LaunchJob
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.ledger import Entry, read
from jpo.plugins.launch.lifecycle import ask_status, cancel, noted, start
from jpo.records import RunStatus

TRIES = 5
"""How often a command is repeated at most: a fault holds for one call."""
PRINTED, LOG = "hello", "# run_id=x\n"


class Engine(Protocol):
    """What differs between engines; `passing`: codes of errors after which the same command is run again."""

    passing: frozenset[str]

    def launcher(self) -> Launcher:
        """As a new process has it."""

    def clock(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...

    def ends_by_itself(self, entry: Entry) -> None:
        """It prints PRINTED, has a run log x with LOG, and exits with 0."""

    def is_taken_back(self, entry: Entry) -> None:
        """The engine ends it before it could say anything."""

    def wrong_at_the_end(self, job: LaunchJob) -> str:
        """Unless it was started once, and nothing of it is left running: what is wrong."""


@dataclass
class Told:
    """One story of a run: each command asks a launcher of its own."""

    engine: Engine
    job: LaunchJob
    ledger: Path

    def repeated(self, command: Callable[[], Any]) -> Any:
        """The command as somebody repeats it who is told that nothing starts twice."""
        for _ in range(TRIES):
            try:
                return command()
            except LaunchError as error:
                if error.code not in self.engine.passing:
                    raise
                self.engine.sleep(2.0)
        raise AssertionError("never gets through")

    def started(self) -> Entry:
        begun = self.engine.clock()
        entry: Entry = self.repeated(lambda: start(self.job, self.engine.launcher(), self.ledger, now=begun))
        assert entry.engine_id
        return entry

    def over(self, entry: Entry) -> bool:
        return bool(self.repeated(lambda: ask_status(entry, self.engine.launcher(), self.ledger)).over)

    def ended(self, entry: Entry) -> bool:
        """Whether it is cancelled, and seen to be over."""
        ends = self.engine.sleep
        return bool(self.repeated(lambda: cancel(entry, self.engine.launcher(), self.ledger, sleep=ends)))


Story = Callable[[Told], RunStatus]


def to_its_end(told: Told) -> RunStatus:
    """Started, seen running, ended by itself."""
    entry = told.started()
    assert not told.over(entry), "it runs"
    told.engine.ends_by_itself(entry)
    assert told.over(entry)
    folder = told.ledger / told.job.run_id
    assert (folder / "output.log").read_text() == PRINTED
    assert (folder / "runs" / "x.csv").read_text() == LOG
    return RunStatus.SUCCEEDED


def cancelled(told: Told) -> RunStatus:
    assert told.ended(told.started())
    return RunStatus.STOPPED


def taken_back(told: Told) -> RunStatus:
    entry = told.started()
    told.engine.is_taken_back(entry)
    assert told.over(entry)
    return RunStatus.STOPPED


def interrupted(told: Told) -> RunStatus:
    """Whoever starts it is killed before it hears what the engine started; the next command finds the run, and ends it."""
    killed: Any = told.engine.launcher()
    submit = killed.submit

    def dies(*of_run: Any) -> str:
        submit(*of_run)
        raise KeyboardInterrupt

    killed.submit = dies
    with pytest.raises((KeyboardInterrupt, LaunchError)):
        start(told.job, killed, told.ledger, now=told.engine.clock())
    entry = read(told.ledger, told.job.run_id) or told.started()
    entry = told.repeated(lambda: noted(entry, told.engine.launcher(), told.ledger))
    assert told.ended(entry if entry.engine_id else told.started())
    return RunStatus.STOPPED


STORIES: Mapping[str, Story] = {story.__name__: story for story in (to_its_end, cancelled, taken_back, interrupted)}


def tell(story: Story, told: Told, route: Route, at: int | None = None, wrong: Wrong | None = None) -> list[str]:
    """What was called in a story; it ends as promised."""
    route.begin(at, wrong)
    expected = story(told)
    calls = list(route.calls)
    route.begin(None, None)
    entry = read(told.ledger, told.job.run_id)
    assert entry
    assert entry.end
    assert entry.end.ended_as is expected, entry.end
    assert told.engine.wrong_at_the_end(told.job) == ""
    return calls


def faults_of(calls: Sequence[str], ways: Mapping[str, Wrong], starts: str) -> Iterator[tuple[int, str]]:
    """Number of a call, and what befalls it: of each call one, and silence after a start; all with EVERY_FAULT=1."""
    for number, call in enumerate(calls):
        possible = [way for way, wrong in ways.items() if wrong.befalls(call)]
        quick = [way for way in possible if not ways[way].silent]
        some = [quick[number % len(quick)], *(["silence after it was done"] if call == starts else [])]
        yield from ((number, way) for way in (possible if os.environ.get("EVERY_FAULT") else some))


def all_that_breaks(tells: Callable[[int | None, Wrong | None], list[str]], ways: Mapping[str, Wrong], starts: str) -> list[str]:
    """What of a story with a fault does not end as promised; before it, how many of how many did not."""
    calls, played, broken = tells(None, None), 0, list[str]()
    for number, way in faults_of(calls, ways, starts):
        played += 1
        try:
            tells(number, ways[way])
        except (AssertionError, Exception) as error:  # noqa: BLE001 - all that breaks is said
            broken.append(f"{number} {calls[number]}, {way}: {type(error).__name__}: {error}"[:400])
    return [f"{len(broken)} of {played}", *broken] if broken else []


def row_of(told_calls: Sequence[Sequence[str]], ways: Mapping[str, Wrong]) -> str:
    """The row of docs/reliability.md: calls of each story, and the faults that can befall them."""
    counts = [(len(calls), sum(wrong.befalls(call) for call in calls for wrong in ways.values())) for calls in told_calls]
    return f"| {' | '.join(f'{calls} calls: {faults}' for calls, faults in counts)} |"
