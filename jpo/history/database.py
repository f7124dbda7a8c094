"""What a database must do for the history's statements (sql.py): how it connects is its own affair, the statements are for all.

They are written in the SQL that SQLite and PostgreSQL share, with named parameters (`:run_id`). A driver's errors come out as
StoreError.
"""

# ruff: noqa: S608 - statements are put together from names in this package; values are parameters

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class TableRow(Protocol):
    """One row of an answer; its columns by their names."""

    def __getitem__(self, name: str, /) -> Any: ...


class Database(Protocol):
    """An open connection to a database whose schema is the newest."""

    @property
    def place(self) -> str:
        """Its name in messages, without credentials."""

    def rows(self, statement: str, values: Mapping[str, object] = ...) -> Sequence[TableRow]:
        """Run one statement; the rows of its answer, none if it has no answer."""

    def each(self, statement: str) -> Iterator[Sequence[Any]]:
        """The rows of a long answer one by one, as sequences of values."""

    def transaction(self) -> AbstractContextManager[None]:
        """Everything in the block is on disk after it, or nothing of it; one writer at a time, who sees the last one's work."""

    def snapshot(self) -> AbstractContextManager[None]:
        """All that is read in the block is of one moment; others may write meanwhile."""

    def shrink(self) -> None:
        """Give space that was freed back to the file system, where that is worth the time and harms nobody."""

    def close(self) -> None:
        """Close it; it cannot be used afterwards."""


def insert_into(table: str, columns: Sequence[str], *, numbered: bool = False) -> str:
    """INSERT with named parameters; `numbered`: with the next number, which is ours alone since writers serialise."""
    names, values = list(columns), [f":{name}" for name in columns]
    if numbered:
        names, values = ["number", *names], [f"(SELECT coalesce(max(number), 0) + 1 FROM {table})", *values]
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(values)})"
