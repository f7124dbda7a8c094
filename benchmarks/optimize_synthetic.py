"""`jpo optimize` on synthetic jobs to a target, in virtual time: the real loop and suggestions, in seconds.

    epochs   = noise x steps (1 + scale / B) B / samples / (x exp(1 - x)),   x = rate / (best rate of 64 x (B / 64)^power)
    seconds  = epochs x (samples / B x (overhead + compute B) + evaluation)

x beyond a limit diverges, and a run misses its target after 60 epochs. Kinds: `near`, a rate of .35 to 1.4 of its batch's best;
`low`, a quarter of it; `high`, three times as much; `best`, nothing can be gained. What counts is time per model over that of
always keeping, the share of runs with a model, and how far what the loop has left is from the best. Two checkouts play the same
runs: the n-th run of a configuration has the same luck in both.

    python benchmarks/optimize_synthetic.py [--seeds 11-14] [--kinds low,near,best] [--runs 10] [--baseline 3]
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))  # simulated_engine.py
sys.path.insert(0, str(Path(__file__).resolve().parent))

from apparatus.stamp import stamp
from optimize import seeds_of
from simulated_engine import SimulatedLauncher, VirtualRun

from jpo.commands.compare import compared
from jpo.commands.suggest import SuggestOptions, suggest
from jpo.plugins.launch.job import LaunchJob
from jpo.plugins.launch.story.optimize.optimize import optimize
from jpo.plugins.launch.story.optimize.task import LoopPlan, Outside, Task, task_of
from jpo.plugins.launch.story.watch.story import trial
from jpo.project.load import load
from jpo.project.workload import read_workload
from jpo.records import RunStatus, Suggestion

SAMPLES, MOST_EPOCHS, FIRST_MOMENT, IMPORTS_SECONDS = 1437, 60, 1.8e9, 0.01
BATCHES = [8.0 * 2**n for n in range(6)]
RATES = [0.0005 * 2 ** (n / 4) for n in range(35)]
KINDS = ("low", "near", "best")
TOML = """\
[parameters]
batch_size = { min = 8, max = 256, step = "pow2" }
learning_rate = { min = 0.0005, max = 0.2, scale = "log" }
cpus = { freeze = true }
[prices]
usd_per_cpu_hour = 0.04
"""
CONFIG = """\
[workload]
dataset = d
model = m
framework = pytorch
[training]
batch_size = {batch:.0f}
learning_rate = {rate:.5g}
epochs = 60
[resources]
cpus = 1
gpus = 0
"""


@dataclass(frozen=True)
class Truth:
    """What a job is like, and the batch and rate that stand in config.ini."""

    compute: float
    scale: float
    power: float
    best_rate: float
    noise: float
    diverges_at: float
    slope: float
    batch: float
    rate: float = 0.0
    steps: float = 1.0
    overhead: float = 2e-3
    evaluation: float = 0.02

    def off(self, batch: float, rate: float) -> float:
        """The rate, in multiples of the best of its batch."""
        return rate / (self.best_rate * (batch / 64) ** self.power)

    def epochs(self, batch: float, rate: float) -> float:
        x = self.off(batch, rate)
        return self.steps * (1 + self.scale / batch) * batch / SAMPLES / max(x * math.exp(1 - x), 1e-9)

    def epoch_seconds(self, batch: float) -> float:
        return math.ceil(SAMPLES / batch) * (self.overhead + self.compute * batch) + self.evaluation

    def seconds(self, batch: float, rate: float) -> float:
        """Of a run, without luck; infinite where it brings no model."""
        needed = self.epochs(batch, rate)
        fails = self.off(batch, rate) > self.diverges_at or needed > MOST_EPOCHS
        return math.inf if fails else max(1.0, needed + 0.5) * self.epoch_seconds(batch)

    @property
    def best(self) -> tuple[float, float, float]:
        """Seconds, batch and rate."""
        return min((self.seconds(batch, rate), batch, rate) for batch in BATCHES for rate in RATES)


@dataclass(frozen=True)
class Play:
    """One loop: time per model over that of keeping, share of runs with a model, and what is left over the best."""

    per_model: float
    models: float
    left: float


def truth_of(kind: str, seed: int) -> Truth:
    """A job of a kind in which something can be gained, but for `best`."""
    rng = np.random.default_rng((seed, zlib.crc32(kind.encode())))
    while True:
        compute, scale = 2e-3 / (64 * 2 ** rng.uniform(-2, 1.5)), 64 * 2 ** rng.uniform(-2, 2)
        power, best_rate = 0.5 if rng.random() < 0.5 else 1.0, 0.02 * 2 ** rng.uniform(-1.2, 1.2)
        noise, diverges_at, slope = float(rng.choice([0.08, 0.15, 0.25])), 4 + 4 * rng.random(), rng.uniform(0.5, 1.5)
        batch, epochs = float(rng.choice([16, 32, 64, 128])), rng.uniform(8, 20)
        x = {"near": 2 ** rng.uniform(-1.5, 0.5), "low": 0.25, "high": 3.0, "best": 1.0}[kind]
        rate = float(f"{x * best_rate * (batch / 64) ** power:.2g}")
        truth = Truth(compute, scale, power, best_rate, noise, diverges_at, slope, batch, rate)
        truth = replace(truth, steps=epochs / truth.epochs(batch, rate))
        best, best_batch, rate_there = truth.best
        if kind == "best":
            truth = replace(truth, batch=best_batch, rate=float(f"{rate_there:.2g}"))
            return replace(truth, steps=truth.steps * epochs / truth.epochs(truth.batch, truth.rate))
        gain = truth.seconds(batch, rate) / best
        if 0.0005 < rate < 0.2 and (1.5 if kind == "near" else 1.3) < gain < math.inf:
            return truth


def run_of(truth: Truth, job: LaunchJob, start: float, rng: np.random.Generator) -> VirtualRun:
    """A run with its log. At a low rate the loss falls late, at a high one early."""
    batch, rate = job.parameters["batch_size"], job.parameters["learning_rate"]
    off, pace = truth.off(batch, rate), truth.epoch_seconds(batch) * math.exp(rng.normal(0, 0.03))
    needed = truth.epochs(batch, rate) * math.exp(rng.normal(0, truth.noise))
    bend, at_the_end = min(2.0, max(0.6, off**-0.2)) * math.exp(rng.normal(0, 0.1)), math.exp(rng.normal(0, 0.1))
    start += IMPORTS_SECONDS
    rows, epoch, diverged = [], 0, False
    while epoch < MOST_EPOCHS and epoch < needed and not diverged:
        epoch += 1
        done = min((epoch / needed) ** bend, 1.0) if epoch < needed else 1.0
        loss = 2.3 * (1 + 20 * done) ** -truth.slope * math.exp(rng.normal(0, 0.04)) * (at_the_end if done >= 1 else 1.0)
        diverged = off > truth.diverges_at and epoch >= 2
        loss = math.nan if diverged else loss
        rows.append(f"{start + epoch * pace:.4f},{epoch},{epoch * SAMPLES},{loss},{loss}")
    status = RunStatus.DIVERGED if diverged and epoch < needed else RunStatus.SUCCEEDED
    head = {"run_id": job.run_id, **job.identity.labels, **job.parameters, "start": f"{start:.4f}"}
    ends = {"end": f"{start + epoch * pace:.4f}", "converged": str(epoch >= needed).lower(), "status": status.value}
    first, last = ([f"# {name}={value}" for name, value in lines.items()] for lines in (head, ends))
    log = "\n".join([*first, "time,epoch,samples,train_loss,val_loss", *rows, *last, ""])
    return VirtualRun(IMPORTS_SECONDS + epoch * pace, ended_as=status, log=log)


def played(kind: str, seed: int, folder: Path, runs: int, baseline: int) -> Play:
    truth, now, counts = truth_of(kind, seed), [FIRST_MOMENT], Counter[tuple[float, int]]()
    (folder / ".git").mkdir(parents=True)  # the project ends here
    config = folder / "config.ini"
    (folder / "jpo.toml").write_text(TOML, encoding="utf-8")
    config.write_text(CONFIG.format(batch=truth.batch, rate=truth.rate), encoding="utf-8")

    def simulate(job: LaunchJob, start: float) -> VirtualRun:
        key = job.parameters["batch_size"], round(math.log(job.parameters["learning_rate"]) * 50)
        counts[key] += 1
        return run_of(truth, job, start, np.random.default_rng((seed, zlib.crc32(repr((kind, key, counts[key])).encode()))))

    def decide(task: Task, suggestion_id: str, moment: float) -> Suggestion:
        options = SuggestOptions(suggestion_id, moment, offline=True, seed=seed, learn=False)
        return suggest(task.path, task.settings, options).suggestion

    def sleep(seconds: float) -> None:
        now[0] += max(seconds, 0.01)

    engine, settings = SimulatedLauncher(simulate, lambda: now[0]), load(config, None, {}, {})
    task = task_of(config, settings, engine.name, name=f"{kind}-{seed}", now=now[0])
    outside = Outside(decide, lambda *_: engine, trial, lambda: now[0], sleep, lambda _: None, folder, {})
    (job,) = optimize([task], LoopPlan(runs, baseline, ("train",)), outside, compared, picture=None).jobs
    kept = LaunchJob(
        "keep", task.identity, ("train",), folder, parameters={"batch_size": truth.batch, "learning_rate": truth.rate}
    )
    keeping = fmean(run_of(truth, kept, 0.0, np.random.default_rng((seed, 99, n))).run_seconds for n in range(40))
    made = [each.run for each in job.runs if each.run and not each.baseline]
    models, left = sum(run.outcome.converged is True for run in made), read_workload(config, settings, now=now[0]).current
    spent = sum(run.outcome.duration_seconds or 0.0 for run in made)
    best = truth.best[0]
    left_seconds = truth.seconds(left["batch_size"], left["learning_rate"])
    return Play(spent / max(models, 1) / keeping, models / len(made), min(left_seconds / best, 20.0))


def told(name: str, plays: Sequence[Play]) -> str:
    per_model, left = (
        math.exp(fmean(map(math.log, values))) for values in zip(*((p.per_model, p.left) for p in plays), strict=True)
    )
    return f"{name:6} {per_model:9.2f} {fmean(play.models for play in plays):8.2f} {left:13.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="jpo optimize on synthetic jobs to a target.")
    parser.add_argument("--seeds", type=seeds_of, default="11-14", help="how many, or which: 11-14")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--baseline", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{stamp()}; {arguments.runs} runs after {arguments.baseline}\n{'kind':6} per model   models  left / best", flush=True)
    plays: list[Play] = []
    with tempfile.TemporaryDirectory(prefix="jpo-loops-") as folder:
        for kind in arguments.kinds.split(","):
            play = partial(played, kind, runs=arguments.runs, baseline=arguments.baseline)
            own = [play(seed, Path(folder) / f"{kind}-{seed}") for seed in arguments.seeds]
            print(told(kind, own), flush=True)
            plays += own
    print(told("all", plays))


if __name__ == "__main__":
    main()
