"""Clean-up of the ledger: folders of runs that are long over and on record go. What was known of each stays, in one small file.

    .jpo/launches/.past/RUN_ID.json    what its launch.json said: its id is never used again, and whoever looks for it finds it

Killed at any instant, a run is in its folder, in its small file, or in both; what is half removed goes with the next clean-up.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from jpo.errors import LaunchError
from jpo.plugins.launch.ledger import PAST, Entry, folder_of, is_past, locked, past_file, put, read

GOING = ".going-"
"""Beginning of the name that a folder has while it is removed: no run's."""


def clean_up(ledger: Path, known: Iterable[Entry], *, before: float) -> None:
    """Remove the folders of runs that are on record and ended before this moment, in unix seconds.

    One that goes on, is not on record, is damaged, or that another process is at, stays; so does a folder that somebody has put
    elsewhere, behind a link, and all where the disk refuses.
    """
    for left in ledger.glob(f"{GOING}*"):
        shutil.rmtree(left, ignore_errors=True)
    for entry in known:
        if _is_over(entry, before):
            with suppress(LaunchError, OSError):
                _remove(ledger, entry.job.run_id, before)


def _is_over(entry: Entry, before: float) -> bool:
    """Whether nobody needs its folder. A run ends, for this, not before it was asked for: it may never have started, or its node
    may have a clock of its own."""
    return entry.recorded and entry.end is not None and max(entry.end.ended_at or 0.0, entry.asked_at) < before


def _remove(ledger: Path, run_id: str, before: float) -> None:
    folder, going = folder_of(ledger, run_id), ledger / f"{GOING}{run_id}"
    if is_past(ledger, run_id) or folder.is_symlink():  # another process was faster: its lock would make the folder anew
        return
    with locked(folder, wait=False):
        found = read(ledger, run_id)
        if found is None or not _is_over(found, before):
            return
        (ledger / PAST).mkdir(mode=0o700, exist_ok=True)
        put(past_file(ledger, run_id), (folder / "launch.json").read_bytes())
        folder.rename(going)
    shutil.rmtree(going, ignore_errors=True)
