"""Launched runs as a source of runs, beside Prometheus and CSV logs. Engines are loaded only where something was launched."""

from __future__ import annotations

import os

from jpo.history import Store
from jpo.project.launch.engines import ledger_of
from jpo.project.load import LoadedSettings
from jpo.records import Run


def launched(settings: LoadedSettings, store: Store, *, now: float, keep: bool = True) -> tuple[Run, ...]:
    """What has ended of the runs that were launched on this machine: now on record.

    Args:
        keep: note so in the ledger; else nothing is written but to the store, and no run is looked after.
    """
    if not ledger_of(settings).is_dir():
        return ()
    from jpo.project.launch.accounts import LOCAL, accounted_for

    ended = accounted_for(settings, store, os.environ, now=now, engines=(LOCAL,) if keep else (), keep=keep)
    return tuple(each.run for each in ended if each.run is not None)
