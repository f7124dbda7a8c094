"""The job that a config.ini and a command make, the same for every engine."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import replace

from jpo.errors import LaunchError, UsageError
from jpo.plugins.launch.job import RUN_ID, LaunchJob, Needs
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.project.command import Invocation
from jpo.plugins.launch.settings import launch_table
from jpo.project.load import LoadedSettings
from jpo.project.prices import prices_of
from jpo.records import Parameters, Workload, plain

NOTHING: Mapping[str, str] = {}
PRICES = ("usd_per_gpu_hour", "usd_per_cpu_hour", "usd_per_gib_hour")


def new_run_id(workload: Workload, *, now: float) -> str:
    """An id for a run that starts now: model, time (UTC) and what tells it from others of the same second."""
    model = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in workload.identity.model.lower())
    moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    return f"{model.strip('-')[:32] or 'run'}-{moment}-{secrets.token_hex(4)}"


def job_of(
    workload: Workload,
    settings: LoadedSettings,
    invocation: Invocation,
    *,
    run_id: str,
    environment: Mapping[str, str] = NOTHING,
    longest_seconds: float | None = None,
) -> LaunchJob:
    """The job of an invocation, with the values of a config.ini; without a command of its own that of [launch] command.

    Its environment has every value as JPO_BATCH_SIZE and the like, prices of an hour (JPO_USD_PER_GPU_HOUR), and the path of
    config.ini as JPO_CONFIG; engines add JPO_RUN_ID and JPO_RUNLOG_DIR.

    Args:
        environment: further variables, which win; no secrets.
        longest_seconds: None: as [launch] timeout says.

    Raises UsageError: JPO-E756, there is no command; JPO-E757, the id cannot be that of a run.
    """
    words = invocation.command or launch_table(settings).command
    if not words:
        remedy = "write `train.py` or `-- python train.py` behind config.ini, or [launch] command in jpo.toml"
        raise UsageError("the command line", "names no script and no command to run", remedy, code="JPO-E756")
    if not RUN_ID.fullmatch(run_id):
        remedy = "use 1 to 63 of A-Z a-z 0-9 . _ -, a letter or digit at either end"
        raise UsageError("--run-id", f"{run_id!r:.80} cannot be the id of a run", remedy, code="JPO-E757")
    longest = launch_table(settings).timeout if longest_seconds is None else longest_seconds
    values = {f"JPO_{name.upper()}": _text(value) for name, value in workload.current.items()}
    prices = prices_of(settings)
    values |= {f"JPO_{name.upper()}": f"{price:g}" for name in PRICES if (price := getattr(prices, name)) is not None}
    return LaunchJob(
        run_id,
        workload.identity,
        words,
        (invocation.folder or settings.root).absolute(),
        {**values, "JPO_CONFIG": str(workload.path.absolute()), **invocation.environment, **environment},
        needs_of(workload, settings),
        workload.current,
        longest,
    )


def shortened(job: LaunchJob, seconds: float | None) -> LaunchJob:
    """The job, ended after this long, if it would not be before; None: as it is."""
    known = [limit for limit in (job.longest_seconds, seconds) if limit is not None]
    return replace(job, longest_seconds=min(known, default=None))


def needs_of(workload: Workload, settings: LoadedSettings, parameters: Parameters | None = None) -> Needs:
    """The resources that a config.ini asks for, or would with these parameters, and the GPU type that [prices] names."""
    asked = workload.current if parameters is None else parameters
    cpus, memory_gib, nodes = asked.get("cpus") or None, asked.get("memory_gib") or None, int(workload.terms.nodes or 1)
    return Needs(int(asked.get("gpus", 0)), settings.values.prices.gpu_type, cpus, memory_gib, nodes)


def kept_to_room(settings: LoadedSettings, workload: Workload, launcher: Launcher) -> LoadedSettings:
    """The settings with what the engine has for one run; where it does not say, or is away, nothing is limited."""
    try:
        room = launcher.room(needs_of(workload, settings))
    except LaunchError:
        return settings
    most = {name: getattr(room, name) for name in ("gpus", "cpus", "memory_gib")}
    return replace(settings, room={name: amount for name, amount in most.items() if amount is not None})


def _text(value: float) -> str:
    """A value as a script reads it: 64, which int() takes, and not 64.0."""
    given = plain(value)
    return f"{given:.0f}" if isinstance(given, float) and given.is_integer() else f"{given}"
