"""PostgreSQL database of the history: connection, transactions and schema. The URL is libpq's, with all its options.

The tables are in a schema named jpo. Writers take a lock that lasts as long as their transaction, so that what they read is still
true when they write; readers see what was committed, and neither wait nor make others wait. What is acknowledged is on the
server's disk, regardless of the server's default.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import count
from typing import Any

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row, tuple_row
from psycopg.types.string import StrDumperUnknown, TextLoader

from jpo.errors import StoreError, UsageError
from jpo.history.failures import line_of
from jpo.history.postgres.failures import reported
from jpo.history.postgres.schema import CREATE, MIGRATIONS, SCHEMA

WRITERS = 0x4A504F31
"""The advisory lock that every writer takes: "JPO1"."""
LONGEST_WAIT = 86400.0
"""Seconds; PostgreSQL's own settings end at some weeks."""
PAUSE_SECONDS = 0.2
"""Pause between two attempts to reach a server that is starting."""

MOST_IDLE = "60s"
"""A writer that is silent for this long inside its transaction (its machine is gone) loses it, and with it the lock."""

_WRITE = "SELECT set_config('idle_in_transaction_session_timeout', %(most)s, true), pg_advisory_xact_lock(%(writers)s)"

_SESSION = """
    SELECT set_config('search_path', :schema, false),
           set_config('lock_timeout', :timeout, false),
           set_config('extra_float_digits', '1', false),  -- numbers are returned exactly
           set_config('default_transaction_isolation', 'read committed', false),  -- the lock's next owner sees what was written
           (SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'),  -- learning takes minutes
           set_config('synchronous_commit', CASE setting WHEN 'off' THEN 'on' ELSE setting END, false)
    FROM (SELECT current_setting('synchronous_commit') AS setting) AS today
"""


class PostgresDatabase:
    """PostgreSQL Database (database.py) on an open connection."""

    def __init__(self, connection: psycopg.Connection[Any], place: str) -> None:
        self._connection, self.place = connection, place
        self._readers = count(1)

    def rows(self, statement: str, values: Mapping[str, object] | None = None) -> list[dict[str, Any]]:
        with reported(self.place), self._connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(_in_postgres(statement), {name: _bounded(value) for name, value in (values or {}).items()})
            return cursor.fetchall() if cursor.description else []

    def each(self, statement: str) -> Iterator[tuple[Any, ...]]:
        with (
            reported(self.place),
            # withhold: read to its end or not, it leaves no transaction open into which the next writer would fall
            self._connection.cursor(f"reader {next(self._readers)}", withhold=True, row_factory=tuple_row) as cursor,
        ):
            cursor.itersize = 2000
            cursor.execute(statement.encode())
            yield from cursor

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with reported(self.place), self._connection.transaction():
            self._connection.execute(_WRITE, {"most": MOST_IDLE, "writers": WRITERS})
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with reported(self.place), self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield

    def shrink(self) -> None:
        """Left to the server's autovacuum."""

    def close(self) -> None:
        with reported(self.place):
            self._connection.close()


def open_postgres(url: str, *, read_only: bool, timeout_seconds: float) -> PostgresDatabase | None:
    """A connection to the server, with the schema in the newest version; None if it is read-only and there is no store.

    Raises:
        UsageError: JPO-E509, the URL is malformed.
        StoreError: the server cannot be reached within the timeout, refuses, or holds a schema that is not ours to use.
    """
    parameters, timeout_seconds = _parameters(url), min(timeout_seconds, LONGEST_WAIT)
    place = _place(parameters)
    with ExitStack() as on_failure:
        connection = _connect(parameters, place, timeout_seconds)
        on_failure.callback(connection.close)
        connection.adapters.register_dumper(str, _TextDumper)
        connection.adapters.register_loader("text", _EscapedLoader)
        database = PostgresDatabase(connection, place)
        database.rows(_SESSION, {"schema": SCHEMA, "timeout": str(max(1, round(1000 * timeout_seconds)))})
        if read_only and _version(database) is None:
            connection.close()
            return None
        _migrate(database, read_only=read_only)
        on_failure.pop_all()
    return database


def _parameters(url: str) -> dict[str, Any]:
    """Connection parameters of a URL, parsed by libpq. A password with a bare @ or / ends up in host, port or name: refused."""
    try:
        parameters = conninfo_to_dict(url)
    except (psycopg.Error, UnicodeError):
        parameters = {"port": "?"}  # libpq's own message would quote the URL
    names = [str(parameters.get(key, "")) for key in ("host", "dbname", "hostaddr")]
    if any("@" in name for name in names) or not re.fullmatch(r"[0-9,]*", str(parameters.get("port", ""))):
        remedy = "write postgresql://user@host:5432/database; in user and password, @ is %40, / is %2F and % is %25"
        raise UsageError("store url", "is not a PostgreSQL URL", remedy, code="JPO-E509") from None
    return parameters


def _place(parameters: Mapping[str, Any]) -> str:
    """The URL without user, password and options."""
    port = f":{parameters['port']}" if parameters.get("port") else ""
    host = str(parameters.get("host") or parameters.get("hostaddr") or "")
    return f"postgresql://{host}{port}/{parameters.get('dbname', '')}"


def _connect(parameters: Mapping[str, Any], place: str, timeout_seconds: float) -> psycopg.Connection[Any]:
    """A connection; waits for a server that is starting or restarting. One that is up is tried twice at most."""
    deadline, was_up = time.monotonic() + timeout_seconds, False
    while True:
        left = max(1, round(deadline - time.monotonic()))
        timeouts = {"connect_timeout": left, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
        options = {**timeouts, "fallback_application_name": "jpo", **parameters, "client_encoding": "UTF8"}
        try:
            return psycopg.connect(**options, autocommit=True)
        except psycopg.Error as error:
            over = time.monotonic() + PAUSE_SECONDS > deadline
            state = pq.Ping.NO_ATTEMPT if over else pq.PGconn.ping(make_conninfo(**options).encode())
            if state == pq.Ping.NO_ATTEMPT or (state == pq.Ping.OK and was_up):
                remedy = "check the server, JPO_STORE__URL, and the password in PGPASSFILE"
                raise StoreError(place, f"cannot be opened ({_message(error)})", remedy, code="JPO-E513") from error
            was_up = state == pq.Ping.OK  # perhaps it came up between the two attempts
        if not was_up:
            time.sleep(PAUSE_SECONDS)


def _message(error: psycopg.Error) -> str:
    """The end of libpq's message: the beginning repeats host and port."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = next((line.rpartition("FATAL:")[2] for line in lines if "FATAL:" in line), lines[0] if lines else "no answer")
    return line_of(text.strip())


def _migrate(database: PostgresDatabase, *, read_only: bool) -> None:
    """Migrate the schema to the newest version, in one transaction, also when several processes try at once."""
    version = _version(database)
    if version == len(MIGRATIONS):
        return
    if read_only:
        finding = f"was written by an older jpo (schema {version}, this one knows {len(MIGRATIONS)})"
        raise StoreError(database.place, finding, "`jpo observe` brings it up to date", code="JPO-E505")
    with database.transaction():
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
    """A statement with its named parameters as psycopg writes them."""
    return re.sub(r"(?<![:\w]):(\w+)", r"%(\1)s", statement.replace("%", "%%")).encode()


def _bounded(value: object) -> object:
    """A value as SQLite would store it: True as 1, and no whole number beyond 64 bits."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise OverflowError("a whole number is too large")
    return value


class _TextDumper(StrDumperUnknown):
    """Writes text; the character 0, which PostgreSQL cannot hold but names may, becomes two others."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\x1a", "\x1a1").replace("\0", "\x1a0") if "\0" in obj or "\x1a" in obj else obj)


class _EscapedLoader(TextLoader):
    """Reads text that _TextDumper wrote."""

    def load(self, data: Any) -> str:
        text = str(super().load(data))
        return text.replace("\x1a0", "\0").replace("\x1a1", "\x1a") if "\x1a" in text else text
