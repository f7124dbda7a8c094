"""What happened: runs, suggestions and agent state in one store, and the append-only audit log beside them.

`open_store(url)` gives a `Store` (store.py says what it promises); `verify(store)` checks the audit log's hash chain.
"""

from jpo.history.audit import AuditEvent, AuditRecord, AuditRow, Verification, verify
from jpo.history.canonical import Json
from jpo.history.runs import RecordedRun, latest_start
from jpo.history.store import Store, open_store

__all__ = [
    "AuditEvent",
    "AuditRecord",
    "AuditRow",
    "Json",
    "RecordedRun",
    "Store",
    "Verification",
    "latest_start",
    "open_store",
    "verify",
]
