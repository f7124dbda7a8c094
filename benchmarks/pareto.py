"""Trade-offs: whether the hypervolume is exact, and whether one conditioned agent follows each preference.

The volume is held against optuna's own (WFG) on random fronts, in value and in time. For preferences the same simulated jobs are
played once under each, by one and the same policy file and by the belief rule; what is compared is where the last runs lie.

    python benchmarks/pareto.py [--jobs 100] [--policy FILE] [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from jpo.agent.policy import SHIPPED, load_policy  # noqa: E402
from jpo.forecast.pareto import hypervolume  # noqa: E402
from jpo.learning.job import new_job  # noqa: E402
from jpo.learning.practice import Choose, by_belief_rule, by_policy, play  # noqa: E402
from jpo.records import NAMED_PREFERENCES, Preference  # noqa: E402

SEED = 500_000_000
"""Jobs are drawn from here on, far from those of practice, release tests and other benchmarks."""
QUICK_JOBS = 1
LAST = 5
"""Runs of each job that are compared: by then most of the exploring is over."""
PREFERENCES = {**NAMED_PREFERENCES, "time=0.1,cost=0.9": Preference(time=0.1, cost=0.9)}
MEASURED = ("time", "cost", "utilisation")
SIZES = ((2, 200), (3, 200), (4, 50), (4, 200))
"""(objectives, points on the front); a workload has at most 200 candidates."""


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Hypervolume compared with optuna's; one agent under each preference.")
    parser.add_argument("--jobs", type=int, default=100, help="simulated jobs per preference (default: 100)")
    parser.add_argument("--policy", type=Path, default=SHIPPED, help="policy file (default: the shipped one)")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_JOBS} job: does it run at all?")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of tables")
    options = parser.parse_args(argv)
    jobs = QUICK_JOBS if options.quick else options.jobs
    deciders: dict[str, Choose] = {"one agent": partial(by_policy, load_policy(options.policy)), "belief rule": by_belief_rule}
    rows = [
        {"preference": name, "decider": who, **where(choose, preference, jobs)}
        for name, preference in PREFERENCES.items()
        for who, choose in deciders.items()
    ]
    volumes = [against_optuna(m, n) for m, n in SIZES]
    print(json.dumps({"hypervolume": volumes, "preferences": rows}) if options.json else tables(volumes, rows, jobs))
    return 0


def where(choose: Choose, preference: Preference, jobs: int) -> dict[str, float]:
    """Geometric means of the last runs in multiples of the first configuration, noise-free; and the share that fails."""
    logs, failed = [], []
    for seed in range(SEED, SEED + jobs):
        job = new_job(np.random.default_rng(seed), "on", preference=preference)
        play(job, choose)
        last = [(job.vectors(run)[row, :3], bool(job.truth.fails[0, row])) for run, row in enumerate(job.rows)][-LAST:]
        logs += [vector for vector, fails in last if not fails]
        failed += [fails for _, fails in last]
    means = np.exp(np.mean(logs, axis=0))
    return {**dict(zip(MEASURED, means.tolist(), strict=True)), "failed": float(np.mean(failed))}


def against_optuna(m: int, n: int) -> dict[str, float]:
    """Points on a sphere, none of which dominates another; values and seconds of both."""
    from optuna._hypervolume import compute_hypervolume

    points = np.abs(np.random.default_rng((m, n)).normal(size=(n, m)))
    points = 1 - points / np.linalg.norm(points, axis=1, keepdims=True)
    reference = np.full(m, 1.1)
    ours, seconds = timed(lambda: hypervolume(points, reference))
    theirs, their_seconds = timed(lambda: float(compute_hypervolume(points, reference)))
    return {"objectives": m, "points": n, "ours": ours, "optuna": theirs, "seconds": seconds, "optuna_seconds": their_seconds}


def timed(volume: Callable[[], float]) -> tuple[float, float]:
    """The value, and the shortest of three times."""
    took = []
    for _ in range(3):
        start = time.perf_counter()
        value = volume()
        took.append(time.perf_counter() - start)
    return value, min(took)


def tables(volumes: list[dict[str, float]], rows: list[dict[str, object]], jobs: int) -> str:
    lines = ["## Trade-offs", "", "| objectives | points | hypervolume | optuna | ratio of times |", "|---:|---:|---:|---:|---:|"]
    for volume in volumes:
        ratio = volume["seconds"] / volume["optuna_seconds"]
        lines.append(
            f"| {volume['objectives']} | {volume['points']} | {volume['ours']:.9g} | {volume['optuna']:.9g} | {ratio:.2f} |"
        )
    lines += ["", "Ratio of times below 1: faster than optuna's.", ""]
    lines += ["| preference | decider | time | cost | utilisation | failed |", "|---|---|---:|---:|---:|---:|"]
    for row in rows:
        cells = [f"{row[name]:.2f}" for name in MEASURED]
        lines.append(f"| {row['preference']} | {row['decider']} | {' | '.join(cells)} | {row['failed']:.0%} |")
    verdict = (
        f"The last {LAST} of 20 runs of {jobs} simulated jobs, the same for all rows, in multiples of the first configuration "
        "(geometric means, noise-free). One policy file serves all preferences; for utilisation more is better."
    )
    return "\n".join([*lines, "", verdict])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
