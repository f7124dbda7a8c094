"""Jobs for forecasts.py: recorded, from LCBench, simulated, and from a formula that JPO does not know."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hpo import FLOOR, lcbench

from jpo.plugins.lab.kubernetes_workloads import draw_workload
from jpo.plugins.lab.replay.traces import read_trace
from jpo.records import Candidates, Identity, Outcome, Run, RunStatus
from jpo.simulate import draw_jobs
from jpo.simulate.grids import random_candidates
from jpo.simulate.runs import draw_noise

if TYPE_CHECKING:
    from jpo.records import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Job:
    """A job whose durations are known: seconds of several runs of each configuration, none where it never ends well.

    Attributes:
        losses: validation losses in the same form, None where they were not measured.
    """

    name: str
    candidates: Candidates
    seconds: tuple[Floats, ...]
    losses: tuple[Floats, ...] | None = None

    @property
    def passing(self) -> Ints:
        return np.array([row for row, several in enumerate(self.seconds) if len(several)], dtype=np.int64)

    def run(self, row: int, at: int, rng: np.random.Generator) -> Run:
        luck = int(rng.integers(len(self.seconds[row])))
        loss = None if self.losses is None else float(self.losses[row][luck])
        outcome = Outcome(duration_seconds=float(self.seconds[row][luck]), val_loss=loss, converged=True)
        identity = Identity(self.name, "forecasts", "benchmark")
        return Run(str(at), identity, self.candidates.parameters(row), RunStatus.SUCCEEDED, None, float(at), outcome, "benchmark")


def from_trace(path: Path) -> Job:
    """A recorded job; configurations that never reach the target have no run that says how long it takes."""
    trace = read_trace(path)
    seconds = tuple(
        np.array([execution.duration_seconds for execution in executions if execution.converged])
        for executions in trace.executions
    )
    return Job(trace.name, candidates_of(trace.configurations, trace.default), seconds)


def from_lcbench(file: Path) -> list[Job]:
    return [
        Job(
            task.name,
            candidates_of(task.configurations, task.default),
            tuple(task.seconds[:, None]),
            tuple(np.maximum(task.error, FLOOR)[:, None]),
        )
        for task in lcbench(file)
    ]


def from_simulator(seed: int) -> Job:
    """A job of the belief's own kind on a random grid, from a seed that no test uses: this set flatters jpo."""
    rng = np.random.default_rng((seed, 55))
    while True:
        candidates = random_candidates(rng)
        job = draw_jobs(candidates, 1, rng)
        if not job.fails[0, candidates.current]:
            return noisy(f"simulated_{seed}", candidates, job.log_time[0], job.log_loss[0], job.fails[0], draw_noise(rng), rng)


def from_fleet(seed: int) -> Job:
    """A workload of the simulated fleet: batch size, learning rate, GPUs and CPUs, a fixed number of epochs."""
    rng = np.random.default_rng((seed, 56))
    fleet = draw_workload(seed, 1, rng)
    draws = fleet.draws
    return noisy(f"fleet_{seed}", fleet.grid, draws.log_time[0], draws.log_loss[0], draws.fails[0], fleet.noise, rng)


def from_formula(seed: int) -> Job:
    """A job that JPO's simulator does not draw: compute in parallel with input, ring all-reduce, steps which a critical batch
    size bounds.

    seconds = start + steps(B) x (overhead + max(B/g x compute, B/c x input) + [g > 1] (2 (g - 1)/g x gradient + latency log2 g)),
    steps(B) = S (1 + Bcrit / B). Sources: McCandlish et al., "An Empirical Model of Large-Batch Training", 2018, eq. 2.11;
    Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", JPDC 2009.
    """
    rng = np.random.default_rng((seed, 57))
    batches, gpus, cpus = 32.0 * 2.0 ** np.arange(6), 2.0 ** np.arange(4), 4.0 * 2.0 ** np.arange(3)
    values = np.array([[b, g, c] for b in batches for g in gpus for c in cpus])
    b, g, c = values.T
    critical, compute = 2.0 ** rng.uniform(4, 11), 1.0 / b.max()
    overhead, feeding = 2.0 ** rng.uniform(-7, -3), 2.0 ** rng.uniform(-3, 2)
    gradient, latency = 2.0 ** rng.uniform(-8, -2), 2.0 ** rng.uniform(-10, -5)
    step = overhead + np.maximum(b / g * compute, b / c * compute * feeding)
    step += np.where(g > 1, 2 * (g - 1) / g * gradient + latency * np.log2(g), 0.0)
    seconds = (1 + critical / b) * step
    seconds += 2.0 ** rng.uniform(-7, -3) * np.median(seconds)
    candidates = Candidates(("batch_size", "gpus", "cpus"), values, int(rng.integers(len(values))), yes(values), 0 * b)
    logs = np.log(seconds)
    return noisy(f"formula_{seed}", candidates, logs, None, np.zeros(len(logs), dtype=bool), float(rng.uniform(0, 0.08)), rng)


def noisy(
    name: str,
    candidates: Candidates,
    log_time: Floats,
    log_loss: Floats | None,
    fails: Bools,
    noise: float,
    rng: np.random.Generator,
) -> Job:
    """Three runs of each configuration that does not fail."""

    def several(logs: Floats, deviation: float) -> tuple[Floats, ...]:
        runs = np.exp(logs + deviation * rng.standard_normal((3, len(logs)))).T
        return tuple(row[: 0 if failed else 3] for row, failed in zip(runs, fails, strict=True))

    losses = None if log_loss is None else several(np.log(0.3) + log_loss, 0.02)
    return Job(name, candidates, several(np.log(3600) + log_time, noise), losses)


def candidates_of(configurations: Sequence[Mapping[str, float]], default: int) -> Candidates:
    """Exactly these."""
    values = np.array([list(configuration.values()) for configuration in configurations])
    return Candidates(tuple(configurations[0]), values, default, yes(values), np.zeros(len(values)))


def yes(values: Floats) -> Bools:
    return np.ones(len(values), dtype=np.bool_)
