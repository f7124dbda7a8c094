"""A suggestion with a long history: seconds and memory of `jpo suggest` with 100, 1,000 and 10,000 runs on record.

No two runs had the same configuration, which is the hard case: what is equal is counted together. The runs are put on record by
`jpo observe` from CSV logs; then `jpo suggest --dry-run` is measured as a whole process, once unmeasured and then several times;
figures are the median of the elapsed seconds and of user + system time, and the largest peak of memory.

    python benchmarks/scale.py [--runs 100 1000 10000] [--times 3] [--jpo PATH] [--limit 300] [--json]

Exit code 1 if a suggestion takes longer, or more memory, than promised.
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
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from apparatus.stamp import stamp

SECONDS, MIB = 1.0, 300.0
"""The most of a suggestion, however many runs are on record."""
CONFIG = """[workload]
dataset = scale
model = net
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
[agent]
learn_budget = "0s"
"""


@dataclass(frozen=True)
class Used:
    """What a suggestion took, infinite (in JSON: null) where it was stopped at the limit."""

    seconds: float
    cpu_seconds: float
    peak_mib: float


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Seconds and memory of `jpo suggest` with many runs on record.")
    parser.add_argument("--runs", type=int, nargs="+", default=[100, 1000, 10_000], help="on record (default: 100 1000 10000)")
    parser.add_argument("--times", type=int, default=3, help="measured suggestions of each (default: 3)")
    parser.add_argument("--jpo", type=Path, default=Path(sys.executable).parent / "jpo", help="program (default: this one)")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds after which one is stopped (default: 300)")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    used = {}
    for runs in options.runs:
        with tempfile.TemporaryDirectory(prefix="scale-") as scratch:
            on_record(options.jpo.absolute(), Path(scratch), runs)
            used[runs] = suggestion(options.jpo.absolute(), Path(scratch), options.times, options.limit)
    holds = claim(used)
    figures = {str(runs): None if math.isinf(it.seconds) else asdict(it) for runs, it in used.items()}
    print(json.dumps({"used": figures, "holds": holds}) if options.json else table(used, options.times, holds))
    return 0 if holds else 1


def on_record(jpo: Path, folder: Path, runs: int) -> None:
    """A job's folder with a store that has these runs, and no logs any more that would be read again."""
    (folder / "config.ini").write_text(CONFIG, encoding="utf-8")
    (folder / "jpo.toml").write_text(SETTINGS + '[csv]\nlogs = ["runs/*.csv"]\n', encoding="utf-8")
    (folder / "runs").mkdir()
    chance, ended = random.Random(0), time.time() - 86400  # noqa: S311 - no secret
    for number in range(runs):
        log = run_log(number, ended - 60.0 * (runs - number), chance)
        (folder / "runs" / f"{number:06}.csv").write_text(log, encoding="utf-8")
    done = subprocess.run([jpo, "observe", "--offline"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{jpo} observe failed ({done.returncode}):\n{done.stderr}")
    (folder / "jpo.toml").write_text(SETTINGS, encoding="utf-8")


def run_log(number: int, end: float, chance: random.Random) -> str:
    """A run of a configuration that no other run has: its rate is drawn from a continuum."""
    batch, gpus, cpus = 2 ** chance.randint(4, 11), 2 ** chance.randint(0, 3), chance.randint(2, 32)
    rate = 10 ** chance.uniform(-3.5, -1.2)
    step = 0.02 + batch / gpus * 5e-4 + 0.01 * (gpus - 1) / gpus
    seconds = 4e5 / batch * step * chance.lognormvariate(0, 0.05)
    loss = 0.3 * (1 + 0.1 * math.log(rate / 0.02) ** 2) * chance.lognormvariate(0, 0.01)
    head = {"run_id": f"scale-{number}", "dataset": "scale", "model": "net", "framework": "pytorch"}
    head |= {"batch_size": batch, "learning_rate": rate, "gpus": gpus, "cpus": cpus, "start": end - seconds}
    lines = [*(f"# {name}={value}" for name, value in head.items()), "time,epoch,samples,train_loss,val_loss"]
    lines += [f"{end},10,400000,{loss:.6g},{loss:.6g}", f"# end={end}", "# status=succeeded", "# memory_bytes=8000000000", ""]
    return "\n".join(lines)


def suggestion(jpo: Path, folder: Path, times: int, limit: float) -> Used:
    """What a suggestion takes there; of one that has to be stopped, once is enough."""
    first = once(jpo, folder, limit)
    if math.isinf(first.seconds):
        return first
    all_used = [once(jpo, folder, limit) for _ in range(times)]
    return Used(
        statistics.median(used.seconds for used in all_used),
        statistics.median(used.cpu_seconds for used in all_used),
        max(used.peak_mib for used in all_used),
    )


def once(jpo: Path, folder: Path, limit: float) -> Used:
    """One process, as the kernel counted it."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command, began = [str(jpo), "suggest", "config.ini", "--offline", "--dry-run", "-o", "json"], time.perf_counter()
    with tempfile.TemporaryFile() as complaint:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=complaint)
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
            raise SystemExit(f"{' '.join(command)} failed ({process.returncode}): {complaint.read().decode(errors='replace')}")
    cpu = usage.ru_utime + usage.ru_stime
    return Used(math.inf if process.returncode else seconds, math.inf if process.returncode else cpu, usage.ru_maxrss / 1024)


def claim(used: Mapping[int, Used]) -> bool:
    return all(it.seconds <= SECONDS and it.peak_mib <= MIB for it in used.values())


def table(used: Mapping[int, Used], times: int, holds: bool) -> str:
    """The figures as a section of docs/benchmarks.md."""
    head: Sequence[str] = ("runs on record", f"seconds, median of {times}", "CPU seconds", "peak MiB")
    lines = ["## Long histories", "", f"{stamp()}.", "", "| " + " | ".join(head) + " |", "|---:" * len(head) + "|"]
    lines += [f"| {runs:,} | {it.seconds:.2f} | {it.cpu_seconds:.2f} | {it.peak_mib:.0f} |" for runs, it in used.items()]
    promise = f"`jpo suggest` within {SECONDS:g} s and {MIB:.0f} MiB, no two configurations alike"
    return "\n".join([*lines, "", f"{promise}: {'holds' if holds else 'DOES NOT HOLD'}."])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
