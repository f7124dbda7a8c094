"""Recognition: which tool wrote a file or folder, and the runs of all that are named."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from jpo.errors import UsageError
from jpo.plugin import from_package
from jpo.plugins.imports import GROUP, OWN
from jpo.plugins.imports.foreign import ForeignRuns, joined, unreadable
from jpo.plugins.imports.huggingface import STATE, read_trainer_state
from jpo.plugins.imports.lightning import METRICS, read_lightning
from jpo.plugins.imports.mlflow import META, is_database, read_mlflow
from jpo.plugins.imports.table import read_table
from jpo.plugins.imports.tensorboard import EVENTS, read_tensorboard
from jpo.plugins.imports.wandb import FILES, read_wandb

MLFLOW_FOLDERS = {"params", "metrics", "tags"}
"""In the folder of a run in a file store; that of an experiment has none of them."""


@dataclass(frozen=True, slots=True)
class ForeignFormat:
    """A format: what reads a file or folder of it, and whether its tool wrote a folder with these files and folders."""

    read: Callable[[Path], ForeignRuns]
    wrote: Callable[[Sequence[str], Sequence[str]], bool]


FORMATS: Mapping[str, ForeignFormat] = {
    "mlflow": ForeignFormat(read_mlflow, lambda files, folders: META in files and not MLFLOW_FOLDERS.isdisjoint(folders)),
    "wandb": ForeignFormat(read_wandb, lambda files, folders: any(fnmatchcase(name, FILES) for name in files)),
    "huggingface": ForeignFormat(read_trainer_state, lambda files, folders: STATE in files),
    "lightning": ForeignFormat(read_lightning, lambda files, folders: METRICS in files),
    "tensorboard": ForeignFormat(read_tensorboard, lambda files, folders: any(name.startswith(EVENTS) for name in files)),
    "table": ForeignFormat(read_table, lambda files, folders: False),
}
"""By the name of a format; the tool that knows most of a run first."""
MOST_FILES = 100_000
"""Looked at in one folder; more are not runs alone."""
TABLES = (".csv", ".tsv")
CHECKPOINT = "checkpoint-"
"""How the Trainer's folders of states begin that are not yet the last."""


def read_sources(paths: Sequence[Path], form: str | None) -> list[ForeignRuns]:
    """The runs of these files and folders; those of one tool together, each table by itself.

    `form`: a name in FORMATS; None: as names and contents say.

    Raises UsageError: JPO-E155, nobody knows what one is; TelemetryError: JPO-E150, one is not what it should be.
    """
    found: dict[str, list[ForeignRuns]] = {}
    for path in paths:
        for file, which in _files(path, form):
            reader = FORMATS[which].read if which in FORMATS else from_package(GROUP, which)
            assert reader is not None, "the command line has looked for it"
            found.setdefault(which if which != "table" else f"table {file}", []).append(reader(file))
    return [joined(sources) for sources in found.values()]


def _files(path: Path, form: str | None) -> Iterator[tuple[Path, str]]:
    """What is to be read, and as what: the file itself, or the folders of runs in a folder, without what lies below those."""
    if form is not None and form not in FORMATS:
        yield path, form  # a package of others looks itself
        return
    if not path.is_dir():
        yield path, form or _writing_tool([path.name]) or ("mlflow" if is_database(path) else "table")
        return
    looked_at, found = 0, False
    for folder, _, count, tool in _folders(path, form, onerror=_refused):
        looked_at += count
        if looked_at > MOST_FILES:
            raise unreadable(path, f"contains more than {MOST_FILES} files", "name a folder of runs alone")
        if tool:
            found = True
            yield folder, tool
    if not found:
        what = f"runs of {form}" if form else "runs that jpo import knows"
        raise UsageError(str(path), f"contains no {what}", f"name a file, or --format {'|'.join(OWN)}", code="JPO-E155")


def loose_tables(path: Path) -> list[Path]:
    """Tables in a folder of runs that no tool wrote, in the order of their names: they are read where they are named alone."""
    others = ((folder, sorted(files)) for folder, files, _, tool in _folders(path) if not tool)
    return [folder / name for folder, files in others for name in files if name.lower().endswith(TABLES)]


def _folders(
    path: Path, form: str | None = None, onerror: Callable[[OSError], None] | None = None
) -> Iterator[tuple[Path, list[str], int, str | None]]:
    """Each folder of a folder: its files, how much is in it, and the tool that wrote it, below whose runs nobody looks."""
    for folder, inside, files in os.walk(path, onerror=onerror):
        count, tool = len(files) + len(inside), _writing_tool(files, form, inside)
        inside[:] = [] if tool else sorted(name for name in inside if not name.startswith((CHECKPOINT, ".")))
        yield Path(folder), files, count, tool


def _writing_tool(files: Sequence[str], form: str | None = None, folders: Sequence[str] = ()) -> str | None:
    """The tool, of those wanted, that wrote a folder with these files and folders; the one that knows most of a run first."""
    return next((name for name, one in FORMATS.items() if form in (None, name) and one.wrote(files, folders)), None)


def _refused(error: OSError) -> None:
    raise unreadable(str(error.filename), f"cannot be read ({error.strerror})") from error
