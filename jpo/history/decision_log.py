"""Log of decisions: the suggestions on record, and the audit log, whose chain audit.py knows."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

from jpo.errors import StoreError, UsageError
from jpo.history.audit import AuditEvent, AuditRecord, AuditRow, read_row
from jpo.history.canonical import canonical
from jpo.history.database import OF_WORKLOAD, Changes, Database, Link, insert_into
from jpo.history.events import ADJUSTED, MADE, SETTLED, suggested
from jpo.history.failures import readable
from jpo.history.rows import SUGGESTION_COLUMNS, Columns, identity_columns, read_identity, read_suggestion, suggestion_columns
from jpo.records import Identity, Suggestion

_AUDIT = f"SELECT {', '.join(AuditRow._fields)} FROM audit"
_ALL = 2**63 - 1
"""As a limit: none."""


def limited(limit: int | None, identity: Identity | None = None) -> Columns:
    """Values of a statement about one workload or all (None), with `:limit` rows at most; None: all rows."""
    return {**(identity_columns(identity) if identity else {}), "limit": _ALL if limit is None else min(limit, _ALL)}


def _of(kinds: Sequence[str]) -> str:
    return "kind IN ({})".format(", ".join(f"'{kind}'" for kind in kinds))


class DecisionLog:
    """Suggestions and the audit log in a database, which it closes at the end of a `with` statement.

    `author`: who uses it and where; when not empty, every record's data holds it as "by". `derived`: what readers made of
    all runs and may use again until a run is recorded here.
    """

    def __init__(self, database: Database, *, author: Mapping[str, str]) -> None:
        self.database, self._author, self._users = database, dict(author), 0
        self.derived: dict[str, Any] = {}

    def append(
        self, suggestion: Suggestion, *, config: str, source_digest: str, planned_digest: str | None = None
    ) -> AuditRecord:
        """Put a suggestion on record before anything is written, with its audit record, in one transaction.

        `config`: path of config.ini, for the reader of the log. `source_digest`: SHA-256 (hex) of its bytes as they were read;
        `planned_digest`: of those that are to be written, None if there is nothing to write.

        Raises StoreError: also JPO-E508, its id is on record.
        """
        with self.database.transaction() as changes:
            changes.add(insert_into("suggestions", SUGGESTION_COLUMNS, numbered=True), suggestion_columns(suggestion))
            self._chain(suggested(suggestion, config, source_digest, planned_digest), changes)
        return read_row(changes.chained[-1])

    def withdraw(self, suggestion_id: str, event: AuditEvent) -> AuditRecord:
        """Say that a suggestion was never written, with the audit record of the reason, in one transaction.

        No run can follow it from now on, and `suggestions_of` leaves it out.
        """
        with self.database.transaction() as changes:
            changes.add("UPDATE suggestions SET withdrawn = 1 WHERE suggestion_id = :id", {"id": suggestion_id})
            self._chain(event, changes)
        return read_row(changes.chained[-1])

    def suggestions_of(self, identity: Identity | None = None, *, limit: int | None = None) -> tuple[Suggestion, ...]:
        """Suggestions of one workload or (None) of all, in the order in which they were made."""
        which = f"AND {OF_WORKLOAD}" if identity else ""
        return self._made(f"{which} ORDER BY created_at DESC, number DESC LIMIT :limit", limited(limit, identity))[::-1]

    def as_recorded(self, identity: Identity, *, since: str | None = None) -> tuple[Suggestion, ...]:
        """Suggestions of one workload in the order in which they went on record, even if clocks differed.

        `since`: from the one with this id on; none if it is not on record.
        """
        start = "AND number >= (SELECT number FROM suggestions WHERE suggestion_id = :since)" if since else ""
        return self._made(f"AND {OF_WORKLOAD} {start} ORDER BY number", {**identity_columns(identity), "since": since})

    def written(self, identity: Identity | None = None, *, kinds: Sequence[str] = ("written",)) -> frozenset[str]:
        """Ids of the suggestions that events of these kinds are about, of one workload or (None) of all: the log is read once."""
        which = f"AND {OF_WORKLOAD}" if identity else ""
        events = self._audit_records(f"{_AUDIT} WHERE {_of(kinds)} {which}", limited(None, identity))
        return frozenset(str(event.data.get("suggestion_id")) for event in events)

    def rollbacks_of(self, identity: Identity) -> tuple[Suggestion, ...]:
        """A workload's suggestions that are rollbacks, in the order in which they went on record."""
        rollback = 'document LIKE \'%"decided_by":"rollback"%\''  # canonical JSON has one form
        return self._made(f"AND {OF_WORKLOAD} AND {rollback} ORDER BY number", identity_columns(identity))

    def newest_change(self, identity: Identity) -> Suggestion | None:
        """The newest suggestion of a workload that changed something and was not withdrawn; None without any."""
        newest = f"AND status = 'changed' AND {OF_WORKLOAD} ORDER BY created_at DESC, number DESC LIMIT 1"
        return next(iter(self._made(newest, identity_columns(identity))), None)

    def _made(self, which: str, values: Mapping[str, object]) -> tuple[Suggestion, ...]:
        """Suggestions that were not withdrawn, by the rest of a statement."""
        return self._suggestions(f"SELECT * FROM suggestions WHERE withdrawn = 0 {which}", values)

    def unsettled(self, identity: Identity | None = None) -> tuple[AuditRecord, ...]:
        """The record of the newest change of one workload or of each, where none says what became of it: see unsettled.py."""
        newest = [self.newest_change(one) for one in ([identity] if identity else self.workloads())]
        settled = self.written(identity, kinds=SETTLED)  # after them: what was settled meanwhile is in it
        open_ends = (made for made in newest if made and made.suggestion_id not in settled)
        return tuple(event for made in open_ends for event in self.events_about(made, MADE))

    def workloads(self) -> list[Identity]:
        rows = self.database.rows("SELECT DISTINCT dataset, model, framework, hardware FROM suggestions ORDER BY 1, 2, 3, 4")
        with readable(self.database.place):
            return list(map(read_identity, rows))

    def events_about(self, made: Suggestion, kinds: Sequence[str] = ()) -> list[AuditRecord]:
        """What the log says of a suggestion, in events of these kinds or of all."""
        events = self._audit_records(
            f"{_AUDIT} WHERE {_of(kinds) if kinds else 'number > 0'} AND {OF_WORKLOAD} AND data LIKE :names_it ORDER BY number",
            {**identity_columns(made.identity), "names_it": f"%{canonical(made.suggestion_id)}%"},
        )
        return [event for event in events if event.data.get("suggestion_id") == made.suggestion_id]

    def suggestion(self, suggestion_id: str) -> Suggestion:
        """The suggestion, equal to the one that was appended. Raises UsageError: JPO-E507, it is not on record."""
        found = self._suggestions("SELECT * FROM suggestions WHERE suggestion_id = :id", {"id": suggestion_id})
        if not found:
            raise UsageError("history", f"suggestion {suggestion_id!r} is not on record", "see `jpo history`", code="JPO-E507")
        return found[0]

    def has_suggestion(self, suggestion_id: str) -> bool:
        """Whether it is on record, also where it was withdrawn."""
        return bool(self.database.rows("SELECT 1 AS one FROM suggestions WHERE suggestion_id = :id", {"id": suggestion_id}))

    def _suggestions(self, statement: str, values: Mapping[str, object]) -> tuple[Suggestion, ...]:
        rows = self.database.rows(statement, values)
        with readable(self.database.place):
            return tuple(map(read_suggestion, rows))

    def audit(self, event: AuditEvent) -> AuditRecord:
        with self.database.transaction() as changes:
            self._chain(event, changes)
        return read_row(changes.chained[-1])

    def _chain(self, event: AuditEvent, changes: Changes) -> None:
        """An event for the end of the audit log, among the changes that it is about."""
        data = canonical({**event.data, "by": self._author} if self._author else event.data)
        changes.steps.append(Link(event.at, event.kind, event.identity, data))

    def audit_records(self, *, kind: str | None = None, limit: int | None = None) -> tuple[AuditRecord, ...]:
        """Records of one kind or (None) of all: of a long history nobody reads all."""
        which = "WHERE kind = :kind" if kind else ""
        return self._audit_records(f"{_AUDIT} {which} ORDER BY number DESC LIMIT :limit", {**limited(limit), "kind": kind})[::-1]

    def stopped_by_jpo(self) -> frozenset[str]:
        """Ids of the runs that JPO ended, by a decision while they went on; whatever else stopped one came from outside."""
        adjusted = (each.data for each in self.audit_records(kind=ADJUSTED))
        return frozenset(str(each.get("run_id")) for each in adjusted if each.get("kind") == "stop" and each.get("applied"))

    def _audit_records(self, statement: str, values: Mapping[str, object]) -> tuple[AuditRecord, ...]:
        rows = self.database.rows(statement, values)
        return tuple(read_row(AuditRow(*(row[name] for name in AuditRow._fields))) for row in rows)

    def audit_rows(self) -> Iterator[AuditRow]:
        """The audit log as it is stored, row by row, for audit.verify."""
        return map(AuditRow._make, self.database.each(f"{_AUDIT} ORDER BY number"))

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        self._users += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._users -= 1
        if self._users:
            return  # it is kept open for others
        with suppress(StoreError):  # what was acknowledged is on disk: nothing that was reported becomes untrue
            self.close()
