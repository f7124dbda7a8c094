"""Database: the protocol under the history's statements (sql.py), which SQLite and PostgreSQL fulfil.

Statements are written in the SQL that both share, with named parameters (`:run_id`). A driver's errors become StoreErrors.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from jpo.history.audit import AuditRow
from jpo.records import Identity

SAME_JOB = "dataset = :dataset AND model = :model AND framework = :framework"
OF_WORKLOAD = f"{SAME_JOB} AND hardware = :hardware"
AT_ONCE = 500
"""Run ids in one statement."""
TableRow = Mapping[str, Any]
"""One row of a result; its columns by name."""


class Link(NamedTuple):
    """A record for the end of the audit log, without the number and the hashes that it gets there; `data` is canonical JSON."""

    at: float
    kind: str
    identity: Identity | None
    data: str


@dataclass(slots=True)
class Changes:
    """What a transaction changes, in this order, all at its end: statements with their values, and links of the audit log.

    `chained`: the links as they stand in the log; known after the transaction.
    """

    steps: list[tuple[str, Mapping[str, object]] | Link] = field(default_factory=list)
    chained: list[AuditRow] = field(default_factory=list)

    def add(self, statement: str, values: Mapping[str, object]) -> None:
        """One more statement; what is read inside the transaction does not see its effect."""
        self.steps.append((statement, values))


class Database(Protocol):
    """An open connection to a database whose schema is the newest."""

    @property
    def place(self) -> str:
        """Its name in messages, without credentials."""

    def rows(self, statement: str, values: Mapping[str, object] = ...) -> Sequence[TableRow]:
        """Execute one statement; returns its result rows, none if it has no result."""

    def each(self, statement: str) -> Iterator[Sequence[Any]]:
        """The rows of a large result one by one, as sequences of values."""

    def transaction(self, *subjects: str) -> AbstractContextManager[Changes]:
        """A transaction: all changes are on disk after it, or none.

        `subjects`: what is read in the block so that it is still true when the changes are made, e.g. a workload: others who name
        one of these wait. Without any, only the changes themselves take turns with those of others.

        Raises StoreError: also JPO-E523, whether the changes are on disk is not known.
        """

    def alone(self) -> AbstractContextManager[None]:
        """A transaction whose statements are executed one by one, as the only writer of the whole store meanwhile."""

    def snapshot(self) -> AbstractContextManager[None]:
        """A snapshot: everything read in the block is of one moment; others may write meanwhile."""

    def shrink(self) -> None:
        """Return freed space to the file system, where that is worth the time and disturbs no other process."""

    def close(self) -> None:
        """Close it; it cannot be used afterwards."""


def naming(run_ids: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Conditions that together hold of all runs with these ids, each for a statement of its own, with its values."""
    for at in range(0, len(run_ids), AT_ONCE):
        values = {f"id{number}": run_id for number, run_id in enumerate(run_ids[at : at + AT_ONCE])}
        yield f"run_id IN ({', '.join(f':{name}' for name in values)})", values


def select_all(table: str, columns: Sequence[str], order: str) -> str:
    return f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"


def insert_into(table: str, columns: Sequence[str], *, numbered: bool = False) -> str:
    """An INSERT statement with named parameters; `numbered`: with the next number, which is unique because writers take turns."""
    names, values = list(columns), [f":{name}" for name in columns]
    if numbered:
        names, values = ["number", *names], [f"(SELECT coalesce(max(number), 0) + 1 FROM {table})", *values]
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(values)})"
