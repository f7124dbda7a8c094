"""The history in one SQLite file: each statement beside the method that needs it (store.py says what each promises).

Writers take the lock first (BEGIN IMMEDIATE), so that what they read is still true when they write; readers never wait (WAL).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from jpo.errors import StoreError, UsageError
from jpo.history.audit import AuditEvent, AuditRecord, AuditRow, chain, read_row
from jpo.history.canonical import canonical
from jpo.history.events import observed, suggested
from jpo.history.failures import readable, reported
from jpo.history.rows import identity_columns, read_run, read_suggestion, run_columns, suggestion_columns
from jpo.history.runs import RecordedRun, follows, fuller, latest_start
from jpo.records import Finished, Identity, Run, Suggestion

_PUT_RUN = """
    INSERT OR REPLACE INTO runs (
        number, dataset, model, framework, run_id, status, source, started_at, ended_at, recorded_at, suggestion_id, parameters,
        duration_seconds, cost_usd, energy_joules, samples, throughput_samples_per_second, train_loss, val_loss,
        gpu_utilisation, cpu_utilisation, memory_gib, gpu_memory_gib, cpu_cores_mean, cpu_cores_p95, memory_mean_gib,
        memory_p95_gib, converged
    ) VALUES (
        (SELECT number FROM runs
         WHERE dataset = :dataset AND model = :model AND framework = :framework AND run_id = :run_id),
        :dataset, :model, :framework, :run_id, :status, :source, :started_at, :ended_at, :recorded_at, :suggestion_id,
        :parameters,
        :duration_seconds, :cost_usd, :energy_joules, :samples, :throughput_samples_per_second, :train_loss, :val_loss,
        :gpu_utilisation, :cpu_utilisation, :memory_gib, :gpu_memory_gib, :cpu_cores_mean, :cpu_cores_p95,
        :memory_mean_gib, :memory_p95_gib, :converged
    )
"""

_AUDIT_ROWS = "SELECT number, at, kind, dataset, model, framework, data, previous, hash FROM audit ORDER BY number"


class SqliteStore:
    """A Store (store.py) on an open, migrated connection; `place` names it in messages."""

    def __init__(self, connection: sqlite3.Connection, place: str) -> None:
        self._connection, self._place = connection, place

    # --- runs

    def record(
        self, finished: Finished, *, now: float, identity: Identity | None = None, source: str | None = None
    ) -> tuple[Run, ...]:
        with self._transaction():
            told = [self._record_run(run, now) for run in finished.runs]
            if finished.complete and finished.watermark is not None and identity and source:
                self._move_watermark(identity, source, finished.watermark)
        return tuple(run for run in told if run is not None)

    def _record_run(self, report: Run, now: float) -> Run | None:
        """The run as it is on record afterwards, None when the report says nothing new."""
        known = self._known(report)
        run = fuller(known.run, report) if known else report
        if known and run == known.run:
            return None
        suggestion_id = known.suggestion_id if known and known.suggestion_id else self._suggestion_behind(run)
        self._rows(_PUT_RUN, run_columns(RecordedRun(run, suggestion_id, known.recorded_at if known else now)))
        self._chain(observed(run, suggestion_id, now))
        return run

    def _known(self, run: Run) -> RecordedRun | None:
        rows = self._rows(
            """SELECT * FROM runs
               WHERE dataset = :dataset AND model = :model AND framework = :framework AND run_id = :run_id""",
            {**identity_columns(run.identity), "run_id": run.run_id},
        )
        return next(iter(self._runs(rows)), None)

    def _suggestion_behind(self, run: Run) -> str | None:
        """Id of the newest suggestion, made before the run started, that it ran with."""
        rows = self._rows(
            """SELECT * FROM suggestions
               WHERE NOT withdrawn AND dataset = :dataset AND model = :model AND framework = :framework
               AND created_at <= :started_at
               ORDER BY created_at DESC, number DESC LIMIT 100""",  # to agree with an older one is a coincidence
            {**identity_columns(run.identity), "started_at": latest_start(run)},
        )
        with readable(self._place):
            return next((one.suggestion_id for one in map(read_suggestion, rows) if follows(run, one)), None)

    def _move_watermark(self, identity: Identity, source: str, read_until: float) -> None:
        self._rows(
            """INSERT INTO watermarks VALUES (:dataset, :model, :framework, :source, :read_until)
               ON CONFLICT DO UPDATE SET read_until = max(read_until, excluded.read_until)""",
            {**identity_columns(identity), "source": source, "read_until": read_until},
        )

    def watermark(self, identity: Identity, source: str) -> float | None:
        rows = self._rows(
            """SELECT read_until FROM watermarks
               WHERE dataset = :dataset AND model = :model AND framework = :framework AND source = :source""",
            {**identity_columns(identity), "source": source},
        )
        return rows[0]["read_until"] if rows else None

    def runs_of(self, identity: Identity) -> tuple[Run, ...]:
        return tuple(recorded.run for recorded in self.recorded_runs(identity))

    def run(self, run_id: str) -> Run | None:
        rows = self._rows("SELECT * FROM runs WHERE run_id = :run_id ORDER BY number DESC LIMIT 1", {"run_id": run_id})
        return next((recorded.run for recorded in self._runs(rows)), None)

    def recorded_runs(self, identity: Identity | None = None, *, limit: int | None = None) -> tuple[RecordedRun, ...]:
        rows = self._newest(
            "SELECT * FROM runs ORDER BY ended_at DESC, number DESC LIMIT :limit",
            """SELECT * FROM runs WHERE dataset = :dataset AND model = :model AND framework = :framework
               ORDER BY ended_at DESC, number DESC LIMIT :limit""",
            identity,
            limit,
        )
        return self._runs(rows)

    def runs_following(self, suggestion_id: str) -> tuple[Run, ...]:
        rows = self._rows("SELECT * FROM runs WHERE suggestion_id = :id ORDER BY ended_at, number", {"id": suggestion_id})
        return tuple(recorded.run for recorded in self._runs(rows))

    def _runs(self, rows: list[sqlite3.Row]) -> tuple[RecordedRun, ...]:
        with readable(self._place):
            return tuple(map(read_run, rows))

    # --- suggestions

    def append(self, suggestion: Suggestion, *, config: str, source_digest: str) -> AuditRecord:
        with self._transaction():
            self._rows(
                """INSERT INTO suggestions (suggestion_id, dataset, model, framework, created_at, document)
                   VALUES (:suggestion_id, :dataset, :model, :framework, :created_at, :document)""",
                suggestion_columns(suggestion),
            )
            return self._chain(suggested(suggestion, config, source_digest))

    def withdraw(self, suggestion_id: str, event: AuditEvent) -> AuditRecord:
        with self._transaction():
            self._rows("UPDATE suggestions SET withdrawn = 1 WHERE suggestion_id = :id", {"id": suggestion_id})
            return self._chain(event)

    def suggestions_of(self, identity: Identity | None = None, *, limit: int | None = None) -> tuple[Suggestion, ...]:
        rows = self._newest(
            "SELECT * FROM suggestions WHERE NOT withdrawn ORDER BY created_at DESC, number DESC LIMIT :limit",
            """SELECT * FROM suggestions WHERE NOT withdrawn AND dataset = :dataset AND model = :model AND framework = :framework
               ORDER BY created_at DESC, number DESC LIMIT :limit""",
            identity,
            limit,
        )
        with readable(self._place):
            return tuple(map(read_suggestion, rows))

    def newest_change(self, identity: Identity) -> Suggestion | None:
        rows = self._rows(
            """SELECT * FROM suggestions
               WHERE NOT withdrawn AND dataset = :dataset AND model = :model AND framework = :framework
               AND json_extract(document, '$.status') = 'changed'
               ORDER BY created_at DESC, number DESC LIMIT 1""",
            {**identity_columns(identity)},
        )
        with readable(self._place):
            return next(map(read_suggestion, rows), None)

    def suggestion(self, suggestion_id: str) -> Suggestion:
        rows = self._rows("SELECT * FROM suggestions WHERE suggestion_id = :id", {"id": suggestion_id})
        if not rows:
            raise UsageError("history", f"suggestion {suggestion_id!r} is not on record", "see `jpo history`", code="JPO-E507")
        with readable(self._place):
            return read_suggestion(rows[0])

    # --- agents

    def save_agent(self, name: str, state: bytes, *, expected_version: int) -> int:
        with self._transaction():
            loaded = self.load_agent(name)
            version = loaded[1] if loaded else 0
            if version != expected_version:
                found = f"agent {name!r} was saved by another process (version {version}, expected {expected_version})"
                raise StoreError(self._place, found, "repeat: it is loaded again", code="JPO-E506")
            row = {"name": name, "version": version + 1, "state": state}
            self._rows("INSERT OR REPLACE INTO agents (name, version, state) VALUES (:name, :version, :state)", row)
        return version + 1

    def load_agent(self, name: str) -> tuple[bytes, int] | None:
        rows = self._rows("SELECT state, version FROM agents WHERE name = :name", {"name": name})
        return (rows[0]["state"], rows[0]["version"]) if rows else None

    # --- audit log

    def audit(self, event: AuditEvent) -> AuditRecord:
        with self._transaction():
            return self._chain(event)

    def _chain(self, event: AuditEvent) -> AuditRecord:
        """Append to the audit log, inside the transaction of what is told."""
        last = self._newest_audit(1)
        row = chain(last[0] if last else None, event.at, event.kind, event.identity, canonical(event.data))
        self._rows(
            """INSERT INTO audit (number, at, kind, dataset, model, framework, data, previous, hash)
               VALUES (:number, :at, :kind, :dataset, :model, :framework, :data, :previous, :hash)""",
            row._asdict(),
        )
        return read_row(row)

    def audit_records(self, *, limit: int | None = None) -> tuple[AuditRecord, ...]:
        return tuple(map(read_row, reversed(self._newest_audit(limit))))

    def _newest_audit(self, limit: int | None) -> list[AuditRow]:
        rows = self._rows(f"{_AUDIT_ROWS} DESC LIMIT :limit", {"limit": _sql_limit(limit)})
        return [AuditRow._make(row) for row in rows]

    def audit_rows(self) -> Iterator[AuditRow]:
        with reported(self._place):
            yield from map(AuditRow._make, self._connection.execute(_AUDIT_ROWS))

    # --- the connection

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Everything in the block is on disk after it, or nothing of it."""
        with reported(self._place), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield

    def _newest(self, of_all: str, of_one: str, identity: Identity | None, limit: int | None) -> list[sqlite3.Row]:
        """The newest rows, of one workload or of all, oldest first; the statements sort newest first."""
        names = identity_columns(identity) if identity else {}
        return self._rows(of_one if identity else of_all, {**names, "limit": _sql_limit(limit)})[::-1]

    def _rows(self, statement: str, values: Mapping[str, object]) -> list[sqlite3.Row]:
        with reported(self._place):
            return self._connection.execute(statement, values).fetchall()

    def close(self) -> None:
        with reported(self._place):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _sql_limit(limit: int | None) -> int:
    return -1 if limit is None else limit  # SQLite: a negative limit is none
