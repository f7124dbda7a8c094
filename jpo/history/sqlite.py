"""SQLite database of the history, in one file or in memory: opening and transactions.

The file is created when missing, or copied into memory when nothing may be written. Writers take the lock first (BEGIN
IMMEDIATE), so that what they read is still true when they write; readers never wait (WAL).
"""

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jpo.history.audit import AuditRow, chain
from jpo.history.database import Changes, Link, insert_into
from jpo.history.failures import reachable, reported
from jpo.history.migrations import is_newest, migrate

MAX_REWRITTEN_BYTES = 1 << 28
"""A larger file is not rewritten to shrink it: writers would wait for seconds, and its free pages are used again anyway."""
AT_A_TIME_SECONDS = 0.1
"""How long SQLite itself waits for a lock: meanwhile Python hears no Ctrl-C."""
IN_MEMORY = "PRAGMA cache_size = -65536"
"""KiB of a database without a file of its own; what is larger is in one that SQLite unlinks: a dry run may copy it all."""
ON_DISK = "PRAGMA synchronous = FULL"
"""On record means on disk: config.ini is written after it."""


class _Connection(sqlite3.Connection):
    """A connection whose statements wait for locks of others no longer than they may: each, and all together."""

    wait_seconds = left_seconds = 0.0

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        began = time.monotonic()
        until = began + min(self.wait_seconds, self.left_seconds)
        try:
            while True:
                tried = time.monotonic()
                try:
                    return super().execute(*statement)
                except sqlite3.OperationalError as error:
                    now = time.monotonic()
                    at_once = now - tried < AT_A_TIME_SECONDS / 2  # SQLite knows that waiting is of no use
                    if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or at_once or now >= until:
                        raise
        finally:
            waited = time.monotonic() - began
            self.left_seconds -= waited if waited > AT_A_TIME_SECONDS / 2 else 0.0


class SqliteDatabase:
    """SQLite Database (database.py) on an open, migrated connection."""

    def __init__(self, connection: sqlite3.Connection, place: str) -> None:
        self._connection, self.place = connection, place

    def rows(self, statement: str, values: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        with reported(self.place):
            cursor = self._connection.execute(statement, values or {})
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor]  # sqlite3.Row looks through its names for each value

    def each(self, statement: str) -> Iterator[sqlite3.Row]:
        with reported(self.place):
            yield from self._connection.execute(statement)

    @contextmanager
    def transaction(self, *_subjects: str) -> Iterator[Changes]:
        """A file has one lock for all subjects."""
        changes = Changes()
        with self.alone():
            yield changes
            for step in changes.steps:
                if isinstance(step, Link):
                    changes.chained.append(self._chain(step, changes.chained[-1] if changes.chained else self._last()))
                else:
                    self.rows(*step)

    def _last(self) -> AuditRow | None:
        last = self.rows(f"SELECT {', '.join(AuditRow._fields)} FROM audit ORDER BY number DESC LIMIT 1")
        return AuditRow(**last[0]) if last else None

    def _chain(self, link: Link, previous: AuditRow | None) -> AuditRow:
        row = chain(previous, *link)
        self.rows(insert_into("audit", AuditRow._fields), row._asdict())
        return row

    @contextmanager
    def alone(self) -> Iterator[None]:
        with reported(self.place), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")  # not left to the connection: it may wait, too

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with reported(self.place), self._connection:
            self._connection.execute("BEGIN")
            yield

    def shrink(self) -> None:
        """Rewrite the file if a quarter of it is free; left as it is when another process uses it or the disk is full."""
        free, pages, size = (int(self.rows(f"PRAGMA {name}")[0][name]) for name in ("freelist_count", "page_count", "page_size"))
        if 4 * free < pages or pages * size > MAX_REWRITTEN_BYTES:
            return
        with reported(self.place), suppress(sqlite3.OperationalError):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        with reported(self.place):
            self._connection.close()


class SqliteCopy(SqliteDatabase):
    """Reads a file where it is, until something is changed: then all of it is in `copy`, and nothing is kept."""

    def __init__(self, source: sqlite3.Connection, place: str, copy: sqlite3.Connection) -> None:
        super().__init__(source, place)
        self._copy = copy

    @contextmanager
    def alone(self) -> Iterator[None]:
        self.fill()
        with super().alone():
            yield

    def fill(self) -> None:
        if self._connection is self._copy:
            return
        with reported(self.place), closing(self._connection) as source:
            source.execute("BEGIN")
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()  # takes the lock: backup() would wait for it for ever
            source.backup(self._copy)
            _prepared(self._copy, self.place)
        self._connection = self._copy

    def close(self) -> None:
        super().close()
        self._copy.close()


def open_database(path: Path | None, place: str, timeout_seconds: float, deadline_seconds: float = 60.0) -> SqliteDatabase:
    """The database in the newest version; path None is a new one in memory.

    A missing file is created, readable by its owner alone, and so is its folder. A file of zero length is a new database.
    Times and errors are those of `open_store`.
    """
    if path is not None:
        with reachable(place):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Closing a file that SQLite has open in this process would drop its locks: only a new one.
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with reported(place):
        connection = _connect("" if path is None else str(path), timeout_seconds, deadline_seconds)
        return _prepared(connection, place)


def open_copy(path: Path | None, place: str, timeout_seconds: float, deadline_seconds: float) -> SqliteDatabase:
    """The database, read as it is until something is changed: then a copy, which is lost when it is closed.

    Empty when there is no file. One of an older version, or whose folder cannot be written, is copied at once.
    """
    with reachable(place):
        uri = _read_only_uri(path) if path is not None and path.exists() else None
    if uri is None:
        return open_database(None, place, timeout_seconds, deadline_seconds)
    with reported(place), ExitStack() as on_failure:
        copy = _connect("", timeout_seconds, deadline_seconds)
        on_failure.callback(copy.close)
        source = _connect(uri, timeout_seconds, deadline_seconds, uri=True)
        on_failure.callback(source.close)
        source.execute("PRAGMA query_only = ON")
        database = SqliteCopy(source, place, copy)
        if "immutable" in uri or not is_newest(source, place):
            database.fill()
        on_failure.pop_all()
    return database


def _read_only_uri(path: Path) -> str:
    """The URI of a file that must stay as it is.

    SQLite creates two companion files for a moment where it can; `mode=ro` would leave them behind, `mode=rw` removes them. In a
    folder that cannot be written the file is read as it is, which is correct as long as no -wal file holds later pages.
    """
    still = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
    return f"file://{quote(str(path.absolute()))}?{'mode=ro&immutable=1' if still else 'mode=rw'}"


def _connect(database: str, timeout_seconds: float, deadline_seconds: float, *, uri: bool = False) -> sqlite3.Connection:
    wait = min(timeout_seconds, deadline_seconds)
    at_a_time = min(AT_A_TIME_SECONDS, wait)
    connection = sqlite3.connect(database, timeout=at_a_time, isolation_level=None, uri=uri, factory=_Connection)
    connection.wait_seconds, connection.left_seconds = wait, deadline_seconds
    if not database:
        connection.execute(IN_MEMORY)
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")  # a damaged text is reported by its reader
    return connection


def _prepared(connection: sqlite3.Connection, place: str) -> SqliteDatabase:
    with ExitStack() as on_failure:
        on_failure.callback(connection.close)
        connection.execute(ON_DISK)
        migrate(connection, place)
        # Readers and one writer at once, for every process. SQLite does not wait for this lock: who holds it is opening the same
        # new database, and switches it as well, or is using it as it is, which works too; the next to open it will switch it.
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
        connection.execute("PRAGMA foreign_keys = ON")
        on_failure.pop_all()
    return SqliteDatabase(connection, place)
