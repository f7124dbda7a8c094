"""PostgreSQL database of the history: transactions, schema, and how long anything may take.

The tables are in a schema named jpo. Who reads in order to write takes a lock on its subject, a workload; the changes are sent in
one message, with the lock of the whole log in front and COMMIT at the end. So no pause of a client, and no network, holds up who
writes about something else. Readers see what was committed, and neither wait nor make others wait. What is acknowledged is
on the server's disk, regardless of the server's default.

Times: an open transaction that is silent loses its locks after half of the timeout, and who waits for them gives up after eight
tenths; the server gives up a statement after nine tenths, and the watchdog a server that has said nothing by then.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from itertools import count
from typing import Any

import psycopg
from psycopg.rows import dict_row, tuple_row

from jpo.errors import StoreError
from jpo.history.audit import GENESIS, AuditRow, chain, unnumbered
from jpo.history.database import Changes, Link
from jpo.history.postgres.schema import CREATE, MIGRATIONS, SCHEMA
from jpo.history.postgres.server_failures import reported
from jpo.history.postgres.session import connect, parameters_of, place_of
from jpo.history.postgres.watchdog import Watchdog

WRITERS = 0x4A504F31
"""The advisory lock of the log, under which everything is written: "JPO1"; with a second number, the lock of a subject."""
LONGEST_WAIT = 86400.0
"""Seconds; PostgreSQL's own settings end at some weeks."""
IDLE, LOCK, STATEMENT = 0.5, 0.8, 0.9
"""Parts of the timeout: silence inside a transaction, waiting for a lock, one statement."""
MOST_STEPS, MOST_BYTES = 200, 1 << 23
"""Of one message; a longer transaction takes several, under the lock of the log."""
_SESSION = """
    SELECT set_config('search_path', :schema, false),
           set_config('lock_timeout', :lock, false),
           set_config('statement_timeout', :statement, false),
           set_config('extra_float_digits', '1', false),  -- numbers are returned exactly
           set_config('default_transaction_isolation', 'read committed', false),  -- the lock's next owner sees what was written
           (SELECT max(set_config(name, '0', false)) FROM pg_settings WHERE name LIKE 'idle%session_timeout'),  -- pauses are long
           set_config('synchronous_commit', CASE setting WHEN 'off' THEN 'on' ELSE setting END, false)
    FROM (SELECT current_setting('synchronous_commit') AS setting) AS today
"""
_LINK = f"""
    INSERT INTO audit ({", ".join(AuditRow._fields)})
    SELECT next, :at, :kind, :dataset, :model, :framework, :data, previous,
           encode(sha256(convert_to(previous || :unnumbered || next || '}}', 'UTF8')), 'hex'), :hardware
    FROM (SELECT coalesce(max(number), 0) + 1 AS next,
                 coalesce((SELECT hash FROM audit ORDER BY number DESC LIMIT 1), :genesis) AS previous FROM audit) AS log
    RETURNING {", ".join(AuditRow._fields)}
"""
"""The next record of the log, numbered and hashed by the server, as audit.hash_of does it."""


class PostgresDatabase:
    """PostgreSQL Database (transactions.py) on an open connection."""

    def __init__(
        self, connection: psycopg.Connection[Any], place: str, *, timeout_seconds: float, deadline_seconds: float
    ) -> None:
        self._connection, self.place = connection, place
        self._idle = f"SET LOCAL idle_in_transaction_session_timeout = {_milliseconds(IDLE * timeout_seconds)}"
        with reported(place):
            self._watchdog = Watchdog(connection.fileno(), answer_seconds=timeout_seconds, all_seconds=deadline_seconds)
        self._readers = count(1)

    def rows(self, statement: str, values: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        with self._answer(), self._connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(_in_postgres(statement), _bounded(values or {}))
            return cursor.fetchall() if cursor.description else []

    def each(self, statement: str) -> Iterator[tuple[Any, ...]]:
        # withhold: read to its end or not, it leaves no transaction open into which the next writer would fall
        cursor = self._connection.cursor(f"reader {next(self._readers)}", withhold=True, row_factory=tuple_row)
        try:
            with self._answer():
                rows = cursor.execute(statement.encode()).fetchmany(2000)
            while rows:
                yield from rows
                with self._answer():
                    rows = cursor.fetchmany(2000)
        finally:
            try:
                with self._answer():
                    cursor.close()
            finally:  # a server that is gone cannot be told: the cursor ends here alone
                psycopg.Cursor.close(cursor)

    @contextmanager
    def transaction(self, *subjects: str) -> Iterator[Changes]:
        changes = Changes()
        with self._begun(self._idle, *sorted(map(_lock, subjects))):
            yield changes
            messages = self._messages(changes)
            for message in messages[:-1]:
                self._send(message, changes)
            with self._in_doubt():
                self._send(messages[-1] + b"; COMMIT", changes)

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._begun(self._idle, f"SELECT pg_advisory_xact_lock({WRITERS})"):
            yield
            with self._in_doubt():
                self._send(b"COMMIT")

    @contextmanager
    def _begun(self, *statements: str) -> Iterator[None]:
        """A transaction that ends inside the block, or is undone."""
        with ExitStack() as on_failure:
            on_failure.callback(self._undo)
            self._send("; ".join(("BEGIN", *statements)).encode())
            yield
            on_failure.pop_all()

    def _undo(self) -> None:
        with suppress(StoreError):  # a connection that is gone has undone it already
            self._send(b"ROLLBACK")

    def _messages(self, changes: Changes) -> list[bytes]:
        """The changes as texts for the server, the lock in front."""
        messages, steps = [], [f"SELECT pg_advisory_xact_lock({WRITERS})".encode()]
        with reported(self.place), psycopg.ClientCursor(self._connection) as cursor:
            for step in changes.steps:
                statement, values = (_LINK, _link(step)) if isinstance(step, Link) else step
                if len(steps) > MOST_STEPS or sum(map(len, steps)) > MOST_BYTES:
                    messages.append(b"; ".join(steps))
                    steps = []
                steps.append(cursor.mogrify(_in_postgres(statement), _bounded(values)).encode())
        return [*messages, b"; ".join(steps)] if changes.steps else [b"SELECT 1"]

    def _send(self, message: bytes, changes: Changes | None = None) -> None:
        """Statements in one message; the links of the log that they made are noted."""
        with self._answer(), psycopg.ClientCursor(self._connection, row_factory=tuple_row) as cursor:
            cursor.execute(message)
            while changes is not None:
                if cursor.description and len(cursor.description) == len(AuditRow._fields):
                    changes.chained += map(AuditRow._make, cursor.fetchall())
                if not cursor.nextset():
                    break

    @contextmanager
    def _in_doubt(self) -> Iterator[None]:
        """Where the server is gone before it has answered a COMMIT, it is not known here whether it took place."""
        try:
            yield
        except StoreError as error:
            cause = error.__cause__
            undone = isinstance(cause, psycopg.Error) and (cause.sqlstate or "").startswith("25P0")  # its client was silent
            if error.code not in ("JPO-E513", "JPO-E522") or undone:
                raise
            finding = f"whether the last record was taken is not known: {error.finding}"
            remedy = "repeat the command: what is on record is not recorded twice; `jpo audit show` has the last record"
            raise StoreError(self.place, finding, remedy, code="JPO-E523") from error

    @contextmanager
    def _answer(self) -> Iterator[None]:
        """An answer of the server, in time or as a StoreError."""
        try:
            with reported(self.place), self._watchdog.watching():
                yield
        except StoreError as error:
            if self._watchdog.bitten is None:
                raise
            remedy = "check the server, a pooler and the network between, or raise [store] timeout and deadline"
            raise StoreError(self.place, self._watchdog.bitten, remedy, code="JPO-E522") from error

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._begun("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"):
            yield
            self._send(b"COMMIT")

    def shrink(self) -> None:
        """Left to the server's autovacuum."""

    def close(self) -> None:
        with reported(self.place):
            self._connection.close()
        self._watchdog.end()


def open_postgres(
    url: str, *, read_only: bool, timeout_seconds: float, deadline_seconds: float = 60.0
) -> PostgresDatabase | None:
    """A connection to the server, with the schema in the newest version; None if it is read-only and there is no store.

    Times and errors are those of `open_store`; the deadline is for answers that did not come at once (watchdog.AT_ONCE_SECONDS).
    """
    parameters, timeout_seconds = parameters_of(url), min(timeout_seconds, LONGEST_WAIT)
    place = place_of(parameters)
    with ExitStack() as on_failure:
        connection = connect(parameters, place, timeout_seconds)
        on_failure.callback(connection.close)
        database = PostgresDatabase(connection, place, timeout_seconds=timeout_seconds, deadline_seconds=deadline_seconds)
        on_failure.callback(database.close)
        limits = {"lock": _milliseconds(LOCK * timeout_seconds), "statement": _milliseconds(STATEMENT * timeout_seconds)}
        database.rows(_SESSION, {"schema": SCHEMA, **limits})
        if read_only and _version(database) is None:
            return None
        _migrate(database, read_only=read_only)
        on_failure.pop_all()
    return database


def _milliseconds(seconds: float) -> str:
    return str(max(1, round(1000 * seconds)))


def _migrate(database: PostgresDatabase, *, read_only: bool) -> None:
    """Migrate the schema to the newest version, in one transaction, also when several processes try at once."""
    version = _version(database)
    if version == len(MIGRATIONS):
        return
    if read_only:
        finding = f"was written by an older jpo (schema {version}, this one knows {len(MIGRATIONS)})"
        raise StoreError(database.place, finding, "`jpo observe` brings it up to date", code="JPO-E505")
    with database.alone():
        version = _version(database)  # again: another process may have been first
        if version is None:
            if not database.rows("SELECT 1 FROM pg_namespace WHERE nspname = :schema", {"schema": SCHEMA}):
                database.rows(f"CREATE SCHEMA {SCHEMA}")
            for statement in CREATE:
                database.rows(statement)
        for step in MIGRATIONS[version or 0 :]:
            for statement in step:
                database.rows(statement)
        database.rows("UPDATE schema_version SET version = :version", {"version": len(MIGRATIONS)})


def _version(database: PostgresDatabase) -> int | None:
    """The schema's version, None where there is none yet; refused when it is not ours to change."""
    tables = database.rows(
        """SELECT relname FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid
           WHERE nspname = :schema AND relkind = 'r'""",
        {"schema": SCHEMA},
    )
    if not tables:
        return None
    if "schema_version" not in [table["relname"] for table in tables]:
        finding = f"its schema {SCHEMA} belongs to another program"
        raise StoreError(database.place, finding, "name another database as the store", code="JPO-E510")
    (row,) = database.rows("SELECT version FROM schema_version")
    if row["version"] > len(MIGRATIONS):
        finding = f"was written by a newer jpo (schema {row['version']}, this one knows {len(MIGRATIONS)})"
        raise StoreError(database.place, finding, "upgrade jpo", code="JPO-E505")
    return int(row["version"])


@cache
def _in_postgres(statement: str) -> bytes:
    return re.sub(r"(?<![:\w]):(\w+)", r"%(\1)s", statement.replace("%", "%%")).encode()


def _bounded(values: Mapping[str, object]) -> dict[str, object]:
    """Values as SQLite would store them: True as 1, and no whole number beyond 64 bits."""
    if any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in values.values()):
        raise OverflowError("a whole number is too large")
    return {name: int(value) if isinstance(value, bool) else value for name, value in values.items()}


def _lock(subject: str) -> str:
    """The statement that waits until no other client writes about a subject, until the transaction ends."""
    number = int.from_bytes(hashlib.sha256(subject.encode()).digest()[:4], signed=True)
    return f"SELECT pg_advisory_xact_lock({WRITERS}, {number})"


def _link(link: Link) -> dict[str, object]:
    row = chain(None, *link)
    return {**row._asdict(), "unnumbered": unnumbered(row), "genesis": GENESIS}
