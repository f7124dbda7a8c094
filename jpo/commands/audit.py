"""`jpo audit show|verify|export`: the append-only log of what JPO decided, wrote and learnt, and its hash chain.

Records are told one after the other as they are read: a log of any length needs little memory.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import islice
from urllib.parse import quote

from rich.style import Style

from jpo.errors import StoreError, UsageError
from jpo.history import AuditRecord, Store, verify
from jpo.history.audit import read_row
from jpo.history.audit_export import COLUMNS, cells, cloud_event, moment
from jpo.project.load import LoadedSettings
from jpo.project.project import open_history
from jpo.project.settings import seconds
from jpo.report.audit_words import in_words, maker
from jpo.report.spreadsheet import csv_line
from jpo.wording.printable import printable

Tell = Callable[[str], None]
"""Where the result goes, piece by piece."""

ANCHOR = "JPO-Audit-Head"
"""Name of the anchor where it is noted; git takes it as a trailer of a commit message."""

COLOURS = {
    "suggested": "bold",
    "rolled back": "bold",
    "written": "green",
    "refused": "red",
    "conflict": "red",
    "not written": "red",
    "observed": "dim",
}
AT_ONCE = 500
"""Records that are told at once."""


def show(settings: LoadedSettings, *, form: str, limit: int | None, width: int | None, colour: bool, tell: Tell) -> None:
    """The last `limit` records, oldest first: a line for people, or as JSON Lines.

    Args:
        width: columns of the terminal, where a line goes on below its words; None: a record is one line, however long.
    """
    with open_history(settings, read_only=True) as store, closing(records_of(store, limit)) as records:
        in_pieces(tell, (f"{as_json(one) if form == 'json' else as_text(one, width, colour=colour)}\n" for one in records))


def records_of(store: Store, limit: int | None = None) -> Generator[AuditRecord, None, None]:
    """The log, record by record; to be closed before the store, also where it is not read to its end."""
    if limit is not None:
        yield from store.audit_records(limit=limit)
        return
    for row in store.audit_rows():
        yield read_row(row)


def in_pieces(tell: Tell, lines: Iterator[str]) -> None:
    """Lines as they come, some of them at once."""
    while some := list(islice(lines, AT_ONCE)):
        tell("".join(some))


def as_text(record: AuditRecord, width: int | None, *, colour: bool) -> str:
    """What happened, to which workload, and who did it, in a line for people."""
    told = f"{record.identity or '-'}  {in_words(record.kind, record.data)}  [{maker(record.data)}]".removesuffix("  []")
    head, kind, words = f"{record.number:>6}  {clock(record.at)}  ", f"{printable(record.kind):<11}", printable(told)
    if width:
        below = " " * (len(head) + len(kind) + 2)
        words = textwrap.fill(words, max(width - len(below), 20), break_on_hyphens=False).replace("\n", f"\n{below}")
    style = COLOURS.get(record.kind) if colour else None
    return f"{head}{Style.parse(style).render(kind) if style else kind}  {words}"


def clock(at: float) -> str:
    """The time in UTC for people; as a number where no calendar reaches."""
    found = moment(at)
    return found.strftime("%Y-%m-%d %H:%M:%SZ") if found else f"{at:<20g}"


def as_json(record: AuditRecord) -> str:
    """One JSON document on a line."""
    identity = asdict(record.identity) if record.identity else None
    document = {"number": record.number, "at": record.at, "kind": record.kind, "workload": identity, "hash": record.hash}
    return json.dumps({**document, "previous": record.previous, "data": dict(record.data)}, sort_keys=True)


# --- verify


def verify_log(settings: LoadedSettings, *, head: str | None, anchor: bool) -> str:
    """Walk the chain, and say what to note elsewhere, by which a later verification notices missing records.

    Args:
        head: an anchor noted earlier, in any of the forms that `noted` reads.
        anchor: answer with the anchor of today alone.

    Raises:
        StoreError: JPO-E504, there is no log; JPO-E511, the chain is broken: names the first bad record.
        UsageError: JPO-E520, `head` is no anchor.
    """
    number, expected = noted(head) if head is not None else (None, None)
    with open_history(settings, read_only=True) as store:
        found = verify(store, expected_head=expected)
    place = settings.store_place
    if not found.records:
        raise StoreError(place, "holds no audit log", "check the path; a log that is gone proves nothing", code="JPO-E504")
    if not found.ok:
        remedy = "restore the store from a backup; what follows this record cannot be trusted"
        raise StoreError(place, f"audit log: {found.reason}", remedy, code="JPO-E511")
    if number is not None and number != found.anchored:
        finding = f"audit log: the head noted as record {number} is that of record {found.anchored}"
        raise StoreError(place, finding, "find out who altered the note or the log", code="JPO-E511")
    if anchor:
        return f"{ANCHOR}: {found.records} {found.head}\n"
    since = "" if found.anchored is None else f", {found.records - found.anchored} of them after the head that was noted"
    return f"audit log: {found.records} records, chain intact, head {found.head}{since}\n"


def noted(text: str) -> tuple[int | None, str]:
    """An anchor as it was printed or noted: the last of several, the whole line, or the hash alone.

    Returns:
        The number of the record, None where only the hash is given; and its hash.

    Raises:
        UsageError: JPO-E520.
    """
    lines = text.strip().split("\n")
    found = re.fullmatch(rf"(?:{ANCHOR}:)?\s*(?:(\d{{1,18}})\s+)?([0-9a-f]{{64}})", lines[-1].strip(), re.IGNORECASE)
    if not found:
        finding = f"{text[:80]!r} is no head of an audit log"
        raise UsageError("--head", finding, "give what `jpo audit verify --anchor` printed", code="JPO-E520")
    return (int(found[1]) if found[1] else None), found[2].lower()


# --- export


def export(settings: LoadedSettings, *, form: str, since: str | None, now: float, tell: Tell) -> None:
    """The records since then, oldest first, for other programs: JSON Lines of CloudEvents, or CSV.

    Raises:
        UsageError: JPO-E521, `since` is no time.
    """
    start = since_when(since, now) if since is not None else None
    source = quote(settings.store_place, safe=":/@")
    with open_history(settings, read_only=True) as store, closing(records_of(store)) as records:
        chosen = (one for one in records if start is None or one.at >= start)
        if form == "csv":
            tell(csv_line(COLUMNS))
            in_pieces(tell, (csv_line(cells(one, in_words(one.kind, one.data), maker(one.data))) for one in chosen))
        else:
            in_pieces(tell, (f"{json.dumps(cloud_event(one, source), sort_keys=True)}\n" for one in chosen))


def since_when(text: str, now: float) -> float:
    """Unix seconds of a date, a time (UTC unless it says otherwise), or a duration before now."""
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        pass
    try:
        return now - float(str(seconds(text)))
    except ValueError as error:
        finding = f"{text[:80]!r} is neither a time nor a duration"
        raise UsageError("--since", finding, "write e.g. 2026-11-21, 2026-11-21T03:00Z or 90d", code="JPO-E521") from error
