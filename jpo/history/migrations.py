"""Migrations of the SQLite store: step n leads from version n-1 to n, in one transaction, and is never edited.

The version is kept in the file's header (`PRAGMA user_version`), next to a mark that says whose file it is. Names carry their
units; times are unix seconds, mappings are canonical JSON.
"""

import sqlite3
from pathlib import Path

from jpo.errors import StoreError

APPLICATION_ID = 0x4A504F31
"""The mark in the header: "JPO1"."""


def statements_of(file: Path) -> tuple[str, ...]:
    """The statements of a step in a file, between which there is an empty line."""
    return tuple(file.read_text("utf-8").strip().split("\n\n"))


MIGRATIONS: tuple[tuple[str, ...], ...] = (
    statements_of(Path(__file__).with_name("step_1.sql")),
    statements_of(Path(__file__).with_name("step_2.sql")),
    # Hardware is part of what identifies a workload; '' is hardware that is not named. Two tables are made anew, because SQLite
    # cannot change what is unique in them; foreign keys are not watched while migrations run, and the numbers stay.
    statements_of(Path(__file__).with_name("step_3.sql")),
    ("ALTER TABLE runs ADD COLUMN loss_slope REAL", "ALTER TABLE runs ADD COLUMN loss_slope_error REAL"),
    # `source` names the server from now on; a watermark of before is taken over by the first server that is read.
    (
        "ALTER TABLE watermarks ADD COLUMN passed_over TEXT NOT NULL DEFAULT '{}'",  # JSON: run id -> when it was looked at
        "ALTER TABLE runs ADD COLUMN fell_silent INTEGER NOT NULL DEFAULT 0 CHECK (fell_silent IN (0, 1))",
        "ALTER TABLE runs ADD COLUMN epochs REAL",
    ),
    (
        "ALTER TABLE runs ADD COLUMN val_accuracy REAL",
        "ALTER TABLE runs ADD COLUMN metrics TEXT NOT NULL DEFAULT '{}'",  # JSON: the user's own, by name
        "ALTER TABLE runs ADD COLUMN assumed TEXT NOT NULL DEFAULT '[]'",  # JSON: parameters that the run did not report
        "CREATE INDEX runs_by_time ON runs (ended_at, number)",
    ),
)


def migrate(connection: sqlite3.Connection, place: str) -> None:
    """Migrate an open database to the newest version; each step whole or not at all, also when several processes try at once.

    Raises StoreError: JPO-E505, a newer jpo wrote it; JPO-E510, it is another program's database; sqlite3.Error otherwise.
    """
    while _version(connection, place) < len(MIGRATIONS):
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            version = _version(connection, place)  # again: another process may have been first
            for statement in MIGRATIONS[version] if version < len(MIGRATIONS) else ():
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {min(version + 1, len(MIGRATIONS))}")


def is_newest(connection: sqlite3.Connection, place: str) -> bool:
    """Whether an open database needs no migration; raises as `migrate` does."""
    return _version(connection, place) == len(MIGRATIONS)


def _version(connection: sqlite3.Connection, place: str) -> int:
    """The schema's version, 0 for an empty database; refused when it is not ours to change."""
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if tables and mark != APPLICATION_ID:
        raise StoreError(place, "is another program's SQLite database", "name another file as the store", code="JPO-E510")
    if version > len(MIGRATIONS):
        finding = f"was written by a newer jpo (schema {version}, this one knows {len(MIGRATIONS)})"
        raise StoreError(place, finding, "upgrade jpo", code="JPO-E505")
    return int(version)
