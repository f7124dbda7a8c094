"""Recognition: which tool wrote a file or folder, and the runs of all that are named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from jpo.errors import UsageError
from jpo.telemetry.imports.foreign import ForeignRuns, joined, unreadable
from jpo.telemetry.imports.hugging_face import STATE, read_trainer_state
from jpo.telemetry.imports.lightning import METRICS, read_lightning
from jpo.telemetry.imports.table import read_table

READERS: Mapping[str, Callable[[Path], ForeignRuns]] = {
    "table": read_table,
    "huggingface": read_trainer_state,
    "lightning": read_lightning,
}
"""By the name of a format, what reads a file or folder of it."""
KNOWN_FILES = {STATE: "huggingface", METRICS: "lightning"}
"""By the name of a file, who writes it."""
MOST_FILES = 100_000
"""Looked at in one folder; more are not runs alone."""
CHECKPOINT = "checkpoint-"
"""How the Trainer's folders of states begin that are not yet the last."""


def read_sources(paths: Sequence[Path], form: str | None) -> list[ForeignRuns]:
    """The runs of these files and folders; those of one tool together, each table by itself.

    Args:
        form: one of READERS; None: as names and contents say.

    Raises:
        UsageError: JPO-E155, nobody knows what one is.
        TelemetryError: JPO-E150, one is not what it should be.
    """
    found: dict[str, list[ForeignRuns]] = {}
    for path in paths:
        for file, which in [(path, form)] if form else _files(path):
            found.setdefault(which if which != "table" else f"table {file}", []).append(READERS[which](file))
    return [joined(sources) for sources in found.values()]


def _files(path: Path) -> Iterator[tuple[Path, str]]:
    if not path.is_dir():
        yield path, KNOWN_FILES.get(path.name, "table")
        return
    looked_at, found = 0, False
    for folder, inside, files in os.walk(path, onerror=_refused):
        looked_at += len(files) + len(inside)
        if looked_at > MOST_FILES:
            raise unreadable(path, f"holds more than {MOST_FILES} files", "name a folder of runs alone")
        inside[:] = sorted(name for name in inside if not name.startswith((CHECKPOINT, ".")))
        for name in sorted(KNOWN_FILES.keys() & set(files)):
            found = True
            yield Path(folder, name), KNOWN_FILES[name]
    if not found:
        remedy = f"name its files, or --format {'|'.join(READERS)}"
        raise UsageError(str(path), "holds no runs that jpo import knows", remedy, code="JPO-E155")


def _refused(error: OSError) -> None:
    raise unreadable(str(error.filename), f"cannot be read ({error.strerror})") from error
