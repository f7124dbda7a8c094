"""`jpo audit show|verify`: the append-only log of what JPO decided, wrote and learnt, and its hash chain."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime

from jpo.errors import StoreError
from jpo.history import AuditRecord, open_store, verify
from jpo.layers import Loaded


def show(loaded: Loaded, *, form: str, limit: int | None) -> str:
    """The last `limit` records, oldest first, one a line: for people, or as JSON Lines."""
    with open_store(loaded.store_url, read_only=True, timeout_seconds=loaded.settings.store.timeout) as store:
        records = store.audit_records(limit=limit)
    return "".join(f"{as_json(record) if form == 'json' else as_text(record)}\n" for record in records)


def as_text(record: AuditRecord) -> str:
    """One line for people."""
    at = datetime.fromtimestamp(record.at, UTC).isoformat(timespec="seconds")
    data = json.dumps(dict(record.data), sort_keys=True)
    return f"{record.number:>5}  {at}  {record.kind:<10} {record.identity or '-'}  {data}"


def as_json(record: AuditRecord) -> str:
    """One JSON document on a line."""
    identity = asdict(record.identity) if record.identity else None
    document = {"number": record.number, "at": record.at, "kind": record.kind, "workload": identity, "hash": record.hash}
    return json.dumps({**document, "data": dict(record.data)}, sort_keys=True)


def verify_log(loaded: Loaded, *, expected_head: str | None) -> str:
    """Walk the chain; the head's hash for a note elsewhere, by which a later verification notices missing records.

    Raises:
        StoreError: JPO-E511, the chain is broken; names the first bad record.
    """
    with open_store(loaded.store_url, read_only=True, timeout_seconds=loaded.settings.store.timeout) as store:
        found = verify(store, expected_head=expected_head)
    if not found.records:
        raise StoreError(
            loaded.store_url, "holds no audit log", "check the path; a log that is gone proves nothing", code="JPO-E504"
        )
    if not found.ok:
        remedy = "restore the store from a backup; what follows this record cannot be trusted"
        raise StoreError(loaded.store_url, f"audit log: {found.reason}", remedy, code="JPO-E511")
    return f"audit log: {found.records} records, chain intact, head {found.head}\n"
