"""The job of one episode of the Gymnasium environment: its truth on the whole grid, its demand for CPUs and memory, its targets.

It knows nothing of Gymnasium: environment.py turns moves into configurations and results into observations.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from jpo.plugins.lab.resource_usage import draw_demand, peak_gib, trace
from jpo.records import Bools, Candidates, Draws, Floats, Preference
from jpo.simulate.drift import batch_effect, draw_drift, no_drift
from jpo.simulate.installations import Installation, outside
from jpo.simulate.jobs import draw_jobs
from jpo.simulate.runs import draw_noise, observe

Rungs = NDArray[np.int64]
LADDERS = {
    "batch_size": tuple(16.0 * 2**i for i in range(7)),
    "learning_rate": tuple(0.001 * 10 ** (i / 2) for i in range(-2, 3)),
    "gpus": (1.0, 2.0, 4.0, 8.0),
    "cpus": (4.0, 8.0, 16.0, 32.0),
    "memory_gib": (8.0, 16.0, 32.0, 64.0, 128.0),
}
"""The knobs and their values; 2,800 configurations."""
LENGTHS = tuple(len(ladder) for ladder in LADDERS.values())
TARGETS = ("duration", "cost", "val_loss")
"""What a target may limit, in multiples of the reference run."""
_LOSS_TOLERANCE, _LOSS_WEIGHT = float(np.log(1.02)), 3.0
FAILURE = 2.0
"""A failed run costs as much as so many runs of the last configuration that ended well."""
_BROKEN, _MOST_MISSED = 3.0, 1.0
"""What a run has over a target, as a natural log and at most 1, costs so many reference runs."""
_PRICES = {"gpus": 2.1, "cpus": 0.04, "memory_gib": 0.005}
"""Relative prices per hour; each varies by a factor of 3 from job to job."""
_BUSIEST = (0.6, 1.0)
"""GPU utilisation of the busiest configuration (assumed)."""


@dataclass(frozen=True, slots=True)
class EpisodeRun:
    """One run of the job of an episode.

    Attributes:
        logs: natural logs relative to a noise-free run of today's configuration: time, cost, GPU utilisation, loss.
        utilisation: of CPUs and memory as requested, and of GPUs, in 0..1; CPUs and GPUs of a failed run are unknown: 0.
        failed: out of memory (host or GPU), diverged, target not reached, or crashed.
    """

    logs: Floats  # (4,)
    utilisation: tuple[float, float, float]
    failed: bool


class EpisodeJob:
    """The job of one episode. Today's configuration works."""

    def __init__(self, rng: np.random.Generator, runs: int, installation: Installation, *, drift: bool) -> None:
        values = np.array([*product(*LADDERS.values())])  # (K, P)
        batch, cpus, memory = (values[:, list(LADDERS).index(name)] for name in ("batch_size", "cpus", "memory_gib"))
        while True:
            self.today = rng.integers(0, LENGTHS)
            current = self.row(self.today)
            price = np.array([_PRICES.get(name, 0.0) * 3.0 ** rng.uniform(-1, 1) for name in LADDERS])
            self.log_rate: Floats = np.log(values @ price / (values[current] @ price))
            self.grid = Candidates(tuple(LADDERS), values, current, np.ones(len(values), dtype=np.bool_), self.log_rate)
            self.draws = self._drawn(installation, rng)
            self.demand = draw_demand(float(cpus[current]), float(memory[current]), rng, self.draws.loader_share)
            self.batch: Floats = np.log2(batch / batch[current])
            self.need_gib = peak_gib(self.demand, self.batch)
            if not self.draws.fails[0, current] and self.need_gib[current] <= memory[current]:
                break
        self.fails: Bools = self.draws.fails[0] | (self.need_gib > memory)
        self.busy = float(rng.uniform(*_BUSIEST) / np.exp(self.draws.log_utilisation[0].max()))
        self.noise = draw_noise(rng)
        self.drift = draw_drift(runs, rng) if drift else no_drift(runs)

    def _drawn(self, installation: Installation, rng: np.random.Generator) -> Draws:
        """The job in the installation. Memory makes no difference to it: whether it suffices, the demand says."""
        names, levels = self.grid.names[:-1], LENGTHS[-1]
        values = self.grid.values[::levels, :-1]
        rows = np.ones(len(values), dtype=np.bool_), self.log_rate[::levels]
        grid = Candidates(names, values, self.grid.current // levels, *rows)
        draws = outside(installation, grid, draw_jobs(grid, 1, rng), rng)
        columns = {name: values for name, values in asdict(draws).items() if values is not None and values.ndim == 2}
        return replace(draws, **{name: np.repeat(values, levels, axis=1) for name, values in columns.items()})

    def row(self, rungs: Rungs) -> int:
        return int(np.ravel_multi_index(tuple(rungs), LENGTHS))

    def run(self, row: int, number: int, rng: np.random.Generator) -> EpisodeRun:
        """Run a configuration once. `number`: of the run, from 0, the reference; drift depends on it."""
        seen, harder = observe(self.draws, 0, row, rng, noise=self.noise), batch_effect(self.drift, number, self.batch)
        pace = -seen.log_time - float(self.drift.log_time[number]) - harder[row]
        cpus, memory = self.grid.values[row, -2:]
        used = float((trace(self.demand, cpus, pace, self.batch[row], rng).cores / cpus).mean())
        logs = np.array([-pace, self.log_rate[row] - pace, seen.log_utilisation, seen.log_loss])
        full, failed = min(1.0, float(self.need_gib[row] / memory)), bool(seen.failed or self.fails[row])
        busy = min(1.0, self.busy * float(np.exp(seen.log_utilisation)))
        return EpisodeRun(logs, (0.0, full, 0.0) if failed else (used, full, busy), failed)

    def charges(self, weights: Preference, sla: Mapping[str, float], run: int) -> Floats:
        """What each configuration costs if it ends well, in runs of today's, without noise and drift of all alike, (K,)."""
        time, loss = self.draws.log_time[0] + batch_effect(self.drift, run, self.batch), self.draws.log_loss[0]
        cost = time + self.log_rate
        paid = weights.time * time + weights.cost * cost - weights.efficiency * self.draws.log_utilisation[0]
        worth = paid + _LOSS_WEIGHT * np.maximum(loss - _LOSS_TOLERANCE, 0.0)
        logs = dict(zip(TARGETS, (time, cost, loss), strict=True))
        missed = sum(np.clip(logs[name] - np.log(limit), 0.0, _MOST_MISSED) for name, limit in sla.items())
        return np.asarray(np.exp(worth) + _BROKEN * missed)


def slacks(logs: Floats, sla: Mapping[str, float]) -> dict[str, float]:
    """ln of limit / multiple for each target that is set, given ln of time, cost, utilisation, loss; below 0 it is broken."""
    measured = dict(zip(TARGETS, logs[[0, 1, 3]], strict=True))
    return {name: float(np.log(limit) - measured[name]) for name, limit in sla.items()}
