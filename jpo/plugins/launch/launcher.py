"""Launcher: the one contract of all engines."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from jpo.plugins.launch.job import JobStatus, LaunchJob, Needs, Room


class Launcher(Protocol):
    """An engine that runs jobs: this machine, SLURM, Kubernetes, AWS, or one in virtual time (tests/simulated_engine.py).

    Every method may raise LaunchError: JPO-E753, the engine refuses, in its own words; JPO-E754, it cannot be reached. After
    E754 nothing is known, and the call is made again: none of them does anything twice.
    """

    @property
    def name(self) -> str:
        """Name of the engine, as `--on` and the ledger have it."""

    def room(self, needs: Needs) -> Room:
        """What is free now, and how long a job with these needs would wait."""

    def refuse(self, job: LaunchJob) -> None:
        """Find out before a start that the job could never run here.

        Raises:
            LaunchError: JPO-E755, it asks for GPUs, CPUs or memory that are not there; the remedy names what is.
        """

    def submit(self, job: LaunchJob, folder: Path) -> str:
        """Start the job, or find the one of the same run id that was submitted before; returns the engine's id of it.

        Args:
            folder: of the run in the ledger, absolute, made; the job's output goes to `output.log` in it, its run log into
                `runs/`, as far as the engine shares files with this machine.
        """

    def find(self, job: LaunchJob, folder: Path) -> str | None:
        """The engine's id of a job that was submitted before, though nobody noted it; None where it never was."""

    def status(self, engine_id: str) -> JobStatus:
        """How the job goes now."""

    def cancel(self, engine_id: str) -> None:
        """End the job with all of its processes; nothing happens where it is over. It has ended when `status` says so."""

    def collect(self, engine_id: str, folder: Path) -> None:
        """Bring the output and the run log of a job that is over into its folder; called again, it changes nothing."""
