"""What each number and each rule of the decision is worth: a number is halved and doubled, a rule switched off, one at a time.

First it is asked whether any decision differs, out of some that are kept from nights of all kinds of jobs (nights.py); a number
with which none does is a candidate to be taken out. What makes a difference is then measured: nights, recorded jobs
(--traces) and LCBench (--tables) are played with it and without, with the same luck, and the difference is given with its paired
interval of 95%. "nothing": it cannot be told from none.

    python benchmarks/ablation.py [PLACE ...] [--screen] [--jobs KIND ...] [--fleets 1] [--nights 14] [--decisions 4]
        [--traces FOLDER] [--tables FOLDER] [--processes 2] [--json]

PLACE is the beginning of a place, such as agent/safety or "agent/acquisition.py: WORTH" or "rule: settled"; without any, all.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import nights
import numpy as np
from apparatus.decision_numbers import RULE, change, numbers, rules
from apparatus.night_figures import LAST_NIGHTS
from apparatus.night_jobs import KINDS, job_of
from apparatus.night_players import Answer, InProcess
from apparatus.stamp import stamp

FACTORS = (2.0, 0.5)
NOTHING = "nothing in"
RUNS = 20
"""Of each replay and search."""

Task = tuple[str, float]
"""What is changed, and by which factor."""
Asked = tuple[str, float]
"""The folder of a job as it was on a night, and when it was asked, in unix seconds."""
Units = dict[str, dict[str, float]]
"""Figures of each job that was played, all the smaller the better."""


@dataclass(frozen=True)
class Screened:
    """How often a change decides or says something else than JPO as it is; up to the first other decision."""

    decided: int
    said: int
    failed: str = ""


class Keeping(InProcess):
    """Keeps what some nights were asked about."""

    def suggest(self, at: float) -> Answer:
        shutil.copytree(self.folder, self.folder.parent / "asked" / f"{at:.0f}-{self.folder.name}")
        return super().suggest(at)


def main(argv: list[str]) -> int:
    options = arguments(argv)
    changes = [place for place in places() if not options.places or place.startswith(tuple(options.places))]
    context = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory(prefix="ablation-") as scratch,
        ProcessPoolExecutor(options.processes, mp_context=context, max_tasks_per_child=1) as pool,
    ):
        jobs = [(kind, seed) for kind in options.jobs for seed in range(options.fleets)]
        list(pool.map(kept, *zip(*jobs, strict=True), [options.nights] * len(jobs), [Path(scratch)] * len(jobs)))
        asked = chosen(Path(scratch) / "asked", options.decisions)
        usual = pool.submit(answers, asked).result()
        found: dict[Task, Screened] = {}
        for factor in FACTORS:  # what makes a difference when it is doubled need not be halved, if that is all that is asked
            known = {place for (place, _), them in found.items() if place.startswith(RULE) or (options.screen and them.decided)}
            tasks = [(place, factor) for place in changes if place not in known]
            for task, them in zip(tasks, pool.map(partial(screened, asked=asked, usual=usual), tasks), strict=True):
                found[task] = them
                print(words(*task), verdict(them, len(asked)), sep=": ", file=sys.stderr, flush=True)
        if options.screen:
            report = [*table_of_screening(found, len(asked))]
        else:
            worth = [task for task, them in found.items() if them.decided and not them.failed]
            base, *played = pool.map(partial(measured, options=options), [("", 1.0), *worth])
            report = [*table_of_worth(found, dict(zip(worth, played, strict=True)), base, len(asked))]
    if options.json:
        print(json.dumps(report))
    else:
        print("\n".join(["## Ablation", "", f"{stamp()}. {len(jobs)} jobs, {len(asked)} decisions.", "", *page(report)]))
    return 0


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What each number and each rule of the decision is worth.")
    parser.add_argument("places", nargs="*", metavar="PLACE", help="beginnings of places, or of rules (default: all)")
    parser.add_argument("--screen", action="store_true", help="ask only whether any decision differs")
    parser.add_argument(
        "--jobs", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND", help="of nights.py (default: all)"
    )
    parser.add_argument("--fleets", type=int, default=1, help="jobs of each kind (default: 1)")
    parser.add_argument("--nights", type=int, default=14, help="(default: 14)")
    parser.add_argument("--decisions", type=int, default=4, help="of each job, on which is screened (default: 4)")
    parser.add_argument("--traces", type=Path, metavar="FOLDER", help="recorded jobs to be replayed")
    parser.add_argument("--tables", type=Path, metavar="FOLDER", help="LCBench")
    parser.add_argument("--processes", type=int, default=2, help="(default: 2)")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(argv)


def places() -> Iterator[str]:
    yield from (number.place for number in numbers())
    yield from rules()


def kept(kind: str, seed: int, count: int, folder: Path) -> None:
    """Play a job's nights, and keep what each was asked about."""
    job = job_of(kind, seed)
    nights.play([job], [Keeping(folder / job.name)], nights.arguments(["--nights", str(count)]))


def chosen(folder: Path, of_each: int) -> list[Asked]:
    """As many decisions of each job, of different nights, those of one kind after those of another."""
    by_job: dict[str, list[Asked]] = {}
    for each in sorted(folder.iterdir()):
        at, _, job = each.name.partition("-")
        by_job.setdefault(job, []).append((str(each), float(at)))
    some = [them[shift % 3 + 1 :: max(1, len(them) // of_each)][:of_each] for shift, them in enumerate(by_job.values())]
    return [them[i] for i in range(of_each) for them in some if i < len(them)]


def answers(asked: Sequence[Asked]) -> list[tuple[object, object]]:
    return [answer(*each) for each in asked]


def answer(folder: str, at: float) -> tuple[object, object]:
    """What is decided, and what is said of it; as `jpo suggest --dry-run` does, without what is told around it."""
    from jpo.commands import suggest
    from jpo.errors import NothingAdmissible
    from jpo.project.load import load

    config = Path(folder) / "config.ini"
    settings = load(config, None, os.environ, {})
    with suggest.open_project(config, settings, now=at, read_only=True) as job:
        known = suggest.in_context(suggest.with_file_noted(suggest.collect(job), job), job)
        request = suggest.request_of(job, known)
        policy = suggest.policy_for(job.store, request.boldness.explore, request.policy)
        try:
            advice = suggest.advise(request, known, policy, seed=0)
        except NothingAdmissible as error:
            return error.code, None
        decision = advice.decision
        decided = {name: f"{value:.6g}" for name, value in advice.suggested.items()}, decision.kind
        return decided, (decision.reasons[0].code, None if decision.confidence is None else round(decision.confidence, 3))


def screened(task: Task, asked: Sequence[Asked], usual: Sequence[tuple[object, object]]) -> Screened:
    """Whether anything is decided otherwise with this change; the first such decision ends it."""
    said = 0
    try:
        change(*task)
        for each, (decided, words) in zip(asked, usual, strict=True):
            now = answer(*each)
            said += now[1] != words
            if now[0] != decided:
                return Screened(1, said)
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
        return Screened(1, said, f"{type(error).__name__}: {error}"[:80])
    return Screened(0, said)


def measured(task: Task, options: argparse.Namespace) -> Units:
    """Figures of all benches with this change."""
    change(*task)
    return {name: figures for bench in (of_nights, of_recorded_jobs, of_lcbench) for name, figures in bench(options)}


def of_nights(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, float]]]:
    for kind in options.jobs:
        for job in (job_of(kind, seed) for seed in range(options.fleets)):
            with tempfile.TemporaryDirectory(prefix="ablation-") as scratch:
                player = InProcess(Path(scratch) / job.name)
                logs = [
                    math.log(night.ratio)
                    for night in nights.play([job], [player], nights.arguments(["--nights", str(options.nights)]))[job.name]
                ]
            yield job.name, {"nights": float(np.mean(logs)), "last nights": float(np.mean(logs[-LAST_NIGHTS:]))}


def of_recorded_jobs(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, float]]]:
    from jpo.plugins.lab.replay.play import play
    from jpo.plugins.lab.replay.traces import read_trace
    from jpo.plugins.lab.story.replay import Advised

    for file in sorted(options.traces.glob("*.csv")) if options.traces else ():
        for seed in range(2):
            charges = play(read_trace(file), Advised, "balanced", runs=RUNS, seed=seed).charges
            yield f"{file.stem}-{seed}", {f"recorded, {n}": math.log(charges[:n].mean()) for n in (5, RUNS)}


def of_lcbench(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, float]]]:
    import hpo

    tasks = hpo.lcbench(options.tables / hpo.GRID)[::4] if options.tables else []
    for at, task in enumerate(tasks):
        runs = hpo.search(task, 1000 * at, hpo.Advised, tasks, runs=RUNS)
        yield task.name, {f"LCBench, {n}": hpo.summarise([task], [runs], (n,)).regret[n] for n in (5, RUNS)}


def table_of_screening(found: dict[Task, Screened], asked: int) -> Iterator[list[Any]]:
    yield ["change", "decides otherwise"]
    for (place, factor), them in found.items():
        yield [words(place, factor), verdict(them, asked)]


def table_of_worth(found: dict[Task, Screened], played: dict[Task, Units], base: Units, asked: int) -> Iterator[list[Any]]:
    names = list(dict.fromkeys(name for figures in base.values() for name in figures))
    yield ["change", *names]
    for (place, factor), them in found.items():
        if (place, factor) in played:
            yield [words(place, factor), *(difference(played[place, factor], base, name) for name in names)]
        else:
            yield [words(place, factor), them.failed or f"{NOTHING} {asked} decisions", *[""] * (len(names) - 1)]


def verdict(them: Screened, asked: int) -> str:
    only_said = f", and says otherwise in {them.said}" if them.said else ""
    return them.failed or ("yes" if them.decided else f"{NOTHING} {asked} decisions{only_said}")


def words(place: str, factor: float) -> str:
    return place if place.startswith(RULE) else f"{place} x {factor:g}"


def difference(units: Units, base: Units, name: str) -> str:
    """By how many hundredths a figure is larger, which is worse, with its paired interval over the jobs."""
    each = np.array([100 * (units[job][name] - figures[name]) for job, figures in base.items() if name in figures])
    half = 1.96 * float(each.std(ddof=1)) / math.sqrt(len(each)) if len(each) > 1 else math.inf
    mean = float(each.mean())
    return f"{mean:+.1f} ± {half:.1f}" if abs(mean) > half else f"nothing ({mean:+.1f} ± {half:.1f})"


def page(report: Sequence[list[str]]) -> Iterator[str]:
    """A table of what makes a difference, and a list of what makes none."""
    head, *rows = report
    yield f"| {' | '.join(head)} |"
    yield "|---|" + "---|" * (len(head) - 1)
    yield from (f"| {' | '.join(row)} |" for row in rows if not row[1].startswith(NOTHING))
    yield ""
    yield from (f"- {row[0]}: {row[1]}" for row in rows if row[1].startswith(NOTHING))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
