"""Waiting: what the engine of [launch] says how long runs of some configurations would wait, if it answers soon."""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from jpo.agent.safety.queue_waits import QueueWaits
from jpo.errors import JpoError
from jpo.plugins.launch.engines import OWN, described
from jpo.plugins.launch.job import Needs, Room
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.lifecycle import UNREACHABLE
from jpo.plugins.launch.project.engines import launcher_of
from jpo.plugins.launch.settings import launch_table
from jpo.project.load import LoadedSettings
from jpo.project.secrets import set_by_runner
from jpo.records import Forecast, Note, Parameters, Queued, Workload
from jpo.timeouts import NoAnswerInTime, within

MOST_AMOUNTS = 5
"""Numbers of GPUs, or CPUs, of which the engine is asked at most before a choice."""
NOT_SAID = "JPO-W656"
LONGEST_SECONDS = 2.0
"""For all answers together: a forecast does not wait for a busy controller."""


class EngineQueue:
    """The queue of the engine of [launch], for one command: of the same resources it is asked once, whether it answers or not."""

    def __init__(self, workload: Workload, settings: LoadedSettings) -> None:
        self._workload, self._settings = workload, settings
        self._rooms = dict[Needs | None, Room | None]()
        self._silence = ""

    @property
    def notes(self) -> tuple[Note, ...]:
        """That the engine was asked and is away, or did not answer; it is asked no more then."""
        engine = launch_table(self._settings).on
        why = f"How long runs would wait on {engine} is not known ({self._silence}); it counts for nothing"
        return (Note(NOT_SAID, why, engine),) if self._silence else ()

    def ends(self, expected: Sequence[tuple[Parameters, Forecast]], *, now: float) -> tuple[Queued | None, ...]:
        """For configurations with what is expected of them: when their runs would be done, if they were submitted now.

        None where [launch] names no engine with a queue, or it does not say, or not within LONGEST_SECONDS; and where only a run
        that somebody starts may use what jpo.toml says of it.
        """
        if not _may_be_asked(self._settings):
            return (None,) * len(expected)
        asked = [_needs(parameters, self._workload, self._settings) for parameters, _ in expected]
        rooms = self._rooms_for(asked)
        durations = [forecast.duration_seconds for _, forecast in expected]
        return tuple(
            queued(launch_table(self._settings).on, rooms.get(needs), None if seconds is None else seconds.mean, now=now)
            for needs, seconds in zip(asked, durations, strict=True)
        )

    def waits_for(self, today: Parameters, others: Callable[[], Iterable[Parameters]]) -> QueueWaits | None:
        """What the engine says of runs with as many GPUs, or CPUs, as today or another configuration, those nearest to today's
        first. None as in `ends`, and where today's values ask for neither."""
        resource = next((name for name in ("gpus", "cpus") if today.get(name)), None)
        if resource is None or not _may_be_asked(self._settings):
            return None
        now = today[resource]
        column = {now, *(float(each[resource]) for each in others() if resource in each)}
        amounts = sorted(column, key=lambda amount: abs(math.log((amount + 1) / (now + 1))))[:MOST_AMOUNTS]
        needs = {amount: _needs({**today, resource: amount}, self._workload, self._settings) for amount in amounts}
        rooms = self._rooms_for([*needs.values()])
        told = {amount: room for amount, each in needs.items() if (room := rooms.get(each))}
        waits = {amount: room.wait_seconds for amount, room in told.items() if room.wait_seconds is not None}
        of_now = next(iter(told.values()), None)
        if of_now is None:
            return None
        free, most = (of_now.free_gpus, of_now.gpus) if resource == "gpus" else (of_now.free_cpus, of_now.cpus)
        return QueueWaits(resource, waits, free, most)

    def _rooms_for(self, asked: Sequence[Needs | None]) -> Mapping[Needs | None, Room | None]:
        """All answers so far, with those to these that come within LONGEST_SECONDS."""
        new = [needs for needs in dict.fromkeys(asked) if needs is not None and needs not in self._rooms]
        if new and not self._silence:
            rooms = dict[Needs, Room]()
            try:
                (self._silence,) = within(LONGEST_SECONDS, [partial(_ask, new, self._settings, rooms)])
            except NoAnswerInTime as error:
                self._silence = str(error)
            self._rooms |= {needs: rooms.get(needs) for needs in new}
        return self._rooms


def _may_be_asked(settings: LoadedSettings) -> bool:
    """Whether there is an engine with a queue that is set up by the runner, not by a branch.

    By some settings whoever may change a branch would choose among the credentials of who runs JPO, or give a program options: a
    suggestion, which pipelines make of branches of strangers, asks no queue with such.
    """
    if not described(launch_table(settings).on).has_queue:
        return False
    delicate = (f"launch.{name}.{key}" for name in OWN for key in (*described(name).credentials, *described(name).options))
    return all(set_by_runner(settings, key) for key in delicate)


def _needs(parameters: Parameters, workload: Workload, settings: LoadedSettings) -> Needs | None:
    """What a configuration asks for; None where it cannot be asked for."""
    from jpo.plugins.launch.project.jobs import needs_of

    try:
        return needs_of(workload, settings, parameters)
    except ValueError:
        return None


def _ask(asked: Sequence[Needs], settings: LoadedSettings, rooms: dict[Needs, Room]) -> str:
    """Ask for one after the other; why the engine is away, or "", also where it is not set up here: then it says nothing."""
    try:
        launcher: Launcher = launcher_of(settings, environ=os.environ, detached=True)
        for needs in asked:
            rooms[needs] = launcher.room(needs)
    except JpoError as error:
        return f"{error.place}: {error.finding}" if error.code == UNREACHABLE else ""
    return ""


def queued(engine: str, room: Room | None, run_seconds: float | None, *, now: float) -> Queued | None:
    """A run that is expected to take so long in its engine's queue; None where the engine does not say how long it would wait."""
    if room is None or room.wait_seconds is None:
        return None
    starts_at = now + room.wait_seconds
    return Queued(engine, room.wait_seconds, None if run_seconds is None else starts_at + run_seconds)
