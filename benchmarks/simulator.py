"""Speed of the simulator: runs of training jobs per second on one core, with drawing the jobs, in a batch and one by one.

Each round draws fresh jobs on a random grid of configurations, as the belief does, and runs each job several times with random
configurations. The loop does the same with `observe`, one run at a time, in the same process, its jobs already drawn. Seconds are
CPU seconds over all threads, so a second core cannot flatter them.

    python benchmarks/simulator.py [--jobs 1000] [--runs 20] [--rounds 20] [--json]

Exit code 1 if the claim does not hold.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from jpo.records import Candidates, Draws
from jpo.simulate import draw_jobs
from jpo.simulate import runs as simulated
from jpo.simulate.grids import random_candidates
from jpo.simulate.runs import observe

if TYPE_CHECKING:
    from jpo.records import Bools, Floats, Ints

T = TypeVar("T")
CLAIM = 200_000  # runs per second, as documented


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Simulated runs per second on one core.")
    parser.add_argument("--jobs", type=int, default=1000, help="jobs drawn at once (default: 1000)")
    parser.add_argument("--runs", type=int, default=20, help="runs of each job (default: 20)")
    parser.add_argument("--rounds", type=int, default=20, help="measured rounds, each on another grid (default: 20)")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    figures = measure(options.jobs, options.runs, options.rounds)
    holds = figures["drawn and run in a batch"] >= CLAIM
    if options.json:
        print(json.dumps({"runs_per_second": figures, "claim": CLAIM, "holds": holds}))
    else:
        print(table(figures, options.jobs, options.runs, holds))
    return 0 if holds else 1


def measure(jobs: int, runs: int, rounds: int) -> dict[str, float]:
    """Runs per second, median of the rounds; the two ways take turns, so that a slow moment of the machine meets both."""
    grids = [random_candidates(np.random.default_rng(seed)) for seed in range(rounds + 1)]
    drawn: dict[str, list[float]] = {"drawn and run in a batch": [], "run in a batch": [], "run one by one": []}
    for seed, grid in enumerate(grids):
        rng = np.random.default_rng(seed)
        draws, drawing = timed(lambda grid=grid, rng=rng: draw_jobs(grid, jobs, rng))
        _, batch = timed(lambda grid=grid, draws=draws, rng=rng: run_batch(draws, grid, runs, rng))
        _, loop = timed(lambda grid=grid, draws=draws, rng=rng: run_loop(draws, grid, runs, rng))
        for name, seconds in zip(drawn, (drawing + batch, batch, loop), strict=True):
            drawn[name].append(jobs * runs / seconds)
    return {name: statistics.median(rates[1:]) for name, rates in drawn.items()}  # the first round warms up


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What it returns, and the CPU seconds that it took, over all threads."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def run_batch(draws: Draws, grid: Candidates, runs: int, rng: np.random.Generator) -> int:
    """Every job `runs` times, all at once; how many failed."""
    jobs = np.repeat(np.arange(len(draws.fails)), runs)
    return int(observe_batch(draws, jobs, rng.integers(len(grid.values), size=len(jobs)), rng)[-1].sum())


def observe_batch(
    draws: Draws, jobs: Ints, candidates: Ints, rng: np.random.Generator, *, noise: Floats | None = None
) -> tuple[Floats, Floats, Floats, Bools]:
    """What `observe` says of many runs at once, each (n,): ln time, ln loss, ln utilisation, and whether it failed.

    Args:
        jobs, candidates: shape (n,), rows and columns of `draws`.
        noise: shape (n,), each run's standard deviation of ln duration; None draws one for each run.
    """
    sigma = draw_noises(rng, len(jobs)) if noise is None else noise
    normal = rng.standard_normal((3, len(jobs)))
    failed = draws.fails[jobs, candidates] | (rng.random(len(jobs)) < simulated._CRASHES)
    log_time = draws.log_time[jobs, candidates]
    return (
        np.where(failed, np.minimum(log_time, simulated._PATIENCE), log_time) + sigma * normal[0],
        draws.log_loss[jobs, candidates] + simulated._LOSS_NOISE * normal[1],
        draws.log_utilisation[jobs, candidates] + simulated._UTILISATION_NOISE * normal[2],
        failed,
    )


def draw_noises(rng: np.random.Generator, jobs: int) -> Floats:
    """What `draw_noise` says of many jobs at once, shape (jobs,)."""
    return np.where(rng.random(jobs) < simulated._NOISELESS, 0.0, rng.uniform(0.0, simulated._MOST_NOISE, jobs))


def run_loop(draws: Draws, grid: Candidates, runs: int, rng: np.random.Generator) -> int:
    """The same, one run at a time."""
    chosen = rng.integers(len(grid.values), size=(len(draws.fails), runs))
    return sum(observe(draws, job, int(row), rng).failed for job, rows in enumerate(chosen) for row in rows)


def table(figures: dict[str, float], jobs: int, runs: int, holds: bool) -> str:
    slowest = figures["run one by one"]
    rows = [f"| {name} | {rate:,.0f} | {rate / slowest:.1f} |" for name, rate in figures.items()]
    verdict = f"At least {CLAIM:,} runs per second on one core, drawing included: {'holds' if holds else 'DOES NOT HOLD'}."
    head = ["## Simulator", "", f"| {jobs} jobs × {runs} runs | runs per second | of one by one |", "|---|---:|---:|"]
    return "\n".join([*head, *rows, "", verdict])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
