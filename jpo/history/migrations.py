"""Migrations of the SQLite store: step n leads from version n-1 to n, in one transaction, and is never edited.

The version is kept in the file's header (`PRAGMA user_version`), next to a mark that says whose file it is. Names carry their
units; times are unix seconds, mappings are canonical JSON.
"""

import sqlite3

from jpo.errors import StoreError

APPLICATION_ID = 0x4A504F31
"""The mark in the header: "JPO1"."""
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE suggestions (
            number        INTEGER PRIMARY KEY,
            suggestion_id TEXT NOT NULL UNIQUE,
            dataset       TEXT NOT NULL,
            model         TEXT NOT NULL,
            framework     TEXT NOT NULL,
            created_at    REAL NOT NULL,
            document      TEXT NOT NULL,  -- the whole suggestion with its forecasts, JSON
            withdrawn     INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1))  -- 1: config.ini never got its values
        ) STRICT
        """,
        "CREATE INDEX suggestions_by_workload ON suggestions (dataset, model, framework, created_at, number)",
        """
        CREATE TABLE runs (
            number                        INTEGER PRIMARY KEY,
            dataset                       TEXT NOT NULL,
            model                         TEXT NOT NULL,
            framework                     TEXT NOT NULL,
            run_id                        TEXT NOT NULL,
            status                        TEXT NOT NULL,
            source                        TEXT NOT NULL,
            started_at                    REAL,           -- NULL here and below: not measured
            ended_at                      REAL NOT NULL,
            recorded_at                   REAL NOT NULL,
            suggestion_id                 TEXT REFERENCES suggestions (suggestion_id),
            parameters                    TEXT NOT NULL,  -- JSON: only what is known
            duration_seconds              REAL,
            cost_usd                      REAL,
            energy_joules                 REAL,
            samples                       REAL,
            throughput_samples_per_second REAL,
            train_loss                    REAL,
            val_loss                      REAL,
            gpu_utilisation               REAL,
            cpu_utilisation               REAL,
            memory_gib                    REAL,
            gpu_memory_gib                REAL,
            converged                     INTEGER CHECK (converged IN (0, 1)),
            UNIQUE (dataset, model, framework, run_id)
        ) STRICT
        """,
        "CREATE INDEX runs_by_end ON runs (dataset, model, framework, ended_at, number)",
        "CREATE INDEX runs_by_suggestion ON runs (suggestion_id)",
        "CREATE INDEX runs_by_id ON runs (run_id)",
        """
        CREATE TABLE watermarks (
            dataset    TEXT NOT NULL,
            model      TEXT NOT NULL,
            framework  TEXT NOT NULL,
            source     TEXT NOT NULL,
            read_until REAL NOT NULL CHECK (abs(read_until) < 1e12),  -- infinity would hide every later run
            PRIMARY KEY (dataset, model, framework, source)
        ) STRICT
        """,
        """
        CREATE TABLE agents (
            name    TEXT PRIMARY KEY,
            version INTEGER NOT NULL,
            state   BLOB NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE audit (
            number    INTEGER PRIMARY KEY,
            at        REAL NOT NULL,
            kind      TEXT NOT NULL,
            dataset   TEXT,
            model     TEXT,
            framework TEXT,
            data      TEXT NOT NULL,  -- JSON
            previous  TEXT NOT NULL,  -- hash of the record before
            hash      TEXT NOT NULL
        ) STRICT
        """,
        """
        CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
        """,
        """
        CREATE TRIGGER audit_is_never_shortened BEFORE DELETE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END
        """,
        # INSERT OR REPLACE deletes without asking the trigger above; so a number must be the next one.
        """
        CREATE TRIGGER audit_grows_at_its_end BEFORE INSERT ON audit
        WHEN NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM audit)
        BEGIN SELECT RAISE(ABORT, 'the audit log grows at its end only'); END
        """,
    ),
    (
        "ALTER TABLE runs ADD COLUMN cpu_cores_mean REAL",
        "ALTER TABLE runs ADD COLUMN cpu_cores_p95 REAL",
        "ALTER TABLE runs ADD COLUMN memory_mean_gib REAL",
        "ALTER TABLE runs ADD COLUMN memory_p95_gib REAL",
        "ALTER TABLE suggestions ADD COLUMN status TEXT NOT NULL DEFAULT 'kept'",
        """
        UPDATE suggestions SET status = coalesce(json_extract(document, '$.status'), 'kept') WHERE json_valid(document)
        """,
        """
        CREATE TABLE series (
            run      INTEGER NOT NULL REFERENCES runs (number),
            quantity TEXT NOT NULL,
            packed   BLOB NOT NULL,  -- times and values, packed (traces.py)
            PRIMARY KEY (run, quantity)
        ) STRICT
        """,
    ),
    # Hardware is part of what identifies a workload; '' is hardware that is not named. Two tables are made anew, because SQLite
    # cannot change what is unique in them; foreign keys are not watched while migrations run, and the numbers stay.
    (
        "ALTER TABLE suggestions ADD COLUMN hardware TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE audit ADD COLUMN hardware TEXT NOT NULL DEFAULT ''",
        "DROP INDEX suggestions_by_workload",
        "CREATE INDEX suggestions_by_workload ON suggestions (dataset, model, framework, hardware, created_at, number)",
        """
        CREATE TABLE runs_of_3 (
            number                        INTEGER PRIMARY KEY,
            dataset                       TEXT NOT NULL,
            model                         TEXT NOT NULL,
            framework                     TEXT NOT NULL,
            hardware                      TEXT NOT NULL DEFAULT '',
            run_id                        TEXT NOT NULL,
            status                        TEXT NOT NULL,
            source                        TEXT NOT NULL,
            started_at                    REAL,
            ended_at                      REAL NOT NULL,
            recorded_at                   REAL NOT NULL,
            suggestion_id                 TEXT REFERENCES suggestions (suggestion_id),
            parameters                    TEXT NOT NULL,
            duration_seconds              REAL,
            cost_usd                      REAL,
            energy_joules                 REAL,
            samples                       REAL,
            throughput_samples_per_second REAL,
            train_loss                    REAL,
            val_loss                      REAL,
            gpu_utilisation               REAL,
            cpu_utilisation               REAL,
            memory_gib                    REAL,
            gpu_memory_gib                REAL,
            converged                     INTEGER CHECK (converged IN (0, 1)),
            cpu_cores_mean                REAL,
            cpu_cores_p95                 REAL,
            memory_mean_gib               REAL,
            memory_p95_gib                REAL,
            UNIQUE (dataset, model, framework, hardware, run_id)
        ) STRICT
        """,
        """
        INSERT INTO runs_of_3 SELECT
            number, dataset, model, framework, '', run_id, status, source, started_at, ended_at, recorded_at, suggestion_id,
            parameters, duration_seconds, cost_usd, energy_joules, samples, throughput_samples_per_second, train_loss, val_loss,
            gpu_utilisation, cpu_utilisation, memory_gib, gpu_memory_gib, converged, cpu_cores_mean, cpu_cores_p95,
            memory_mean_gib, memory_p95_gib
        FROM runs
        """,
        "DROP TABLE runs",
        "ALTER TABLE runs_of_3 RENAME TO runs",
        "CREATE INDEX runs_by_end ON runs (dataset, model, framework, hardware, ended_at, number)",
        "CREATE INDEX runs_by_suggestion ON runs (suggestion_id)",
        "CREATE INDEX runs_by_id ON runs (run_id)",
        """
        CREATE TABLE watermarks_of_3 (
            dataset    TEXT NOT NULL,
            model      TEXT NOT NULL,
            framework  TEXT NOT NULL,
            hardware   TEXT NOT NULL DEFAULT '',
            source     TEXT NOT NULL,
            read_until REAL NOT NULL CHECK (abs(read_until) < 1e12),
            PRIMARY KEY (dataset, model, framework, hardware, source)
        ) STRICT
        """,
        "INSERT INTO watermarks_of_3 SELECT dataset, model, framework, '', source, read_until FROM watermarks",
        "DROP TABLE watermarks",
        "ALTER TABLE watermarks_of_3 RENAME TO watermarks",
    ),
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
