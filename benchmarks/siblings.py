"""Cost of a job's runs when the same job is known on other hardware, side by side with nothing known.

Of each recorded workload, siblings are made by warping: another level, differences stretched, smooth bends of 15% (the misfit
that JPO assumes) or of 30%; "wrong" siblings have the same name and a surface that has nothing to do with it. Simulated jobs are
drawn twice, with the same learning and other hardware. What is known of each sibling are 5 to 10 runs, as JPO itself chose them
there. Without recorded traces, only the simulated jobs are played.

    python benchmarks/siblings.py [--seeds 10] [--simulated 20] [--traces FOLDER] [--quick] [--json]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from apparatus.stamp import stamp

from jpo.plugins.lab.replay.metrics import Score, over_workloads, score
from jpo.plugins.lab.replay.play import ReplayProblem, play
from jpo.plugins.lab.replay.policies.simple import Default
from jpo.plugins.lab.replay.traces import Execution, Trace, read_trace
from jpo.plugins.lab.story.replay import Advised
from jpo.records import Candidates, Outcome
from jpo.report.forms import json
from jpo.simulate import Latents, jobs_of
from jpo.simulate.grids import random_candidates

if TYPE_CHECKING:
    from jpo.records import Floats

HORIZONS = (5, 10, 20, 40)
FEWEST_RUNS, MOST_RUNS = 5, 10
"""Runs that are known of each sibling."""
JOB = {"dataset": "recorded", "model": "job", "framework": "benchmark"}
HARDWARE = ("half saturation", "memory limit", "memory suffices", "synchronisation", "overlap", "loading", "network")
"""Latents of the simulator that hardware changes."""


@dataclass(frozen=True)
class Warp:
    """How a sibling differs: bends (sd of ln), the range of the factor by which differences are stretched, and their number.

    `alike`: False for a surface of its own.
    """

    bend: float
    stretch: tuple[float, float]
    siblings: int = 1
    alike: bool = True


ALONE = "nothing known"
WARPS: Mapping[str, Warp] = {
    "one sibling": Warp(0.15, (0.8, 1.25)),
    "three siblings": Warp(0.15, (0.8, 1.25), siblings=3),
    "one sibling, bent twice as much": Warp(0.3, (0.6, 1.6)),
    "one wrong sibling": Warp(0.5, (1, 1), alike=False),
}


class Recorded:
    """JPO on a sibling, with its runs kept."""

    def __init__(self, problem: ReplayProblem) -> None:
        self._advised, self._configurations = Advised(problem), problem.configurations
        self.runs: list[tuple[Mapping[str, float], Outcome]] = []

    def ask(self) -> int:
        return self._advised.ask()

    def tell(self, choice: int, outcome: Outcome, charge: float) -> None:
        self._advised.tell(choice, outcome, charge)
        self.runs.append((self._configurations[choice], outcome))


@dataclass(frozen=True, eq=False)
class OtherHardware(Latents):
    """Latents of the same jobs, with those of the hardware moved by up to a quarter of their range."""

    hardware: int = 0

    def _position(self, name: str) -> Floats:
        position = Latents._position(self, name)
        if self.hardware and name in HARDWARE:
            position = position + np.random.default_rng((self.seed, self.hardware, len(name))).uniform(
                -0.25, 0.25, position.shape
            )
            position = np.where(position > 1, 2 - position, np.abs(position))
        return position


def warped(trace: Trace, warp: Warp, rng: np.random.Generator) -> Trace:
    """The same job on other hardware: the logs of its durations stretched and bent, its costs with them."""
    values = np.array([list(values.values()) for values in trace.configurations], dtype=np.float64)
    points = np.log2(np.maximum(values, 1e-9))
    frequencies = rng.normal(0, 0.7, (64, points.shape[1]))
    waves = np.cos(points @ frequencies.T + rng.uniform(0, 2 * np.pi, 64)) * np.sqrt(2 / 64)
    bends = warp.bend * waves @ rng.standard_normal(64)
    level, stretch = rng.uniform(-1, 1), rng.uniform(*warp.stretch)
    mean = np.array([np.mean([np.log(e.duration_seconds) for e in several]) for several in trace.executions])
    relative = (stretch if warp.alike else 0.0) * (mean - mean[trace.default]) + bends - bends[trace.default] + level
    factor = np.exp(relative + mean[trace.default] - mean)
    executions = [
        tuple(replace(e, duration_seconds=e.duration_seconds * f, cost=e.cost * f) for e in several)
        for several, f in zip(trace.executions, factor, strict=True)
    ]
    return replace(trace, executions=tuple(executions))


def known_of(
    siblings: Sequence[Trace], objective: str, seed: int
) -> list[tuple[Mapping[str, str], Mapping[str, float], Outcome]]:
    """What is on record of each sibling: its first runs as JPO chose them, on hardware of its own."""
    history = []
    for number, sibling in enumerate(siblings):
        rng = np.random.default_rng((seed, number, 5))
        kept: list[Recorded] = []

        def factory(problem: ReplayProblem, kept: list[Recorded] = kept) -> Recorded:
            kept.append(Recorded(problem))
            return kept[-1]

        play(sibling, factory, objective, runs=int(rng.integers(FEWEST_RUNS, MOST_RUNS + 1)), seed=1000 + seed)  # type: ignore[arg-type]
        history += [({**JOB, "hardware": f"gpu-{number}"}, values, outcome) for values, outcome in kept[0].runs]
    return history


def scores(
    trace: Trace, siblings: Mapping[str, Sequence[Sequence[Trace]]], seeds: int, runs: int, objective: str
) -> dict[str, Score]:
    """The score of JPO on one workload with nothing known, and with each kind of siblings (a set for each seed)."""
    never = [play(trace, lambda _: Default(_), objective, runs=runs, seed=seed) for seed in range(seeds)]  # type: ignore[arg-type]
    own = {**JOB, "hardware": "ours"}
    found = {}
    for name, sets in {ALONE: [()] * seeds, **siblings}.items():
        replays = []
        for seed in range(seeds):
            history = known_of(sets[seed], objective, seed)
            replays.append(play(trace, partial(Advised, workload=own, history=history), objective, runs=runs, seed=seed))  # type: ignore[arg-type]
        found[name] = score(replays, never)
    return found


def simulated(number: int, siblings: int) -> tuple[Trace, list[Trace]]:
    """A simulated job on a grid, and the same on other hardware."""
    for attempt in range(100):
        rng = np.random.default_rng((11, number, attempt))
        candidates = random_candidates(rng)
        seed = int(rng.integers(2**31))
        truth = [_trace(candidates, OtherHardware(1, seed, hardware=n), rng, f"simulated_{number}") for n in range(siblings + 1)]
        if all(trace is not None for trace in truth):
            first, *others = (trace for trace in truth if trace)
            return first, others
    raise AssertionError("no job in a hundred runs with its default")


def _trace(candidates: Candidates, latents: Latents, rng: np.random.Generator, name: str) -> Trace | None:
    job = jobs_of(candidates, latents)
    if job.fails[0, candidates.current]:
        return None
    seconds = 3600 * np.exp(job.log_time[0] + rng.normal(0, 0.05, (3, len(candidates.values))))  # (3, K)
    usd = seconds / 3600 * np.exp(candidates.log_rate)
    rows = range(len(candidates.values))
    executions = tuple(tuple(Execution(seconds[i, k], usd[i, k], not job.fails[0, k]) for i in range(3)) for k in rows)
    return Trace(name, tuple(candidates.parameters(row) for row in rows), executions, candidates.current, "USD")


def table(each: Sequence[Mapping[str, Score]], horizons: Sequence[int]) -> dict[str, dict[str, float]]:
    """Over all workloads: cost of the first N runs over the best configuration's, ratio to nothing known, and harm."""
    overall = {name: over_workloads([scores[name] for scores in each]) for name in each[0]}
    return {
        name: {f"N = {n}": one.after(n).mean for n in horizons}
        | {f"ratio {n}": one.after(n).mean / overall[ALONE].after(n).mean for n in horizons}
        | {"harm": one.harm.mean}
        for name, one in overall.items()
    }


def page(title: str, rows: Mapping[str, Mapping[str, float]], horizons: Sequence[int]) -> str:
    lines = [f"### {title}", "", "| known | " + " | ".join(f"N = {n}" for n in horizons) + " | harm |"]
    lines.append("|---|" + "---|" * (len(horizons) + 1))
    for name, row in rows.items():
        cells = [f"{row[f'N = {n}']:.3f} ({row[f'ratio {n}']:.3f})" for n in horizons]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {row['harm']:.1%} |")
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Cost of a job's runs when it is known on other hardware.")
    parser.add_argument("--seeds", type=int, default=10, help="replays of each workload (default: 10)")
    parser.add_argument("--simulated", type=int, default=20, help="simulated jobs (default: 20)")
    parser.add_argument("--traces", type=Path, help="folder of recorded traces")
    parser.add_argument("--objective", default="balanced", choices=("balanced", "time", "cost"))
    parser.add_argument("--quick", action="store_true", help="one simulated job, few runs: does it work?")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of tables")
    options = parser.parse_args(argv)
    horizons = (3, 6) if options.quick else HORIZONS
    seeds, jobs = (1, 1) if options.quick else (options.seeds, options.simulated)
    sections = {}
    files = sorted(options.traces.glob("*.csv")) if options.traces else []
    if files:
        each = []
        for file in files:
            trace = read_trace(file)
            made = {
                name: [
                    [warped(trace, warp, np.random.default_rng((seed, number, len(name)))) for number in range(warp.siblings)]
                    for seed in range(seeds)
                ]
                for name, warp in WARPS.items()
            }
            each.append(scores(trace, made, seeds, horizons[-1], options.objective))
        sections[f"{len(files)} recorded workloads, {seeds} replays each"] = table(each, horizons)
    each = []
    for number in range(jobs):
        trace, others = simulated(number, 2)
        made = {"one sibling": [others[:1]] * seeds, "two siblings": [others] * seeds}
        each.append(scores(trace, made, seeds, horizons[-1], options.objective))
    sections[f"{jobs} simulated jobs, {seeds} replays each"] = table(each, horizons)
    if options.json:
        print(json.dumps(sections))
        return 0
    print(f"## Siblings\n\n{stamp()}. {options.objective}; (ratio to nothing known); harm: 5% above never changing, N = 10.")
    for title, rows in sections.items():
        print("\n" + page(title, rows, horizons))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
