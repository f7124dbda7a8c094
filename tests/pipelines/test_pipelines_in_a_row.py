"""Eight pipelines in a row, each from a clean checkout, against a job whose data grow: the loop persists.

The steps of GitHub's action run as its runner runs them, the guard's job included; beside them plays a file that is kept, and
every night has the same values. Nothing is committed, and the history lies outside of the checkouts. The nights of GitLab are in
test_without_a_server.py.
"""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pipelines.test_github import ACTION, GUARD, run_step

NIGHTS = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "nights.py"))
PIPELINES, GROWTH, FASTER = 8, 0.02, 1e-5
JOB = NIGHTS["job_of"]("fixed_epochs", 0)
GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]


def git(folder: Path, *arguments: str) -> None:
    subprocess.run([*GIT, *arguments], cwd=folder, check=True, capture_output=True)


def kept(machine: Any, folder: Path) -> None:
    """No pipeline: `jpo suggest` writes the same file night after night."""
    done = machine.run(["bash", "-ec"], "jpo suggest config.ini", {"JPO_STORE__URL": f"sqlite:///{folder}/history.db"})
    assert done.returncode == 0, done.stderr


def on_github(machine: Any, folder: Path) -> None:
    """The steps of the action, then the guard's action in a job of its own."""
    git(machine.repository, "checkout", "--quiet", "--", ".")
    for step in ("Suggest", "Guard", "Report"):
        done = run_step(machine, folder, ACTION, step, **{"store-url": f"sqlite:///{folder}/history.db"})
        assert done.returncode == 0, done.stdout + done.stderr
    suggested = folder / "suggested.ini"
    shutil.copy(machine.repository / "config.ini", suggested)
    git(machine.repository, "checkout", "--quiet", "--", ".")
    files = {"before": "config.ini", "after": str(suggested), "in-force": str(folder / "jpo-report" / "config.in-force.ini")}
    done = run_step(machine, folder, GUARD, "Guard", **files, settings="jpo.toml", python=sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.copy(suggested, machine.repository / "config.ini")


def played(pipeline: Callable[[Any, Path], None], machine: Any, folder: Path) -> list[Any]:
    """The nights, each with the values of its config.ini and its cost in multiples of the best."""
    runs, checkout = folder / "runs", folder / "checkout"
    for made in (runs, checkout, folder / "jpo" / "bin"):
        made.mkdir(parents=True)
    (folder / "jpo" / "bin" / "python").symlink_to(machine.tools / "python")  # where the action looks for it
    (checkout / "config.ini").write_text(NIGHTS["config_ini"](JOB))
    (checkout / "jpo.toml").write_text(NIGHTS["jpo_toml"](JOB, [], logs=False))
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "job"]):
        git(checkout, *command)
    machine = replace(machine, repository=checkout, environment={**machine.environment, "JPO_CSV__LOGS": f'["{runs}/*.csv"]'})
    nights = []
    for number in range(PIPELINES):
        pipeline(machine, folder)
        values = NIGHTS["values_in"](checkout / "config.ini")
        tonight = NIGHTS["grown"](JOB, (1 + GROWTH) ** number)
        seconds = NIGHTS["results"](tonight, {name: np.array([x]) for name, x in values.items()}).seconds[0]
        time.sleep(1.2 * FASTER * float(seconds))  # the run begins after the suggestion
        (runs / f"night-{number + 1:02}.csv").write_text(NIGHTS["run_log"](tonight, values, number, None))
        nights.append((values, NIGHTS["judged"](tonight, NIGHTS["best"](tonight)[1], values).ratio))
    return nights


@pytest.mark.slow
def test_clean_checkouts_reach_what_a_kept_file_reaches(machine: Any, tmp_path: Path) -> None:
    ways = {"kept": kept, "github": on_github}
    with ThreadPoolExecutor(len(ways)) as pool:
        tasks = {name: pool.submit(played, way, machine, tmp_path / name) for name, way in ways.items()}
        nights = {name: task.result() for name, task in tasks.items()}
    values = {name: [night_values for night_values, _ in them] for name, them in nights.items()}
    (_, first), *_, (_, last) = nights["kept"]
    assert last < 0.6 * first, "the job cannot be tuned: this shows nothing"
    assert values["github"] == values["kept"]
