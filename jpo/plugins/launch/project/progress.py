"""How far a launched run is, as its log says, in one line."""

from __future__ import annotations

import math
from pathlib import Path

from jpo.errors import TelemetryError
from jpo.plugins.launch.ledger import Entry
from jpo.plugins.launch.project.finished import logs_of
from jpo.project.load import LoadedSettings
from jpo.project.sources import own_names
from jpo.telemetry.csv.log import parsed
from jpo.wording import numbers
from jpo.wording.names import OUTCOMES

SHOWN = ("train_loss", "val_loss", "val_accuracy")


def progress_of(entry: Entry, ledger: Path, settings: LoadedSettings) -> tuple[str, float | None, float | None] | None:
    """The last epoch of a run in words, its number, and how many there will be; None: its log does not say anything yet."""
    for path in logs_of(entry, ledger):
        try:
            log = parsed(path, own_names(settings).metrics)
        except TelemetryError:
            continue  # empty as yet, or its last line is being written
        epoch = log.latest.get("epoch")
        if epoch is None or not math.isfinite(epoch):
            continue
        epochs = log.head.get("epochs", "")
        total = float(epochs) if epochs.isdecimal() and len(epochs) < 10 else entry.job.parameters.get("epochs")
        losses = (f"{OUTCOMES[name].short} {numbers.plain(log.latest[name])}" for name in SHOWN if name in log.latest)
        words = ", ".join([f"epoch {epoch:g}{f' of {total:g}' if total else ''}", *losses])
        return f"{entry.job.run_id}: {words}", epoch, total or None
    return None
