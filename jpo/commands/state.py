"""`jpo state export|import|gc`: the store as a file, as a backup or to move it; and forgetting what is too old to be of use."""

import gzip
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO

from jpo.errors import StoreError, UsageError
from jpo.files import whole
from jpo.files.reading import opened
from jpo.history import Store
from jpo.history.archive import export_lines, import_lines, read_lines
from jpo.project.load import LoadedSettings
from jpo.project.project import kept_in_store, open_history
from jpo.report.forms.json import harmless
from jpo.version import __version__
from jpo.wording.numbers import counted

OWNERS = 0o600
"""A store is its owner's alone, and so is a copy of it."""


@contextmanager
def exported(settings: LoadedSettings) -> Iterator[Iterator[str]]:
    """The whole store of one moment, line by line; others may go on using it.

    Raises StoreError: JPO-E504, there is nothing to export.
    """
    with open_history(settings, read_only=True) as store:
        if not store.audit_records(limit=1):
            raise StoreError(settings.store_place, "is empty", "check the path; there is nothing to export", code="JPO-E504")
        yield export_lines(store, written_by=__version__)


def export(settings: LoadedSettings, file: Path) -> list[str]:
    """Write the whole store of one moment to a file.

    Raises StoreError: JPO-E504, there is nothing to export; UsageError: JPO-E307, the file cannot be written, or is the store's
    own.
    """
    with exported(settings) as lines:
        refuse_what_is_no_place(file, settings)
        with whole(file, mode=OWNERS) as new, packed_like(file, new) as stream:
            for line in lines:
                stream.write(harmless(line).encode())
    return [f"exported to {file} ({in_kb(file.stat().st_size)})"]


def import_(settings: LoadedSettings, file: Path, *, dry_run: bool) -> list[str]:
    """Fill the store, which must be empty, with an export: all of it or nothing.

    Raises StoreError: JPO-E515, the store is not empty; JPO-E516, the file is no whole export; JPO-E511, its chain is broken.
    UsageError: JPO-E307, the file cannot be read.
    """
    unreadable = partial(UsageError, str(file), remedy="name an export", code="JPO-E307")
    with opened(file, unreadable) as stream, open_history(settings, read_only=dry_run) as store:
        counts = import_lines(store, read_lines(stream, str(file)), str(file))
    rows = ", ".join(
        f"{number} series" if name == "series" else counted(number, "audit record" if name == "audit" else name.removesuffix("s"))
        for name, number in counts.items()
        if number
    )
    return [f"{'would import' if dry_run else 'imported'} {rows or 'nothing'}; the audit log's chain is intact"]


def gc(settings: LoadedSettings, *, dry_run: bool, now: float) -> list[str]:
    """Forget old runs that tell nothing, as [store] keep_runs says, and the time series of those older than keep_series.

    A workload at a time: whoever ends it in between has forgotten some of it, each on record.
    """
    newest, series_seconds = kept_in_store(settings)
    ended_before = max(0.0, now - series_seconds)
    day = datetime.fromtimestamp(ended_before, UTC).date()
    did = "would forget" if dry_run else "forgot"
    with open_history(settings, read_only=dry_run) as store:
        lines = [] if newest is None else list(without_old_runs(store, newest, did, now=now))
        forgotten = store.forget_series(ended_before=ended_before, now=now)
    if forgotten.series:
        series = f"{forgotten.series} series of {counted(forgotten.runs, 'run')} that ended before {day}"
        lines.append(f"{did} {series} ({in_kb(forgotten.size_bytes)}); what else is known of the runs stays")
    others = "" if newest is None else f", and no run but the newest {newest} and those that tell something"
    return lines or [f"nothing to forget: no series of a run that ended before {day}{others}"]


def without_old_runs(store: Store, newest: int, did: str, *, now: float) -> Iterator[str]:
    """Forget old runs of each workload that has any; a line of each."""
    for identity, runs in store.numbers_of_runs().items():
        if runs <= newest:
            continue
        forgotten = store.forget_runs(identity, newest=newest, now=now)
        if forgotten.runs:
            until, kept = datetime.fromtimestamp(forgotten.ended_until, UTC).date(), forgotten.kept
            what = f"{counted(forgotten.runs, 'run')} of {identity} that ended by {until}"
            yield f"{did} {what}; {kept} stay: the newest {newest}, and {kept - newest} that still tell something"


def refuse_what_is_no_place(file: Path, settings: LoadedSettings) -> None:
    """An export over the store itself would destroy both; a device or a pipe would be replaced by a file."""
    if file.exists() and not file.is_file():
        raise UsageError(str(file), "is not a plain file", 'name another one, or "-" for stdout', code="JPO-E307")
    if os.path.realpath(file) in map(os.path.realpath, settings.store_files):
        raise UsageError(str(file), "is a file that JPO works with", "name another one", code="JPO-E307")


def packed_like(file: Path, new: BinaryIO) -> AbstractContextManager[BinaryIO | gzip.GzipFile]:
    """What to write to: the new file, or what packs for it if the name ends in .gz."""
    return gzip.GzipFile(filename="", mode="wb", fileobj=new, mtime=0) if file.suffix == ".gz" else nullcontext(new)


def in_kb(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e6 else f"{max(1, round(size_bytes / 1e3))} kB"
