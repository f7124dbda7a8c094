"""Record the runs of this example: train ../digits with each configuration below, one after the other, and print what came out.

python record.py [--log-dir runs]     takes about two minutes on an idle machine with two cores
python record.py --table              only the table of the runs already there
"""

from __future__ import annotations

import argparse
import configparser
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
TRAIN = HERE.parent / "digits" / "train.py"
SECTIONS = {"batch_size": "training", "learning_rate": "training", "num_layers": "model", "cpus": "resources"}

TODAY = (16, 0.003, 2, 2)  # as in config.ini
CONFIGURATIONS = [  # batch_size, learning_rate, num_layers, cpus, in the order of running
    TODAY,
    TODAY,
    (16, 0.003, 2, 1),
    (32, 0.003, 2, 1),
    (16, 0.01, 2, 1),
    (32, 0.01, 2, 2),
    TODAY,
    (256, 0.001, 2, 1),  # too slow: ends at the last epoch
    (256, 0.03, 2, 2),
    (64, 0.01, 2, 1),
    (64, 0.03, 2, 1),
    (64, 0.03, 2, 2),
    (16, 0.1, 2, 1),  # too fast: the loss never settles
    TODAY,
    (128, 0.03, 2, 1),
    (64, 0.03, 3, 1),
    (16, 0.01, 2, 1),
    (64, 0.03, 2, 1),
]


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the runs of the quickstart example.")
    parser.add_argument("--log-dir", type=Path, default=HERE / "runs", metavar="DIR", help="where the logs are (default: runs)")
    parser.add_argument("--table", action="store_true", help="run nothing, only print the table")
    arguments = parser.parse_args()
    if not arguments.table:
        for configuration in CONFIGURATIONS:
            run(dict(zip(SECTIONS, configuration, strict=True)), arguments.log_dir)
    print(table(sorted(arguments.log_dir.glob("*.csv"))))


def run(values: dict[str, float], log_dir: Path) -> None:
    """One run of config.ini with these values."""
    config = configparser.ConfigParser(inline_comment_prefixes=("#", ";"), interpolation=None)
    config.read(HERE / "config.ini", encoding="utf-8")
    for name, value in values.items():
        config[SECTIONS[name]][name] = str(value)
    with tempfile.NamedTemporaryFile("w", suffix=".ini", encoding="utf-8") as file:
        config.write(file)
        file.flush()
        subprocess.run([sys.executable, TRAIN, file.name, "--log-dir", log_dir], check=True)  # noqa: S603


def table(logs: list[Path]) -> str:
    """The runs by configuration, cheapest first, as Markdown."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for log in logs:
        facts = read_facts(log)
        groups[tuple(facts[name] for name in SECTIONS)].append(facts)
    lines = ["| batch size | learning rate | layers | CPUs | runs | reached target | seconds | CPU seconds |", "|--:" * 8 + "|"]
    for key, runs in sorted(groups.items(), key=lambda group: (-share(group[1]), seconds(group[1]))):
        reached = sum(run["converged"] == "true" for run in runs)
        cpu = median(float(run["cpu_seconds"]) for run in runs)
        lines.append(f"| {' | '.join(key)} | {len(runs)} | {reached} | {seconds(runs):.1f} | {cpu:.1f} |")
    return "\n".join(lines)


def read_facts(log: Path) -> dict[str, str]:
    """The `# key=value` lines of a log."""
    lines = log.read_text(encoding="utf-8").splitlines()
    return dict(line[2:].split("=", 1) for line in lines if line.startswith("# "))


def share(runs: list[dict[str, str]]) -> float:
    return sum(run["converged"] == "true" for run in runs) / len(runs)


def seconds(runs: list[dict[str, str]]) -> float:
    return median(float(run["end"]) - float(run["start"]) for run in runs)


if __name__ == "__main__":
    main()
