"""What every store of the history promises, and the one function that opens one.

The history is the truth (an agent can be rebuilt from it); the agents in it are a cache. Methods raise StoreError when the store
cannot be used; what they return is complete or not returned at all. Lists are oldest first; a `limit` keeps the newest ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from jpo.errors import UsageError
from jpo.history.audit import AuditEvent, AuditRecord, AuditRow
from jpo.history.opening import open_copy, open_database
from jpo.history.runs import RecordedRun
from jpo.history.sqlite import SqliteStore
from jpo.records import Finished, Identity, Run, Suggestion


class Store(Protocol):
    """Runs, suggestions, agent state and the audit log of one team; a context manager that closes it."""

    def record(
        self, finished: Finished, *, now: float, identity: Identity | None = None, source: str | None = None
    ) -> tuple[Run, ...]:
        """Put finished runs on record; in one transaction, with one audit record "observed" for each.

        A run is known by its identity and run id. Reported again, it gains what was unknown and keeps what was known
        (runs.fuller). It is tied to the newest suggestion of its identity, made before it started, whose parameters it ran with.

        Args:
            finished: what one look at a source brought; runs may be of several identities.
            now: unix seconds.
            identity, source: whose watermark moves to `finished.watermark`; it never moves back, nor after a partial answer,
                nor when one of the two is None.

        Returns:
            The runs, as recorded, that were new or gained something: what there is to learn from. Empty when all was known.
        """

    def runs_of(self, identity: Identity) -> tuple[Run, ...]:
        """All runs of a workload, in the order of their ends."""

    def run(self, run_id: str) -> Run | None:
        """The run with this id, or None; the one recorded last if several workloads used the id."""

    def recorded_runs(self, identity: Identity | None = None, *, limit: int | None = None) -> tuple[RecordedRun, ...]:
        """Runs with the suggestion that each followed, of one workload or (None) of all."""

    def runs_following(self, suggestion_id: str) -> tuple[Run, ...]:
        """The runs tied to a suggestion: what came of its forecast."""

    def watermark(self, identity: Identity, source: str) -> float | None:
        """Unix seconds up to which the source has been read for this workload; None before the first complete look."""

    def append(self, suggestion: Suggestion, *, config: str, source_digest: str) -> AuditRecord:
        """Put a suggestion on record before anything is written, with its audit record "suggested" or "kept", in one transaction.

        Args:
            suggestion: with an id that is not on record yet.
            config: path of the config.ini, for the reader of the log.
            source_digest: SHA-256 (hex) of the file's bytes as they were read.

        Raises:
            StoreError: also JPO-E508, the id is on record.
        """

    def withdraw(self, suggestion_id: str, event: AuditEvent) -> AuditRecord:
        """Say that a suggestion was never written, with the audit record that tells why, in one transaction.

        No run can follow it from now on, and `suggestions_of` leaves it out.
        """

    def suggestions_of(self, identity: Identity | None = None, *, limit: int | None = None) -> tuple[Suggestion, ...]:
        """Suggestions of one workload or (None) of all, in the order in which they were made."""

    def newest_change(self, identity: Identity) -> Suggestion | None:
        """The newest suggestion of a workload that changed something and was not withdrawn; None without any."""

    def suggestion(self, suggestion_id: str) -> Suggestion:
        """The suggestion, equal to the one that was appended.

        Raises:
            UsageError: JPO-E507, it is not on record.
        """

    def save_agent(self, name: str, state: bytes, *, expected_version: int) -> int:
        """Save an agent's state if nobody did since `expected_version` was loaded (0: there was none); the new version.

        Raises:
            StoreError: JPO-E506, another process saved one meanwhile: load it and learn again.
        """

    def load_agent(self, name: str) -> tuple[bytes, int] | None:
        """An agent's state and its version, or None."""

    def audit(self, event: AuditEvent) -> AuditRecord:
        """Put an event at the end of the audit log."""

    def audit_records(self, *, limit: int | None = None) -> tuple[AuditRecord, ...]:
        """The audit log."""

    def audit_rows(self) -> Iterator[AuditRow]:
        """The audit log as it is stored, row by row, for audit.verify."""

    def close(self) -> None:
        """Close it; it cannot be used afterwards."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...


def open_store(url: str, *, read_only: bool = False, timeout_seconds: float = 10.0) -> Store:
    """Open the store that a URL names, making it and its folder when missing: `with open_store(url) as store: ...`.

    Args:
        url: `sqlite:///jpo.db` is a path relative to the current folder, `sqlite:////var/jpo.db` an absolute one (a slash more,
            as in SQLAlchemy), `sqlite://` is in memory and gone when closed.
        read_only: work on a copy in memory, empty when there is no store: everything can be called, nothing is kept.
        timeout_seconds: how long to wait for a lock of another process.

    Raises:
        UsageError: JPO-E509, the URL names no store this version knows.
        StoreError: it cannot be made, opened, read or migrated.
    """
    path = _path(url)
    place = str(path) if path else "sqlite:// (in memory)"
    opener = open_copy if read_only else open_database
    return SqliteStore(opener(path, place, timeout_seconds), place)


def _path(url: str) -> Path | None:
    """The file that a URL names, None for memory. A URL may hold a password: no message repeats it."""
    scheme, separator, rest = url.partition("://")
    if separator and scheme in ("postgresql", "postgres"):
        raise _no_store("PostgreSQL is not in this version")
    if not separator or scheme != "sqlite":
        raise _no_store("it does not start with sqlite://")
    if rest in ("", "/:memory:"):
        return None
    if not rest.startswith("/") or rest == "/" or "\0" in rest:
        raise _no_store("it names no file")
    return Path(rest.removeprefix("/"))


def _no_store(finding: str) -> UsageError:
    remedy = "write sqlite:///.jpo/jpo.db (relative) or sqlite:////var/lib/jpo.db (absolute, four slashes)"
    return UsageError("store url", finding, remedy, code="JPO-E509")
