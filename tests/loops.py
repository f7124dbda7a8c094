"""A project with a job that trains in virtual time, for the tests of `jpo optimize`: the real story of `jpo suggest` decides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulated_engine import SimulatedLauncher, VirtualRun

from jpo.commands.compare import compared
from jpo.commands.suggest import SuggestOptions, suggest
from jpo.history import Store
from jpo.plugins.launch.job import LaunchJob
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.ledger import Entry, entries
from jpo.plugins.launch.story.optimize.optimize import LoopsEnded, optimize
from jpo.plugins.launch.story.optimize.task import LoopPlan, Outside, Task, task_of
from jpo.plugins.launch.story.watch.story import trial
from jpo.project.load import LoadedSettings, load
from jpo.project.project import open_history
from jpo.records import RunStatus, Suggestion

CONFIG = """\
[workload]
dataset = digits
model = {model}
framework = torch

[training]
batch_size = 64      # images
learning_rate = 0.01
epochs = 10

[resources]
cpus = 2
"""
TOML = """\
[launch]
command = ["python", "train.py"]
[prices]
usd_per_cpu_hour = 0.04
"""
STARTUP = 20.0
"""Seconds of imports before the training begins."""
Train = Callable[[LaunchJob], VirtualRun]


def seconds_of(job: LaunchJob) -> float:
    """An hour at 64; faster with larger batches, and with a learning rate near 0.02."""
    batch, rate = job.parameters["batch_size"], job.parameters["learning_rate"]
    return 3600 * (64 / batch) ** 0.4 * math.exp(0.2 * math.log(rate / 0.02) ** 2 - 0.2 * math.log(2) ** 2)


@dataclass
class Lab:
    """A folder with one job or several, a clock, and an engine that outlives the processes which use it.

    Attributes:
        train: what becomes of a run, by its job; None: it ends well after `seconds_of`.
        asked: ids under which `suggest` was called.
    """

    folder: Path
    train: Train | None = None
    now: float = 1_800_000_000.0
    notes: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    chosen: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.engine: Launcher = SimulatedLauncher(self._course, lambda: self.now)

    def config(self, name: str = "config.ini", model: str = "cnn") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(CONFIG.format(model=model), encoding="utf-8")
        (self.folder / "jpo.toml").write_text(TOML, encoding="utf-8")
        return path

    def settings(self) -> LoadedSettings:
        return load(self.config(), self.folder / "jpo.toml", {}, {})

    def task(self, name: str = "config.ini", model: str = "cnn") -> Task:
        return task_of(self.config(name, model), self.settings(), "simulated", name=None, now=self.now)

    def outside(self) -> Outside:
        engine = lambda _settings, _name: self.engine  # noqa: E731
        return Outside(self.suggest, engine, trial, lambda: self.now, self.sleep, self.notes.append, self.folder, {})

    def optimize(self, *tasks: Task, runs: int = 2, baseline: int = 1, at_once: int = 1, **how: Any) -> LoopsEnded:
        plan = LoopPlan(runs, baseline, at_once=at_once, **how)
        return optimize(tasks or [self.task()], plan, self.outside(), compared, picture=None)

    def sleep(self, seconds: float) -> None:
        self.now += max(seconds, 0.01)

    def suggest(self, task: Task, suggestion_id: str, now: float) -> Suggestion:
        self.asked.append(suggestion_id)
        wanted = SuggestOptions(suggestion_id, now, learn=False, offline=True, chosen=self.chosen)
        return suggest(task.path, task.settings, wanted).suggestion

    def entries(self) -> list[Entry]:
        return [*entries(self.task().ledger)]

    def history(self) -> Store:
        return open_history(self.settings())

    def _course(self, job: LaunchJob, start: float) -> VirtualRun:
        self.started.append(job.run_id)
        if self.train:
            return self.train(job)
        return logged(job, start, seconds_of(job))


def logged(job: LaunchJob, start: float, seconds: float, status: str = "succeeded", loss: float = 0.3) -> VirtualRun:
    """A run that writes the log of `jpo.runlog`, after a while of imports."""
    start += STARTUP
    head = {"run_id": job.run_id, **job.identity.labels, **job.parameters, "start": start}
    rows = [
        f"{start + seconds * epoch / 10:.3f},{epoch},{epoch * 1000},{2 / epoch},{loss * 10 / epoch}" for epoch in range(1, 11)
    ]
    ends = {"end": f"{start + seconds:.3f}", "status": status}
    lines = [*(f"# {name}={value}" for name, value in head.items()), "time,epoch,samples,train_loss,val_loss", *rows]
    lines += [f"# {name}={value}" for name, value in ends.items()]
    return VirtualRun(STARTUP + seconds, ended_as=RunStatus(status), log="\n".join([*lines, ""]))
