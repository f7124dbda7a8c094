"""Start-up cost of a suggestion: CPU time of `jpo suggest` as a whole process, compared with `import torch`.

JPO runs in every pipeline, so it has to start like a command-line tool, not like a training framework. Each command runs once
unmeasured, then in turn with the others; a figure is the median of user + system time. Peers that are not installed are left out.

    python benchmarks/startup.py [--runs 7] [--json]

Exit code 1 if the claim does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
YARDSTICK = 'python -c "import torch"'
SUGGEST = "jpo suggest config.ini --dry-run --offline"
MOST = 0.38  # of the yardstick's CPU time, as docs/benchmarks/startup.md says, where its floor is, too


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="CPU time of `jpo suggest` compared with `import torch` and peers' --help.")
    parser.add_argument("--runs", type=int, default=7, help="measured runs of each command (default: 7)")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    medians = measure(commands(), options.runs)
    ratios, holds = claim(medians)
    if options.json:
        print(json.dumps({"cpu_seconds": medians, "ratios": ratios, "most": MOST, "holds": holds}))
    else:
        print(table(medians, ratios, options.runs, holds))
    return 0 if holds else 1


def commands() -> dict[str, list[str]]:
    """What is measured, by the name it has in the table."""
    scripts = Path(sys.executable).parent
    peers = {f"{name} --help": [str(scripts / name), "--help"] for name in ("optuna", "pre-commit") if (scripts / name).exists()}
    suggest = [sys.executable, "-P", "-m", *SUGGEST.split()]
    return {YARDSTICK: [sys.executable, "-c", "import torch"], SUGGEST: suggest, **peers}


def measure(named: Mapping[str, list[str]], runs: int) -> dict[str, float]:
    """Median CPU seconds of each command, the commands in turn, so that a slow moment of the machine meets all of them."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "quickstart"
        shutil.copytree(ROOT / "examples" / "quickstart", folder, ignore=shutil.ignore_patterns(".jpo"))
        rounds = [{name: cpu_seconds(command, folder) for name, command in named.items()} for _ in range(runs + 1)]
    return {name: statistics.median(seconds[name] for seconds in rounds[1:]) for name in named}


def cpu_seconds(command: list[str], folder: Path) -> float:
    """User and system time of one process and its children, as the kernel counts them."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryFile() as complaint:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=complaint)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)  # so that Popen does not wait for it again
        if process.returncode:
            complaint.seek(0)
            raise SystemExit(f"{' '.join(command)} failed ({process.returncode}): {complaint.read().decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime


def claim(medians: Mapping[str, float]) -> tuple[dict[str, float], bool]:
    """CPU time of each command relative to the yardstick, and whether `jpo suggest` meets its target."""
    ratios = {name: seconds / medians[YARDSTICK] for name, seconds in medians.items()}
    return ratios, ratios[SUGGEST] <= MOST


def table(medians: Mapping[str, float], ratios: Mapping[str, float], runs: int, holds: bool) -> str:
    rows = [f"| `{name}` | {seconds:.2f} | {ratios[name]:.2f} |" for name, seconds in medians.items()]
    verdict = f"`jpo suggest` takes at most {MOST} of `import torch`: {'holds' if holds else 'DOES NOT HOLD'}."
    head = ["## Start-up", "", f"| whole process | CPU seconds, median of {runs} | of `import torch` |", "|---|---:|---:|"]
    return "\n".join([*head, *rows, "", verdict])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
