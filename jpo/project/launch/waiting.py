"""Waiting: what the engine of [launch] says how long runs of some configurations would wait, if it answers soon."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from jpo.errors import JpoError
from jpo.launch.job import Needs, Room
from jpo.launch.launcher import Launcher
from jpo.launch.queued import Queued, queued
from jpo.project.launch.engines import launcher_of
from jpo.project.launch.patience import within
from jpo.project.load import LoadedSettings
from jpo.project.trust import of_the_runner
from jpo.records import Forecast, Parameters, Workload

WITH_A_QUEUE = ("slurm", "kubernetes")
OF_THE_RUNNER = ("launch.kubernetes.context", "launch.slurm.options")
"""Settings by which whoever may change a branch would choose among the credentials of who runs JPO, or give a program options:
a suggestion, which pipelines make of branches of strangers, asks no queue with such."""
LONGEST_SECONDS = 2.0
"""For all answers together: a forecast does not wait for a busy controller."""


def queued_with(
    expected: Sequence[tuple[Parameters, Forecast]], workload: Workload, settings: LoadedSettings, *, now: float
) -> tuple[Queued | None, ...]:
    """For configurations with what is expected of them: when their runs would be done, if they were submitted now.

    None where [launch] names no engine with a queue, or it does not say, or not within LONGEST_SECONDS; and where only a run that
    somebody starts may use what jpo.toml says of it (OF_THE_RUNNER).
    """
    engine = settings.values.launch.on
    if engine not in WITH_A_QUEUE or not all(of_the_runner(settings, key) for key in OF_THE_RUNNER):
        return (None,) * len(expected)
    asked = [_needs(parameters, workload, settings) for parameters, _ in expected]
    rooms, different = dict[Needs, Room](), [needs for needs in dict.fromkeys(asked) if needs is not None]
    within(LONGEST_SECONDS, [partial(_ask, different, settings, rooms)])
    durations = [forecast.duration_seconds for _, forecast in expected]
    return tuple(
        queued(engine, None if needs is None else rooms.get(needs), None if seconds is None else seconds.mean, now=now)
        for needs, seconds in zip(asked, durations, strict=True)
    )


def _needs(parameters: Parameters, workload: Workload, settings: LoadedSettings) -> Needs | None:
    """What a configuration asks for; None where it cannot be asked for."""
    from jpo.project.launch.jobs import needs_of

    cpus, memory = parameters.get("cpus") or None, parameters.get("memory_gib") or None
    try:
        return replace(needs_of(workload, settings), gpus=int(parameters.get("gpus", 0)), cpus=cpus, memory_gib=memory)
    except ValueError:
        return None


def _ask(asked: Sequence[Needs], settings: LoadedSettings, rooms: dict[Needs, Room]) -> None:
    """Ask for one after the other; an engine that cannot be asked says nothing."""
    try:
        launcher: Launcher = launcher_of(settings, environ=os.environ, detached=True)
        for needs in asked:
            rooms[needs] = launcher.room(needs)
    except JpoError:
        return
