"""Database: the protocol under the history's statements (sql.py), which SQLite and PostgreSQL fulfil.

Statements are written in the SQL that both share, with named parameters (`:run_id`). A driver's errors become StoreErrors.
"""

# ruff: noqa: S608 - statements are put together from names in this package; values are parameters

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class TableRow(Protocol):
    """One row of a result; its columns by name."""

    def __getitem__(self, name: str, /) -> Any: ...


class Database(Protocol):
    """An open connection to a database whose schema is the newest."""

    @property
    def place(self) -> str:
        """Its name in messages, without credentials."""

    def rows(self, statement: str, values: Mapping[str, object] = ...) -> Sequence[TableRow]:
        """Execute one statement; returns its result rows, none if it has no result."""

    def each(self, statement: str) -> Iterator[Sequence[Any]]:
        """The rows of a large result one by one, as sequences of values."""

    def transaction(self) -> AbstractContextManager[None]:
        """A transaction: all of the block is on disk after it, or nothing; one writer at a time, who sees the last one's work."""

    def snapshot(self) -> AbstractContextManager[None]:
        """A snapshot: everything read in the block is of one moment; others may write meanwhile."""

    def shrink(self) -> None:
        """Return freed space to the file system, where that is worth the time and disturbs no other process."""

    def close(self) -> None:
        """Close it; it cannot be used afterwards."""


def insert_into(table: str, columns: Sequence[str], *, numbered: bool = False) -> str:
    """An INSERT statement with named parameters; `numbered`: with the next number, which is unique because writers take turns."""
    names, values = list(columns), [f":{name}" for name in columns]
    if numbered:
        names, values = ["number", *names], [f"(SELECT coalesce(max(number), 0) + 1 FROM {table})", *values]
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(values)})"
