"""SqlStore: the history in tables, with each statement once, for SQLite and PostgreSQL alike, next to the method that needs it.

store.py says what each method promises, database.py what the database under it does. Who writes about the same workload takes
turns, so a writer reads first and then inserts or updates; no statement needs to do both at once.
"""

# ruff: noqa: S608 - statements are put together from names in this package; values are parameters

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Self

from jpo.errors import StoreError, UsageError
from jpo.history import archive
from jpo.history.audit import AuditEvent, AuditRecord, AuditRow, read_row, verify
from jpo.history.canonical import canonical
from jpo.history.database import Changes, Database, Link, TableRow, insert_into
from jpo.history.events import MADE, SETTLED, observed, suggested
from jpo.history.failures import readable
from jpo.history.retention.forget import ForgottenRuns, numbers_of_runs, remembered, without_runs, without_series
from jpo.history.retention.needed import SUGGESTIONS, needed_runs
from jpo.history.retention.readings import forgotten_until, move_reading, readings_of_sources
from jpo.history.rows import (
    RUN_COLUMNS,
    SUGGESTION_COLUMNS,
    audit_row,
    identity_columns,
    read_identity,
    read_run,
    read_series,
    read_suggestion,
    run_columns,
    run_key,
    series_rows,
    suggestion_columns,
)
from jpo.history.runs import Forgotten, Reading, RecordedRun, RunKey, additions, follows, key_of, latest_start
from jpo.records import SERIES_QUANTITIES, Finished, Identity, Run, Series, Suggestion

_SAME_JOB = "dataset = :dataset AND model = :model AND framework = :framework"
_OF_IDENTITY = f"{_SAME_JOB} AND hardware = :hardware"
_SIBLING = f"{_SAME_JOB} AND hardware <> :hardware"
_THE_RUN = f"{_OF_IDENTITY} AND run_id = :run_id"
_THE_SOURCE = f"{_OF_IDENTITY} AND source = :source"
_AUDIT = f"SELECT {', '.join(AuditRow._fields)} FROM audit"
_AUDIT_ROWS = f"{_AUDIT} ORDER BY number"
_NEWEST_FIRST = "ORDER BY ended_at DESC, number DESC"
_NEWEST = f"SELECT * FROM runs {_NEWEST_FIRST} LIMIT :limit"
_AT_ONCE = 500
"""Run ids in one statement."""
_ALL = 2**63 - 1
"""As a limit: none."""

_INSERT_RUN = insert_into("runs", RUN_COLUMNS, numbered=True)
_UPDATE_RUN = f"UPDATE runs SET {', '.join(f'{name} = :{name}' for name in RUN_COLUMNS)} WHERE {_THE_RUN}"
_INSERT_SUGGESTION = insert_into("suggestions", SUGGESTION_COLUMNS, numbered=True)


_INSERT_SERIES = f"""
    INSERT INTO series (run, quantity, packed) SELECT number, :quantity, :packed FROM runs
    WHERE {_THE_RUN} AND NOT EXISTS (SELECT 1 FROM series WHERE run = runs.number AND quantity = :quantity)
"""


class SqlStore:
    """A Store (store.py) on a database; `author`, when not empty, is put into every audit record's data as "by"."""

    def __init__(self, database: Database, *, author: Mapping[str, str]) -> None:
        self._database, self._author = database, dict(author)

    # --- runs

    def record(
        self, finished: Finished, *, now: float, identity: Identity | None = None, source: str | None = None
    ) -> tuple[Run, ...]:
        about = identity if identity and source and finished.complete and finished.watermark is not None else None
        known = self._known(finished.runs)
        finished = remembered(finished, known, partial(forgotten_until, self._database))
        added = additions(finished.runs, known, self._suggestion_behind, now)
        if not added and not finished.series and about is None:
            return ()
        jobs = {_job(whose) for whose in (identity, *(run.identity for run in finished.runs)) if whose}
        with self._database.transaction(*jobs) as changes:
            if (meanwhile := self._known(finished.runs)) != known:  # others may have recorded the same, or forgotten it
                finished = remembered(finished, meanwhile, partial(forgotten_until, self._database))
                known, added = meanwhile, additions(finished.runs, meanwhile, self._suggestion_behind, now)
            present = set(known)
            for recorded in added:
                key = key_of(recorded.run)
                changes.add(_UPDATE_RUN if key in present else _INSERT_RUN, run_columns(recorded))
                if key in known and known[key].run.ended_at != recorded.run.ended_at:  # it went on: its series are read anew
                    changes.add(
                        f"DELETE FROM series WHERE run = (SELECT number FROM runs WHERE {_THE_RUN})", run_key(recorded.run)
                    )
                self._chain(observed(recorded.run, recorded.suggestion_id, now), changes)
                present.add(key)
            for row in series_rows(finished):
                changes.add(_INSERT_SERIES, row)
            if about and source:
                move_reading(self._database, about, source, finished, changes)
        return tuple(recorded.run for recorded in added)

    def _known(self, reports: Sequence[Run]) -> dict[RunKey, RecordedRun]:
        """What is on record of these runs."""
        found: dict[RunKey, RecordedRun] = {}
        for identity in dict.fromkeys(report.identity for report in reports):
            ids = list(dict.fromkeys(report.run_id for report in reports if report.identity == identity))
            for at in range(0, len(ids), _AT_ONCE):
                names = {f"id{number}": run_id for number, run_id in enumerate(ids[at : at + _AT_ONCE])}
                statement = f"SELECT * FROM runs WHERE {_OF_IDENTITY} AND run_id IN ({', '.join(f':{name}' for name in names)})"
                rows = self._database.rows(statement, {**identity_columns(identity), **names})
                found |= {key_of(recorded.run): recorded for recorded in self._runs(rows)}
        return found

    def _suggestion_behind(self, run: Run) -> str | None:
        """Id of the newest suggestion made before the run started with whose values it ran."""
        rows = self._database.rows(
            f"""SELECT * FROM suggestions WHERE withdrawn = 0 AND {_OF_IDENTITY} AND created_at <= :started_at
                ORDER BY created_at DESC, number DESC LIMIT 100""",  # agreement with an older one is a coincidence
            {**identity_columns(run.identity), "started_at": latest_start(run)},
        )
        with readable(self._database.place):  # one by one: mostly it is the first
            return next((made.suggestion_id for made in map(read_suggestion, rows) if follows(run, made)), None)

    def watermark(self, identity: Identity, source: str) -> float | None:
        reading = self.readings(identity).get(source)
        return reading.read_until if reading else None

    def readings(self, identity: Identity) -> Mapping[str, Reading]:
        return readings_of_sources(self._database, identity)

    def take_over(self, identity: Identity, source: str, by: str) -> None:
        row = {**identity_columns(identity), "source": source, "taken_by": by}
        with self._database.transaction(_job(identity)) as changes:
            changes.add(f"UPDATE watermarks SET source = :taken_by WHERE {_THE_SOURCE}", row)

    def ended_ids(self, identity: Identity) -> frozenset[str]:
        statement = f"SELECT run_id FROM runs WHERE fell_silent = 0 AND {_OF_IDENTITY}"
        rows = self._database.rows(statement, identity_columns(identity))
        return frozenset(str(row["run_id"]) for row in rows)

    def runs_of(self, identity: Identity) -> tuple[Run, ...]:
        return tuple(recorded.run for recorded in self.recorded_runs(identity))

    def run(self, run_id: str) -> Run | None:
        statement = "SELECT * FROM runs WHERE run_id = :run_id ORDER BY number DESC LIMIT 1"
        return next((recorded.run for recorded in self._runs(self._database.rows(statement, {"run_id": run_id}))), None)

    def recorded_runs(self, identity: Identity | None = None, *, limit: int | None = None) -> tuple[RecordedRun, ...]:
        runs = f"SELECT * FROM runs WHERE {_OF_IDENTITY}" if identity else "SELECT * FROM runs"
        return self._runs(self._newest(f"{runs} {_NEWEST_FIRST}", identity, limit))

    def others_of(self, identity: Identity, *, among: int) -> tuple[Run, ...]:
        others = f"SELECT * FROM ({_NEWEST}) AS newest WHERE NOT ({_SAME_JOB}) {_NEWEST_FIRST}"
        rows = self._database.rows(others, {**identity_columns(identity), "limit": among})[::-1]
        return tuple(recorded.run for recorded in self._runs(rows))

    def siblings_of(self, identity: Identity, *, limit: int) -> tuple[Run, ...]:
        rows = self._newest(f"SELECT * FROM runs WHERE {_SIBLING} {_NEWEST_FIRST}", identity, limit)
        return tuple(recorded.run for recorded in self._runs(rows))

    def runs_following(self, suggestion_id: str) -> tuple[Run, ...]:
        statement = "SELECT * FROM runs WHERE suggestion_id = :id ORDER BY ended_at, number"
        return tuple(recorded.run for recorded in self._runs(self._database.rows(statement, {"id": suggestion_id})))

    def _runs(self, rows: Sequence[TableRow]) -> tuple[RecordedRun, ...]:
        with readable(self._database.place):
            return tuple(map(read_run, rows))

    # --- series

    def series_of(self, run: Run) -> tuple[Series, ...]:
        statement = f"SELECT run_id, quantity, packed FROM series JOIN runs ON run = number WHERE {_THE_RUN}"
        with readable(self._database.place):
            stored = map(read_series, self._database.rows(statement, run_key(run)))
            return tuple(sorted(stored, key=lambda series: SERIES_QUANTITIES.index(series.quantity)))

    def forget_series(self, *, ended_before: float, now: float) -> Forgotten:
        with self._database.transaction("series") as changes:
            if (forgotten := without_series(self._database, ended_before, changes)).series:
                self._chain(AuditEvent("forgotten", now, None, {**forgotten._asdict(), "ended_before": ended_before}), changes)
        self._database.shrink()  # also what forgotten runs have left
        return forgotten

    def forget_runs(self, identity: Identity, *, newest: int, now: float) -> ForgottenRuns:
        with self._database.transaction(_job(identity)) as changes:
            followed = {made.suggestion_id for made in self.suggestions_of(identity, limit=SUGGESTIONS)}
            recorded = self.recorded_runs(identity)
            forgotten = without_runs(self._database, recorded, needed_runs(recorded, newest=newest, followed=followed), changes)
            if forgotten.runs:
                self._chain(AuditEvent("forgotten", now, identity, {**forgotten._asdict(), "newest": newest}), changes)
        return forgotten

    def numbers_of_runs(self) -> Mapping[Identity, int]:
        return numbers_of_runs(self._database)

    # --- suggestions

    def append(
        self, suggestion: Suggestion, *, config: str, source_digest: str, planned_digest: str | None = None
    ) -> AuditRecord:
        with self._database.transaction() as changes:
            changes.add(_INSERT_SUGGESTION, suggestion_columns(suggestion))
            self._chain(suggested(suggestion, config, source_digest, planned_digest), changes)
        return read_row(changes.chained[-1])

    def withdraw(self, suggestion_id: str, event: AuditEvent) -> AuditRecord:
        with self._database.transaction() as changes:
            changes.add("UPDATE suggestions SET withdrawn = 1 WHERE suggestion_id = :id", {"id": suggestion_id})
            self._chain(event, changes)
        return read_row(changes.chained[-1])

    def suggestions_of(self, identity: Identity | None = None, *, limit: int | None = None) -> tuple[Suggestion, ...]:
        where = f"WHERE withdrawn = 0 AND {_OF_IDENTITY}" if identity else "WHERE withdrawn = 0"
        rows = self._newest(f"SELECT * FROM suggestions {where} ORDER BY created_at DESC, number DESC", identity, limit)
        return self._suggestions(rows)

    def as_recorded(self, identity: Identity, *, since: str | None = None) -> tuple[Suggestion, ...]:
        start = "AND number >= (SELECT number FROM suggestions WHERE suggestion_id = :since)" if since else ""
        return self._recorded(identity, start, {"since": since} if since else {})

    def written(self, identity: Identity) -> frozenset[str]:
        rows = self._database.rows(f"{_AUDIT} WHERE kind = 'written' AND {_OF_IDENTITY}", identity_columns(identity))
        return frozenset(str(read_row(audit_row(row)).data.get("suggestion_id")) for row in rows)

    def rollbacks_of(self, identity: Identity) -> tuple[Suggestion, ...]:
        rollback = {"rollback": '%"decided_by":"rollback"%'}  # canonical JSON has one form
        return self._recorded(identity, "AND document LIKE :rollback", rollback)

    def _recorded(self, identity: Identity, condition: str, values: Mapping[str, object]) -> tuple[Suggestion, ...]:
        rows = self._database.rows(
            f"SELECT * FROM suggestions WHERE withdrawn = 0 AND {_OF_IDENTITY} {condition} ORDER BY number",
            {**identity_columns(identity), **values},
        )
        return self._suggestions(rows)

    def newest_change(self, identity: Identity) -> Suggestion | None:
        rows = self._database.rows(
            f"""SELECT * FROM suggestions WHERE withdrawn = 0 AND status = 'changed' AND {_OF_IDENTITY}
                ORDER BY created_at DESC, number DESC LIMIT 1""",
            identity_columns(identity),
        )
        return next(iter(self._suggestions(rows)), None)

    def unsettled(self, identity: Identity | None = None) -> tuple[AuditRecord, ...]:
        newest = (self.newest_change(one) for one in ([identity] if identity else self._workloads()))
        open_ends = (made for made in newest if made and not self._events(made, SETTLED))
        return tuple(event for made in open_ends for event in self._events(made, MADE))

    def _workloads(self) -> list[Identity]:
        rows = self._database.rows("SELECT DISTINCT dataset, model, framework, hardware FROM suggestions ORDER BY 1, 2, 3, 4")
        with readable(self._database.place):
            return list(map(read_identity, rows))

    def _events(self, made: Suggestion, kinds: Sequence[str]) -> list[AuditRecord]:
        """What the log says of a suggestion, in events of these kinds."""
        rows = self._database.rows(
            f"""{_AUDIT} WHERE kind IN ({", ".join(f"'{kind}'" for kind in kinds)}) AND {_OF_IDENTITY} AND data LIKE :names_it
                ORDER BY number""",
            {**identity_columns(made.identity), "names_it": f"%{canonical(made.suggestion_id)}%"},
        )
        events = [read_row(audit_row(row)) for row in rows]
        return [event for event in events if event.data.get("suggestion_id") == made.suggestion_id]

    def suggestion(self, suggestion_id: str) -> Suggestion:
        rows = self._database.rows("SELECT * FROM suggestions WHERE suggestion_id = :id", {"id": suggestion_id})
        if not rows:
            raise UsageError("history", f"suggestion {suggestion_id!r} is not on record", "see `jpo history`", code="JPO-E507")
        return self._suggestions(rows)[0]

    def _suggestions(self, rows: Sequence[TableRow]) -> tuple[Suggestion, ...]:
        with readable(self._database.place):
            return tuple(map(read_suggestion, rows))

    # --- agents

    def save_agent(self, name: str, state: bytes, *, expected_version: int, event: AuditEvent | None = None) -> int:
        with self._database.transaction(f"agent {name}") as changes:
            saved = self._database.rows("SELECT version FROM agents WHERE name = :name", {"name": name})
            version = saved[0]["version"] if saved else 0
            if version != expected_version:
                finding = f"agent {name!r} was saved by another process (version {version}, expected {expected_version})"
                raise StoreError(self._database.place, finding, "repeat: it is loaded again", code="JPO-E506")
            row = {"name": name, "version": version + 1, "state": state}
            change = "UPDATE agents SET version = :version, state = :state WHERE name = :name"
            changes.add(change if saved else insert_into("agents", [*row]), row)
            if event:
                self._chain(event, changes)
        return version + 1

    def load_agent(self, name: str) -> tuple[bytes, int] | None:
        rows = self._database.rows("SELECT state, version FROM agents WHERE name = :name", {"name": name})
        return (rows[0]["state"], rows[0]["version"]) if rows else None

    # --- audit log

    def audit(self, event: AuditEvent) -> AuditRecord:
        with self._database.transaction() as changes:
            self._chain(event, changes)
        return read_row(changes.chained[-1])

    def _chain(self, event: AuditEvent, changes: Changes) -> None:
        """An event for the end of the audit log, among the changes that it is about."""
        data = canonical({**event.data, "by": self._author} if self._author else event.data)
        changes.steps.append(Link(event.at, event.kind, event.identity, data))

    def audit_records(self, *, limit: int | None = None) -> tuple[AuditRecord, ...]:
        rows = self._database.rows(f"{_AUDIT_ROWS} DESC LIMIT :limit", {"limit": _ALL if limit is None else limit})
        return tuple(read_row(audit_row(row)) for row in reversed(rows))

    def audit_rows(self) -> Iterator[AuditRow]:
        return map(AuditRow._make, self._database.each(_AUDIT_ROWS))

    # --- the whole

    def export_lines(self, *, written_by: str) -> Iterator[str]:
        return archive.export_lines(self._database, written_by)

    def import_lines(self, lines: Iterable[bytes], place: str) -> Mapping[str, int]:
        with self._database.alone():
            counts = archive.import_lines(self._database, lines, place)
            verification = verify(self)
            if not verification.ok:
                finding = f"audit log: {verification.reason}"
                raise StoreError(place, finding, "import another copy; nothing was kept", code="JPO-E511")
        return counts

    def _newest(self, statement: str, identity: Identity | None, limit: int | None) -> Sequence[TableRow]:
        """The newest rows, of one workload or of all, oldest first; the statement sorts newest first."""
        names = identity_columns(identity) if identity else {}
        return self._database.rows(f"{statement} LIMIT :limit", {**names, "limit": _ALL if limit is None else limit})[::-1]

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(StoreError):  # what was acknowledged is on disk: nothing that was reported becomes untrue
            self.close()


def _job(identity: Identity) -> str:
    """The job of a workload, on any hardware, as the subject of a transaction."""
    return canonical([identity.dataset, identity.model, identity.framework])
