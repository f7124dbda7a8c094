"""A store with a long history: what `jpo suggest` and its neighbours take with up to 10,000 runs of 50 workloads on record.

No two runs had the same configuration, which is the hard case: what is equal is counted together. The runs are put on record by
`jpo observe` from CSV logs, a folder of them for each workload: first contact. Then commands are measured as whole processes,
all versions in turn, once unmeasured and then several times: median of user + system time, largest peak of memory. Bytecode is
cached, as in an installed jpo. Learning is left out (`--no-learn`): its time is that of [agent] learn_budget, not counted here.

    python benchmarks/store.py [--shapes NAME ...] [--scale 1.0] [--times 5] [--jpo [NAME=]PATH ...] [--limit 300] [--json]
    python benchmarks/store.py --runs 100000 [--times 1] [--jpo PATH] [--json]

With --runs, stores of so many runs, one of many workloads and one of few, with suggestions and audit records as
apparatus/long_history.py makes them, on SQLite and PostgreSQL (where it is installed): each command of LARGE beside its bounds.

--jpo may be repeated: all get the same runs, and ratios are to the first. Exit code 1 if a suggestion of the (last) one takes
more CPU time, or more memory, than promised.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from apparatus.stamp import stamp

CPU_SECONDS, PEAK_MB = 1.0, 300.0
"""The most of a suggestion, however many runs are on record."""
SHAPES: Mapping[str, tuple[int, ...]] = {
    "1x200": (200,),
    "50x200": (200,) * 50,
    "1x10000": (10_000,),
    "5000+49x102": (5000, *[102] * 49),
    "9900+49x2": (9900, *[2] * 49),
    "1000x10": (10,) * 1000,
}
"""Runs on record of each workload; the suggestion is for the first."""
SUGGEST = ("suggest", "config.ini", "--offline", "--dry-run", "-o", "json")
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "suggest --dry-run": SUGGEST,
    "suggest --dry-run, threads as found": SUGGEST,
    "suggest": ("suggest", "config.ini", "--offline", "--no-learn", "-o", "json"),
    "explain": ("explain", "-o", "json"),
    "check": ("check", "config.ini", "-o", "json"),
    "doctor": ("doctor", "config.ini", "--offline", "-o", "json"),
    "history": ("history",),
    "history -o json": ("history", "-o", "json"),
    "audit verify": ("audit", "verify"),
}
PROMISED = tuple(name for name in COMMANDS if name.startswith("suggest"))
FIRST_CONTACT = "first contact"
CONFIG = """[workload]
dataset = scale
model = net{number}
framework = pytorch

[training]
batch_size = 64
learning_rate = 0.01

[resources]
gpus = 1
cpus = 8
"""
SETTINGS = """[parameters]
batch_size = { min = 8, max = 4096, step = "pow2" }
learning_rate = { min = 1e-4, max = 0.1, scale = "log" }
gpus = { choices = [1, 2, 4, 8] }
cpus = { min = 1, max = 32 }
"""
LARGE_SHAPES: Mapping[str, tuple[int, ...]] = {"1000x100": (100,) * 1000, "20000+80x1000": (20_000, *[1000] * 80)}
"""Of 100,000 runs; a share of them for fewer."""
NEW_LOG = "suggest --dry-run, a new log"
LARGE: Mapping[str, tuple[tuple[str, ...], tuple[float, float, float]]] = {
    NEW_LOG: (SUGGEST, (2, 300, 0.1)),
    "suggest --dry-run": (SUGGEST, (2, 300, 0.1)),
    "suggest": (COMMANDS["suggest"], (2, 300, 0.1)),
    "explain": (("explain",), (2, 300, 0.1)),
    "history": (("history",), (5, 300, 0.5)),
    "history CONFIG.INI": (("history", "config.ini"), (5, 300, 0.5)),
    "history -o json": (("history", "-o", "json"), (20, 600, 20)),
    "history -o csv": (("history", "-o", "csv"), (20, 600, 20)),
    "history --compare": (("history", "--compare"), (20, 300, 0.5)),
    "history CONFIG.INI --compare": (("history", "config.ini", "--compare"), (5, 300, 0.1)),
    "report": (("report",), (20, 600, 0.5)),
    "report CONFIG.INI": (("report", "config.ini"), (20, 600, 0.5)),
    "report --html": (("report", "--html", "/dev/stderr"), (20, 600, 20)),
    "report CONFIG.INI --html": (("report", "config.ini", "--html", "/dev/stderr"), (20, 600, 20)),
    "doctor": (("doctor", "config.ini", "--offline"), (10, 300, 0.1)),
    "audit verify": (("audit", "verify"), (10, 300, 0.1)),
    "state gc --dry-run": (("state", "gc", "--dry-run"), (10, 300, 0.1)),
    "state gc": (("state", "gc"), (20, 300, 0.1)),
}
"""Commands with a long history, and their bounds: CPU seconds of the process (not of a server), peak of memory and output in MB.

All that read the audit log grow with it, ten microseconds a record; the others must not grow with the runs of other workloads."""


@dataclass(frozen=True)
class Used:
    """What a process took, infinite (in JSON: null) where it was stopped at the limit; `output_mb`: what it printed."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    output_mb: float = 0.0


@dataclass(frozen=True)
class Store:
    """What one version takes with one store: by command, and its file."""

    used: Mapping[str, Used]
    file_mb: float


Measured = Mapping[str, Mapping[str, Store]]
"""By shape, then by version."""


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="CPU time and memory of `jpo suggest` with many runs and workloads on record.")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES)[:-1], metavar="NAME", help=", ".join(SHAPES))
    parser.add_argument("--scale", type=float, default=1.0, help="share of the runs and workloads of each (default: 1.0)")
    parser.add_argument("--times", type=int, default=5, help="measured processes of each command (default: 5)")
    parser.add_argument("--jpo", action="append", metavar="[NAME=]PATH", help="program; may be repeated (default: this one)")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds after which one is stopped (default: 300)")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    parser.add_argument("--runs", type=int, metavar="N", help="stores of N runs, each command beside its bounds")
    options = parser.parse_args(argv)
    if options.runs:
        return large(
            options.runs, Path(options.jpo[-1] if options.jpo else Path(sys.executable).parent / "jpo").absolute(), options
        )
    programs = dict(named(text) for text in options.jpo or [f"jpo={Path(sys.executable).parent / 'jpo'}"])
    measured = {
        name: measure(scaled(SHAPES[name], options.scale), programs, options.times, options.limit) for name in options.shapes
    }
    holds = claim(measured)
    print(json.dumps(document(measured, holds)) if options.json else table(measured, options.times, holds))
    return 0 if holds else 1


def named(text: str) -> tuple[str, Path]:
    """NAME=PATH, or a path that is its own name."""
    name, _, path = text.rpartition("=")
    return name or path, Path(path).absolute()


def scaled(shape: Sequence[int], share: float) -> list[int]:
    """A share of the runs of a share of the workloads, at least two of one."""
    return [max(2, round(share * runs)) for runs in shape[: max(1, round(share * len(shape)))]]


def measure(shape: Sequence[int], programs: Mapping[str, Path], times: int, limit: float) -> dict[str, Store]:
    """What each version takes with these runs on record."""
    with tempfile.TemporaryDirectory(prefix="store-") as scratch:
        folders = {name: Path(scratch) / name for name in programs}
        contact = {name: on_record(jpo, folders[name], shape, limit) for name, jpo in programs.items()}
        used: dict[str, dict[str, Used]] = {name: {FIRST_CONTACT: contact[name]} for name in programs}
        for command, arguments in COMMANDS.items():
            one_thread = "as found" not in command
            rounds = [
                {name: once([jpo, *arguments], folders[name], limit, one_thread=one_thread) for name, jpo in programs.items()}
                for _ in range(times + 1)
            ]
            for name in programs:
                used[name][command] = typical([each[name] for each in rounds[1:]])
        return {name: Store(used[name], (folder / ".jpo" / "jpo.db").stat().st_size / 1e6) for name, folder in folders.items()}


def on_record(jpo: Path, folder: Path, shape: Sequence[int], limit: float) -> Used:
    """Put the runs on record, and leave no logs that would be read again; what the first workload's first contact took."""
    folder.mkdir(parents=True)
    chance, ended, used = random.Random(0), time.time() - 86400, []  # noqa: S311 - no secret
    for workload, runs in reversed(list(enumerate(shape))):
        (folder / "config.ini").write_text(CONFIG.format(number=workload), encoding="utf-8")
        (folder / "jpo.toml").write_text(f'{SETTINGS}[csv]\nlogs = ["runs-{workload}/*.csv"]\n', encoding="utf-8")
        logs = folder / f"runs-{workload}"
        logs.mkdir()
        for number in range(runs):
            log = run_log(workload, number, ended - workload - 600.0 * (runs - number), chance)
            (logs / f"{number:06}.csv").write_text(log, encoding="utf-8")
        used.append(once([jpo, "observe", "--offline"], folder, limit))
    (folder / "jpo.toml").write_text(SETTINGS, encoding="utf-8")
    return used[-1]


def run_log(workload: int, number: int, end: float, chance: random.Random) -> str:
    """A run of a configuration that no other run has: its rate is drawn from a continuum."""
    batch, gpus, cpus = 2 ** chance.randint(4, 11), 2 ** chance.randint(0, 3), chance.randint(2, 32)
    rate = 10 ** chance.uniform(-3.5, -1.2)
    step = 0.02 + batch / gpus * 5e-4 + 0.01 * (gpus - 1) / gpus
    seconds = 4e5 / batch * step * chance.lognormvariate(0, 0.05) * (1 + workload / 50)
    loss = 0.3 * (1 + 0.1 * math.log(rate / 0.02) ** 2) * chance.lognormvariate(0, 0.01)
    head = {"run_id": f"scale-{workload}-{number}", "dataset": "scale", "model": f"net{workload}", "framework": "pytorch"}
    head |= {"batch_size": batch, "learning_rate": rate, "gpus": gpus, "cpus": cpus, "start": end - seconds}
    lines = [*(f"# {name}={value}" for name, value in head.items()), "time,epoch,samples,train_loss,val_loss"]
    lines += [f"{end},10,400000,{loss:.6g},{loss:.6g}", f"# end={end}", "# status=succeeded", "# memory_bytes=8000000000", ""]
    return "\n".join(lines)


def typical(several: Sequence[Used]) -> Used:
    """Medians of the times, and the largest memory."""
    seconds, cpu = (statistics.median(getattr(used, name) for used in several) for name in ("seconds", "cpu_seconds"))
    return Used(seconds, cpu, max(used.peak_mb for used in several), max(used.output_mb for used in several))


def once(command: Sequence[object], folder: Path, limit: float, *, one_thread: bool = True, store: str = "") -> Used:
    """One process, as the kernel counted it; `store`: URL of the one to use, where it is another than the folder's."""
    environment = {name: text for name, text in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS")}
    environment |= {"PYTHONPYCACHEPREFIX": str(folder.parent / "bytecode"), **({"OMP_NUM_THREADS": "1"} if one_thread else {})}
    waits = {"JPO_STORE__TIMEOUT": "600", "JPO_STORE__DEADLINE": "3600"}  # an import of all runs on a busy machine
    environment |= {"JPO_STORE__URL": store, **waits} if store else {}
    began = time.perf_counter()
    with tempfile.TemporaryFile() as complaint, tempfile.TemporaryFile() as output:
        words = list(map(str, command))
        process = subprocess.Popen(words, cwd=folder, env=environment, stdout=output, stderr=complaint)
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            if time.perf_counter() - began > limit:
                process.kill()
                ended = os.wait4(process.pid, 0)
                break
            time.sleep(0.005)
        seconds, usage = time.perf_counter() - began, ended[2]
        process.returncode = os.waitstatus_to_exitcode(ended[1])  # so that Popen does not wait for it again
        if process.returncode > 0:
            complaint.seek(0)
            raise SystemExit(f"{' '.join(words)} failed ({process.returncode}): {complaint.read().decode(errors='replace')}")
        printed = (output.seek(0, os.SEEK_END) + complaint.seek(0, os.SEEK_END)) / 1e6
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6
    return Used(math.inf, math.inf, peak) if process.returncode else Used(seconds, cpu, peak, printed)


def large(runs: int, jpo: Path, options: argparse.Namespace) -> int:
    """Measure each command of LARGE with so many runs on record; 1 if one of them is beyond a bound."""
    from apparatus import long_history, postgresql

    found: dict[tuple[str, str], dict[str, Used]] = {}
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="store-")))
        server = None if postgresql.missing() else stack.enter_context(postgresql.server("-c synchronous_commit=off"))
        for shape, workloads in LARGE_SHAPES.items():
            folder = scratch / shape
            long_history.project(folder, jpo, CONFIG.format(number=0), SETTINGS, scaled(workloads, math.sqrt(runs / 1e5)))
            urls = {"SQLite": ""}
            if server:
                urls["PostgreSQL"] = server.new_database()
                for words, url in ((["export", "all.jsonl"], ""), (["import", "all.jsonl"], urls["PostgreSQL"])):
                    once([jpo, "state", *words], folder, 7200, store=url)
            for kind, url in urls.items():
                found[shape, kind] = {name: one_of(name, jpo, folder, url, options) for name in LARGE}
    document = {" on ".join(key): {name: asdict(each) for name, each in used.items()} for key, used in found.items()}
    print(json.dumps(document) if options.json else large_table(runs, found))
    return 0 if all(within(name, each) for used in found.values() for name, each in used.items()) else 1


def one_of(name: str, jpo: Path, folder: Path, url: str, options: argparse.Namespace) -> Used:
    """A command of LARGE in a project with a long history."""
    log, arguments = folder / "runs" / "new.csv", LARGE[name][0]
    log.parent.mkdir(exist_ok=True)
    if name == NEW_LOG:
        log.write_text(run_log(0, 10**6, time.time() - 3600, random.Random(0)), encoding="utf-8")  # noqa: S311 - no secret
    used = typical([once([jpo, *arguments], folder, options.limit, store=url) for _ in range(options.times)])
    log.unlink(missing_ok=True)
    return used


def within(name: str, used: Used) -> bool:
    return all(x <= most for x, most in zip((used.cpu_seconds, used.peak_mb, used.output_mb), LARGE[name][1], strict=True))


def large_table(runs: int, found: Mapping[tuple[str, str], Mapping[str, Used]]) -> str:
    """The figures beside their bounds."""
    lines = [f"## {runs:,} runs on record", "", f"{stamp()}.", ""]
    lines += ["| store | command | CPU seconds | peak MB | output MB | bounds | |", "|---|---|---:|---:|---:|---|---|"]
    for (shape, kind), used in found.items():
        for name, each in used.items():
            figures = (f"{each.cpu_seconds:.2f}", f"{each.peak_mb:.0f}", f"{each.output_mb:.2f}")
            bounds = "{:g} s, {:g} MB, {:g} MB".format(*LARGE[name][1])
            cells = (f"{shape}, {kind}", name, *figures, bounds, "" if within(name, each) else "BEYOND")
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def claim(measured: Measured) -> bool:
    """Whether every suggestion of the last version keeps to the promise."""
    lasts = [list(stores.values())[-1] for stores in measured.values()]
    suggestions = [store.used[name] for store in lasts for name in PROMISED]
    return all(used.cpu_seconds < CPU_SECONDS and used.peak_mb <= PEAK_MB for used in suggestions)


def document(measured: Measured, holds: bool) -> dict[str, object]:
    """Everything, for programs; null where a process was stopped."""
    shapes = {shape: {name: asdict(store) for name, store in stores.items()} for shape, stores in measured.items()}
    for stores in shapes.values():
        for store in stores.values():
            store["used"] = {name: None if math.isinf(used["seconds"]) else used for name, used in store["used"].items()}
    return {"shapes": shapes, "holds": holds}


def table(measured: Measured, times: int, holds: bool) -> str:
    """The figures as a page of docs/benchmarks."""
    lines = ["## Long histories", "", f"{stamp()}. Median of {times}, whole processes; (ratio to the first version).", ""]
    head = ["runs on record", "command", "version", "CPU seconds", "peak MB", "file MB"]
    lines += ["| " + " | ".join(head) + " |", "|---|---|---|---:|---:|---:|"]
    for shape, stores in measured.items():
        first = next(iter(stores.values()))
        for command in first.used:
            for name, store in stores.items():
                used, before = store.used[command], first.used[command]
                ratio = f" ({used.cpu_seconds / before.cpu_seconds:.2f})" if store is not first else ""
                cells = [shape, command, name, f"{used.cpu_seconds:.2f}{ratio}", f"{used.peak_mb:.0f}", f"{store.file_mb:.1f}"]
                lines.append("| " + " | ".join(cells) + " |")
    promise = f"`jpo suggest` below {CPU_SECONDS:g} CPU second and {PEAK_MB:.0f} MB, no two configurations alike"
    return "\n".join([*lines, "", f"{promise}: {'holds' if holds else 'DOES NOT HOLD'}."])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
