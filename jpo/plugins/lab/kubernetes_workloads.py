"""Simulated Kubernetes workloads: recurring jobs whose truth is known for every configuration that may be proposed.

The knobs have explicit choices, so the whole grid is known before the first run, and the truth of a job is one row of draws on
it: it is the same job in any order of runs. Host memory is not a column of that grid; what a run needs of it comes from the
demand, and a run that requests less is killed. All jobs train a fixed number of epochs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from jpo.plugins.lab.resource_usage import Demand, draw_demand, peak_gib, trace
from jpo.records import SAME, Candidates, Draws, Floats, Outcome, Parameters, RunStatus
from jpo.simulate.drift import Drift, batch_effect, draw_drift, no_drift
from jpo.simulate.installations import AS_SIMULATED, Installation, outside
from jpo.simulate.jobs import jobs_of
from jpo.simulate.latents import Latents
from jpo.simulate.runs import SimulatedRun, draw_noise, observe

Choices = Mapping[str, tuple[float, ...]]
RATES = (0.0003, 0.001, 0.003, 0.01, 0.03)
GPUS, CPUS, MEMORY_GIB = (1.0, 2.0, 4.0, 8.0), (2.0, 4.0, 8.0, 16.0, 32.0), (4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
BATCH_SIZES = 6
"""Doublings of the batch size, from 8 to 64 at the smallest: at least one sample for each of eight GPUs."""
WITHOUT_GPUS = 0.25
"""Share of workloads that train on CPUs (assumed)."""
GPU_PRICES = (0.5, 1.2, 2.1, 4.0)
"""USD per GPU and hour, for four kinds of accelerators (assumed, the range of clouds)."""
FULL_WATTS = {"gpus": 300.0, "cpus": 5.0}
"""Power of one GPU and of one CPU core at full load (assumed: the range of data sheets)."""
_LARGEST_SLOPE_ERROR = 0.06
"""Largest standard error of the slope of a learning curve: ten validations that scatter by 4%."""
LOSS_PER_EPOCHS = 0.3
"""ln(final loss) per ln(epochs needed) when epochs are fixed: the mean of the simulator's (1 - floor) x power."""


@dataclass(frozen=True, eq=False, slots=True)
class SimulatedWorkload:
    """One recurring job.

    Attributes:
        number: in the fleet, from 0.
        first: the values in config.ini before anything is tuned.
        choices: the values that each parameter may take, `first` among them.
        usd_per_gpu_hour: price of its accelerators.
        grid, draws: all combinations of the choices but for memory, and the truth on them (one job).
        levels: of a relative 0: `duration_seconds`, `val_loss`, `utilisation`, `power` (share of full), `samples_per_second`.
    """

    number: int
    first: Parameters
    choices: Choices
    usd_per_gpu_hour: float
    grid: Candidates
    draws: Draws
    levels: Mapping[str, float]
    demand: Demand
    drift: Drift
    noise: float

    @property
    def computes_on(self) -> str:
        return "gpus" if "gpus" in self.first else "cpus"


def draw_workload(
    number: int, runs: int, rng: np.random.Generator, *, drift: bool = False, installation: Installation = AS_SIMULATED
) -> SimulatedWorkload:
    """A random workload whose first configuration works; the drift depends on the number of runs.

    The same generator draws the same workload for each installation.
    """
    while True:
        choices = _choices(rng)
        first = {name: float(rng.choice(values)) for name, values in choices.items()}
        grid = _grid(choices, first)
        latents = Latents(1, int(rng.integers(2**63)), {"to target": np.ones(1)})  # all epochs, so that the samples are known
        draws = jobs_of(grid, latents)
        draws = outside(installation, grid, draws, rng.spawn(1)[0])
        demand = draw_demand(first["cpus"], first["memory_gib"], rng, draws.loader_share)
        if not draws.fails[0, grid.current] and peak_gib(demand, np.zeros(1))[0] <= first["memory_gib"]:
            break
    return SimulatedWorkload(
        number=number,
        first=first,
        choices=choices,
        usd_per_gpu_hour=float(rng.choice(GPU_PRICES)),
        grid=grid,
        draws=draws,
        levels=_levels(draws, rng),
        demand=demand,
        drift=draw_drift(runs, rng) if drift else no_drift(runs),
        noise=draw_noise(rng),
    )


def execute(workload: SimulatedWorkload, values: Parameters, run: int, rng: np.random.Generator) -> tuple[RunStatus, Outcome]:
    """One run with some values: its status, and the outcome that telemetry would measure, without a cost.

    `values`: at least the workload's own parameters, each one of its choices; `run`: its number, from 0, on which drift depends.
    A generator of the same seed gives the same noise for any values.
    """
    row, batch = row_of(workload, values), float(np.log2(values["batch_size"] / workload.first["batch_size"]))
    simulated = observe(workload.draws, 0, row, rng, noise=workload.noise)
    slower, data = (float(logs[run]) for logs in (workload.drift.log_time, workload.drift.log_data))
    worse = LOSS_PER_EPOCHS * float(batch_effect(workload.drift, run, np.array([batch]))[0])
    seconds = workload.levels["duration_seconds"] * float(np.exp(simulated.log_time + slower))
    peak = float(peak_gib(workload.demand, np.array([batch]))[0])
    status = _status(workload, values, row, simulated, killed=peak > values["memory_gib"])
    if status is not RunStatus.SUCCEEDED:
        memory = values["memory_gib"] if peak > values["memory_gib"] else None
        return status, Outcome(duration_seconds=seconds, memory_gib=memory)
    units = values[workload.computes_on]
    share = workload.levels["power"] * float(np.exp(workload.draws.log_power[0, row]))
    watts = FULL_WATTS[workload.computes_on] * units * share
    samples = workload.levels["samples_per_second"] * workload.levels["duration_seconds"] * float(np.exp(data))
    cpus, pace = values["cpus"], data - simulated.log_time - slower
    used = trace(workload.demand, cpus, pace, batch, rng)
    slope = error = None
    if workload.draws.loss_slope is not None and np.isfinite(workload.draws.loss_slope[0]):  # as telemetry would measure it
        error = float(rng.uniform(0.0, _LARGEST_SLOPE_ERROR))
        slope = float(workload.draws.loss_slope[0]) + error * float(rng.standard_normal())
    busy = min(1.0, workload.levels["utilisation"] * float(np.exp(simulated.log_utilisation)))
    return status, Outcome(
        duration_seconds=seconds,
        energy_joules=watts * seconds,
        samples=samples,
        throughput_samples_per_second=samples / seconds,
        val_loss=workload.levels["val_loss"] * float(np.exp(simulated.log_loss + worse)),
        gpu_utilisation=busy if workload.computes_on == "gpus" else None,
        cpu_utilisation=float((used.cores / cpus).mean()) if workload.computes_on == "gpus" else busy,
        memory_gib=float(used.memory_gib.max()),
        loss_slope=slope,
        loss_slope_error=error,
    )


def truth(workload: SimulatedWorkload, run: int) -> Mapping[str, Floats]:
    """The noise-free outcomes of all rows of the grid at a run: log_time, log_loss, log_utilisation relative to today, fails.

    Each shape (K,). `fails` ignores host memory; `need_gib` is how much each row needs.
    """
    batch = np.log2(workload.grid.values[:, workload.grid.names.index("batch_size")] / workload.first["batch_size"])
    return {
        "log_time": workload.draws.log_time[0],
        "log_loss": workload.draws.log_loss[0] + LOSS_PER_EPOCHS * batch_effect(workload.drift, run, batch),
        "log_utilisation": workload.draws.log_utilisation[0],
        "fails": workload.draws.fails[0].astype(np.float64),
        "need_gib": peak_gib(workload.demand, batch),
    }


def row_of(workload: SimulatedWorkload, values: Parameters) -> int:
    """The row of the grid with these values, which must exist."""
    wanted = [values[name] for name in workload.grid.names]
    return int(np.flatnonzero(np.isclose(workload.grid.values, wanted, rtol=SAME, atol=0).all(axis=1))[0])


def _choices(rng: np.random.Generator) -> Choices:
    smallest = 2.0 ** rng.integers(3, 7)
    gpus = {} if rng.random() < WITHOUT_GPUS else {"gpus": GPUS}
    batches = tuple(float(smallest * 2.0**step) for step in range(BATCH_SIZES))
    return {"batch_size": batches, "learning_rate": RATES, **gpus, "cpus": CPUS, "memory_gib": MEMORY_GIB}


def _grid(choices: Choices, first: Parameters) -> Candidates:
    """The grid: all combinations of the choices except those of memory."""
    names = tuple(name for name in choices if name != "memory_gib")
    values = np.array([*product(*(choices[name] for name in names))])  # (K, P)
    current = int(np.flatnonzero((values == [first[name] for name in names]).all(axis=1))[0])
    return Candidates(names, values, current, np.ones(len(values), dtype=np.bool_), np.zeros(len(values)))


def _levels(draws: Draws, rng: np.random.Generator) -> Mapping[str, float]:
    """Absolute values of today (assumed): 10 minutes to 8 hours; the busiest configuration is 60 to 100% busy, so is power."""

    def between(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    return {
        "duration_seconds": between(600, 8 * 3600),
        "val_loss": between(0.05, 3.0),
        "utilisation": float(rng.uniform(0.6, 1.0) / np.exp(draws.log_utilisation.max())),
        "power": float(rng.uniform(0.6, 1.0) / np.exp(draws.log_power.max())),
        "samples_per_second": between(50, 20_000),
    }


def _status(workload: SimulatedWorkload, values: Parameters, row: int, simulated: SimulatedRun, *, killed: bool) -> RunStatus:
    """The status of a run. The simulator says only that it fails: if it works with the first learning rate, it diverged."""
    if killed:
        return RunStatus.OOM_KILLED
    if not workload.draws.fails[0, row]:
        return RunStatus.FAILED if simulated.failed else RunStatus.SUCCEEDED
    first_rate_row = row_of(workload, {**values, "learning_rate": workload.first["learning_rate"]})
    return RunStatus.OOM_KILLED if workload.draws.fails[0, first_rate_row] else RunStatus.DIVERGED
