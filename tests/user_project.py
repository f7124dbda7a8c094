"""A project as a user has it: config.ini, jpo.toml and the CSV logs of earlier runs, with a clear best batch size."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from jpo.__main__ import run

CONFIG = """\
[workload]
dataset = digits
model = cnn
framework = pytorch

[training]
batch_size = 16      # from the tutorial
learning_rate = 0.01
epochs = 40

[resources]
cpus = 2
"""
TOML = """\
[csv]
logs = ["runs/*.csv"]
[parameters]
epochs = { key = "training.epochs", freeze = true }
[prices]
usd_per_cpu_hour = 0.04
"""
RUNS = [(16, 100.0), (16, 104.0), (64, 40.0), (16, 98.0), (64, 42.0), (64, 41.0), (32, 70.0)]
"""(batch size, seconds): 64 is clearly better than today's 16."""


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Project:
    """A folder with a config.ini, and `jpo` run in it."""

    folder: Path
    jpo: Callable[..., Answer]

    @property
    def config(self) -> Path:
        return self.folder / "config.ini"

    def log_now(self, batch_size: int, seconds: float) -> Path:
        """The CSV log of a run that starts after everything that was done so far."""
        return self.log(0, batch_size, seconds, start=time.time(), name="now")

    def log(
        self,
        number: int,
        batch_size: int,
        seconds: float,
        *,
        status: str = "succeeded",
        start: float | None = None,
        name: str = "",
    ) -> Path:
        """Write the CSV log of a run that took so long."""
        start = start or 1_700_000_000 + 1000 * number
        path = self.folder / "runs" / f"run-{name or number}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            f"# run_id=run-{name or number}\n# dataset=digits\n# model=cnn\n# framework=pytorch\n# batch_size={batch_size}\n"
            f"# learning_rate=0.01\n# epochs=40\n# cpus=2\n# start={start}\ntime,epoch,samples,train_loss,val_loss\n"
            f"{start + seconds},1,1500,0.2,0.1\n# end={start + seconds}\n# status={status}\n"
        )
        return path


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    """config.ini and jpo.toml, no runs. Without `learning` nothing is learnt: it takes up to 5 s of a suggestion."""
    for name in ("PROMETHEUS_URL", "NO_COLOR", "CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JPO_AGENT__LEARN_BUDGET", "0")
    (tmp_path / "config.ini").write_text(CONFIG)
    (tmp_path / "jpo.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)

    def jpo(*arguments: str) -> Answer:
        capsys.readouterr()
        code = run(list(arguments))
        out, err = capsys.readouterr()
        return Answer(code, out, err)

    return Project(tmp_path, jpo)


@pytest.fixture
def learning(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """`jpo suggest` learns of what is new, as it does by default; of its budget each step takes a second, on any machine."""
    monkeypatch.delenv("JPO_AGENT__LEARN_BUDGET")
    steps = SimpleNamespace(monotonic=count(time.monotonic()).__next__)
    monkeypatch.setattr("jpo.learning.deadline.time", steps)


@pytest.fixture
def short_practice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learning practises on short jobs, and a release test ends within a second: for what does not ask how much was learnt.

    It saves at its end alone: on a slow machine it would save between, too.
    """
    monkeypatch.setattr("jpo.commands.learn.SAVED_SECONDS", 1e9)
    monkeypatch.setattr("jpo.learning.scenarios.RUNS", 4)
    monkeypatch.setattr("jpo.learning.forks.AHEAD", 1)
    for name, value in (("RELEASE_JOBS", 12), ("MOST_JOBS", 3)):
        monkeypatch.setattr(f"jpo.learning.release.{name}", value)


@pytest.fixture
def project(empty: Project) -> Project:
    """The same with the logs of RUNS."""
    for number, (batch_size, seconds) in enumerate(RUNS):
        empty.log(number, batch_size, seconds)
    return empty
