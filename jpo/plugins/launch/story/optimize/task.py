"""What `jpo optimize` is to do, and what of the outside it needs."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from jpo.errors import UsageError
from jpo.plugins.launch.launcher import Launcher
from jpo.plugins.launch.ledger import Entry
from jpo.plugins.launch.project.place import ledger_of
from jpo.project.load import LoadedSettings
from jpo.project.workload import read_workload
from jpo.records import Identity, Suggestion

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,47}")
"""Names that leave room for what run ids add to them."""
ATTEMPTS = 3
"""Of one step: a run that was ended from outside (an engine that died, a node that was lost, Ctrl-C) is made again."""


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """What is made of each job.

    Attributes:
        runs: with suggested values, after the baseline; `all_wanted`: also those that would only repeat the values before.
        baseline: runs with the values that config.ini has at the beginning.
        command: what `jpo run` takes: a script, or program and arguments; empty: as [launch] command says.
        logs: patterns of logs that go on record first.
        environment: variables for every run.
        at_once: jobs side by side, each with one run at a time.
    """

    runs: int
    baseline: int
    command: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    at_once: int = 1
    all_wanted: bool = True


@dataclass(frozen=True, slots=True)
class Task:
    """One job: its config.ini, its settings, the name with which the ids of its runs begin, and the engine for new runs."""

    path: Path
    settings: LoadedSettings
    name: str
    engine: str
    identity: Identity

    @property
    def ledger(self) -> Path:
        """Folder of the launched runs of its project."""
        return ledger_of(self.settings)

    def run_id(self, number: int, *, baseline: bool, attempt: int = 1) -> str:
        """NAME-b1, NAME-b2 ... of the baseline, then NAME-1, NAME-2 ...; NAME-2.2 where the first one was cut off."""
        again = f".{attempt}" if attempt > 1 else ""
        return f"{self.name}-{'b' if baseline else ''}{number}{again}"

    def attempts(self, number: int, *, baseline: bool) -> list[str]:
        """The ids of all attempts at a step."""
        return [self.run_id(number, baseline=baseline, attempt=attempt) for attempt in range(1, ATTEMPTS + 1)]


@dataclass(frozen=True, slots=True)
class Outside:
    """What the loop needs of the outside.

    Attributes:
        suggest: the story of `jpo suggest` for a task: it writes config.ini, audited, under this id of the suggestion.
        engine: the engine of this name, as a project has it set up.
        watch: looks at a trial whenever it is called, and stops it if it cannot win any more, with its reason on the audit log;
            None: there is nothing of it yet.
        clock, sleep: unix seconds, and the passing of some.
        folder, environ: from which the command was started, and with which variables.
    """

    suggest: Callable[[Task, str, float], Suggestion]
    engine: Callable[[LoadedSettings, str], Launcher]
    watch: Callable[[Entry, Launcher, LoadedSettings], AbstractContextManager[Callable[[float], object]]]
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    note: Callable[[str], None]
    folder: Path
    environ: Mapping[str, str]


def task_of(path: Path, settings: LoadedSettings, engine: str, *, name: str | None, now: float) -> Task:
    """The task of a config.ini. The same file in the same project has the same name, so that a call goes on where one ended.

    Raises UsageError: JPO-E787, a name that run ids cannot begin with; config.ini is invalid.
    """
    identity = read_workload(path, settings, now=now).identity
    if name is None:
        place = os.path.relpath(path.absolute(), ledger_of(settings).parent)
        digest = hashlib.sha256(f"{place}\n{identity}".encode()).hexdigest()[:4]
        words = "-".join(re.findall("[a-z0-9]+", f"{identity.dataset} {identity.model}".lower()))
        name = f"{words[:36].strip('-') or 'job'}-{digest}"
    if not NAME.fullmatch(name):
        remedy = "use 1 to 48 of A-Z a-z 0-9 . _ -, a letter or digit first"
        raise UsageError("--name", f"{name!r:.80} cannot be the beginning of run ids", remedy, code="JPO-E787")
    return Task(path, settings, name, engine, identity)
