"""Subjects of the checks: settings, workload, machine and server, each read once, when a check first asks for it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from jpo.errors import JpoError
from jpo.history import Store, open_store
from jpo.http.endpoint import Endpoint
from jpo.inventory.machine import Machine, machine_here
from jpo.project.load import LoadedSettings
from jpo.project.project import open_history
from jpo.project.sources import prometheus_of
from jpo.project.workload import read_workload
from jpo.records import Identity, Workload
from jpo.report.doctor import Line


@dataclass(frozen=True)
class Case:
    """The surroundings of one command. Whoever reads something that is wrong gets the JpoError of a command that reads it.

    Attributes:
        given: config.ini if the command names one.
        load: reads the settings.
        now: unix seconds.
        offline: no network shall be used.
    """

    given: Path | None
    load: Callable[[], LoadedSettings]
    environ: Mapping[str, str]
    now: float
    offline: bool

    @cached_property
    def settings(self) -> LoadedSettings:
        return self.load()

    @property
    def config(self) -> Path:
        return self.given or self.settings.config_ini

    @cached_property
    def workload(self) -> Workload:
        return read_workload(self.config, self.settings, now=self.now)

    @property
    def identity(self) -> Identity | None:
        """None while config.ini is invalid, which a check of its own says."""
        try:
            return self.workload.identity
        except JpoError:
            return None

    @cached_property
    def machine(self) -> Machine:
        return machine_here(self.environ)

    @cached_property
    def server(self) -> Endpoint | None:
        return prometheus_of(self.settings)

    def history(self) -> Store:
        """The store, to be read; an empty one where there is none yet."""
        file = self.settings.store_file
        return open_store("sqlite://") if file and not exists(file) else open_history(self.settings, read_only=True)


Check = Callable[[Case], Iterator[Line]]


def exists(path: Path) -> bool:
    """False as well where it cannot be known: behind a closed folder, or no path at all."""
    try:
        path.stat()
    except (OSError, ValueError):
        return False
    return True
