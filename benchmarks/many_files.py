"""Many workloads at once: CPU time of `jpo suggest */config.ini` for each, beside one call for each, and the same answers.

A nightly pipeline of a platform team answers for all jobs of its store. Each alone starts Python, opens the store and reads the
newest runs of the others; together that is done once, and by all cores. A few workloads are asked alone, as a sample.

    python benchmarks/many_files.py [--workloads 1000] [--alone 5] [--json]

Exit code 1 if the claim does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jpo.history import open_store
from jpo.records import Finished, Identity, Outcome, Run, RunStatus

ROOT = Path(__file__).parents[1]
RUNS, NIGHT, START = 4, 86_400, 1_790_000_000
MOST = 0.6
"""CPU seconds of a workload of many, as a share of those of one alone."""
VARIES = ("suggestion_id", "created_at")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="CPU time of one call for many workloads, beside a call for each.")
    parser.add_argument("--workloads", type=int, default=1000)
    parser.add_argument("--alone", type=int, default=5, help="workloads that are asked alone, as a sample (default: 5)")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of text")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        figures = measured(Path(scratch), options.workloads, options.alone)
    print(json.dumps(figures) if options.json else in_words(figures))
    return 0 if figures["holds"] else 1


def measured(root: Path, workloads: int, alone: int) -> dict[str, Any]:
    names = installation(root, workloads)
    sample = names[:: max(1, len(names) // alone)][:alone]
    apart = [asked(root, [name]) for name in sample]
    answers, cpu, wall = asked(root, names)
    same = {job["config"]: job for job in answers}
    alike = all(same[one[0][0]["config"]] == one[0][0] for one in apart)
    of_one, of_many = sum(one[1] for one in apart) / len(apart), cpu / len(names)
    return {
        "workloads": len(names),
        "cores": len(os.sched_getaffinity(0)),
        "cpu_seconds_alone": of_one,
        "cpu_seconds_of_many": of_many,
        "ratio": of_many / of_one,
        "seconds": wall,
        "alike": alike,
        "holds": alike and of_many <= MOST * of_one,
    }


def installation(root: Path, workloads: int) -> list[str]:
    """Workloads with some runs each in one store; the paths of their config.ini."""
    rng, runs, names = random.Random(1), list[Run](), list[str]()  # noqa: S311 - drawn runs
    (root / "jpo.toml").write_text("[prices]\nusd_per_gpu_hour = 2.0\nusd_per_cpu_hour = 0.04\n")
    for number in range(workloads):
        identity = Identity(f"dataset{number % 20}", f"model{number}", "torch")
        folder = root / f"w{number:04}"
        folder.mkdir()
        (folder / "config.ini").write_text(
            f"[workload]\ndataset = {identity.dataset}\nmodel = {identity.model}\nframework = torch\n"
            "[training]\nbatch_size = 32\nlearning_rate = 0.01\nepochs = 5\n[resources]\ngpus = 1\ncpus = 4\nmemory_gib = 16\n"
        )
        names.append(f"{folder.name}/config.ini")
        runs += (drawn(identity, f"w{number}-{night}", START + number * 60 + night * NIGHT, rng) for night in range(RUNS))
    (root / ".jpo").mkdir()
    with open_store(f"sqlite:///{root}/.jpo/jpo.db") as store:
        for at in range(0, len(runs), 500):
            store.record(Finished(tuple(runs[at : at + 500])), now=START + RUNS * NIGHT)
    return names


def drawn(identity: Identity, run_id: str, start: float, rng: random.Random) -> Run:
    batch, gpus = rng.choice([16, 32, 64, 128]), rng.choice([1, 2])
    seconds = rng.uniform(0.8, 1.2) * 3600 * (1 + 32 / batch) / gpus**0.8
    values = {"batch_size": batch, "learning_rate": 0.01, "epochs": 5, "gpus": gpus, "cpus": 4, "memory_gib": 16}
    outcome = Outcome(
        duration_seconds=seconds, val_loss=rng.uniform(0.3, 0.5), gpu_utilisation=rng.uniform(0.4, 0.9), cpu_utilisation=0.5
    )
    named = {name: float(value) for name, value in values.items()}
    return Run(run_id, identity, named, RunStatus.SUCCEEDED, start, start + seconds, outcome, "csv")


def asked(root: Path, names: Sequence[str]) -> tuple[list[dict[str, Any]], float, float]:
    """The answers of one call without what differs each time, its CPU seconds, and how long it took."""
    words = [sys.executable, "-P", "-m", "jpo", "suggest", *names, "--dry-run", "--offline", "-o", "json"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(words, cwd=root, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(done.stdout)
    answers = [{name: value for name, value in job.items() if name not in VARIES} for job in found.get("jobs", [found])]
    return answers, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def in_words(figures: dict[str, Any]) -> str:
    each, alone = figures["cpu_seconds_of_many"], figures["cpu_seconds_alone"]
    thousand = figures["seconds"] * 1000 / figures["workloads"]
    said = (
        f"`jpo suggest */config.ini` for {figures['workloads']} workloads: {each:.2f} CPU seconds for each, alone {alone:.2f}"
        f" (ratio {figures['ratio']:.2f}); {thousand:.0f} s for a thousand on {figures['cores']} cores, as busy as they were."
    )
    verdict = f"At most {MOST} of one alone, and the same answers: {'holds' if figures['holds'] else 'DOES NOT HOLD'}."
    return "\n".join(["## Many workloads at once", "", said, "", verdict])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
