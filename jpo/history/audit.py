"""Audit log, append-only: what JPO decided, wrote and learnt, each record chained to the one before by its hash.

The store keeps the log in the same database, and writes a record in the same transaction as what it describes; triggers refuse to
change or delete one. This module knows the chain itself: how a record is hashed, and how the chain is verified.

    hash = SHA-256(hash of the previous record, hex + canonical JSON of {at, data, dataset, framework, kind, model, number})

Where the workload's hardware is said, `hardware` is one of these keys; records of before it existed keep their hashes.
The first record follows GENESIS. A record that was changed, removed from the middle or moved breaks the chain at a place that
`verify` names. Records removed from the end, or a log rewritten as a whole by someone who computes the hashes anew, show only
against an anchor: a hash noted elsewhere (a pipeline's output, a ticket) that must still be in the log.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from jpo.errors import StoreError
from jpo.files.reading import finite
from jpo.history.canonical import Json
from jpo.records import Identity

GENESIS = "0" * 64
"""The first record's `previous` hash."""
_as_json = json.JSONEncoder(default=lambda value: [repr(value)]).encode
"""A damaged row may hold bytes where text belongs: its hash must differ from that of any text, not raise."""


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """Event that is to go on record.

    Attributes:
        kind: what happened. "suggested", "kept", "rolled back" or "refused"; then "written", "conflict" (config.ini had
            changed meanwhile) or "not written" (it could not be). "observed": a run. "learnt": the agent took in runs; "tested":
            its policy was put to the release test. "forgotten": time series of old runs. "adjusted": a decision about a run
            that goes on; "adjustment settled": what came of it.
        at: unix seconds.
        identity: the workload it concerns; None when it concerns none in particular.
        data: its details; JSON values, no NaN.
    """

    kind: str
    at: float
    identity: Identity | None = None
    data: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.kind:
            raise ValueError("an audit event needs a kind")
        if not math.isfinite(self.at):
            raise ValueError(f"at = {self.at} is not a time in unix seconds")


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """An event in the log: numbered from 1, with its predecessor's hash and its own (hex)."""

    number: int
    at: float
    kind: str
    identity: Identity | None
    data: Mapping[str, Json]
    previous: str
    hash: str


class AuditRow(NamedTuple):
    """A record as it is stored: `data` is its canonical JSON text, dataset, model and framework are texts or all None."""

    number: int
    at: float
    kind: str
    dataset: str | None
    model: str | None
    framework: str | None
    data: str
    previous: str
    hash: str
    hardware: str = ""
    """Empty where it is not said."""


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of verifying the log.

    Attributes:
        records: how many records from the first on are good.
        head: hash of the last good one: an anchor to note elsewhere.
        first_bad: number of the first record that is changed, missing or moved; None when the chain holds.
        reason: what is wrong, in words; None when nothing is.
        anchored: number of the record whose hash was expected; None when none was, or it was not found.
    """

    records: int
    head: str
    first_bad: int | None = None
    reason: str | None = None
    anchored: int | None = None

    @property
    def ok(self) -> bool:
        """Whether the log is intact, and the expected head is in it."""
        return self.reason is None


class AuditSource(Protocol):
    """A store whose audit log can be verified."""

    def audit_rows(self) -> Iterator[AuditRow]: ...


def chain(previous: AuditRow | None, at: float, kind: str, identity: Identity | None, data: str) -> AuditRow:
    """The row that follows `previous` (None: the first); `data` is canonical JSON text."""
    unsigned = AuditRow(
        number=previous.number + 1 if previous else 1,
        at=float(at) + 0.0,  # -0.0 becomes 0.0: SQLite would return it so, and the hash would not match
        kind=kind,
        dataset=identity.dataset if identity else None,
        model=identity.model if identity else None,
        framework=identity.framework if identity else None,
        data=data,
        previous=previous.hash if previous else GENESIS,
        hash="",
        hardware=(identity.hardware or "") if identity else "",
    )
    return unsigned._replace(hash=hash_of(unsigned))


def hash_of(row: AuditRow) -> str:
    """SHA-256 (hex) over the previous hash and the record's canonical JSON; `row.hash` plays no part.

    The stored text of `data` is used as it is: it was canonical when written, and any byte changed since must show.
    """
    text = f"{row.previous}{unnumbered(row)}{row.number}}}"
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def unnumbered(row: AuditRow) -> str:
    """The record's canonical JSON up to its number: a server that numbers it can compute the hash itself."""
    hardware = f'"hardware":{_as_json(row.hardware)},' if row.hardware != "" else ""
    return (
        f'{{"at":{row.at!r},"data":{row.data},"dataset":{_as_json(row.dataset)},"framework":{_as_json(row.framework)},{hardware}'
        f'"kind":{_as_json(row.kind)},"model":{_as_json(row.model)},"number":'
    )


def verify(
    store: AuditSource, *, expected_head: str | None = None, also: Callable[[AuditRow], None] = lambda _row: None
) -> Verification:
    """Verify the chain from its first record on, and name the first bad one.

    `expected_head`: an anchor: a hash that was the log's head once. Without one, records missing at the end are not noticed.
    `also`: is told each good record, so that a long log is read once.
    """
    records, head, anchored = 0, GENESIS, 0 if expected_head == GENESIS else None
    for row in store.audit_rows():
        reason = _fault(row, records + 1, head)
        if reason:
            return Verification(records, head, records + 1, reason)
        records, head = row.number, row.hash
        also(row)
        if head == expected_head:
            anchored = records
    if expected_head is not None and anchored is None:
        lost = f"the expected head {expected_head} is not in the log: records are missing at its end, or it was rewritten"
        return Verification(records, head, None, lost)
    return Verification(records, head, anchored=anchored)


def _fault(row: AuditRow, expected_number: int, head: str) -> str | None:
    if row.number != expected_number:
        return f"record {expected_number} is missing; the next one on record is {row.number}"
    if row.previous != head:
        return f"record {expected_number} does not follow the record before it"
    if row.hash != hash_of(row):
        return f"record {expected_number} was changed: its hash does not match its content"
    return None


def read_row(row: AuditRow) -> AuditRecord:
    """The record of a row. Raises StoreError: JPO-E502, the row is damaged."""
    try:
        job = (row.model or "", row.framework or "", row.hardware or None)
        identity = None if row.dataset is None else Identity(row.dataset, *job)
        data = json.loads(row.data, parse_float=finite, parse_constant=finite)
        if not isinstance(data, dict):
            raise TypeError("its data are not a JSON object")
        return AuditRecord(row.number, float(row.at), row.kind, identity, data, row.previous, row.hash)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError("audit log", f"record {row.number} is damaged", "see `jpo audit verify`", code="JPO-E502") from error
