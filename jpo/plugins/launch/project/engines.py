"""Engines by the name that `--on` and [launch] on have, and where the ledger of what they run is.

Each is imported when it is used: `jpo suggest` starts without them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from jpo import plugin
from jpo.errors import LaunchError
from jpo.inventory.machine import machine_here
from jpo.plugins.launch.engines import GROUP, OWN
from jpo.plugins.launch.job import LaunchJob
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.settings import launch_table
from jpo.project.load import LoadedSettings

LAUNCHES = ".jpo/launches"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an engine may need of the process that launches.

    Attributes:
        environ: its environment variables.
        ledger: absolute; the folder with one folder per run.
        detached: runs go on when this process ends; else an engine on this machine ends them with it.
    """

    environ: Mapping[str, str]
    ledger: Path
    detached: bool = False


def ledger_of(settings: LoadedSettings) -> Path:
    """The ledger of launched runs, absolute, there or not: `.jpo/launches` where a new store would be."""
    return (settings.store_root or settings.root).absolute() / LAUNCHES


def engine_named(settings: LoadedSettings, on: str | None) -> str:
    """The name of the engine that is meant: `on`, else what [launch] on says."""
    return on or launch_table(settings).on


def launcher_of(
    settings: LoadedSettings, on: str | None = None, *, environ: Mapping[str, str], detached: bool = False
) -> Launcher:
    """The engine that is meant.

    Args:
        on: its name; None: as [launch] on says.
        environ: of this process; engines read from it what their own clients would (KUBECONFIG, AWS_PROFILE).
        detached: runs go on when this process ends.

    Raises:
        LaunchError: JPO-E753, the engine cannot be used as it is set up, or is not installed.
    """
    name = engine_named(settings, on)
    made = engine_of(name)
    if made is None:
        raise LaunchError(f"engine {name}", "is not installed here", f"known are {', '.join(OWN)}", code="JPO-E753")
    return made(settings, Surroundings(environ, ledger_of(settings), detached))


def engine_of(name: str) -> EngineMaker | None:
    """How an engine is made, JPO's own or one that another package brings; None where it is not installed here."""
    return ENGINES.get(name) or plugin.of_package(GROUP, name)


def plan_of(launcher: Launcher, job: LaunchJob, config: bytes) -> Mapping[str, object] | None:
    """What an engine would be given for a job, in its own form; None where that is the command alone."""
    from jpo.plugins.launch.engines.aws.launcher import AwsLauncher
    from jpo.plugins.launch.engines.kubernetes.launcher import KubernetesLauncher

    if isinstance(launcher, AwsLauncher):
        return launcher.plan(job)
    return launcher.manifest(job, config) if isinstance(launcher, KubernetesLauncher) else None


def _local(settings: LoadedSettings, here: Surroundings) -> Launcher:
    from jpo.plugins.launch.engines.local.capacity import Capacity, LocalGpu
    from jpo.plugins.launch.engines.local.launcher import LocalLauncher

    def capacity() -> Capacity:
        machine = machine_here(here.environ)
        found = machine.gpus
        gpus = None if found is None else tuple(LocalGpu(gpu.uuid or str(n), gpu.memory_used_gib) for n, gpu in enumerate(found))
        return Capacity(gpus, machine.why_gpus, machine.cpus, machine.memory_gib)

    return LocalLauncher(here.ledger, capacity, here.environ, detached=here.detached)


def _slurm(settings: LoadedSettings, here: Surroundings) -> Launcher:
    from jpo.plugins.launch.engines.slurm.launcher import SlurmLauncher
    from jpo.plugins.launch.engines.slurm.site import SlurmSite

    table = launch_table(settings).slurm
    site = SlurmSite(table.partition, table.account, table.qos, table.options)
    return SlurmLauncher(site, here.ledger, here.environ, time.time)


def _kubernetes(settings: LoadedSettings, here: Surroundings) -> Launcher:
    from jpo.plugins.launch.engines.kubernetes.launcher import KubernetesLauncher
    from jpo.plugins.launch.engines.kubernetes.pods import NodeChoice, PodSetup
    from jpo.plugins.launch.engines.kubernetes.session import Connected, Session

    table = launch_table(settings).kubernetes
    session = Session(lambda: Connected(table.context, here.environ.get("KUBECONFIG")), time.sleep, table.namespace)
    of_nodes = {field.name for field in fields(NodeChoice)}
    nodes = NodeChoice(**table.model_dump(include=of_nodes))
    pods = PodSetup(**table.model_dump(exclude={"context", "namespace", *of_nodes}), nodes=nodes)
    return KubernetesLauncher(session, pods, here.ledger)


def _aws(settings: LoadedSettings, here: Surroundings) -> Launcher:
    from jpo.plugins.launch.engines.aws.launcher import AwsLauncher
    from jpo.plugins.launch.project.instances import offers_of, place_of

    return AwsLauncher(place_of(settings, here.environ), offers_of(settings, here.environ), time.time, here.ledger)


EngineMaker = Callable[[LoadedSettings, Surroundings], Launcher]
ENGINES: Mapping[str, EngineMaker] = dict(zip(OWN, (_local, _slurm, _kubernetes, _aws), strict=True))
"""JPO's own engines: what each is made of stands in its table of [launch]."""
