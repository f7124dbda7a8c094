"""The ledger brought up to date: runs that nobody follows any more, because their launcher was killed, go on record, too."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from jpo.errors import LaunchError
from jpo.history import Store
from jpo.launch.course import look, noted
from jpo.launch.ledger import Entry, read
from jpo.project.launch.engines import launcher_of, ledger_of
from jpo.project.launch.finished import EndedRun, put_on_record
from jpo.project.load import LoadedSettings
from jpo.records import Run

LOCAL = "local"


def launched(settings: LoadedSettings, store: Store, *, now: float, keep: bool = True) -> tuple[Run, ...]:
    """What has ended of the runs that were launched on this machine, as a source of runs: now on record.

    Args:
        keep: note so in the ledger; else nothing is written but to the store, and no run is looked after.
    """
    ended = accounted_for(settings, store, os.environ, now=now, engines=(LOCAL,) if keep else (), keep=keep)
    return tuple(each.run for each in ended if each.run is not None)


def accounted_for(
    settings: LoadedSettings,
    store: Store,
    environ: Mapping[str, str],
    *,
    now: float,
    engines: Collection[str] = (LOCAL,),
    keep: bool = True,
) -> tuple[EndedRun, ...]:
    """Put on record what has ended since somebody looked: runs of launchers that were killed, and of detached ones.

    An entry that cannot be read, or whose engine does not answer, is left for the next time.

    Args:
        engines: those that are asked how their runs go; of the others only ends that somebody saw count.
        keep: note in the ledger what is on record.
    """
    ledger = ledger_of(settings)
    ended = []
    for entry in _open(ledger):
        try:
            asks = entry.end is None and entry.engine in engines
            known = _looked_at(entry, settings, environ, ledger) if asks else entry
            if known.end is not None:
                ended.append(put_on_record(known, ledger, settings, store, now=now, keep=keep))
        except (LaunchError, ValueError, TypeError):  # the last two: somebody wrote into the ledger by hand
            continue
    return tuple(ended)


def _open(ledger: Path) -> Iterator[Entry]:
    """The entries that are not on record and can be read, by their run ids."""
    for file in sorted(ledger.glob("*/launch.json")):
        try:
            entry = read(ledger, file.parent.name)
        except LaunchError:
            continue
        if entry is not None and not entry.recorded:
            yield entry


def _looked_at(entry: Entry, settings: LoadedSettings, environ: Mapping[str, str], ledger: Path) -> Entry:
    """The entry as it stands after a look at its job; one that was begun though nobody noted it is noted first."""
    launcher = launcher_of(settings, entry.engine, environ=environ, detached=True)
    entry = noted(entry, launcher, ledger)
    if entry.engine_id is not None:
        look(entry, launcher, ledger)
    return read(ledger, entry.job.run_id) or entry
