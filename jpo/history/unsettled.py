"""Unsettled changes: on record, but not whether they were written, since the process or the store failed meanwhile.

The file says it: its bytes are those that were planned, or those from before. The next command that writes puts it on record.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Literal

from jpo.history.audit import AuditEvent, AuditRecord
from jpo.history.store import Store
from jpo.history.undo import holds
from jpo.records import Identity, Workload

Fate = Literal["written", "not written", "changed", "missing"]
SENTENCES: Mapping[Fate, str] = {
    "written": "there is no record that it was written, but {config} contains its values; the next `jpo suggest` records it",
    "not written": "there is no record that it was written, and {config} is as it was before",
    "changed": "there is no record that it was written, and {config} is neither as planned nor as it was before",
    "missing": "there is no record that it was written, and {config} is not here to look into",
}


def fate(made: AuditRecord, content: bytes | None) -> Fate:
    """What became of a change on record, by the bytes of its config.ini as it is now; None: it cannot be read."""
    if content is None:
        return "missing"
    digest = hashlib.sha256(content).hexdigest()
    if digest == made.data.get("planned_digest"):
        return "written"
    return "not written" if digest == made.data.get("source_digest") else "changed"


def in_words(made: AuditRecord, read: Callable[[str], bytes | None]) -> str:
    """What became of a change, in a sentence; `read`: the bytes of a config.ini by its path, None if it cannot be read."""
    config = str(made.data.get("config", "config.ini"))
    return SENTENCES[fate(made, read(config))].format(config=config)


def open_ends(store: Store, read: Callable[[str], bytes | None], only: Identity | None = None) -> tuple[str, ...]:
    """What became of each workload's newest change, where the log does not say it, in sentences; `read` as for `in_words`."""
    return tuple(f"Suggestion {made.data['suggestion_id']}: {in_words(made, read)}" for made in store.unsettled(only))


def settle(store: Store, workload: Workload, *, now: float) -> None:
    """Put on record that the newest change of a workload was written, if only config.ini says so, or a run with its values.

    That the file does not hold the values proves nothing: another checkout may.
    """
    for made in store.unsettled(workload.identity):
        suggestion_id = str(made.data["suggestion_id"])
        here = fate(made, workload.content) == "written" or holds(workload.current, store.suggestion(suggestion_id).changes)
        if here or store.runs_following(suggestion_id):
            found: dict[str, str | bool] = {
                "suggestion_id": suggestion_id,
                "config": str(workload.path),
                "source_digest": str(made.data.get("source_digest")),
                "written_digest": workload.digest if here else str(made.data.get("planned_digest")),
                "found_later": True,
            }
            store.audit(AuditEvent("written", now, workload.identity, found))
