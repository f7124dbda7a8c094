"""`jpo simulate`: simulated Kubernetes workloads go through JPO as real ones do, in virtual time, beside copies left alone.

Every workload is a folder with config.ini and jpo.toml; all of them share one store. A night is: `jpo suggest` changes
config.ini, the simulator runs what stands there, the outcome goes on record. Beside it the first configuration is run unchanged,
with the same luck: that is what "before" means, and under drift nothing else would be a fair comparison.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from jpo.agent.preference import scalarise
from jpo.cost import Prices, usd_per_hour
from jpo.errors import UsageError
from jpo.history import open_store
from jpo.project.load import LoadedSettings, load, merge
from jpo.project.workload import read_workload
from jpo.records import Finished, Identity, Preference, Run
from jpo.report import fleet_json, fleet_text
from jpo.simulate.fleet import Fleet, Lane, before_after, per_model
from jpo.simulate.workloads import MEMORY_GIB, SimulatedWorkload, draw_workload, execute, truth

Suggest = Callable[[Path, LoadedSettings, str, float], object]
"""(config.ini, settings, suggestion id, now) -> whatever; config.ini is changed."""
Track = Callable[[Sequence[int], str], Iterable[int]]

START = 1_767_225_600.0
"""2026-01-01 00:00 UTC: night 0."""
NIGHT, PAUSE = 86_400.0, 600.0
"""A workload runs once a night; one that is not done by then begins ten minutes after its last run."""
KEY = {"batch_size": "training", "learning_rate": "training", "gpus": "resources", "cpus": "resources", "memory_gib": "resources"}
"""Parameter -> section of config.ini."""
USD_PER_CPU_HOUR, USD_PER_GIB_HOUR = 0.04, 0.005


@dataclass(frozen=True, slots=True)
class Plan:
    """What the command line asked for; see `jpo simulate --help`. None: as jpo.toml's defaults."""

    workloads: int
    runs: int
    seed: int = 0
    drift: bool = False
    preference: str | None = None
    explore: str | None = None

    @property
    def settings(self) -> Mapping[str, object]:
        """The flags as tables of jpo.toml."""
        preference = {} if self.preference is None else {"preference": self.preference}
        return preference if self.explore is None else {**preference, "agent": {"explore": self.explore}}


@dataclass(eq=False, slots=True)
class Place:
    """One workload on its way: its folder and settings, what happened with JPO and without, and when it may run again."""

    job: SimulatedWorkload
    config: Path
    settings: LoadedSettings
    tuned: list[Run] = field(default_factory=list)
    unchanged: list[Run] = field(default_factory=list)
    free_at: float = START


def simulate(plan: Plan, suggest: Suggest, *, keep: Path | None, track: Track) -> Fleet:
    """Run the fleet and return what came of it. Same plan, same fleet.

    Args:
        keep: folder for the workloads and their store, which stay there; None: a temporary one.

    Raises:
        UsageError: JPO-E302 a preference that is none, JPO-E711 the folder is not empty or cannot be made.
    """
    settings = merge([("command line", plan.settings)], root=Path(), toml=None)
    with ExitStack() as until_done:
        root = made(keep) if keep else Path(until_done.enter_context(tempfile.TemporaryDirectory(prefix="jpo-simulate-")))
        places = [set_up(number, plan, root, settings) for number in range(plan.workloads)]
        for step in track(range(plan.workloads * plan.runs), "simulate"):
            night, number = divmod(step, plan.workloads)
            pass_night(places[number], night, plan.seed, suggest)
    preference, explore = settings.values.preference, settings.values.agent.explore
    lanes = tuple(lane(place, preference.record(), nights=plan.runs) for place in places)
    return Fleet(lanes, plan.runs, window(plan.runs), plan.seed, plan.drift, explore, preference.model_dump())


def window(runs: int) -> int:
    """How many of the last runs are compared: the last third, at most ten."""
    return max(1, min(10, runs // 3))


def made(keep: Path) -> Path:
    """The folder to keep everything in: new or empty."""
    try:
        keep.mkdir(parents=True, exist_ok=True)
        if any(keep.iterdir()):
            raise UsageError(str(keep), "is not empty", "name a new folder with --keep", code="JPO-E711")
    except OSError as error:
        raise UsageError(
            str(keep), f"cannot be used ({error.strerror})", "name a folder that can be written", code="JPO-E711"
        ) from error
    return keep


def set_up(number: int, plan: Plan, root: Path, settings: LoadedSettings) -> Place:
    """Draw a workload and write its config.ini and jpo.toml."""
    job = draw_workload(number, plan.runs, np.random.default_rng([plan.seed, number]), drift=plan.drift)
    config = root / f"workload-{number:02}" / "config.ini"
    config.parent.mkdir()
    config.write_text(config_ini(job), encoding="utf-8")
    config.with_name("jpo.toml").write_text(jpo_toml(job, settings), encoding="utf-8")
    return Place(job, config, load(config, None, {}, {}))


def config_ini(job: SimulatedWorkload) -> str:
    """What the training job reads."""
    identity = identity_of(job)
    lines = ["[workload]", f"dataset = {identity.dataset}", f"model = {identity.model}", f"framework = {identity.framework}"]
    for section in ("training", "resources"):
        lines += ["", f"[{section}]", *(f"{name} = {value:g}" for name, value in job.first.items() if KEY[name] == section)]
    return "\n".join(lines) + "\n"


def jpo_toml(job: SimulatedWorkload, settings: LoadedSettings) -> str:
    """Explicit choices for every parameter: whatever is proposed, the simulator knows what it does."""
    values = settings.values
    choices = [f"{name} = {{ choices = [{', '.join(f'{v:g}' for v in levels)}] }}" for name, levels in job.choices.items()]
    weights = [f"{name} = {weight!r}" for name, weight in values.preference.model_dump().items()]
    named = ("usd_per_gpu_hour", "usd_per_cpu_hour", "usd_per_gib_hour")
    prices = [f"{name} = {price:g}" for name in named if (price := getattr(prices_of(job), name)) is not None]
    tables = {
        "parameters": choices,
        "preference": weights,
        "prices": prices,
        "agent": [f'explore = "{values.agent.explore}"'],
        "store": ['url = "sqlite:///../jpo.db"'],
    }
    return "\n".join(line for table, lines in tables.items() for line in (f"[{table}]", *lines, ""))


def identity_of(job: SimulatedWorkload) -> Identity:
    return Identity(f"dataset-{job.number:02}", f"model-{job.number:02}", "simulated")


def prices_of(job: SimulatedWorkload) -> Prices:
    """What the job's resources cost."""
    return Prices(job.usd_per_gpu_hour if job.computes_on == "gpus" else None, USD_PER_CPU_HOUR, USD_PER_GIB_HOUR)


def pass_night(place: Place, night: int, seed: int, suggest: Suggest) -> None:
    """Suggest, run, record; and run the first configuration with the same luck."""
    now = max(place.free_at, START + night * NIGHT)
    name = f"w{place.job.number:02}-r{night:02}"
    suggest(place.config, place.settings, f"s-{name}", now)
    values = read_workload(place.config, place.settings, now=now).current
    run = run_of(place.job, values, night, seed, run_id=name, start=now + 1)
    with open_store(place.settings.store_url) as store:
        store.record(Finished((run,)), now=run.ended_at)
    place.tuned.append(run)
    place.unchanged.append(run_of(place.job, place.job.first, night, seed, run_id=f"{name}-unchanged", start=now + 1))
    place.free_at = run.ended_at + PAUSE


def run_of(job: SimulatedWorkload, values: Mapping[str, float], night: int, seed: int, *, run_id: str, start: float) -> Run:
    """The record of one simulated run, with what it cost."""
    status, outcome = execute(job, values, night, np.random.default_rng([seed, job.number, night]))
    price, seconds = usd_per_hour(values, prices_of(job)), outcome.duration_seconds
    assert price is not None
    assert seconds is not None
    outcome = replace(outcome, cost_usd=price * seconds / 3600)
    return Run(run_id, identity_of(job), dict(values), status, start, start + seconds, outcome, "observe")


def lane(place: Place, preference: Preference, *, nights: int) -> Lane:
    """What came of a workload beside itself left unchanged."""
    found = Lane(str(identity_of(place.job)), place.job.first, tuple(place.unchanged), tuple(place.tuned), None, 1.0)
    best = best_goal(place.job, preference, nights - 1)
    return replace(found, goal=goal(found, preference, window(nights)), best=best)


def goal(of: Lane, preference: Preference, last: int) -> float | None:
    """The objective of a preference over the last runs: time and money per delivered model, utilisation, loss."""
    unchanged, tuned = of.unchanged[-last:], of.tuned[-last:]
    paid = [(per_model(unchanged, name), per_model(tuned, name)) for name in ("duration_seconds", "cost_usd")]
    use = "gpu_utilisation" if "gpus" in of.first else "cpu_utilisation"
    pairs = [*paid, before_after(of, use, last), before_after(of, "val_loss", last)]
    time, cost, busy, loss = (np.array(math.log(after / before) if before and after else math.nan) for before, after in pairs)
    found = float(np.exp(scalarise(time, cost, busy, loss, preference)))
    return None if math.isnan(found) else found


def best_goal(job: SimulatedWorkload, preference: Preference, night: int) -> float:
    """The objective of the best of all choices on that night, in multiples of the first configuration's."""
    known, prices, names = truth(job, night), prices_of(job), job.grid.names
    enough = [min((m for m in MEMORY_GIB if m >= need), default=math.inf) for need in known["need_gib"]]
    rows = [dict(zip(names, map(float, row), strict=True)) for row in job.grid.values]
    rate = np.array(
        [usd_per_hour({**row, "memory_gib": m}, prices) for row, m in zip(rows, enough, strict=True)], dtype=np.float64
    )
    log_cost = known["log_time"] + np.log(rate / (usd_per_hour(job.first, prices) or math.nan))
    goals = scalarise(known["log_time"], log_cost, known["log_utilisation"], known["log_loss"], preference)
    works = (known["fails"] == 0) & np.isfinite(enough)
    return float(np.exp(goals[works].min()))


def rendered(fleet: Fleet, form: str, *, width: int = 120, colour: bool = False) -> str:
    """The fleet in the form that was asked for."""
    return fleet_json.render(fleet) if form == "json" else fleet_text.render(fleet, width=width, colour=colour)
