"""Several runs that ask for the same, started together: SLURM has arrays for them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from jpo.plugins.launch.job import LaunchJob


@runtime_checkable
class StartsTogether(Protocol):
    """An engine that takes several jobs at once, beside what Launcher has."""

    @property
    def name(self) -> str:
        """As in Launcher."""

    def refuse(self, job: LaunchJob) -> None:
        """As in Launcher."""

    def submit_all(self, jobs: Sequence[LaunchJob], folders: Sequence[Path], name: str) -> list[str]:
        """Start jobs with the same needs, or find those that were submitted before; returns the engine's id of each.

        Args:
            folders: of the runs in the ledger, absolute, made; one for each job.
            name: of them together, which no other list of runs has.

        Raises:
            LaunchError: as `Launcher.submit`; JPO-E762, their needs, folders or time limits differ.
        """
