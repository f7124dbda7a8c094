"""Launcher: the one contract of all engines, and what some may do besides: Resizable, StartsTogether, ShowsPlan."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

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

        Raises LaunchError: JPO-E755, it asks for GPUs, CPUs or memory that are not there; the remedy names what is.
        """

    def submit(self, job: LaunchJob, folder: Path) -> str:
        """Start the job, or find the one of the same run id that was submitted before; returns the engine's id of it.

        `folder`: of the run in the ledger, absolute, made; the job's output goes to `output.log` in it, its run log into `runs/`,
        as far as the engine shares files with this machine.
        """

    def find(self, job: LaunchJob, folder: Path) -> str | None:
        """The engine's id of a job that was submitted before, though nobody noted it; None where it never was."""

    def status(self, engine_id: str) -> JobStatus:
        """How the job goes now."""

    def cancel(self, engine_id: str) -> None:
        """End the job with all of its processes; nothing happens where it is over. It has ended when `status` says so."""

    def collect(self, engine_id: str, folder: Path) -> None:
        """Bring the output and the run log of a job that is over into its folder; called again, it changes nothing."""


@runtime_checkable
class Resizable(Protocol):
    """An engine that changes what a running job holds: CPU affinity, `scontrol update`, the resize of a pod. Of one that does
    not, watchers say so."""

    def resize(self, engine_id: str, needs: Needs) -> None:
        """Give the job these resources from now on, as far as the engine can change them while it runs.

        Raises LaunchError: JPO-E753, the engine refuses, in its own words; JPO-E754, it cannot be reached.
        """


@runtime_checkable
class StartsTogether(Launcher, Protocol):
    """An engine that takes several jobs at once that ask for the same: SLURM has arrays for them."""

    def submit_all(self, jobs: Sequence[LaunchJob], folders: Sequence[Path], name: str) -> list[str]:
        """Start jobs with the same needs, or find those that were submitted before; returns the engine's id of each.

        Args:
            folders: of the runs in the ledger, absolute, made; one for each job.
            name: of them together, which no other list of runs has.

        Raises LaunchError: as `Launcher.submit`; JPO-E762, their needs, folders or time limits differ.
        """


@runtime_checkable
class ShowsPlan(Protocol):
    """An engine that is given more than a command: a manifest, requests for instances."""

    def plan(self, job: LaunchJob, config: bytes) -> Mapping[str, object]:
        """What it would be given for a job with this config.ini, in its own form; nothing is started."""
