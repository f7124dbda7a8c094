"""Traces of a made job: it starts, loads, trains with validations in between, and uploads; each run has its own level."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jpo.plugins.phases.chain import Ints
from jpo.plugins.phases.traces import CPU, MEMORY, ExecutionTrace, Traces

LEVELS = {"init": (0.1, 0.05e9), "load": (1.6, 0.6e9), "train": (3.0, 2.0e9), "validate": (1.2, 2.6e9), "upload": (0.4, 1.0e9)}
NAMES = tuple(LEVELS)


def made_execution(rng: np.random.Generator, execution: str, noise: float) -> tuple[ExecutionTrace, Ints]:
    """One run, sampled every 10 to 30 seconds, with its true phases."""
    stays = [("init", rng.integers(8, 16)), ("load", rng.integers(10, 20))]
    for _ in range(rng.integers(2, 4)):
        stays += [("train", rng.integers(20, 35)), ("validate", rng.integers(6, 12))]
    stays.append(("upload", rng.integers(6, 12)))
    names = [name for name, n in stays for _ in range(n)]
    levels = np.array([LEVELS[name] for name in names]) * np.exp(rng.normal(0, 0.05, 2))
    cpu = np.maximum(levels[:, 0] + noise * 0.35 * rng.normal(size=len(names)), 0)
    memory = levels[:, 1] * np.exp(noise * 0.18 * rng.normal(size=len(names)))
    times = 1_600_000_000 + np.cumsum(rng.choice([10.0, 20.0, 30.0], len(names)))
    return ExecutionTrace(execution, times, np.stack([cpu, memory], axis=1)), np.array([NAMES.index(name) for name in names])


def made_traces(*, runs: int = 5, noise: float = 0.3, seed: int = 0) -> tuple[Traces, Ints]:
    """Runs of the job with the true phase of each sample."""
    rng = np.random.default_rng(seed)
    made = [made_execution(rng, f"run-{at}", noise) for at in range(runs)]
    return Traces((CPU, MEMORY), tuple(execution for execution, _ in made)), np.concatenate([phases for _, phases in made])


def long_execution(samples: int, seed: int, interval_seconds: float = 20.0) -> ExecutionTrace:
    """One run that trains and validates in turn, each sample depending on the one before it (0.8)."""
    rng = np.random.default_rng(seed)
    stays = np.resize([0, 1], samples)
    validates = np.repeat(stays, np.where(stays, rng.integers(6, 12, samples), rng.integers(20, 60, samples)))[:samples]
    noise = rng.normal(size=(samples, 2))
    for at in range(1, samples):
        noise[at] = 0.8 * noise[at - 1] + 0.6 * noise[at]
    level = np.exp(rng.normal(0, 0.05, 2))
    values = np.array([[3.0, 1e9], [1.0, 3e9]])[validates] * level * np.exp(noise * (0.1, 0.03))
    return ExecutionTrace("long", interval_seconds * np.arange(samples), values)


def as_csv(traces: Traces, path: Path) -> Path:
    """The traces with AI4DL's columns."""
    lines = ['"timestamp","service","pod.id","cpu.usage.cores","mem.current","mem.working.set"']
    for execution in traces.executions:
        lines += [f'{t!r},"s","{execution.name}",{cpu!r},1,{memory!r}' for t, (cpu, memory) in _rows(execution)]
    path.write_text("\n".join(lines) + "\n")
    return path


def _rows(execution: ExecutionTrace) -> list[tuple[float, list[float]]]:
    return list(zip(execution.times.tolist(), execution.values.tolist(), strict=True))
