"""Store of the history: runs, suggestions and agents in tables, for SQLite and PostgreSQL alike, next to the audit log.

The history is the truth (an agent can be rebuilt from it); the agents in it are a cache. Methods raise StoreError when the store
cannot be used; what they return is complete or not returned at all. Lists are oldest first; a `limit` keeps the newest ones.

Each statement stands next to the method that needs it; database.py says what the database under it does. Who writes about the
same workload takes turns, so a writer reads first and then inserts or updates; no statement needs to do both at once.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from jpo.errors import StoreError
from jpo.history.audit import AuditEvent
from jpo.history.canonical import canonical
from jpo.history.database import OF_WORKLOAD, SAME_JOB, insert_into, naming
from jpo.history.decision_log import DecisionLog, limited
from jpo.history.events import observed
from jpo.history.failures import readable
from jpo.history.retention import forget
from jpo.history.rows import (
    RUN_COLUMNS,
    identity_columns,
    read_identity,
    read_run,
    read_series,
    read_suggestion,
    run_columns,
    run_key,
    series_rows,
)
from jpo.history.runs import Forgotten, Reading, RecordedRun, RunKey, additions, follows, key_of, latest_start
from jpo.records import SERIES_QUANTITIES, Finished, Identity, Run, Series
from jpo.records.runs import by_workload

_THE_RUN = f"{OF_WORKLOAD} AND run_id = :run_id"
_NEWEST_FIRST = "ORDER BY ended_at DESC, number DESC"
_INSERT_RUN = insert_into("runs", RUN_COLUMNS, numbered=True)
_UPDATE_RUN = f"UPDATE runs SET {', '.join(f'{name} = :{name}' for name in RUN_COLUMNS)} WHERE {_THE_RUN}"
_DELETE_SERIES = f"DELETE FROM series WHERE run = (SELECT number FROM runs WHERE {_THE_RUN})"
_INSERT_SERIES = f"""
    INSERT INTO series (run, quantity, packed) SELECT number, :quantity, :packed FROM runs
    WHERE {_THE_RUN} AND NOT EXISTS (SELECT 1 FROM series WHERE run = runs.number AND quantity = :quantity)
"""


class Store(DecisionLog):
    """Runs, suggestions, agent state and the audit log of one team; a context manager that closes it."""

    def record(
        self, finished: Finished, *, now: float, identity: Identity | None = None, source: str | None = None
    ) -> tuple[Run, ...]:
        """Put finished runs on record; in one transaction, with one audit record "observed" for each.

        A run is known by its identity and run id. Reported again, it gains what was unknown and keeps what was known, unless it
        had only fallen silent (runs.fuller); of each quantity's series the first stays. It is tied to the newest suggestion of
        its identity, made before it started, whose parameters it ran with.

        `finished`: runs that one reading of a source brought; they may be of several workloads. `identity`, `source`: whose
        watermark moves to `finished.watermark`, with what it passed over; it never moves back, nor after a partial answer, nor
        when one of the two is None. A source that is a server names its address.

        Returns the runs, as recorded, that were new or gained something: those to learn from. Empty when all was known.
        """
        about = identity if identity and source and finished.complete and finished.watermark is not None else None
        known = self._known(finished.runs)
        finished = forget.remembered(finished, known, partial(forget.forgotten_until, self.database))
        added = additions(finished.runs, known, self._suggestion_behind, now)
        if not added and not finished.series and about is None:
            return ()
        jobs = {_job(whose) for whose in (identity, *(run.identity for run in finished.runs)) if whose}
        with self.database.transaction(*jobs) as changes:
            if (meanwhile := self._known(finished.runs)) != known:  # others may have recorded the same, or forgotten it
                finished = forget.remembered(finished, meanwhile, partial(forget.forgotten_until, self.database))
                known, added = meanwhile, additions(finished.runs, meanwhile, self._suggestion_behind, now)
            present = set(known)
            for recorded in added:
                key = key_of(recorded.run)
                changes.add(_UPDATE_RUN if key in present else _INSERT_RUN, run_columns(recorded))
                if key in known and known[key].run.ended_at != recorded.run.ended_at:  # it went on: its series are read anew
                    changes.add(_DELETE_SERIES, run_key(recorded.run))
                self._chain(observed(recorded.run, recorded.suggestion_id, now), changes)
                present.add(key)
            self.derived.clear()
            for row in series_rows(finished):
                changes.add(_INSERT_SERIES, row)
            if about and source:
                forget.move_reading(self.database, about, source, finished, changes)
        return tuple(recorded.run for recorded in added)

    def _known(self, reports: Sequence[Run]) -> dict[RunKey, RecordedRun]:
        found: dict[RunKey, RecordedRun] = {}
        for identity, its in by_workload(reports).items():
            for named, names in naming(list(dict.fromkeys(run.run_id for run in its))):
                statement = f"SELECT * FROM runs WHERE {OF_WORKLOAD} AND {named}"
                recorded = self._recorded(statement, {**identity_columns(identity), **names})
                found |= {key_of(entry.run): entry for entry in recorded}
        return found

    def _suggestion_behind(self, run: Run) -> str | None:
        """Id of the newest suggestion made before the run started with whose values it ran."""
        rows = self.database.rows(
            f"""SELECT * FROM suggestions WHERE withdrawn = 0 AND {OF_WORKLOAD} AND created_at <= :started_at
                ORDER BY created_at DESC, number DESC LIMIT 100""",  # agreement with an older one is a coincidence
            {**identity_columns(run.identity), "started_at": latest_start(run)},
        )
        with readable(self.database.place):  # one by one: mostly it is the first
            return next((made.suggestion_id for made in map(read_suggestion, rows) if follows(run, made)), None)

    def readings(self, identity: Identity) -> Mapping[str, Reading]:
        """How far each source has been read for this workload, by source."""
        readings = forget.all_readings(self.database, identity)
        return {source: reading for source, reading in readings.items() if source != forget.FORGOTTEN}

    def take_over(self, identity: Identity, source: str, by: str) -> None:
        """The reading of a source is another's from now on; that one must have none yet."""
        row = {**identity_columns(identity), "source": source, "taken_by": by}
        with self.database.transaction(_job(identity)) as changes:
            changes.add(f"UPDATE watermarks SET source = :taken_by WHERE {OF_WORKLOAD} AND source = :source", row)

    def ended_ids(self, identity: Identity) -> frozenset[str]:
        """The ids of a workload's runs but for those that fell silent, of which more may become known."""
        statement = f"SELECT run_id FROM runs WHERE fell_silent = 0 AND {OF_WORKLOAD}"
        rows = self.database.rows(statement, identity_columns(identity))
        return frozenset(str(row["run_id"]) for row in rows)

    def runs_of(self, identity: Identity) -> tuple[Run, ...]:
        """All runs of a workload, ordered by end."""
        return tuple(recorded.run for recorded in self.recorded_runs(identity))

    def run(self, run_id: str) -> Run | None:
        """The run with this id, or None; the one recorded last if several workloads used the id."""
        statement = "SELECT * FROM runs WHERE run_id = :run_id ORDER BY number DESC LIMIT 1"
        return next(iter(self._runs(statement, {"run_id": run_id})), None)

    def recorded_runs(self, identity: Identity | None = None, *, limit: int | None = None) -> tuple[RecordedRun, ...]:
        """Runs with the suggestion that each followed, of one workload or (None) of all."""
        where = f"WHERE {OF_WORKLOAD}" if identity else ""
        return self._recorded(f"SELECT * FROM runs {where} {_NEWEST_FIRST} LIMIT :limit", limited(limit, identity))[::-1]

    def siblings_of(self, identity: Identity, *, limit: int) -> tuple[Run, ...]:
        """The newest runs of the same job on other hardware, ordered by end."""
        siblings = f"{SAME_JOB} AND hardware <> :hardware"
        return self._runs(f"SELECT * FROM runs WHERE {siblings} {_NEWEST_FIRST} LIMIT :limit", limited(limit, identity))[::-1]

    def runs_following(self, suggestion_id: str) -> tuple[Run, ...]:
        """The runs that followed a suggestion, to compare with its forecast."""
        return self._runs("SELECT * FROM runs WHERE suggestion_id = :id ORDER BY ended_at, number", {"id": suggestion_id})

    def _runs(self, statement: str, values: Mapping[str, object]) -> tuple[Run, ...]:
        return tuple(entry.run for entry in self._recorded(statement, values))

    def _recorded(self, statement: str, values: Mapping[str, object]) -> tuple[RecordedRun, ...]:
        rows = self.database.rows(statement, values)
        with readable(self.database.place):
            return tuple(map(read_run, rows))

    def series_of(self, run: Run) -> tuple[Series, ...]:
        """Time series of the run, in the order of SERIES_QUANTITIES; those not recorded, or deleted by gc, are missing."""
        statement = f"SELECT run_id, quantity, packed FROM series JOIN runs ON run = number WHERE {_THE_RUN}"
        with readable(self.database.place):
            stored = map(read_series, self.database.rows(statement, run_key(run)))
            return tuple(sorted(stored, key=lambda series: SERIES_QUANTITIES.index(series.quantity)))

    def forget_series(self, *, ended_before: float, now: float) -> Forgotten:
        """Delete the time series of runs that ended before a time (unix seconds); the runs themselves stay.

        With an audit record "forgotten" in the same transaction if there was anything to delete. The space of all that was
        forgotten returns to the file system, where that is worth the time and disturbs nobody.
        """
        with self.database.transaction("series") as changes:
            old = "WHERE run IN (SELECT number FROM runs WHERE ended_at < :ended_before)"
            counted = "count(DISTINCT run) AS runs, count(*) AS series, coalesce(sum(length(packed)), 0) AS size_bytes"
            (counts,) = self.database.rows(f"SELECT {counted} FROM series {old}", {"ended_before": ended_before})
            changes.add(f"DELETE FROM series {old}", {"ended_before": ended_before})
            forgotten = Forgotten(*(int(counts[name]) for name in Forgotten._fields))
            if forgotten.series:
                self._chain(AuditEvent("forgotten", now, None, {**forgotten._asdict(), "ended_before": ended_before}), changes)
        self.database.shrink()  # also what forgotten runs have left
        return forgotten

    def forget_runs(self, identity: Identity, *, newest: int, now: float) -> forget.ForgottenRuns:
        """Delete the runs of a workload, and their time series, that are old and not needed: see retention/forget.py.

        With an audit record "forgotten" in the same transaction if there was anything to delete. What a source says of a run
        from before is not recorded any more.

        `newest`: how many of the newest stay in any case.
        """
        with self.database.transaction(_job(identity)) as changes:
            followed = {made.suggestion_id for made in self.suggestions_of(identity, limit=forget.SUGGESTIONS)}
            recorded = self.recorded_runs(identity)
            kept = forget.needed_runs(recorded, newest=newest, followed=followed)
            forgotten = forget.without_runs(self.database, recorded, kept, changes)
            if forgotten.runs:
                self._chain(AuditEvent("forgotten", now, identity, {**forgotten._asdict(), "newest": newest}), changes)
        return forgotten

    def numbers_of_runs(self) -> Mapping[Identity, int]:
        """How many runs each workload has on record, the one that ran last first; no run is read for it."""
        workload = "dataset, model, framework, hardware"
        last_first = f"GROUP BY {workload} ORDER BY max(ended_at) DESC, {workload}"
        rows = self.database.rows(f"SELECT {workload}, count(*) AS runs FROM runs {last_first}")
        with readable(self.database.place):
            return {read_identity(row): int(row["runs"]) for row in rows}

    def save_agent(self, name: str, state: bytes, *, expected_version: int, event: AuditEvent | None = None) -> int:
        """Save an agent's state if no other process did since `expected_version` was loaded (0: there was none); the new version.

        `event`: for the audit log, in the same transaction.

        Raises StoreError: JPO-E506, another process saved one meanwhile: load it and learn again.
        """
        with self.database.transaction(f"agent {name}") as changes:
            saved = self.database.rows("SELECT version FROM agents WHERE name = :name", {"name": name})
            version = saved[0]["version"] if saved else 0
            if version != expected_version:
                finding = f"agent {name!r} was saved by another process (version {version}, expected {expected_version})"
                raise StoreError(self.database.place, finding, "repeat: it is loaded again", code="JPO-E506")
            row = {"name": name, "version": version + 1, "state": state}
            change = "UPDATE agents SET version = :version, state = :state WHERE name = :name"
            changes.add(change if saved else insert_into("agents", [*row]), row)
            if event:
                self._chain(event, changes)
        return version + 1

    def load_agent(self, name: str) -> tuple[bytes, int] | None:
        rows = self.database.rows("SELECT state, version FROM agents WHERE name = :name", {"name": name})
        return (rows[0]["state"], rows[0]["version"]) if rows else None


def _job(identity: Identity) -> str:
    """The job of a workload, on any hardware, as the subject of a transaction."""
    return canonical([identity.dataset, identity.model, identity.framework])
