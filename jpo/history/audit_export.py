"""Export of audit records for other programs: as CloudEvents, which event routers and log stores read, and as table rows."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from jpo.history.audit import AuditRecord

COLUMNS = ("number", "time", "at", "kind", "dataset", "model", "framework", "what", "by", "data", "previous", "hash")


def cloud_event(record: AuditRecord, source: str) -> dict[str, Any]:
    """A record as a CloudEvent 1.0; everything that its hash covers is in it, unrounded.

    Extension attributes are texts: `at` (unix seconds as they were hashed), `dataset`, `model`, `framework`, `previous` and
    `hash`. `time` is absent outside the years 1 to 9999, `subject` where no workload in particular is concerned.

    Args:
        source: URI of the store.
    """
    at, identity = moment(record.at), record.identity
    return {
        "specversion": "1.0",
        "id": str(record.number),
        "source": source,
        "type": f"io.jpo.{record.kind.replace(' ', '-')}",
        **({"subject": str(identity), **asdict(identity)} if identity else {}),
        **({"time": rfc3339(at)} if at else {}),
        "at": repr(record.at),
        "datacontenttype": "application/json",
        "data": dict(record.data),
        "previous": record.previous,
        "hash": record.hash,
    }


def cells(record: AuditRecord, what: str, by: str) -> tuple[str | float, ...]:
    """A record in the order of COLUMNS, with what happened and who did it in words; empty where nothing is known."""
    at, identity = moment(record.at), record.identity
    names = (identity.dataset, identity.model, identity.framework) if identity else ("", "", "")
    when = rfc3339(at) if at else ""
    data = json.dumps(dict(record.data), sort_keys=True)
    return (record.number, when, record.at, record.kind, *names, what, by, data, record.previous, record.hash)


def moment(at: float) -> datetime | None:
    """Unix seconds as a time; None outside the years 1 to 9999."""
    try:
        return datetime.fromtimestamp(at, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def rfc3339(at: datetime) -> str:
    """A time in UTC, e.g. 2026-11-21T03:00:00.250000Z."""
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")
