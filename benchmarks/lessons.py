"""One lesson for the whole store: what ten jobs of one installation pay, one after the other, to learn the same thing.

The jobs differ as those of nights.py do, and share what nobody told JPO:

    loaders   the CPUs, which are dear, load data all the time, which nobody measures: fewer of them are as much slower
    memory    twice today's batch on a GPU runs out of memory
    links     a second GPU costs more than it brings

Each lives its nights, then the next begins; all runs stay in one store. What a job paid: over its nights, by how much those that
went in the wrong direction (fewer CPUs, more on a GPU, more GPUs) were dearer than keeping the committed values, in runs of
these; a night that failed counts as in nights.py. The request is that of `jpo suggest` on the job's files, `advise` decides, and
the file is kept. Nothing is explained and nothing undone, which takes most of a night's time.

    python benchmarks/lessons.py [--jobs 10] [--nights 8] [--fleets 4] [--lessons NAME ...] [--alone] [--processes 2] [--json]

--alone: no job knows of the others, for comparison.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from apparatus.night_files import config_ini, jpo_toml
from apparatus.night_jobs import drawn
from apparatus.night_truth import OOM, WELL, Job, best, results, step_seconds
from nights import judged

from jpo.errors import NothingAdmissible
from jpo.optimizer.advise import advise
from jpo.optimizer.request import Request
from jpo.project.load import load
from jpo.project.project import open_project
from jpo.project.request import request_of
from jpo.records import Identity, Known, Outcome, Parameters, Run, RunStatus

LESSONS = ("loaders", "memory", "links")
FIRST_SEED = 1000
DAY = 86400.0


@dataclass(frozen=True)
class Lived:
    """Nights of one job: what the wrong direction cost, how many went there, and cost against keeping and against the best."""

    paid: float
    wrong: int
    against_keeping: float
    against_best: float
    last: float


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="What ten jobs of one installation pay for the same lesson.")
    parser.add_argument("--jobs", type=int, default=10, help="of an installation (default: 10)")
    parser.add_argument("--nights", type=int, default=8, help="of each job (default: 8)")
    parser.add_argument("--fleets", type=int, default=4, help="installations of each kind (default: 4)")
    parser.add_argument("--lessons", nargs="+", choices=LESSONS, default=LESSONS, metavar="NAME", help=", ".join(LESSONS))
    parser.add_argument("--alone", action="store_true", help="no job knows of the others")
    parser.add_argument("--processes", type=int, default=2, help="(default: 2)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    tasks = [(lesson, fleet) for lesson in options.lessons for fleet in range(options.fleets)]
    with ProcessPoolExecutor(options.processes) as pool:
        play = partial(installation, jobs=options.jobs, nights=options.nights, alone=options.alone)
        played = list(pool.map(play, *zip(*tasks, strict=True)))
    by_lesson = {name: [them for (of, _), them in zip(tasks, played, strict=True) if of == name] for name in options.lessons}
    if options.json:
        print(json.dumps({name: [[asdict(job) for job in jobs] for jobs in fleets] for name, fleets in by_lesson.items()}))
    else:
        print(table(by_lesson))
    return 0


def installation(lesson: str, fleet: int, *, jobs: int, nights: int, alone: bool) -> list[Lived]:
    """The jobs of one installation, one after the other."""
    others: list[Run] = []
    lives = []
    for number in range(jobs):
        life, runs = lived(job_here(lesson, fleet, number), lesson, nights, () if alone else others)
        others += runs
        lives.append(life)
    return lives


def job_here(lesson: str, fleet: int, number: int) -> Job:
    """A job like others of nights.py, which meets what its installation is like."""
    seed = FIRST_SEED + 100 * fleet + number
    rng = np.random.default_rng((seed, LESSONS.index(lesson)))
    job = replace(drawn("fixed_epochs", seed, rng), kind=f"{lesson}{number}")
    truth, at = job.truth, job.values
    batch, here = np.array([at["batch_size"]]), np.random.default_rng((fleet, LESSONS.index(lesson)))
    step = float(step_seconds(replace(truth, loading_seconds=0.0), batch, np.array([1.0]), np.array([8.0]))[0])
    tight = float(here.uniform(0.85, 1.05) * 2 ** rng.uniform(-0.1, 0.1))
    if lesson == "loaders":
        starved = replace(truth, loading_seconds=tight * step * at["cpus"] / at["batch_size"])
        return replace(job, truth=starved, usd={"gpus": 0.6, "cpus": 0.1, "memory_gib": 0.005})
    if lesson == "memory":
        sample = (truth.gpu_memory_gib - truth.model_gib) / at["batch_size"] * 0.75 * tight
        return replace(job, truth=replace(truth, sample_gib=sample))
    return replace(job, truth=replace(truth, gradient_seconds=2.5 * tight * step, node_gpus=1.0, across=2.0))


def wrong(lesson: str, job: Job, values: Mapping[str, float]) -> bool:
    """Whether a night went where the installation punishes it."""
    if lesson == "memory":
        return values["batch_size"] / values["gpus"] > job.values["batch_size"] / job.values["gpus"]
    name, sign = ("cpus", -1) if lesson == "loaders" else ("gpus", 1)
    return sign * (values[name] - job.values[name]) > 0


def lived(job: Job, lesson: str, nights: int, others: Sequence[Run]) -> tuple[Lived, list[Run]]:
    """The nights of one job, and its runs."""
    worth = partial(judged, job, best(job)[1])
    keeping, today = worth(job.values).ratio, dict(job.values)
    runs, followed, trials, ratios, paid, count = list[Run](), list[tuple[Run, Parameters]](), list[bool](), [], 0.0, 0
    with tempfile.TemporaryDirectory(prefix="lessons-") as folder:
        request = request_here(job, Path(folder))
    for night in range(nights):
        known = Known(tuple(runs), tuple(others), followed_up=tuple(followed[-20:]), trials=sum(trials[-20:]))
        try:
            advice = advise(replace(request, current=today), known, None, seed=0)
            values = {**today, **advice.suggested}
        except NothingAdmissible:
            values, advice = today, None
        run = ran(job, values, night)
        runs.append(run)
        followed.append((run, today))
        trials.append(advice is not None and advice.decision.kind == "trial")
        ratio, today = worth(values).ratio, values
        ratios.append(ratio)
        if wrong(lesson, job, values) and ratio > keeping:
            count, paid = count + 1, paid + ratio / keeping - 1
    mean = float(np.mean(ratios))
    return Lived(paid, count, mean / keeping, mean, float(np.mean(ratios[-3:]))), runs


def request_here(job: Job, folder: Path) -> Request:
    """The request that the job's files make."""
    (folder / "config.ini").write_text(config_ini(job), encoding="utf-8")
    (folder / "jpo.toml").write_text(jpo_toml(job, (), logs=False), encoding="utf-8")
    settings = load(folder / "config.ini", None, {}, {})
    with open_project(folder / "config.ini", settings, now=DAY, read_only=True) as project:
        return request_of(project, Known(()))


def ran(job: Job, values: Mapping[str, float], night: int) -> Run:
    """The run of a night, with its luck."""
    them = results(job, {name: np.array([x]) for name, x in values.items()})
    luck = np.random.default_rng((job.seed, night))
    seconds = float(them.seconds[0]) * math.exp(job.truth.noise * luck.standard_normal())
    loss = float(them.loss[0]) * math.exp(job.truth.loss_noise * luck.standard_normal())
    well, ends = str(them.ends[0]) == WELL, str(them.ends[0])
    outcome = Outcome(
        seconds,
        samples=float(them.epochs[0]) * job.truth.samples if well else None,
        val_loss=loss if well else None,
        cpu_utilisation=None if job.kind.startswith("loaders") or not well else min(1.0, 0.05 + float(them.loader_share[0])),
        epochs=float(them.epochs[0]) if well else None,
    )
    status = RunStatus.SUCCEEDED if well else RunStatus.OOM_KILLED if ends == OOM else RunStatus.FAILED
    identity, start = Identity(job.kind, f"net{job.seed}", "pytorch"), DAY * (night + 1)
    return Run(f"{job.kind}-{job.seed}-{night}", identity, dict(values), status, start, start + seconds, outcome, "csv")


def table(by_lesson: Mapping[str, Sequence[Sequence[Lived]]]) -> str:
    """What the first job of each installation paid, those after it, and the last, in runs of keeping."""
    head = (
        "lesson",
        "installations",
        "first",
        "2 to 4",
        "5 to 9",
        "last",
        "last / first",
        "against keeping",
        "last three / best",
    )
    lines = [f"| {' | '.join(head)} |", "|---" + "|---:" * (len(head) - 1) + "|"]
    every = [fleet for fleets in by_lesson.values() for fleet in fleets]
    for name, some in [*by_lesson.items(), ("all", every)]:
        paid = np.array([[job.paid for job in fleet] for fleet in some])
        first, last = paid[:, 0].mean(), paid[:, -1].mean()
        parts = [f"{x:.2f}" for x in (first, paid[:, 1:4].mean(), paid[:, 4:-1].mean(), last)]
        keeping = np.mean([job.against_keeping for fleet in some for job in fleet])
        end = np.mean([job.last for fleet in some for job in fleet])
        share = f"{last / first:.2f}" if first else "-"
        lines.append(f"| {' | '.join((name, str(len(some)), *parts, share, f'{keeping:.3f}', f'{end:.2f}'))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
