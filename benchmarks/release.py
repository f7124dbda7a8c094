"""What a run gives back while it goes on: released CPU-seconds and GiB-seconds, what that cost, and whether the run noticed.

Real runs on this machine, each with all of its CPUs and 2 GiB of memory. The ways to treat one take turns:

    nothing      the run keeps what it was given
    jpo          `jpo watch --apply`: releases, and returns where epochs take longer for it
    peak x 1.2   the fixed rule of many autoscalers, after as many looks and epochs: the highest mean between two looks and 20%
                 more is kept, in whole CPUs, whatever comes of it

Kinds of runs, as many processes as there are CPUs but for the first:

    waiting      one process computes a fifth of the time, and waits for data in the rest
    busy         all compute all of the time: there is nothing to release
    bursts       all compute for 40 ms and then wait for 100 ms: a mean says that one CPU would do, and the run is slower on one

    python benchmarks/release.py [--rounds 2] [--epochs 24] [--kinds NAME ...] [--json]

The time of a run is that from its first epoch to its last, beside that with nothing in the same round.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

sys.path.insert(0, str(Path(__file__).resolve().parent))

from apparatus.stamp import stamp

from jpo.inventory.machine import machine_here
from jpo.plugins.launch.during.release import FEWEST_EPOCHS, FEWEST_LOOKS
from jpo.plugins.launch.engines.local.launcher import LocalLauncher
from jpo.plugins.launch.job import Needs
from jpo.plugins.launch.ledger import read

WAYS = ("nothing", "jpo", "peak x 1.2")
KINDS: Mapping[str, tuple[bool, float, float]] = {
    "waiting": (False, 0.08, 0.32),
    "busy": (True, 0.4, 0.0),
    "bursts": (True, 0.04, 0.1),
}
"""Whether all CPUs have a process, and of a step: CPU seconds of each, and seconds of waiting."""
EPOCH_SECONDS = 0.4
CPUS, MEMORY_GIB = len(os.sched_getaffinity(0)), 2.0
SCRIPT = """
import configparser, multiprocessing, os, time
from jpo.runlog import RunLog

config = configparser.ConfigParser()
config.read("config.ini")
values = {name: text for section in config.values() for name, text in section.items()}
processes, steps = int(values["processes"]), int(values["steps"])
together = multiprocessing.Barrier(processes)

def work():
    for _ in range(steps * int(values["epochs"])):
        together.wait()
        until = time.process_time() + float(values["work"])
        while time.process_time() < until:
            pass
        together.wait()
        time.sleep(float(values["wait"]))
        yield

def others():
    for _ in work():
        pass

if __name__ == "__main__":
    for _ in range(processes - 1):
        multiprocessing.get_context("fork").Process(target=others, daemon=True).start()
    given = {name: values[name] for name in ("epochs", "cpus", "memory_gib")}
    with RunLog(dataset="made", model="steps", framework="none", parameters=given, settings=os.environ) as log:
        for done, _ in enumerate(work(), 1):
            if done % steps == 0:
                log.epoch(done // steps, 1.0 / done, 1.0 / done)
"""


@dataclass(frozen=True)
class Played:
    """A run: seconds from its first epoch to its last; shares of what it held in that time that were released; CPUs returned."""

    seconds: float
    cpus: float
    memory: float
    returned: int


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="What runs give back while they go on, and whether they notice.")
    parser.add_argument("--rounds", type=int, default=2, help="(default: 2)")
    parser.add_argument("--epochs", type=int, default=24, help="of each run, each of 0.4 seconds or so (default: 24)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS], metavar="NAME", help=", ".join(KINDS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    played: dict[str, dict[str, list[Played]]] = {kind: {way: [] for way in WAYS} for kind in options.kinds}
    for number in range(options.rounds):
        for kind in options.kinds:
            for way in WAYS[number % 3 :] + WAYS[: number % 3]:
                with tempfile.TemporaryDirectory(prefix="release-") as folder:
                    played[kind][way].append(play(Path(folder), kind, way, options.epochs))
                print(f"{kind}, {way}: {played[kind][way][-1]}", file=sys.stderr, flush=True)
    figures = {kind: {way: summary(runs, ways["nothing"]) for way, runs in ways.items()} for kind, ways in played.items()}
    print(json.dumps(figures) if options.json else table(figures))
    return 0


def play(folder: Path, kind: str, way: str, epochs: int) -> Played:
    """One run of a kind, treated in a way."""
    everywhere, work, wait = KINDS[kind]
    steps = max(1, round(EPOCH_SECONDS / (work + wait)))
    values = {"epochs": epochs, "steps": steps, "work": work, "wait": wait, "processes": CPUS if everywhere else 1}
    text = "".join(f"{name} = {value}\n" for name, value in values.items())
    named = "[workload]\ndataset = made\nmodel = steps\nframework = none\n"
    given = f"[resources]\ncpus = {CPUS}\nmemory_gib = {MEMORY_GIB}\n"
    (folder / "config.ini").write_text(f"{named}[training]\n{text}{given}")
    (folder / "train.py").write_text(SCRIPT)
    (folder / "jpo.toml").write_text("[prices]\nusd_per_cpu_hour = 0.04\nusd_per_gib_hour = 0.005\n")
    jpo(folder, "run", "--detach", "--run-id", "made", "train.py")
    releases = by_the_rule(folder) if way == "peak x 1.2" else []
    jpo(folder, "watch", "made", "--every", "1", *(["--apply"] if way == "jpo" else []))
    account = folder / ".jpo/launches/made/watch/adjustments.json"
    if way == "jpo" and account.exists():
        made = json.loads(account.read_text())["adjustments"]
        releases = [(each["at"], each["about"], each["given"], each["kept"]) for each in made if each["applied"]]
    times = epoch_times(folder)
    began, ended = times[0], times[-1]
    free = {"cpus": 0.0, "memory_gib": 0.0}
    for at, about, before, kept in releases:
        free[about] += (before - kept) * max(0.0, ended - max(at, began))
    held = ended - began
    back = sum(kept > before for _, _, before, kept in releases)
    return Played(held, free["cpus"] / CPUS / held, free["memory_gib"] / MEMORY_GIB / held, back)


def jpo(folder: Path, *words: str) -> None:
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    subprocess.run([sys.executable, "-m", "jpo", *words], cwd=folder, env=environ, check=True, capture_output=True)


def by_the_rule(folder: Path) -> list[tuple[float, str, float, float]]:
    """Follow a run by the fixed rule until it has released what it does; its releases."""
    ledger = folder / ".jpo/launches"
    launcher = LocalLauncher(ledger, lambda: machine_here(os.environ), os.environ, detached=True)
    entry = read(ledger, "made")
    if entry is None or entry.engine_id is None:
        raise SystemExit("the run was not launched")
    looks, means = [(time.time(), 0.0)], list[float]()
    while len(means) < FEWEST_LOOKS or len(epoch_times(folder)) < FEWEST_EPOCHS:
        time.sleep(0.5)
        status = launcher.status(entry.engine_id)
        if status.over:
            return []
        if status.cpu_seconds and status.cpu_seconds != looks[-1][1]:  # the state was renewed
            looks.append((time.time(), status.cpu_seconds))
            means.append((looks[-1][1] - looks[-2][1]) / (looks[-1][0] - looks[-2][0]))
    kept = max(1, math.ceil(1.2 * max(means[1:])))
    if kept >= CPUS:
        return []
    launcher.resize(entry.engine_id, Needs(cpus=kept))
    return [(time.time(), "cpus", CPUS, kept)]


def epoch_times(folder: Path) -> list[float]:
    """When the epochs of the run were done, unix seconds."""
    log = folder / ".jpo/launches/made/runs/made.csv"
    rows = [row.split(",") for row in log.read_text().splitlines()] if log.exists() else []
    return [float(row[0]) for row in rows if len(row) > 4 and row[1].isdecimal()]


def summary(runs: Sequence[Played], nothing: Sequence[Played]) -> dict[str, float | list[float]]:
    """Of the runs of one way: time beside nothing in the same round, and the shares that were released, means."""
    ratios = [run.seconds / other.seconds for run, other in zip(runs, nothing, strict=True)]
    means = {name: sum(getattr(run, name) for run in runs) / len(runs) for name in ("cpus", "memory", "returned")}
    return {"time": geometric_mean(ratios), "times": [min(ratios), max(ratios)], **means}


def table(figures: Mapping[str, Mapping[str, Mapping[str, float | list[float]]]]) -> str:
    lines = [f"## Release during a run\n\n{stamp()}, {CPUS} CPUs and {MEMORY_GIB:g} GiB a run.\n"]
    lines += [
        "| run | way | CPU-seconds released | GiB-seconds released | time | least to most | returns |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for kind, ways in figures.items():
        for way, found in ways.items():
            least, most = found["times"]
            shares = f"{found['cpus']:.0%} | {found['memory']:.0%} | {found['time']:.2f} | {least:.2f} to {most:.2f}"
            lines.append(f"| {kind} | {way} | {shares} | {found['returned']:g} |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
