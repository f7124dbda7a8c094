"""Waiting: what the engine of [launch] says how long runs of some configurations would wait, if it answers soon."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from jpo.agent.safety.queue_ahead import QueueAhead
from jpo.errors import JpoError
from jpo.launch.course import UNREACHABLE
from jpo.launch.job import Needs, Room
from jpo.launch.launcher import Launcher
from jpo.launch.queued import Queued, queued
from jpo.optimizer.candidates import collect
from jpo.optimizer.request import Request
from jpo.patience import OutOfPatience, within
from jpo.project.launch.engines import launcher_of
from jpo.project.load import LoadedSettings
from jpo.project.trust import of_the_runner
from jpo.records import Forecast, Known, Parameters, Workload

WITH_A_QUEUE = ("slurm", "kubernetes")
OF_THE_RUNNER = ("launch.kubernetes.context", "launch.slurm.options")
"""Settings by which whoever may change a branch would choose among the credentials of who runs JPO, or give a program options:
a suggestion, which pipelines make of branches of strangers, asks no queue with such."""
MOST_AMOUNTS = 5
"""Numbers of GPUs, or CPUs, of which the engine is asked at most before a choice."""
NOT_SAID = "JPO-W656"
LONGEST_SECONDS = 2.0
"""For all answers together: a forecast does not wait for a busy controller."""


def queued_with(
    expected: Sequence[tuple[Parameters, Forecast]], workload: Workload, settings: LoadedSettings, *, now: float
) -> tuple[Queued | None, ...]:
    """For configurations with what is expected of them: when their runs would be done, if they were submitted now.

    None where [launch] names no engine with a queue, or it does not say, or not within LONGEST_SECONDS; and where only a run that
    somebody starts may use what jpo.toml says of it (OF_THE_RUNNER).
    """
    if not _may_be_asked(settings):
        return (None,) * len(expected)
    engine, asked = settings.values.launch.on, [_needs(parameters, workload, settings) for parameters, _ in expected]
    rooms, _ = _rooms(asked, settings)
    durations = [forecast.duration_seconds for _, forecast in expected]
    return tuple(
        queued(engine, None if needs is None else rooms.get(needs), None if seconds is None else seconds.mean, now=now)
        for needs, seconds in zip(asked, durations, strict=True)
    )


def queue_ahead(
    request: Request, known: Known, workload: Workload, settings: LoadedSettings
) -> tuple[QueueAhead | None, dict[str, str]]:
    """What the engine says of runs with the numbers of GPUs, or of CPUs, that could be suggested, those nearest to today's first.

    None as in `queued_with`, where today's values ask for neither, and before the first run: nothing is chosen then. And that it
    was asked and is away, or does not answer: sentence -> reason code.
    """
    if not known.runs or not _may_be_asked(settings):
        return None, {}
    resource = next((name for name in ("gpus", "cpus") if request.current.get(name)), None)
    if resource is None:
        return None, {}
    candidates, now = collect(request, known.runs, known.siblings), request.current[resource]
    column = candidates.values[candidates.admissible, candidates.names.index(resource)] if resource in candidates.names else []
    amounts = sorted({now, *map(float, column)}, key=lambda amount: abs(math.log((amount + 1) / (now + 1))))[:MOST_AMOUNTS]
    needs = {amount: _needs({**request.current, resource: amount}, workload, settings) for amount in amounts}
    rooms, why = _rooms([*needs.values()], settings)
    silent = {f"How long runs would wait on {settings.values.launch.on} is not known ({why}); it counts for nothing": NOT_SAID}
    told = {amount: room for amount, each in needs.items() if each and (room := rooms.get(each))}
    waits = {amount: room.wait_seconds for amount, room in told.items() if room.wait_seconds is not None}
    of_now = next(iter(told.values()), None)
    if of_now is None:
        return None, silent if why else {}
    free, most = (of_now.free_gpus, of_now.gpus) if resource == "gpus" else (of_now.free_cpus, of_now.cpus)
    return QueueAhead(resource, waits, free, most), {}


def _may_be_asked(settings: LoadedSettings) -> bool:
    """Whether there is an engine with a queue that is set up by the runner, not by a branch."""
    return settings.values.launch.on in WITH_A_QUEUE and all(of_the_runner(settings, key) for key in OF_THE_RUNNER)


def _needs(parameters: Parameters, workload: Workload, settings: LoadedSettings) -> Needs | None:
    """What a configuration asks for; None where it cannot be asked for."""
    from jpo.project.launch.jobs import needs_of

    cpus, memory = parameters.get("cpus") or None, parameters.get("memory_gib") or None
    try:
        return replace(needs_of(workload, settings), gpus=int(parameters.get("gpus", 0)), cpus=cpus, memory_gib=memory)
    except ValueError:
        return None


def _rooms(asked: Sequence[Needs | None], settings: LoadedSettings) -> tuple[Mapping[Needs, Room], str]:
    """The answers that come within LONGEST_SECONDS, and why no more come where the engine is away; else ""."""
    rooms, different = dict[Needs, Room](), [needs for needs in dict.fromkeys(asked) if needs is not None]
    try:
        (why,) = within(LONGEST_SECONDS, [partial(_ask, different, settings, rooms)])
    except OutOfPatience as error:
        why = str(error)
    return rooms, why


def _ask(asked: Sequence[Needs], settings: LoadedSettings, rooms: dict[Needs, Room]) -> str:
    """Ask for one after the other; why the engine is away, or "", also where it is not set up here: then it says nothing."""
    try:
        launcher: Launcher = launcher_of(settings, environ=os.environ, detached=True)
        for needs in asked:
            rooms[needs] = launcher.room(needs)
    except JpoError as error:
        return f"{error.place}: {error.finding}" if error.code == UNREACHABLE else ""
    return ""
