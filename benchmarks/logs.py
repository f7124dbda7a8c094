"""A folder of CSV logs analysed: `jpo lab logs` compared with pandas reading the same files one by one, each as a whole process.

The logs are made here: runs of three workloads, a row per epoch. pandas is used as one would write it down: the `# key=value`
lines by hand, the rows by `read_csv(comment="#")`, one frame of last rows, `groupby`. Both run once unmeasured, then in turn;
figures are medians of user + system time, and the largest peak of memory. Both must find the same numbers.

    python benchmarks/logs.py [--logs 1000] [--rows 100] [--runs 5] [--json]

Exit code 1 if the claim does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
JPO, PANDAS = "jpo lab logs FOLDER -o json", "pandas, file by file"
MOST = 0.75  # of pandas' CPU time, promised for logs as epochs make them
PROMISED_ROWS = 100  # with 2,000 rows each the two take equally long
WORKLOADS = (("digits", "cnn", "pytorch"), ("imagenet", "resnet50", "pytorch"), ("wiki", "bert", "jax"))
NAIVE = """
import json, sys
from pathlib import Path
import pandas as pd
rows = []
for path in sorted(Path(sys.argv[1]).glob("*.csv")):
    lines = [line[2:].strip() for line in path.read_text().split("\\n") if line.startswith("# ")]
    head = dict(line.split("=", 1) for line in lines)
    frame = pd.read_csv(path, comment="#")
    seconds = float(head["end"]) - float(head["start"])
    last = frame.iloc[-1]
    rows.append({**head, "seconds": seconds, "val_loss": last["val_loss"], "rate": last["samples"] / seconds})
runs = pd.DataFrame(rows)
good = runs[runs["status"] == "succeeded"]
names = ["dataset", "model", "framework"]
by_status = runs.groupby([*names, "status"]).size()
spreads = good.groupby(names)[["seconds", "rate", "val_loss"]].describe()
best = good.groupby([*names, "batch_size", "learning_rate"])["seconds"].median().groupby(names).min()
print(json.dumps({"/".join(key): [float(spreads.loc[key, ("seconds", "50%")]), float(best[key])] for key in best.index}))
"""


@dataclass(frozen=True)
class Used:
    """What one way of analysing took: CPU seconds, MiB."""

    seconds: float
    memory_mib: float


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="CPU time of `jpo lab logs` on a folder of logs compared with pandas.")
    parser.add_argument("--logs", type=int, default=1000, help="logs in the folder (default: 1000)")
    parser.add_argument("--rows", type=int, default=100, help="rows of each log (default: 100)")
    parser.add_argument("--runs", type=int, default=5, help="measured runs of each (default: 5)")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        make_logs(Path(scratch), options.logs, options.rows)
        used, answers = measure(commands(Path(scratch)), options.runs)
    if PANDAS in answers and not agree(answers):
        raise SystemExit(f"the two disagree: {answers}")
    holds = PANDAS not in used or options.rows > PROMISED_ROWS or used[JPO].seconds <= MOST * used[PANDAS].seconds
    if options.json:
        print(json.dumps({"used": {name: asdict(usage) for name, usage in used.items()}, "most": MOST, "holds": holds}))
    else:
        print(table(used, options.logs, options.rows, options.runs, holds))
    return 0 if holds else 1


def make_logs(folder: Path, logs: int, rows: int, seed: int = 0) -> None:
    """Logs as a training script writes them; the larger batch is faster."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    for number in range(logs):
        dataset, model, framework = chance.choice(WORKLOADS)
        batch_size, rate = chance.choice((16, 32, 64, 128)), chance.choice((0.01, 0.02))
        start, seconds = 1.7e9 + 5000 * number, 800 / batch_size**0.5 * chance.lognormvariate(0, 0.05)
        status = chance.choices(("succeeded", "failed", "oom_killed"), (90, 5, 5))[0]
        head = {"run_id": f"run-{number}", "dataset": dataset, "model": model, "framework": framework}
        facts = {**head, "batch_size": batch_size, "learning_rate": rate, "epochs": rows, "start": f"{start:.3f}"}
        lines = [*(f"# {name}={value}" for name, value in facts.items()), "time,epoch,samples,train_loss,val_loss"]
        for epoch in range(1, rows + 1):
            loss = 1 / epoch + chance.random() / 100
            lines.append(f"{start + seconds * epoch / rows:.3f},{epoch},{1437 * epoch},{loss:.6g},{loss + 0.1:.6g}")
        lines += [f"# end={start + seconds:.3f}", f"# status={status}", ""]
        (folder / f"run-{number:05}.csv").write_text("\n".join(lines), encoding="utf-8")


def commands(folder: Path) -> dict[str, list[str]]:
    """What is measured, by the name it has in the table."""
    jpo = {JPO: [sys.executable, "-P", "-m", "jpo", "lab", "logs", str(folder), "-o", "json"]}
    return jpo | ({PANDAS: [sys.executable, "-P", "-c", NAIVE, str(folder)]} if find_spec("pandas") else {})


def measure(named: Mapping[str, list[str]], runs: int) -> tuple[dict[str, Used], dict[str, str]]:
    """What each command used, the commands in turn, and what it printed."""
    rounds = [{name: once(command) for name, command in named.items()} for _ in range(runs + 1)]
    used = {
        name: Used(
            statistics.median(measured[name][0].seconds for measured in rounds[1:]),
            max(measured[name][0].memory_mib for measured in rounds[1:]),
        )
        for name in named
    }
    return used, {name: rounds[0][name][1] for name in named}


def once(command: Sequence[str]) -> tuple[Used, str]:
    """One process: what the kernel counted, and its output."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryDirectory() as elsewhere:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(command, cwd=elsewhere, env=environment, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)  # so that Popen does not wait for it again
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} failed ({process.returncode})")
        out.seek(0)
        return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), out.read()


def agree(answers: Mapping[str, str]) -> bool:
    """Whether both found the same median and best time of every workload."""
    ours = {
        f"{workload['dataset']}/{workload['model']}/{workload['framework']}": (
            workload["duration_seconds"]["median"],
            workload["best"]["time"]["duration_seconds"],
        )
        for workload in json.loads(answers[JPO])["workloads"]
    }
    naive = json.loads(answers[PANDAS])
    return ours.keys() == naive.keys() and all(
        abs(a - b) < 1e-3 for name in ours for a, b in zip(ours[name], naive[name], strict=True)
    )


def table(used: Mapping[str, Used], logs: int, rows: int, runs: int, holds: bool) -> str:
    """The figures as a page of docs/benchmarks."""
    lines = [f"| {name} | {usage.seconds:.2f} | {usage.memory_mib:.0f} |" for name, usage in used.items()]
    head = [
        f"## {logs:,} CSV logs of {rows} rows",
        "",
        f"| whole process | CPU seconds, median of {runs} | peak MiB |",
        "|---|---:|---:|",
    ]
    if PANDAS not in used:
        return "\n".join([*head, *lines, "", "pandas is not installed: nothing to compare with."])
    ratio = used[JPO].seconds / used[PANDAS].seconds
    verdict = f"JPO takes {ratio:.2f} of pandas' time"
    if rows <= PROMISED_ROWS:
        verdict += f"; at most {MOST} is promised: {'holds' if holds else 'DOES NOT HOLD'}"
    return "\n".join([*head, *lines, "", f"{verdict}."])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
