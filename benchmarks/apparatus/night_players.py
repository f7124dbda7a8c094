"""Who is asked in nights.py: `jpo suggest` of some version as a process with a faked clock, or the same story in this process."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

NOTHING_ADMISSIBLE = 3
"""Exit code of `jpo suggest` after which the pipeline goes on with the file as it is."""

Answer = Mapping[str, Any] | str
"""The document of a suggestion, or why there is none."""


@dataclass(frozen=True)
class Program:
    """A version of jpo in the folder of a job, and the program that fakes its clock, if there is one."""

    path: Path
    clock: str | None
    folder: Path

    def __call__(self, *arguments: str, at: float, allowed: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
        """A command at that time, in unix seconds; its own deadlines are by the true clock."""
        environment = {**os.environ, "DONT_FAKE_MONOTONIC": "1", "NO_COLOR": "1", "TZ": "UTC", "OMP_NUM_THREADS": "1"}
        command = [*([self.clock, f"@{at:.0f}"] if self.clock else []), str(self.path), *arguments]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode not in allowed:
            raise SystemExit(f"{' '.join(command)} in {self.folder} failed ({done.returncode}):\n{done.stderr}")
        return done

    @property
    def dated(self) -> bool:
        """Whether a night can be a day later than the one before."""
        return self.clock is not None

    def suggest(self, at: float) -> Answer:
        done = self("suggest", "config.ini", "--offline", "-o", "json", at=at, allowed=(0, NOTHING_ADMISSIBLE))
        return done.stderr.strip() if done.returncode else json.loads(done.stdout)  # type: ignore[no-any-return]

    def observe(self, log: Path, at: float) -> None:
        self("observe", "--offline", "--csv", str(log), at=at)


@dataclass(frozen=True)
class InProcess:
    """The jpo that is imported, in the folder of a job; it learns nothing between the nights."""

    folder: Path
    dated: ClassVar[bool] = True

    def suggest(self, at: float) -> Answer:
        from jpo.commands.suggest import SuggestOptions, suggest
        from jpo.errors import NothingAdmissible
        from jpo.project.load import load
        from jpo.report.suggestion import as_json

        config = self.folder / "config.ini"
        asked = SuggestOptions(f"{self.folder.name}-{at:.0f}", at, offline=True, learn=False)
        try:
            return as_json(suggest(config, load(config, None, os.environ, {}), asked))
        except NothingAdmissible as error:
            return f"{error} [{error.code}]"

    def observe(self, log: Path, at: float) -> None:
        from jpo.commands.observe import ByHand, observe
        from jpo.project.load import load

        config = self.folder / "config.ini"
        observe(config, load(config, None, os.environ, {}), ByHand(None, {}, None), [log], now=at, offline=True)
