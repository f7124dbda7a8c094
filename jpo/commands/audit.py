"""`jpo audit show|verify|export`: the append-only log of what JPO decided, wrote and learnt, and its hash chain.

Records come one after the other as they are read: a log of any length needs little memory.
"""

import re
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from urllib.parse import quote

from jpo.errors import StoreError, UsageError, quoted
from jpo.history import AuditRecord, Store, verify
from jpo.history.audit import read_row
from jpo.history.unsettled import open_ends
from jpo.project.durations import seconds
from jpo.project.load import LoadedSettings
from jpo.project.project import open_history
from jpo.project.workload import content_now
from jpo.report.audit import AuditPage

ANCHOR = "JPO-Audit-Head"
"""Name of the anchor where it is noted; git takes it as a trailer of a commit message."""
MOST_ROWS = 1000
"""Records on a page where no limit was named; a page is not a stream."""


@contextmanager
def audit_log(
    settings: LoadedSettings, *, limit: int | None = None, start: float | None = None
) -> Iterator[Iterator[AuditRecord]]:
    """The last `limit` records, or those since `start` (unix seconds), oldest first, as they are read."""
    with open_history(settings, read_only=True) as store, closing(_records(store, limit)) as records:
        yield (record for record in records if start is None or record.at >= start)


def _records(store: Store, limit: int | None) -> Generator[AuditRecord, None, None]:
    """The log, record by record; to be closed before the store, also where it is not read to its end."""
    if limit is not None:
        yield from store.audit_records(limit=limit)
        return
    for row in store.audit_rows():
        yield read_row(row)


def page(settings: LoadedSettings, *, limit: int | None) -> AuditPage:
    """The last `limit` records, or the newest MOST_ROWS, in one piece."""
    with audit_log(settings, limit=limit or MOST_ROWS + 1) as log:
        records = list(log)
    if limit or len(records) <= MOST_ROWS:
        return AuditPage(records)
    return AuditPage(records[-MOST_ROWS:], newest=MOST_ROWS)


def source_of(settings: LoadedSettings) -> str:
    """The store as a URI, without credentials."""
    return quote(settings.store_place, safe=":/@")


def verify_log(settings: LoadedSettings, *, head: str | None, anchor: bool) -> list[str]:
    """Walk the chain, and say what to note elsewhere, by which a later verification notices missing records.

    `head`: an anchor noted earlier, in any of the forms that `noted` reads; `anchor`: answer with the anchor of today alone.

    Raises StoreError: JPO-E504, there is no log; JPO-E511, the chain is broken: names the first bad record. UsageError: JPO-E520,
    `head` is no anchor.
    """
    number, expected = noted(head) if head is not None else (None, None)
    with open_history(settings, read_only=True) as store:
        chain = verify(store, expected_head=expected)
        sentences = open_ends(store, content_now) if chain.ok and not anchor else ()
    place = settings.store_place
    if not chain.records:
        raise StoreError(place, "contains no audit log", "check the path; a log that is gone proves nothing", code="JPO-E504")
    if not chain.ok:
        remedy = "restore the store from a backup; what follows this record cannot be trusted"
        raise StoreError(place, f"audit log: {chain.reason}", remedy, code="JPO-E511")
    if number is not None and number != chain.anchored:
        finding = f"audit log: the head noted as record {number} is that of record {chain.anchored}"
        raise StoreError(place, finding, "find out who altered the note or the log", code="JPO-E511")
    if anchor:
        return [f"{ANCHOR}: {chain.records} {chain.head}"]
    since = "" if chain.anchored is None else f", {chain.records - chain.anchored} of them after the head that was noted"
    return [f"audit log: {chain.records} records, chain intact, head {chain.head}{since}", *sentences]


def noted(text: str) -> tuple[int | None, str]:
    """An anchor as it was printed or noted: the last of several, the whole line, or the hash alone.

    Returns the number of the record, None where only the hash is given; and its hash. Raises UsageError: JPO-E520.
    """
    lines = text.strip().split("\n")
    match = re.fullmatch(rf"(?:{ANCHOR}:)?\s*(?:(\d{{1,18}})\s+)?([0-9a-f]{{64}})", lines[-1].strip(), re.IGNORECASE)
    if not match:
        finding = f"{quoted(text)} is not the head of an audit log"
        raise UsageError("--head", finding, "give what `jpo audit verify --anchor` printed", code="JPO-E520")
    return (int(match[1]) if match[1] else None), match[2].lower()


def since_when(text: str, now: float) -> float:
    """Unix seconds of a date, a time (UTC unless it says otherwise), or a duration before now."""
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        pass
    try:
        return now - seconds(text)
    except ValueError as error:
        finding = f"{quoted(text)} is neither a time nor a duration"
        raise UsageError("--since", finding, "write e.g. 2026-11-21, 2026-11-21T03:00Z or 90d", code="JPO-E521") from error
