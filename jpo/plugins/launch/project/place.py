"""Where the ledger of launched runs is: all that commands which launch nothing need of launching."""

from pathlib import Path

from jpo.project.load import LoadedSettings


def ledger_of(settings: LoadedSettings) -> Path:
    """The ledger, absolute, there or not: `.jpo/launches` where a new store would be."""
    return (settings.store_root or settings.root).absolute() / ".jpo/launches"
