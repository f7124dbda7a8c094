"""Error of full runs predicted from trials a tenth of their size: time and cost, in the digits example and simulated jobs.

The digits example (examples/digits) is really run, all epochs without its target: full runs, and trials on 10% of the epochs or
of the data. Simulated jobs have slow first epochs, stalls, an evaluation of unknown length and noise within and between runs; how
step time moves with the configuration is drawn from the laws that `jpo predict` itself assumes. Nothing is tuned here. Cost is
time at a known price: its error is that of the time. On a machine that others use too, wall times of equal runs differ by half
and more; --cpu-clock times the example in CPU seconds, 0.97 to 1.00 of the wall time of an idle machine for its one thread.

    python benchmarks/trials.py [--jobs 300] [--repeats 2] [--epochs 40] [--only simulated|digits] [--cpu-clock] [--json]
"""

from __future__ import annotations

import argparse
import configparser
import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from io import StringIO
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from types import ModuleType, SimpleNamespace

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from apparatus.stamp import stamp

from jpo import runlog
from jpo.forecast.trials import Trial, TrialLog, trial_of
from jpo.optimizer.expectations import seconds_by_trials
from jpo.project.trial_logs import read_trials
from jpo.records import Candidates, Interval
from jpo.simulate import Latents
from jpo.simulate.grids import random_candidates
from jpo.simulate.knobs import knobs_of
from jpo.simulate.runs import draw_noise
from jpo.simulate.speed import step_time
from jpo.telemetry.csv.log import read_log

ROOT = Path(__file__).parents[1]
DIGITS = ROOT / "examples" / "digits"
CLAIM = 0.15
CONFIGURATIONS = ({"batch_size": 64, "num_layers": 2}, {"batch_size": 16, "num_layers": 2}, {"batch_size": 128, "num_layers": 2})

EVALUATION_SHOWN = "10% of the data, evaluation told apart by a row before it"
TWO = "10% of the work: 5% and 20% of the data, 40% of the epochs"

Values = Mapping[str, float]
Row = dict[str, float]


@dataclass(frozen=True)
class Case:
    """One prediction and what came of it."""

    where: str
    trials: str
    error: float
    inside: bool


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Errors of full runs predicted from trials a tenth of their size.")
    parser.add_argument("--jobs", type=int, default=300, help="simulated jobs (default: 300)")
    parser.add_argument("--repeats", type=int, default=2, help="of each configuration of the digits example (default: 2)")
    parser.add_argument("--configurations", type=int, default=3, help="of the digits example (default: 3, all)")
    parser.add_argument("--epochs", type=int, default=40, help="of a full run of the digits example (default: 40)")
    parser.add_argument("--only", choices=("simulated", "digits"), help="one of the two")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    parser.add_argument("--cpu-clock", action="store_true", help="time the digits example in CPU seconds of its one thread")
    options = parser.parse_args(argv)
    cases: list[Case] = []
    if options.only != "digits":
        cases += [case for seed in range(options.jobs) for case in simulated(seed)]
    if options.only != "simulated":
        if options.cpu_clock:
            runlog.time = SimpleNamespace(**{**vars(time), "monotonic": time.process_time})  # type: ignore[assignment]
        example()
        with tempfile.TemporaryDirectory() as folder:
            cases += digits(Path(folder), options.configurations, options.repeats, options.epochs)
    rows = figures(cases)
    print(json.dumps(rows, indent=2) if options.json else table(rows))
    return 0


def figures(cases: Sequence[Case]) -> list[dict[str, object]]:
    """Per kind of trials: median errors, and how often the run ended inside its 90% interval."""
    rows = []
    for where, trials in dict.fromkeys((case.where, case.trials) for case in cases):
        own = [case for case in cases if (case.where, case.trials) == (where, trials)]
        error, inside = median(case.error for case in own), sum(case.inside for case in own) / len(own)
        row = {"where": where, "trials": trials, "runs": len(own), "median_error": error, "inside_90": inside}
        rows.append({**row, "within_15_percent": error <= CLAIM})
    return rows


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """The figures as Markdown."""
    summary = "Full runs predicted from a tenth of them; at a known price, cost is off by as much as time."
    lines = ["## Trials", "", f"{stamp()}.", summary, ""]
    lines += [
        "| | trials | full runs | time and cost off by (median) | inside 90% interval | within 15% |",
        "|---|---|--:|--:|--:|---|",
    ]
    for row in rows:
        shares = [f"{row[name]:.1%}" for name in ("median_error", "inside_90")]
        holds = "yes" if row["within_15_percent"] else "no"
        lines.append(f"| {row['where']} | {row['trials']} | {row['runs']} | {' | '.join(shares)} | {holds} |")
    return "\n".join(lines)


def judged(where: str, name: str, expected: Interval, seconds: float) -> Case:
    return Case(where, name, abs(expected.mean / seconds - 1), expected.low <= seconds <= expected.high)


# --- simulated jobs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """A job with its true speed on every candidate. Ranges are assumed."""

    candidates: Candidates
    log_step: np.ndarray
    epochs: int
    samples: int
    seconds: float
    evaluation: float
    not_cut: bool
    start: float
    jitter: float
    noise: float

    @classmethod
    def drawn(cls, seed: int) -> Job:
        rng = np.random.default_rng((seed, 41))
        candidates = random_candidates(rng)
        latents = Latents(1, int(rng.integers(2**40)))
        return cls(
            candidates=candidates,
            log_step=step_time(knobs_of(candidates), latents).log_step[0],
            epochs=int(rng.integers(20, 101)),
            samples=int(np.exp(rng.uniform(np.log(2e3), np.log(1e6)))),
            seconds=float(np.exp(rng.uniform(np.log(5), np.log(2000)))),
            evaluation=float(np.exp(rng.uniform(np.log(0.01), np.log(0.3)))),
            not_cut=bool(rng.random() < 0.5),
            start=float(np.exp(rng.uniform(np.log(0.05), np.log(3)))),
            jitter=float(rng.uniform(0, 0.1)),
            noise=draw_noise(rng),
        )

    def values(self, row: int) -> dict[str, float]:
        return {**self.candidates.parameters(row), "epochs": float(self.epochs)}

    def epoch_seconds(self, row: int, fraction: float) -> float:
        """Noise-free: whole steps, then the evaluation of all or as much of the validation data."""
        batch = self.values(row).get("batch_size", 32.0)
        now = self.values(self.candidates.current).get("batch_size", 32.0)
        step = self.seconds / (self.samples / now) * float(np.exp(self.log_step[row] - self.log_step[self.candidates.current]))
        full = step * np.ceil(self.samples / batch)
        return float(step * np.ceil(fraction * self.samples / batch) + self.evaluation * full * (1 if self.not_cut else fraction))

    def evaluation_share(self, row: int, fraction: float) -> float:
        whole = self.epoch_seconds(row, 1.0) * self.evaluation / (1 + self.evaluation)
        return whole * (1 if self.not_cut else fraction) / self.epoch_seconds(row, fraction)

    def run(self, row: int, epochs: int, rng: np.random.Generator, fraction: float = 1.0) -> tuple[list[Row], float]:
        """(rows of the log, seconds of the whole run); it starts at time 0."""
        even = self.epoch_seconds(row, fraction) * float(np.exp(self.noise * rng.standard_normal()))
        times = even * np.exp(self.jitter * rng.standard_normal(epochs))
        times[:2] *= 1 + rng.uniform(0, 0.5) * np.array([1.0, 0.2])[:epochs]
        times *= np.where(rng.random(epochs) < 0.01, rng.uniform(1.5, 4, epochs), 1)
        ends = self.start * even + np.cumsum(times)
        per_epoch = max(1.0, fraction * self.samples)
        rows = [{"time": float(t), "epoch": i + 1.0, "samples": (i + 1) * per_epoch, "val_loss": 1.0} for i, t in enumerate(ends)]
        return rows, float(ends[-1] + 0.02 * even)

    def trial(
        self, row: int, epochs: int, rng: np.random.Generator, fraction: float = 1.0, *, mid_epoch_rows: bool = False
    ) -> Trial:
        rows, seconds = self.run(row, epochs, rng, fraction)
        if mid_epoch_rows:
            rows = with_rows_before_evaluation(rows, self.evaluation_share(row, fraction))
        return trial_of(TrialLog("trial", self.values(row), rows, fraction, started_at=0.0, ended_at=seconds))


def with_rows_before_evaluation(rows: Sequence[Row], share: float) -> list[Row]:
    """As if the job had logged a row before each evaluation, but for the first epoch."""
    marked = [rows[0]]
    for before, after in pairwise(rows):
        half = {"time": after["time"] - share * (after["time"] - before["time"]), "epoch": after["epoch"] - 0.5}
        marked += [{**half, "samples": after["samples"]}, after]
    return marked


def simulated(seed: int) -> list[Case]:
    """One job: today's configuration from its own trials, and another one from trials of three others."""
    job, rng = Job.drawn(seed), np.random.default_rng((seed, 42))
    now, few = job.candidates.current, max(2, round(0.1 * job.epochs))
    others = rng.permutation(len(job.candidates.values))[:4]
    epochs, part = max(3, job.epochs // 2), max(3, round(0.4 * job.epochs))
    cut = "all of it" if job.not_cut else "as much of it"
    ways = [
        ("10% of the epochs", now, [job.trial(now, few, rng)]),
        (f"10% of the data, evaluation on {cut}", now, [job.trial(now, epochs, rng, 0.1)]),
        (EVALUATION_SHOWN, now, [job.trial(now, epochs, rng, 0.1, mid_epoch_rows=True)]),
        (TWO, now, [job.trial(now, part, rng, share) for share in (0.05, 0.2)]),
        ("10% of the epochs of three others", int(others[0]), [job.trial(int(row), few, rng) for row in others[1:]]),
    ]
    cases = []
    for name, row, trials in ways:
        _, seconds = job.run(row, job.epochs, rng)
        (expected,) = seconds_by_trials(trials, [trial.parameters for trial in trials], [job.values(row)], seed)
        cases.append(judged("simulated", name, expected, seconds))
    return cases


# --- the digits example -----------------------------------------------------------------------------------------------------


def digits(folder: Path, configurations: int, repeats: int, epochs: int) -> list[Case]:
    """Every configuration, run fully and as trials, in turn, each run a process of its own."""
    cases = []
    few = max(2, round(0.1 * epochs))
    for repeat in range(repeats):
        for number, configuration in enumerate(CONFIGURATIONS[:configurations]):
            name = f"{number}-{repeat}"
            half, part = epochs // 2, max(3, round(0.4 * epochs))
            ten = trained(folder, f"epochs-{name}", configuration, few)
            data = trained(folder, f"data10-{name}", configuration, half, training=0.1)
            both = trained(folder, f"both-{name}", configuration, half, training=0.1, validation=0.1)
            five = trained(folder, f"data5-{name}", configuration, part, training=0.05)
            twenty = trained(folder, f"data20-{name}", configuration, part, training=0.2)
            run = read_log(trained(folder, f"full-{name}", configuration, epochs))
            for way, logs in {
                "10% of the epochs": [ten],
                "10% of the data, evaluation on as much of it": [both],
                "10% of the data, evaluation on all of it": [data],
                EVALUATION_SHOWN: [data],
                TWO: [five, twenty],
            }.items():
                trials = read_trials(logs, run.identity, None, now=time.time())
                if way != EVALUATION_SHOWN:
                    trials = tuple(replace(trial, evaluation=None) for trial in trials)
                ran = [{**run.parameters, **trial.parameters} for trial in trials]
                (expected,) = seconds_by_trials(trials, ran, [run.parameters], 0)
                cases.append(judged("digits", way, expected, run.outcome.duration_seconds))
    return cases


def trained(
    folder: Path, run_id: str, configuration: Values, epochs: int, *, training: float = 1.0, validation: float = 1.0
) -> Path:
    """The log of one training run on shares of the data, in a process of its own."""
    config = configparser.ConfigParser(inline_comment_prefixes=("#", ";"), interpolation=None)
    config.read(DIGITS / "config.ini", encoding="utf-8")
    config["training"].update({"batch_size": str(configuration["batch_size"]), "epochs": str(epochs), "target_accuracy": "2"})
    config["model"]["num_layers"] = str(configuration["num_layers"])
    file = folder / f"{run_id}.ini"
    with file.open("w", encoding="utf-8") as text:
        config.write(text)
    process = get_context("fork").Process(target=train, args=(file, run_id, training, validation))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"training {run_id} ended with {process.exitcode}")
    return folder / f"{run_id}.csv"


def train(config: Path, run_id: str, training: float, validation: float) -> None:
    """examples/digits/train.py on shares of its data, in this process."""
    job = example()
    whole = job.load_data

    def part() -> tuple[object, ...]:
        learnt, validated = whole()
        return learnt, job.TensorDataset(*validated[: round(validation * len(validated))])

    job.load_data = part
    sys.argv = ["train.py", str(config), "--run-id", run_id, "--log-dir", str(config.parent), "--fraction", str(training)]
    with redirect_stdout(StringIO()):
        job.main()


@cache
def example() -> ModuleType:
    """examples/digits/train.py, imported once for all processes that are forked from this one."""
    spec = importlib.util.spec_from_file_location("train", DIGITS / "train.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["train"] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
