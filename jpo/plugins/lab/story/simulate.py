"""`jpo lab simulate`: simulated Kubernetes workloads go through JPO as real ones do, in virtual time, next to copies left alone.

Every workload is a folder with config.ini and jpo.toml; all of them share one store, at the same time or one after the other. A
night is: `jpo suggest` changes config.ini, the simulator runs what it says, the outcome goes on record. The first configuration
is run unchanged, too, with the same luck: that is what "before" means, and under drift nothing else would be a fair comparison.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from jpo.errors import UsageError
from jpo.files import whole
from jpo.history import open_store
from jpo.plugins.lab.fleet import Fleet
from jpo.plugins.lab.kubernetes_workloads import SimulatedWorkload, draw_workload
from jpo.plugins.lab.simulated_runs import identity_of, lane_of, prices_of, run_of, window
from jpo.project.load import LoadedSettings, load, merge
from jpo.project.project import preference_of
from jpo.project.request import explore_of
from jpo.project.tables.faults import Origin
from jpo.project.workload import read_workload
from jpo.records import Finished, Run, Spread, Track, silently
from jpo.simulate.installations import AS_SIMULATED, Installation, Kind, draw_installation

Suggest = Callable[[Path, LoadedSettings, str, float], str]
"""(config.ini, settings, suggestion id, now) -> who decided; config.ini is changed."""
START = 1_767_225_600.0
"""2026-01-01 00:00 UTC: night 0."""
NIGHT, PAUSE = 86_400.0, 600.0
"""A workload runs once a night; one that is not done by then begins ten minutes after its last run."""
CLUSTER = 2**31
"""Of the seed of the installation; workloads have their numbers."""
KEY = {"batch_size": "training", "learning_rate": "training", "gpus": "resources", "cpus": "resources", "memory_gib": "resources"}
"""Parameter -> section of config.ini."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Options of the command line; see `jpo lab simulate --help`. None: the default of jpo.toml.

    With an `installation`, even "none", the workloads run one after the other: the earlier ones are on record for the later ones.
    """

    workloads: int
    runs: int
    seed: int = 0
    drift: bool = False
    preference: str | None = None
    explore: str | None = None
    installation: Kind | None = None

    @property
    def cluster(self) -> Installation:
        """The installation; the same seed draws the same one."""
        rng = np.random.default_rng([self.seed, CLUSTER])
        return draw_installation(rng, self.installation) if self.installation else AS_SIMULATED

    def moment(self, step: int) -> tuple[int, int, int]:
        """Workload, its run and the night of a step, each from 0."""
        if self.installation:
            return *divmod(step, self.runs), step
        night, number = divmod(step, self.workloads)
        return number, night, night

    @property
    def settings(self) -> Mapping[str, object]:
        preference = {} if self.preference is None else {"preference": self.preference}
        return preference if self.explore is None else {**preference, "agent": {"explore": self.explore}}


@dataclass(eq=False, slots=True)
class WorkloadFolder:
    """One workload on its way: its config.ini and settings, what happened with JPO and without, and when it may run again."""

    job: SimulatedWorkload
    config: Path
    settings: LoadedSettings
    tuned: list[Run] = field(default_factory=list)
    unchanged: list[Run] = field(default_factory=list)
    decided_by: list[str] = field(default_factory=list)
    free_at: float = START


def simulate(plan: Plan, suggest: Suggest, *, keep: Path | None, track: Track) -> Fleet:
    """The fleet after all its nights. Same plan, same fleet.

    `keep`: folder for the workloads and their store, which stay there; None: a temporary one.

    Raises UsageError: JPO-E302 a preference that is none, JPO-E711 the folder is not empty or cannot be made.
    """
    settings = merge([(Origin("command line"), plan.settings)], root=Path(), toml=None)
    with ExitStack() as until_done:
        root = made(keep) if keep else Path(until_done.enter_context(tempfile.TemporaryDirectory(prefix="jpo-simulate-")))
        folders = [set_up(number, plan, root, settings) for number in range(plan.workloads)]
        for step in track(range(plan.workloads * plan.runs), "simulate"):
            number, run, night = plan.moment(step)
            pass_night(folders[number], run, plan.seed, START + night * NIGHT, suggest)
    preference = preference_of(settings)
    lanes = tuple(lane_of(folder.job, folder.unchanged, folder.tuned, preference) for folder in folders)
    explore, deciders = explore_of(settings), Counter(name for folder in folders for name in folder.decided_by)
    return Fleet(
        lanes, plan.runs, window(plan.runs), plan.seed, plan.drift, explore, asdict(preference), plan.installation, deciders
    )


def simulate_each(
    plan: Plan, policies: Mapping[str, Suggest], *, keep: Path | None, spread: Spread, track: Track
) -> dict[str, Fleet]:
    """The same fleet under several policies, each from the beginning and with a store of its own, a folder in `keep`."""
    root = made(keep) if keep else None
    with spread(len(policies)) as workers:
        fleets = workers(_simulated, ((plan, suggest, root and root / name) for name, suggest in policies.items()))
        return dict(zip(policies, [next(fleets) for _ in track(range(len(policies)), "simulate")], strict=True))


def _simulated(plan: Plan, suggest: Suggest, keep: Path | None) -> Fleet:
    return simulate(plan, suggest, keep=keep, track=silently)


def made(keep: Path) -> Path:
    """The folder to keep everything in: new or empty."""
    try:
        keep.mkdir(parents=True, exist_ok=True)
        if any(keep.iterdir()):
            raise UsageError(str(keep), "is not empty", "name a new folder with --keep", code="JPO-E711")
    except OSError as error:
        finding = f"cannot be used ({error.strerror})"
        raise UsageError(str(keep), finding, "name a folder that can be written", code="JPO-E711") from error
    return keep


def set_up(number: int, plan: Plan, root: Path, settings: LoadedSettings) -> WorkloadFolder:
    rng = np.random.default_rng([plan.seed, number])
    job = draw_workload(number, plan.runs, rng, drift=plan.drift, installation=plan.cluster)
    config = root / f"workload-{number:02}" / "config.ini"
    config.parent.mkdir()
    for file, text in ((config, config_ini(job)), (config.with_name("jpo.toml"), jpo_toml(job, settings))):
        with whole(file) as new:
            new.write(text.encode())
    return WorkloadFolder(job, config, load(config, None, {}, {"store": {"url": f"sqlite:///{root.absolute()}/jpo.db"}}))


def config_ini(job: SimulatedWorkload) -> str:
    """What the training job reads."""
    identity = identity_of(job)
    lines = ["[workload]", f"dataset = {identity.dataset}", f"model = {identity.model}", f"framework = {identity.framework}"]
    for section in ("training", "resources"):
        lines += ["", f"[{section}]", *(f"{name} = {value:g}" for name, value in job.first.items() if KEY[name] == section)]
    return "\n".join(lines) + "\n"


def jpo_toml(job: SimulatedWorkload, settings: LoadedSettings) -> str:
    """Explicit choices for every parameter: the simulator knows what each of them does."""
    choices = [f"{name} = {{ choices = [{', '.join(f'{v:g}' for v in levels)}] }}" for name, levels in job.choices.items()]
    weights = [f"{name} = {weight!r}" for name, weight in asdict(preference_of(settings)).items()]
    named = ("usd_per_gpu_hour", "usd_per_cpu_hour", "usd_per_gib_hour")
    prices = [f"{name} = {price:g}" for name in named if (price := getattr(prices_of(job), name)) is not None]
    tables = {
        "parameters": choices,
        "preference": weights,
        "prices": prices,
        "agent": [f'explore = "{explore_of(settings)}"'],
        "store": ['url = "sqlite:///../jpo.db"'],
    }
    return "\n".join(line for table, lines in tables.items() for line in (f"[{table}]", *lines, ""))


def pass_night(folder: WorkloadFolder, number: int, seed: int, evening: float, suggest: Suggest) -> None:
    """Suggest, run number `number` from 0, record; and run the first configuration with the same luck.

    It begins in the evening, unless an earlier run is not done by then.
    """
    now = max(folder.free_at, evening)
    name = f"w{folder.job.number:02}-r{number:02}"
    folder.decided_by.append(suggest(folder.config, folder.settings, f"s-{name}", now))
    values = read_workload(folder.config, folder.settings, now=now).current
    run = run_of(folder.job, values, number, seed, run_id=name, start=now + 1)
    with open_store(folder.settings.store_url) as store:
        store.record(Finished((run,)), now=run.ended_at)
    folder.tuned.append(run)
    folder.unchanged.append(run_of(folder.job, folder.job.first, number, seed, run_id=f"{name}-unchanged", start=now + 1))
    folder.free_at = run.ended_at + PAUSE
