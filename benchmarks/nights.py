"""Fourteen nights of ordinary jobs through the real command line: what `jpo suggest` is worth to a team that lets it write.

Each night `jpo suggest config.ini` writes the file, the job "runs" with what stands there under a truth that JPO does not know
(apparatus/night_truth.py), and its CSV log appears. Debian's faketime makes a night a day; without it nights follow each other
within moments, which is said. The best is found by trying every allowed configuration without luck; it keeps the first
configuration's loss within 2%. Costs are those of the balanced preference, without luck too, so that no night is good by chance;
a failed night counts four times the best, and what a worse model costs less is no gain. Each written change is held against
what was said of it: its chance, its expected time and cost, and what came, against what stood there before; and each night
against keeping the committed values.

--in-process plays the same nights without a process for each command and without faketime, in a tenth of the time: the jpo that
is imported is called as its command line calls it. It learns nothing between the nights, as no night does without
`--set agent.learn_budget=5s`.

--one-store has all jobs share their runs and take turns night by night, as those of one team do.

--reached caps what the job takes of a parameter, whatever the file says (a quota, an admission controller, a training script):
the run has, costs and reports no more; the best is that of what can be reached, and a night in vain is one whose file asked for
more.

    python benchmarks/nights.py [--nights 14] [--jobs NAME ...] [--fleets 2] [--jpo [NAME=]PATH ... | --in-process]
        [--clean-checkout] [--one-store]
        [--growth 0.03] [--observe] [--report val_accuracy] [--reached gpus=2 ...] [--set agent.explore=on ...] [--processes 2]
        [--keep FOLDER] [--json]

--jpo may be repeated: all play the same jobs with the same luck. Exit code 1 if the (last) one does not keep the promise.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as jpo/__main__.py has it

import numpy as np
from apparatus.night_figures import FAILED, Figures, Night, Outcome, Play, Played, Written, figures, report
from apparatus.night_files import Reported, config_ini, jpo_toml, run_log, values_in
from apparatus.night_jobs import KINDS, job_of
from apparatus.night_players import Answer, InProcess, Program
from apparatus.night_truth import LOSS_KEPT, WELL, Job, best, first_loss, results

FIRST_NIGHT = 1_798_765_200.0  # 2027-01-01 01:00 UTC
DAY = 86400.0
QUEUED = 600.0
"""Seconds from the suggestion to the start of the run."""


def main(argv: list[str]) -> int:
    options = arguments(argv)
    clock = None if options.in_process else shutil.which("faketime")
    dated = options.in_process or clock is not None
    if not dated:
        print("faketime is missing (apt-get install faketime): nights follow each other within moments", file=sys.stderr)
    programs = dict(named(text) for text in options.jpo or [f"jpo={Path(sys.executable).parent / 'jpo'}"])
    players: dict[str, Callable[[Path], Program | InProcess]] = {
        name: InProcess if options.in_process else partial(Program, path, clock) for name, path in programs.items()
    }
    jobs = [job_of(kind, seed) for kind in options.jobs for seed in range(options.fleets)]
    with tempfile.TemporaryDirectory(prefix="nights-") as scratch, ProcessPoolExecutor(options.processes) as pool:
        folder = options.keep or Path(scratch)
        teams = [jobs] if options.one_store else [[job] for job in jobs]
        tasks = {
            name: [pool.submit(play, team, [player(folder / name / job.name) for job in team], options) for team in teams]
            for name, player in players.items()
        }
        played = {name: {k: nights for task in them for k, nights in task.result().items()} for name, them in tasks.items()}
    overall = {name: figures(list(plays.values())) for name, plays in played.items()}
    *_, last = overall.values()
    if options.json:
        print(json.dumps(document(played, jobs, overall)))
    else:
        how = "From a clean checkout each night" if options.clean_checkout else "Kept file"
        how += f", data growing by {options.growth:.0%} a night" if options.growth else ""
        print(report(played, jobs, f"{how}{'' if dated else ', without faketime'}"))
    return 0 if last.holds else 1


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A fleet of jobs, night after night, through the real command line.")
    parser.add_argument("--nights", type=int, default=14, help="(default: 14)")
    parser.add_argument("--jobs", nargs="+", choices=KINDS, default=list(KINDS), metavar="NAME", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--fleets", type=int, default=2, help="jobs of each kind: a plain one, others at random (default: 2)")
    parser.add_argument("--jpo", action="append", metavar="[NAME=]PATH", help="program; may be repeated (default: this one)")
    parser.add_argument("--in-process", action="store_true", help="no processes and no faketime: the jpo that is imported here")
    parser.add_argument("--clean-checkout", action="store_true", help="start from the committed file each night")
    parser.add_argument("--one-store", action="store_true", help="all jobs share their runs and take turns, night by night")
    parser.add_argument("--growth", type=float, default=0.0, metavar="SHARE", help="by which the data grow each night")
    parser.add_argument("--observe", action="store_true", help="put runs on record by `jpo observe`, not by [csv] logs")
    parser.add_argument("--reached", action="append", default=[], metavar="NAME=MOST", help="the job takes no more of this")
    parser.add_argument("--report", default="val_loss", metavar="NAME", help="what runs measure of models (default: val_loss)")
    parser.add_argument("--validated", type=int, default=10_000, help="samples of which an accuracy is (default: 10,000)")
    parser.add_argument("--set", action="append", default=[], metavar="TABLE.KEY=VALUE", help="a line of jpo.toml")
    parser.add_argument("--processes", type=int, default=2, help="(default: 2)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the jobs' folders there")
    parser.add_argument("--json", action="store_true", help="figures and nights as JSON instead of a table")
    options = parser.parse_args(argv)
    if options.in_process and options.jpo:
        parser.error("--in-process plays the jpo that is imported, no other")
    return options


def named(text: str) -> tuple[str, Path]:
    """NAME=PATH, or a path that is its own name."""
    name, _, path = text.rpartition("=")
    return name or path, Path(path).absolute()


def play(jobs: Sequence[Job], them: Sequence[Program | InProcess], options: argparse.Namespace) -> dict[str, Play]:
    """All nights of the jobs of one store with one version of JPO, in turns."""
    nights = zip(*(each_night(job, jpo, options) for job, jpo in zip(jobs, them, strict=True)), strict=True)
    return {job.name: list(play) for job, play in zip(jobs, zip(*nights, strict=True), strict=True)}


def each_night(job: Job, jpo: Program | InProcess, options: argparse.Namespace) -> Iterator[Night]:
    """The nights of one job."""
    reports = Reported(options.report, options.validated)
    config, runs = jpo.folder / "config.ini", jpo.folder / "runs"
    runs.mkdir(parents=True)
    if options.one_store:
        os.environ["JPO_STORE__URL"] = f"sqlite:///{jpo.folder.parent.absolute() / 'jpo.db'}"
    (jpo.folder / "jpo.toml").write_text(jpo_toml(job, options.set, logs=not options.observe), encoding="utf-8")
    most = {name: float(value) for name, _, value in (text.partition("=") for text in options.reached)}

    def ran(values: Mapping[str, float], number: int) -> None:
        """The log of a night, and the run on record."""
        at, tonight = FIRST_NIGHT + DAY * number, grown(job, (1 + options.growth) ** number)
        log = runs / (f"night-{number + 1:02}.csv" if number >= 0 else f"earlier-{job.earlier + number + 1:02}.csv")
        log.write_text(run_log(tonight, values, number, at + QUEUED if jpo.dated else None, reports), encoding="utf-8")
        if options.observe:
            jpo.observe(log, at + DAY / 2)

    config.write_text(config_ini(job), encoding="utf-8")
    for number in range(-job.earlier, 0):
        ran(job.values, number)
    for number in range(options.nights):
        if options.clean_checkout:
            config.write_text(config_ini(job), encoding="utf-8")
        began = time.perf_counter()
        answer = jpo.suggest(FIRST_NIGHT + DAY * number)
        took, asked = time.perf_counter() - began, values_in(config)
        values = {name: min(value, most.get(name, value)) for name, value in asked.items()}
        ran(values, number)
        tonight = grown(job, (1 + options.growth) ** number)
        worth = partial(judged, tonight, best(within(tonight, most))[1])
        night = Night(**asdict(worth(values)), values=values, keeping=worth(job.values).ratio)
        yield answered(replace(night, seconds=took, in_vain=values != asked), answer, worth)


def grown(job: Job, factor: float) -> Job:
    """The job once its data have grown."""
    return replace(job, truth=replace(job.truth, samples=job.truth.samples * factor))


def within(job: Job, most: Mapping[str, float]) -> Job:
    """The job with what can be reached alone allowed."""
    allowed = {name: tuple(value for value in values if value <= most.get(name, value)) for name, values in job.allowed.items()}
    return replace(job, allowed=allowed)


def judged(job: Job, least: float, values: Mapping[str, float]) -> Outcome:
    """What a night with these values is worth, without luck; `least` is the best's objective."""
    them = results(job, {name: np.array([x]) for name, x in values.items()})
    ends, loss = str(them.ends[0]), float(them.loss[0]) / first_loss(job)
    ratio = float(them.objective[0]) / least
    return Outcome(ends, FAILED if ends != WELL else max(ratio, 1.0) if loss > LOSS_KEPT else ratio, loss)


def answered(night: Night, answer: Answer, worth: Callable[[Mapping[str, float]], Outcome]) -> Night:
    """The night with what `jpo suggest` said of it; `worth` is what values come to that night."""
    if isinstance(answer, str):
        return replace(night, reasons=(answer,))
    codes, reasons = tuple(answer["reason_codes"]), tuple(answer["reasons"])
    track = {past["quantity"]: (past["inside"], past["forecasts"]) for past in answer["track_record"]}
    said = replace(night, decided_by=answer["decided_by"], codes=codes, reasons=reasons, track=track)
    if answer["suggested"] == answer["current"]:
        return said
    time, cost = (expected(answer["forecast"].get(quantity)) for quantity in ("duration_seconds", "cost_usd"))
    today = worth({**night.values, **answer["current"]})
    then = Outcome(night.ends, night.ratio, night.loss_ratio)
    return replace(said, written=Written(kind_of(answer), answer["confidence"], time, cost, today, then, chances_in(answer)))


def chances_in(answer: Mapping[str, Any]) -> dict[str, float]:
    """The chances that a document states, by what is claimed."""
    claimed = {"trial": "no more than a tenth dearer", "improvement": "better than today", "return": "better than today"}
    seen = answer.get("seen", {})
    fails, kept = (seen.get(name) for name in ("chance that it fails", "chance that it keeps the validation loss"))
    stated = {
        "ends well": None if fails is None else 1 - fails,
        "quality kept": kept,
        claimed.get(kind_of(answer), ""): answer["confidence"],
    }
    return {what: chance for what, chance in stated.items() if what and chance is not None}


def kind_of(answer: Mapping[str, Any]) -> str:
    """What kind of change it is; a document of before there were kinds has the code of its first reason."""
    kinds = {"JPO-I603": "improvement", "JPO-I604": "trial"}
    told = [kinds[code] for code in answer["reason_codes"] if code in kinds]
    by = str(answer["decided_by"])
    return str(answer["kind"]) if "kind" in answer else told[0] if told else "return" if by == "rollback" else by


def expected(forecast: Mapping[str, Any] | None) -> float | None:
    """Next in multiples of now; None where one of them is not known."""
    now, then = (forecast or {}).get("now"), (forecast or {}).get("next")
    return then["mean"] / now["mean"] if now and then and now["mean"] > 0 else None


def document(played: Played, jobs: Sequence[Job], overall: dict[str, Figures]) -> dict[str, object]:
    """Everything, for programs."""
    *_, last = overall.values()
    return {
        "overall": {name: asdict(them) for name, them in overall.items()},
        "kinds": {
            name: {
                kind: asdict(figures([plays[job.name] for job in jobs if job.kind == kind]))
                for kind in dict.fromkeys(job.kind for job in jobs)
            }
            for name, plays in played.items()
        },
        "promises": last.promises,
        "holds": last.holds,
        "best": {job.name: best(job)[0] for job in jobs},
        "nights": {
            name: {job: [asdict(night) for night in play] for job, play in plays.items()} for name, plays in played.items()
        },
    }


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
