"""The history in one SQLite file, or in memory (opening.py makes the connection).

Writers take the lock first (BEGIN IMMEDIATE), so that what they read is still true when they write; readers never wait (WAL).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from jpo.history.failures import reported

MAX_REWRITTEN_BYTES = 1 << 28
"""A larger file is not rewritten to shrink it: writers would wait for seconds, and its free pages are used again anyway."""


class SqliteDatabase:
    """A Database (database.py) on an open, migrated connection."""

    def __init__(self, connection: sqlite3.Connection, place: str) -> None:
        self._connection, self.place = connection, place

    def rows(self, statement: str, values: Mapping[str, object] | None = None) -> list[sqlite3.Row]:
        with reported(self.place):
            return self._connection.execute(statement, values or {}).fetchall()

    def each(self, statement: str) -> Iterator[sqlite3.Row]:
        with reported(self.place):
            yield from self._connection.execute(statement)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with reported(self.place), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with reported(self.place), self._connection:
            self._connection.execute("BEGIN")
            yield

    def shrink(self) -> None:
        """Rewrite the file if a quarter of it is free; left as it is when another process uses it or the disk is full."""
        free, pages, size = (self._pragma(name) for name in ("freelist_count", "page_count", "page_size"))
        if 4 * free < pages or pages * size > MAX_REWRITTEN_BYTES:
            return
        with reported(self.place), suppress(sqlite3.OperationalError):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _pragma(self, name: str) -> int:
        return int(self.rows(f"PRAGMA {name}")[0][0])

    def close(self) -> None:
        with reported(self.place):
            self._connection.close()
