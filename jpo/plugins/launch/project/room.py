"""The most that an engine has for one run, as a limit of what is suggested for it: what it would refuse is not tried."""

from __future__ import annotations

from dataclasses import replace

from jpo.errors import LaunchError
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.project.jobs import needs_of
from jpo.project.load import LoadedSettings
from jpo.records import Workload

RESOURCES = ("gpus", "cpus", "memory_gib")


def kept_to_room(settings: LoadedSettings, workload: Workload, launcher: Launcher) -> LoadedSettings:
    """The settings with what the engine has for one run; where it does not say, or is away, nothing is limited."""
    try:
        room = launcher.room(needs_of(workload, settings))
    except LaunchError:
        return settings
    most = {name: getattr(room, name) for name in RESOURCES}
    return replace(settings, room={name: amount for name, amount in most.items() if amount is not None})
