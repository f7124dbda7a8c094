"""Archive of the whole history as JSON Lines: a backup while it is in use, and the way from one database to another.

The first line is a header, the last one counts the rows in between, so that a truncated file is noticed. Each line in between is
one row of a table as it is stored (bytes as base64), so that an import gives the same history: the same order, the same audit log
with the same hashes.

    {"format":"jpo state","jpo":"0.1.0","schema":2,"version":1}
    {"row":{"created_at":1700000000.0,...},"table":"suggestions"}
    {"end":{"agents":1,"audit":12,...}}
"""

import base64
import gzip
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from jpo.errors import StoreError, quoted, words_of
from jpo.files.reading import json_object
from jpo.history.audit import AuditRow, read_row, verify
from jpo.history.canonical import canonical
from jpo.history.database import Database, insert_into, select_all
from jpo.history.migrations import MIGRATIONS
from jpo.history.rows import TABLES, read_identity, read_reading, read_run, read_suggestion
from jpo.history.series import unpack
from jpo.history.store import Store
from jpo.records import Series

FORMAT, VERSION = "jpo state", 1
OLDEST_SCHEMA = 2
"""The schema whose exports are still read."""
ADDED: Mapping[str, str | int | None] = {
    **dict.fromkeys(("loss_slope", "loss_slope_error", "epochs", "val_accuracy")),
    **dict.fromkeys(("metrics", "passed_over"), "{}"),
    "assumed": "[]",
    "fell_silent": 0,
    "hardware": "",
}
"""Columns that were added since, with what they hold in an older export."""
MAX_LINE_BYTES = 1 << 26
"""The longest line that is read: an agent of 48 MiB. A file with a longer one is not an export."""
HEADER_BYTES = 4096
MAX_BYTES = 1 << 36
"""Of an unpacked export: a few megabytes of gzip can hold it all, so what is packed tells nothing."""
JSON = {"document", "parameters", "data"}
"""Columns that hold JSON objects."""
READ: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
    "suggestions": read_suggestion,
    "runs": read_run,
    "series": lambda row: Series("-", row["quantity"], *unpack(row["packed"])),
    "watermarks": lambda row: (read_identity(row), read_reading(row)),
    "agents": lambda row: len(row["name"]),
    "audit": lambda row: read_row(AuditRow(**row)),
}
"""The function that will read a row of each table later; an import tries it on every row."""


def export_lines(store: Store, *, written_by: str) -> Iterator[str]:
    """The lines of an export: the history at one moment, while others may go on writing; `written_by`: jpo's version."""
    counts: dict[str, int] = {}
    with store.database.snapshot():
        yield canonical({"format": FORMAT, "version": VERSION, "jpo": written_by, "schema": len(MIGRATIONS)}) + "\n"
        for name, table in TABLES.items():
            counts[name] = 0
            for values in store.database.each(select_all(name, table.columns, table.order)):
                row = dict(zip(table.columns, values, strict=True))
                row |= {column: base64.b64encode(row[column]).decode() for column in table.binary}
                yield canonical({"table": name, "row": row}) + "\n"
                counts[name] += 1
    yield canonical({"end": counts}) + "\n"


def import_lines(store: Store, lines: Iterable[bytes], place: str) -> Mapping[str, int]:
    """Import an export into a store, which must be empty: all of it or nothing. Returns the number of rows by table.

    Raises StoreError: JPO-E515, it is not empty; JPO-E516, a line is bad (`place:line`); JPO-E511, the audit chain is broken.
    """
    with store.database.alone():
        counts, verification = _put_all(store.database, lines, place), verify(store)
        if not verification.ok:
            finding = f"audit log: {verification.reason}"
            raise StoreError(place, finding, "import another copy; nothing was kept", code="JPO-E511")
    return counts


def _put_all(database: Database, lines: Iterable[bytes], place: str) -> Mapping[str, int]:
    if any(database.rows(f"SELECT 1 AS one FROM {name} LIMIT 1") for name in TABLES):
        raise StoreError(database.place, "is not empty", "import into a new store", code="JPO-E515")
    counts, ended, number = Counter(dict.fromkeys(TABLES, 0)), False, 0
    for number, line in enumerate(lines, start=1):
        document = _read(line, f"{place}:{number}")
        if ended:
            raise _bad(f"{place}:{number}", "follows the last line of an export")
        if number == 1:
            _check_header(document, f"{place}:1")
        elif "end" in document:
            ended = document["end"] == counts
            if not ended:
                raise _bad(f"{place}:{number}", "counts other rows than were read: some are missing")
        else:
            counts[_put(database, document, f"{place}:{number}")] += 1
    if not ended:
        raise _bad(f"{place}:{number}", "ends early: the last line of an export is missing")
    return counts


def read_lines(file: BinaryIO, place: str) -> Iterator[bytes]:
    """The lines of a file, unpacked if it is gzip; one at a time is held in memory.

    Raises StoreError: JPO-E516, a line is too long or the file is damaged.
    """
    packed = file.peek(2)[:2] == b"\x1f\x8b" if hasattr(file, "peek") else False
    number, size = 1, 0
    try:
        with gzip.GzipFile(fileobj=file) if packed else file as stream:
            while line := stream.readline(most := MAX_LINE_BYTES if number > 1 else HEADER_BYTES):
                size += len(line)
                if size > MAX_BYTES or len(line) == most:
                    finding = f"is longer than {most} bytes" if len(line) == most else f"is beyond {MAX_BYTES >> 30} GiB"
                    raise _bad(f"{place}:{number}", finding)
                if not line.endswith(b"\n"):
                    raise _bad(f"{place}:{number}", "is cut off")
                yield line
                number += 1
    except (OSError, EOFError, zlib.error) as error:
        raise _bad(f"{place}:{number}", f"cannot be read ({type(error).__name__})") from error


def _check_header(header: Mapping[str, Any], place: str) -> None:
    if header.get("format") != FORMAT:
        raise _bad(place, "is not the header of an export")
    if header.get("version") != VERSION or header.get("schema") not in range(OLDEST_SCHEMA, len(MIGRATIONS) + 1):
        finding = f"was written by another jpo ({quoted(str(header.get('jpo')))}, schema {quoted(header.get('schema'))})"
        remedy = f"import it with a jpo that knows that schema (this one: {len(MIGRATIONS)})"
        raise StoreError(place, finding, remedy, code="JPO-E516")


def _put(database: Database, document: Mapping[str, Any], place: str) -> str:
    """Insert the row of a line; returns the name of its table."""
    name, row = document.get("table"), document.get("row")
    table = TABLES.get(name) if isinstance(name, str) else None
    if table and isinstance(row, dict):
        row = {name: nothing for name, nothing in ADDED.items() if name in table.columns} | row
    if table is None or not isinstance(row, dict) or set(row) != set(table.columns):
        raise _bad(place, "is not a row of a table of this version")
    assert isinstance(name, str)
    if not all(value is None or type(value) in (str, int, float) for value in row.values()):
        raise _bad(place, "contains a value of a wrong type")
    try:
        row |= {column: base64.b64decode(row[column], validate=True) for column in table.binary}
        for column in JSON & row.keys():
            json_object(row[column])
        READ[name](row)
        database.rows(insert_into(name, table.columns), row)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise _bad(place, f"contains no readable row of {name} ({words_of(error):.200})") from error
    except StoreError as error:
        if error.code not in ("JPO-E502", "JPO-E508"):
            raise
        raise _bad(place, error.finding) from error
    return name


def _read(line: bytes, place: str) -> Mapping[str, Any]:
    try:
        return json_object(line)
    except ValueError as error:
        raise _bad(place, str(error)) from error


def _bad(place: str, finding: str) -> StoreError:
    return StoreError(place, finding, "use a whole export of `jpo state export`; nothing was imported", code="JPO-E516")
