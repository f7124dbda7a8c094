"""Adjustments of a launched run: kept beside it in the ledger, one decision at a time, and on the audit log.

    .jpo/launches/RUN_ID/watch/adjustments.json

Its lock is not that of launch.json, which the engine's own calls take.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from jpo.errors import LaunchError, words_of
from jpo.files.reading import contents, json_object
from jpo.history import AuditEvent, Store
from jpo.history.events import ADJUSTED
from jpo.plugins.launch.during.adjustment import Adjustment, as_json, from_json
from jpo.plugins.launch.ledger import folder_of, locked, put
from jpo.records import Identity

FILE = "adjustments.json"
LARGEST_BYTES = 2**20
MADE, SETTLED = ADJUSTED, "adjustment settled"
"""Kinds of the events on the audit log."""
OpenStore = Callable[[], Store]
"""Opens the history, a context manager."""


@contextmanager
def deciding(ledger: Path, run_id: str) -> Iterator[list[Adjustment]]:
    """The adjustments of a run, oldest first, for one process at a time; what the list holds at the end is written down.

    Raises LaunchError: JPO-E752, its folder cannot be written; JPO-E782, what stands there is damaged.
    """
    with locked(folder_of(ledger, run_id) / "watch"):
        adjustments = read(ledger, run_id)
        before = [*adjustments]
        yield adjustments
        if adjustments != before:
            keep(ledger, run_id, adjustments)


def keep(ledger: Path, run_id: str, adjustments: Sequence[Adjustment]) -> None:
    """Write down the adjustments of a run, under its lock; LaunchError JPO-E752 where they cannot be."""
    account = {"schema_version": 1, "adjustments": [as_json(each) for each in adjustments]}
    put(folder_of(ledger, run_id) / "watch" / FILE, json.dumps(account, indent=1).encode())


def read(ledger: Path, run_id: str) -> list[Adjustment]:
    """The adjustments of a run, oldest first; empty where there were none. LaunchError JPO-E782: they are damaged."""
    file = folder_of(ledger, run_id) / "watch" / FILE
    if not file.exists():
        return []
    remedy = "move it away; what was decided stays on the audit log"
    refusal = partial(LaunchError, str(file), remedy=remedy, code="JPO-E782")
    try:
        return [from_json(each) for each in json_object(contents(file, LARGEST_BYTES, refusal))["adjustments"]]
    except (ValueError, KeyError, TypeError) as error:
        raise refusal(f"is damaged ({type(error).__name__}: {words_of(error)})") from error


def put_on_audit_log(
    run_id: str, identity: Identity, made: Sequence[Adjustment], open_store: OpenStore | None, *, kind: str, now: float
) -> None:
    """Put decisions on record that were made, or whose outcome became known (`kind`), unless a process now dead did.

    The store is open only as long as that takes: a run may go on for days.
    """
    if made and open_store is not None:
        with open_store() as store:
            known = [each.data for each in store.audit_records(kind=kind) if each.data.get("run_id") == run_id]
            for data in map(as_json, made):
                if not any(each.items() >= data.items() for each in known):
                    store.audit(AuditEvent(kind, now, identity, {"run_id": run_id, **data}))
