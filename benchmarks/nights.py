"""Fourteen nights of ordinary jobs through the real command line: what `jpo suggest` is worth to a team that lets it write.

Each night `jpo suggest config.ini` writes the file, the job "runs" with what stands there under a truth that JPO does not know
(apparatus/night_jobs.py), and its CSV log appears. Debian's faketime makes a night a day; without it nights follow each other
within seconds, which is said. The best is found by trying every allowed configuration without noise; it keeps the first
configuration's loss within 2%. Costs are those of the balanced preference, without luck, so that no night is good by chance; a
failed night counts four times the best.

    python benchmarks/nights.py [--nights 14] [--jobs NAME ...] [--fleets 2] [--jpo [NAME=]PATH ...] [--clean-checkout]
        [--observe] [--set agent.explore=on ...] [--processes 2] [--keep FOLDER] [--json]

--jpo may be repeated: all play the same jobs with the same luck. Exit code 1 if the (last) one does not keep the promise.
"""

from __future__ import annotations

import argparse
import configparser
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(Path(__file__).parent))

from apparatus.night_jobs import (  # noqa: E402
    DIVERGED,
    ISSUE,
    KINDS,
    LOSS_KEPT,
    MISSED,
    WELL,
    Job,
    best,
    first_loss,
    job_of,
    results,
)
from apparatus.stamp import stamp  # noqa: E402

FIRST_NIGHT = 1_798_765_200.0
"""2027-01-01 01:00 UTC: later than any clock by which this runs, or the store's own files would seem to come from the future."""
DAY = 86400.0
FASTER = 1e-5
"""Without faketime an hour lasts 36 ms."""
LAST = 3
STUCK = 1.2
FAILED = 4.0
"""A failed night in multiples of the best."""
WORSE_LOSS = 1.03
PROMISED_RATIO, PROMISED_FAILED, PROMISED_WORSE = 1.08, 6 / 168, 0
SECTIONS = {"batch_size": "training", "learning_rate": "training", "epochs": "training"}


@dataclass(frozen=True)
class Night:
    """A night: what stood in the file, how the run ended, and what JPO said about it.

    Attributes:
        ratio: cost of the configuration in multiples of the best; at least 1 if its loss is not kept, FAILED if it fails.
        loss_ratio: its loss in multiples of the one to be kept.
        exit_code: of `jpo suggest`.
        decided_by: empty where it gave no answer.
    """

    values: dict[str, float]
    ends: str
    ratio: float
    loss_ratio: float
    decided_by: str
    confidence: float | None
    codes: tuple[str, ...]
    reason: str
    exit_code: int
    seconds: float

    @property
    def failed(self) -> bool:
        return self.ends != WELL

    @property
    def worse(self) -> bool:
        return not self.failed and self.loss_ratio > WORSE_LOSS


Played = dict[str, dict[tuple[str, int], list[Night]]]
"""By version and job: its kind and seed."""


@dataclass(frozen=True)
class Figures:
    """The lines of the table, over some plays.

    Attributes:
        last: geometric mean of the last nights' ratios.
        total: mean ratio of all nights.
        stuck: plays whose last nights are above STUCK.
        by_sac: share of the decisions on evidence (of SAC, the rule, or an undoing) that SAC took; None without any.
    """

    plays: int
    nights: int
    last: float
    total: float
    stuck: int
    worse: int
    failed: int
    by_sac: float | None
    seconds: float

    @property
    def holds(self) -> bool:
        return self.last <= PROMISED_RATIO and self.worse <= PROMISED_WORSE and self.failed <= PROMISED_FAILED * self.nights


def main(argv: list[str]) -> int:
    options = arguments(argv)
    clock = shutil.which("faketime")
    if clock is None:
        print("faketime is missing (apt-get install faketime): nights follow each other within seconds", file=sys.stderr)
    programs = dict(named(text) for text in options.jpo or [f"jpo={Path(sys.executable).parent / 'jpo'}"])
    jobs = [job_of(kind, seed) for kind in options.jobs for seed in range(options.fleets)]
    with tempfile.TemporaryDirectory(prefix="nights-") as scratch, ThreadPoolExecutor(options.processes) as pool:
        folder = options.keep or Path(scratch)
        tasks = [(name, job) for job in jobs for name in programs]
        plays = list(
            pool.map(lambda task: play(task[1], programs[task[0]], folder / task[0] / task[1].name, clock, options), tasks)
        )
    played: Played = {name: {} for name in programs}
    for (name, job), nights in zip(tasks, plays, strict=True):
        played[name][job.kind, job.seed] = nights
    overall = {name: figures(list(them.values())) for name, them in played.items()}
    holds = list(overall.values())[-1].holds
    if options.json:
        print(json.dumps(document(played, overall, holds)))
    else:
        print(report(played, overall, holds, clean_checkout=options.clean_checkout, faked=clock is not None))
    return 0 if holds else 1


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A fleet of jobs, night after night, through the real command line.")
    parser.add_argument("--nights", type=int, default=14, help="(default: 14)")
    parser.add_argument("--jobs", nargs="+", choices=KINDS, default=list(ISSUE), metavar="NAME", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--fleets", type=int, default=2, help="jobs of each kind: a plain one, others at random (default: 2)")
    parser.add_argument("--jpo", action="append", metavar="[NAME=]PATH", help="program; may be repeated (default: this one)")
    parser.add_argument("--clean-checkout", action="store_true", help="start from the committed file each night")
    parser.add_argument("--observe", action="store_true", help="put runs on record by `jpo observe`, not by [csv] logs")
    parser.add_argument("--set", action="append", default=[], metavar="TABLE.KEY=VALUE", help="a line of jpo.toml, as in TOML")
    parser.add_argument("--processes", type=int, default=2, help="(default: 2)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the jobs' folders there")
    parser.add_argument("--json", action="store_true", help="figures and nights as JSON instead of a table")
    return parser.parse_args(argv)


def named(text: str) -> tuple[str, Path]:
    """NAME=PATH, or a path that is its own name."""
    name, _, path = text.rpartition("=")
    return name or path, Path(path).absolute()


def play(job: Job, program: Path, folder: Path, clock: str | None, options: argparse.Namespace) -> list[Night]:
    """All nights of one job with one version of JPO."""
    (folder / "runs").mkdir(parents=True)
    committed = config_ini(job)
    (folder / "config.ini").write_text(committed, encoding="utf-8")
    (folder / "jpo.toml").write_text(jpo_toml(job, options.set, logs=not options.observe), encoding="utf-8")
    least, nights = best(job)[1], []
    for number in range(options.nights):
        if options.clean_checkout:
            (folder / "config.ini").write_text(committed, encoding="utf-8")
        at = FIRST_NIGHT + DAY * number
        began = time.perf_counter()
        done = jpo(program, ["suggest", "config.ini", "--offline", "-o", "json"], folder, clock, at)
        took = time.perf_counter() - began
        if done.returncode not in (0, 3):  # 3: nothing admissible; the pipeline goes on with the file as it is
            raise SystemExit(f"{program} suggest failed ({done.returncode}) for {job.name}, night {number + 1}:\n{done.stderr}")
        answer = json.loads(done.stdout) if done.returncode == 0 else {"reasons": [done.stderr.strip()]}
        log, night = run(job, read_values(folder / "config.ini"), number, at + 600 if clock else None, least)
        path = folder / "runs" / f"night-{number + 1:02}.csv"
        path.write_text(log, encoding="utf-8")
        if options.observe:
            observed = jpo(program, ["observe", "--offline", "--csv", str(path)], folder, clock, at + DAY / 2)
            if observed.returncode:
                raise SystemExit(f"{program} observe failed ({observed.returncode}):\n{observed.stderr}")
        nights.append(
            Night(
                **night,
                decided_by=answer.get("decided_by", ""),
                confidence=answer.get("confidence"),
                codes=tuple(answer.get("reason_codes", ())),
                reason=" / ".join(answer["reasons"]),
                exit_code=done.returncode,
                seconds=took,
            )
        )
    return nights


def jpo(program: Path, arguments: Sequence[str], folder: Path, clock: str | None, at: float) -> subprocess.CompletedProcess[str]:
    """A command of JPO's at that time, if clocks can be faked; it may run for as long as it likes by its own clock."""
    environment = {**os.environ, "DONT_FAKE_MONOTONIC": "1", "NO_COLOR": "1", "TZ": "UTC", "OMP_NUM_THREADS": "1"}
    when = [clock, f"@{at:.0f}"] if clock else []
    return subprocess.run(
        [*when, str(program), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def config_ini(job: Job) -> str:
    """The committed file."""
    lines = ["[workload]", f"dataset = {job.kind}", f"model = net{job.seed}", "framework = pytorch"]
    for section in ("training", "resources"):
        lines += ["", f"[{section}]"]
        lines += [f"{name} = {x:g}" for name, x in job.values.items() if SECTIONS.get(name, "resources") == section]
    return "\n".join([*lines, ""])


def jpo_toml(job: Job, settings: Sequence[str], *, logs: bool) -> str:
    """What the team allows: the ranges of what JPO may change, prices, and where the logs are; the agent learns in `make bench`'s
    other scripts, so not here unless asked."""
    tables: dict[str, list[str]] = {
        "parameters": [limits(job, name) for name in job.values],
        "preference": ["time = 0.5", "cost = 0.5"],
        "prices": [
            f"usd_per_{ {'gpus': 'gpu', 'cpus': 'cpu', 'memory_gib': 'gib'}[name] }_hour = {x}" for name, x in job.usd.items()
        ],
        "csv": ['logs = ["runs/*.csv"]'] if logs else [],
        "agent": [] if any(text.startswith("agent.learn_budget=") for text in settings) else ['learn_budget = "0s"'],
    }
    for text in settings:
        place, _, value = text.partition("=")
        table, _, key = place.rpartition(".")
        tables.setdefault(table, []).append(f"{key} = {value if value[:1] in '[{0123456789' else json.dumps(value)}")
    return "\n".join(line for table, lines in tables.items() for line in (f"[{table}]", *lines, ""))


def limits(job: Job, name: str) -> str:
    """A line of [parameters]: as a team would write it, smallest and largest, or the numbers of GPUs that there are."""
    allowed = job.allowed.get(name)
    if allowed is None:
        return f"{name} = {{ freeze = true }}"
    if name == "gpus":
        return f"gpus = {{ choices = {[int(n) for n in allowed]} }}"
    more = {"batch_size": ', step = "pow2"', "learning_rate": ', scale = "log"'}.get(name, "")
    return f"{name} = {{ min = {min(allowed):g}, max = {max(allowed):.4g}{more} }}"


def read_values(path: Path) -> dict[str, float]:
    """The numbers of config.ini, by the names that this benchmark gave them."""
    parser = configparser.ConfigParser()
    parser.read(path, encoding="utf-8")
    return {name: float(text) for section in ("training", "resources") for name, text in parser[section].items()}


def run(job: Job, values: Mapping[str, float], number: int, start: float | None, least: float) -> tuple[str, dict[str, object]]:
    """The log of a run that begins then, and what it was worth without luck; without a start it has just ended, within moments."""
    them = results(job, {name: np.array([x]) for name, x in values.items()})
    ends, loss = str(them.ends[0]), float(them.loss[0])
    luck = np.random.default_rng((job.seed, zlib.crc32(job.kind.encode()), number))
    seconds = float(them.seconds[0]) * math.exp(job.truth.noise * luck.standard_normal())
    val_loss = loss * math.exp(job.truth.loss_noise * luck.standard_normal())
    well = ends in (WELL, MISSED)
    seconds = min(seconds, job.truth.limit_seconds)
    faster = 1.0 if start else FASTER
    began = start or time.time() - seconds * FASTER
    epochs = float(them.epochs[0])
    share = 1.0 if well else min(1.0, float(them.seconds[0] / them.usual_seconds[0]))
    done = int(epochs * share)
    lines = [f"# run_id={job.name}-{number + 1:02}", f"# dataset={job.kind}", f"# model=net{job.seed}", "# framework=pytorch"]
    lines += [f"# {name}={x!r}" for name, x in values.items()]
    lines += [f"# start={began:.6f}", "time,epoch,samples,train_loss,val_loss"]
    for epoch in range(1, done + 1):
        now = began + faster * seconds * epoch / (epochs * share)
        then = val_loss * (epochs / epoch) ** 0.3
        shown = "nan,nan" if ends == DIVERGED and epoch == done else f"{0.9 * then:.6g},{then:.6g}"
        lines.append(f"{now:.6f},{epoch},{epoch * job.truth.samples:.0f},{shown}")
    lines.append(f"# end={began + faster * seconds:.6f}")
    lines.append(f"# status={WELL if well else ends}")
    if job.truth.to_target:
        lines.append(f"# converged={'true' if ends == WELL else 'false'}")
    busy = values["cpus"] * min(1.0, 0.05 + float(them.loader_share[0]))
    lines.append(f"# cpu_seconds={busy * seconds * faster:.6g}")
    host = min(float(them.host_gib[0]), values.get("memory_gib", math.inf))
    lines.append(f"# memory_bytes={host * 2**30:.0f}")
    loss_ratio = loss / first_loss(job)
    ratio = float(them.objective[0]) / least
    if ends != WELL:
        ratio = FAILED
    elif loss_ratio > LOSS_KEPT:
        ratio = max(ratio, 1.0)  # what a worse model costs less is no gain
    about = {"values": dict(values), "ends": ends, "ratio": ratio, "loss_ratio": loss_ratio}
    return "\n".join([*lines, ""]), about


def figures(plays: Sequence[Sequence[Night]]) -> Figures:
    """The figures of some plays together."""
    nights = [night for play in plays for night in play]
    lasts = [math.exp(statistics.fmean(math.log(night.ratio) for night in play[-LAST:])) for play in plays]
    decided = [night.decided_by for night in nights if night.decided_by in ("sac", "belief", "rollback")]
    return Figures(
        plays=len(plays),
        nights=len(nights),
        last=statistics.geometric_mean(lasts),
        total=statistics.fmean(night.ratio for night in nights),
        stuck=sum(last > STUCK for last in lasts),
        worse=sum(night.worse for night in nights),
        failed=sum(night.failed for night in nights),
        by_sac=decided.count("sac") / len(decided) if decided else None,
        seconds=statistics.median(night.seconds for night in nights),
    )


def document(played: Played, overall: Mapping[str, Figures], holds: bool) -> dict[str, object]:
    nights = {
        name: {f"{kind}_{seed}": [asdict(night) for night in them] for (kind, seed), them in jobs.items()}
        for name, jobs in played.items()
    }
    best_of = {f"{kind}_{seed}": best(job_of(kind, seed))[0] for kind, seed in next(iter(played.values()))}
    return {"overall": {name: asdict(f) for name, f in overall.items()}, "best": best_of, "nights": nights, "holds": holds}


def report(
    played: Played,
    overall: Mapping[str, Figures],
    holds: bool,
    *,
    clean_checkout: bool,
    faked: bool,
) -> str:
    """The figures as a section of docs/benchmarks.md, and each job's nights in one line."""
    names = list(played)
    lines = [
        "## Nights",
        "",
        f"{stamp()}. {'From a clean checkout each night' if clean_checkout else 'Kept file'}; {next(iter(overall.values())).nights} nights"
        f"{'' if faked else '; without faketime'}.",
        "",
        f"| jobs | version | first | last {LAST} / best | all nights | stuck > {STUCK} | loss > 3% worse | failed nights | by SAC |",
        "|---|---|" + "---:|" * 7,
    ]
    for kind, words in KINDS.items():
        for name in names:
            plays = [nights for (one, _), nights in played[name].items() if one == kind]
            lines += [row(words, name, plays)] if plays else []
    for name in names:
        lines.append(row("**all**", name, list(played[name].values())))
    for before, after in zip(names, names[1:], strict=False):
        lines += [
            "",
            f"{after} / {before}: last nights {overall[after].last / overall[before].last:.3f}, "
            f"all nights {overall[after].total / overall[before].total:.3f}.",
        ]
    verdict = f"Last nights within {PROMISED_RATIO} of the best, no worse loss, at most 6 of 168 nights failed"
    lines += [
        "",
        f"{verdict}: {'holds' if holds else 'DOES NOT HOLD'}.",
        "",
        "Cost / best, night by night (x failed, ! worse loss):",
        "",
    ]
    lines += ["```"]
    for job in played[names[0]]:
        lines += [f"{job[0]}_{job[1]:<3} {name:10} " + " ".join(map(word, played[name][job])) for name in names]
    return "\n".join([*lines, "```"])


def row(words: str, name: str, plays: Sequence[Sequence[Night]]) -> str:
    them = figures(plays)
    first = statistics.geometric_mean(play[0].ratio for play in plays)
    sac = "–" if them.by_sac is None else f"{them.by_sac:.0%}"
    counts = f"{them.stuck} of {them.plays} | {them.worse} | {them.failed} of {them.nights}"
    return f"| {words} | {name} | {first:.2f} | {them.last:.2f} | {them.total:.2f} | {counts} | {sac} |"


def word(night: Night) -> str:
    return "   x " if night.failed else f"{night.ratio:.2f}{'!' if night.worse else ' '}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
