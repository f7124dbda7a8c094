"""Launched runs as a source of runs, beside Prometheus and CSV logs. Engines are loaded only where something was launched."""

import os

from jpo.history import Store
from jpo.plugins.launch.project.place import ledger_of
from jpo.project.load import LoadedSettings
from jpo.records import Finished

LONGEST_SECONDS = 6.0
"""For all answers of other engines together. With two looks at the queue (waiting.py), engines that never answer cost a
suggestion ten seconds at most."""


def launched(settings: LoadedSettings, store: Store, *, now: float, keep: bool = True) -> Finished:
    """What has ended of the runs that were launched here, now on record, on this machine or another engine, whoever followed
    them; its doubts are what is not known of others. Without `keep` nothing is written but to the store, and no engine is asked.
    """
    if not ledger_of(settings).is_dir():
        return Finished()
    from jpo.plugins.launch.ledger import entries
    from jpo.plugins.launch.project.accounts import LOCAL, accounted_for, ask_others

    known = [*entries(ledger_of(settings))]
    notes = ask_others(known, settings, os.environ, seconds=LONGEST_SECONDS) if keep else ()
    ended = accounted_for(settings, store, os.environ, now=now, engines=(LOCAL,) if keep else (), keep=keep, known=known)
    return Finished(tuple(each.run for each in ended if each.run is not None), doubts=notes)
