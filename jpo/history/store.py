"""Store of the history: the protocol, and the one function that opens a store.

The history is the truth (an agent can be rebuilt from it); the agents in it are a cache. Methods raise StoreError when the store
cannot be used; what they return is complete or not returned at all. Lists are oldest first; a `limit` keeps the newest ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol, Self

from jpo.errors import UsageError
from jpo.history.audit import AuditEvent, AuditRecord, AuditRow
from jpo.history.copy_on_write import CopyOnWrite
from jpo.history.database import Database
from jpo.history.retention.forget import ForgottenRuns
from jpo.history.runs import Forgotten, Reading, RecordedRun
from jpo.history.sql import SqlStore
from jpo.history.sqlite import open_copy, open_database
from jpo.records import Finished, Identity, Run, Series, Suggestion

NO_AUTHOR: Mapping[str, str] = {}


class Store(Protocol):
    """Runs, suggestions, agent state and the audit log of one team; a context manager that closes it."""

    def record(
        self, finished: Finished, *, now: float, identity: Identity | None = None, source: str | None = None
    ) -> tuple[Run, ...]:
        """Put finished runs on record; in one transaction, with one audit record "observed" for each.

        A run is known by its identity and run id. Reported again, it gains what was unknown and keeps what was known, unless it
        had only fallen silent (runs.fuller); of each quantity's series the first stays. It is tied to the newest suggestion of
        its identity, made before it started, whose parameters it ran with.

        Args:
            finished: runs that one reading of a source brought; they may be of several workloads.
            now: unix seconds.
            identity, source: whose watermark moves to `finished.watermark`, with what it passed over; it never moves back, nor
                after a partial answer, nor when one of the two is None. A source that is a server names its address.

        Returns:
            The runs, as recorded, that were new or gained something: those to learn from. Empty when all was known.
        """

    def runs_of(self, identity: Identity) -> tuple[Run, ...]:
        """All runs of a workload, ordered by end."""

    def run(self, run_id: str) -> Run | None:
        """The run with this id, or None; the one recorded last if several workloads used the id."""

    def recorded_runs(self, identity: Identity | None = None, *, limit: int | None = None) -> tuple[RecordedRun, ...]:
        """Runs with the suggestion that each followed, of one workload or (None) of all."""

    def siblings_of(self, identity: Identity, *, limit: int) -> tuple[Run, ...]:
        """The newest runs of the same job on other hardware, ordered by end."""

    def others_of(self, identity: Identity, *, among: int) -> tuple[Run, ...]:
        """Those of the newest runs of all workloads that are of other jobs, ordered by end."""

    def runs_following(self, suggestion_id: str) -> tuple[Run, ...]:
        """The runs that followed a suggestion, to compare with its forecast."""

    def ended_ids(self, identity: Identity) -> frozenset[str]:
        """The ids of a workload's runs but for those that fell silent, of which more may become known."""

    def watermark(self, identity: Identity, source: str) -> float | None:
        """Unix seconds up to which the source has been read for this workload; None before the first complete reading."""

    def readings(self, identity: Identity) -> Mapping[str, Reading]:
        """How far each source has been read for this workload, by source."""

    def take_over(self, identity: Identity, source: str, by: str) -> None:
        """The reading of a source is another's from now on; that one must have none yet."""

    def series_of(self, run: Run) -> tuple[Series, ...]:
        """Time series of the run, in the order of SERIES_QUANTITIES; those not recorded, or deleted by gc, are missing."""

    def forget_series(self, *, ended_before: float, now: float) -> Forgotten:
        """Delete the time series of runs that ended before a time (unix seconds); the runs themselves stay.

        With an audit record "forgotten" in the same transaction if there was anything to delete. The space of all that was
        forgotten returns to the file system, where that is worth the time and disturbs nobody.
        """

    def forget_runs(self, identity: Identity, *, newest: int, now: float) -> ForgottenRuns:
        """Delete the runs of a workload, and their time series, that are old and not needed: see retention/needed_runs.py.

        With an audit record "forgotten" in the same transaction if there was anything to delete. What a source says of a run
        from before is not recorded any more.

        Args:
            newest: how many of the newest stay in any case.
        """

    def numbers_of_runs(self) -> Mapping[Identity, int]:
        """How many runs are on record of each workload."""

    def append(
        self, suggestion: Suggestion, *, config: str, source_digest: str, planned_digest: str | None = None
    ) -> AuditRecord:
        """Put a suggestion on record before anything is written, with its audit record, in one transaction.

        Args:
            suggestion: with an id that is not on record yet.
            config: path of the config.ini, for the reader of the log.
            source_digest: SHA-256 (hex) of the file's bytes as they were read.
            planned_digest: of the bytes that are to be written; None if there is nothing to write.

        Raises:
            StoreError: also JPO-E508, the id is on record.
        """

    def withdraw(self, suggestion_id: str, event: AuditEvent) -> AuditRecord:
        """Say that a suggestion was never written, with the audit record of the reason, in one transaction.

        No run can follow it from now on, and `suggestions_of` leaves it out.
        """

    def suggestions_of(self, identity: Identity | None = None, *, limit: int | None = None) -> tuple[Suggestion, ...]:
        """Suggestions of one workload or (None) of all, in the order in which they were made."""

    def as_recorded(self, identity: Identity, *, since: str | None = None) -> tuple[Suggestion, ...]:
        """Suggestions of one workload in the order in which they went on record, even if clocks differed.

        Args:
            since: from the one with this id on; none if it is not on record.
        """

    def written(self, identity: Identity) -> frozenset[str]:
        """Ids of the suggestions of a workload that were written, according to the audit log."""

    def rollbacks_of(self, identity: Identity) -> tuple[Suggestion, ...]:
        """A workload's suggestions that are rollbacks, in the order in which they went on record."""

    def newest_change(self, identity: Identity) -> Suggestion | None:
        """The newest suggestion of a workload that changed something and was not withdrawn; None without any."""

    def unsettled(self, identity: Identity | None = None) -> tuple[AuditRecord, ...]:
        """The record of the newest change of one workload or of each, where none says what became of it: see unsettled.py."""

    def suggestion(self, suggestion_id: str) -> Suggestion:
        """The suggestion, equal to the one that was appended.

        Raises:
            UsageError: JPO-E507, it is not on record.
        """

    def save_agent(self, name: str, state: bytes, *, expected_version: int, event: AuditEvent | None = None) -> int:
        """Save an agent's state if no other process did since `expected_version` was loaded (0: there was none); the new version.

        Args:
            event: for the audit log, in the same transaction.

        Raises:
            StoreError: JPO-E506, another process saved one meanwhile: load it and learn again.
        """

    def load_agent(self, name: str) -> tuple[bytes, int] | None:
        """An agent's state and its version, or None."""

    def audit(self, event: AuditEvent) -> AuditRecord:
        """Put an event at the end of the audit log."""

    def audit_records(self, *, limit: int | None = None) -> tuple[AuditRecord, ...]:
        """The records of the audit log."""

    def audit_rows(self) -> Iterator[AuditRow]:
        """The audit log as it is stored, row by row, for audit.verify."""

    def export_lines(self, *, written_by: str) -> Iterator[str]:
        """The whole history at one moment as JSON Lines (archive.py), while others go on writing; `written_by`: jpo's version."""

    def import_lines(self, lines: Iterable[bytes], place: str) -> Mapping[str, int]:
        """Import an export into this store, which must be empty: all of it or nothing. Returns the number of rows by table.

        Raises:
            StoreError: JPO-E515, it is not empty; JPO-E516, a line is bad (`place:line`); JPO-E511, the audit chain is broken.
        """

    def close(self) -> None:
        """Close it; it cannot be used afterwards."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def open_store(
    url: str,
    *,
    read_only: bool = False,
    timeout_seconds: float = 10.0,
    deadline_seconds: float = 60.0,
    author: Mapping[str, str] = NO_AUTHOR,
) -> Store:
    """Open the store that a URL names, creating it when missing: `with open_store(url) as store: ...`.

    Args:
        url: `sqlite:///jpo.db` is a path relative to the current folder, `sqlite:////var/jpo.db` an absolute one (a slash more,
            as in SQLAlchemy), `sqlite://` is in memory and gone when closed. `postgresql://user@host/database` is a server, with
            all that libpq knows (sslmode, service, PGPASSFILE ...).
        read_only: every method works, nothing is kept, no other process has to wait; empty when there is no store.
        timeout_seconds: how long to wait for a lock of another process, for a server that starts up, and for each of its answers.
        deadline_seconds: how long to wait for all locks, and all answers of a server that did not come at once, together.
        author: who uses the store and where; when not empty, every audit record's data holds it as "by".

    Raises:
        UsageError: JPO-E509, the URL names no store this version knows; JPO-E512, PostgreSQL support is not installed.
        StoreError: it cannot be created, opened, read or migrated.
    """
    if url.startswith(("postgresql://", "postgres://")):
        return SqlStore(_postgres(url, read_only, timeout_seconds, deadline_seconds), author=author)
    return SqlStore(_sqlite(url, read_only, timeout_seconds, deadline_seconds), author=author)


def _sqlite(url: str, read_only: bool, timeout_seconds: float, deadline_seconds: float) -> Database:
    path = _path(url)
    place = str(path) if path else "sqlite:// (in memory)"
    return (open_copy if read_only else open_database)(path, place, timeout_seconds, deadline_seconds)


def _postgres(url: str, read_only: bool, timeout_seconds: float, deadline_seconds: float) -> Database:
    try:
        from jpo.history.postgres.transactions import open_postgres
    except ImportError as error:
        finding = "PostgreSQL support is not installed"
        raise UsageError("store url", finding, 'pip install "jpo[postgres]"', code="JPO-E512") from error
    database = open_postgres(url, read_only=read_only, timeout_seconds=timeout_seconds, deadline_seconds=deadline_seconds)
    if database is None:
        return _sqlite("sqlite://", False, timeout_seconds, deadline_seconds)
    return CopyOnWrite(database, _sqlite("sqlite://", False, timeout_seconds, deadline_seconds)) if read_only else database


def _path(url: str) -> Path | None:
    """The file that a URL names, None for memory. A URL may hold a password: no message repeats it."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme != "sqlite":
        raise _no_store("starts with neither sqlite:// nor postgresql://")
    if rest in ("", "/:memory:"):
        return None
    if not rest.startswith("/") or rest == "/" or "\0" in rest:
        raise _no_store("names no file")
    return Path(rest.removeprefix("/"))


def _no_store(finding: str) -> UsageError:
    remedy = "write sqlite:///.jpo/jpo.db (relative), sqlite:////var/lib/jpo.db (absolute) or postgresql://user@host/database"
    return UsageError("store url", finding, remedy, code="JPO-E509")
