"""On record: a suggestion is in the store before config.ini changes, and so is every refusal.

Audit before write: an edit that is not on record cannot exist. Killed at any instant, config.ini is the old file or the new one.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TypeVar

from jpo import config
from jpo.errors import ConflictError, EditError, NothingAdmissible, StoreError, UsageError
from jpo.history import AuditEvent, Json
from jpo.history.events import account, in_short, refused
from jpo.optimizer.request import Request
from jpo.optimizer.suggestion import Proposal
from jpo.project.project import Project
from jpo.project.proposal import edits_on_disk
from jpo.project.workload import content_now
from jpo.records import Guarded, Known, Note, Parameters, Suggestion, texts_of

CHANGED_MEANWHILE = Note(
    "changed meanwhile",
    "config.ini was changed by someone else while the first answer was made; this one is from what they wrote",
)
T = TypeVar("T")
NOT_NOTED = "JPO-W524"
"""config.ini was written, and the history could not be told so."""


def carry_out(job: Project, suggestion: Suggestion, proposal: Proposal, *, dry_run: bool) -> tuple[Suggestion, bool]:
    """Refuse what the guard refuses; else put it on record, and only then write.

    Returns the suggestion for the report, with a note if the history could not be told what came of it; and whether config.ini
    was written.
    """
    if not proposal.guard.approved:
        refuse(job, proposal.executed, proposal.guard, now=suggestion.created_at, about=account(suggestion))
    workload = job.workload
    suggestion = replace(suggestion, values=replace(suggestion.values, checkout=workload.checkout))
    writes = bool(proposal.edits) or proposal.content != workload.on_disk
    planned = digest_of(proposal.content) if writes else None
    if dry_run:  # nor on record in a copy of the store, which may be large
        return suggestion, False
    job.store.append(suggestion, config=str(workload.path), source_digest=workload.digest, planned_digest=planned)
    if not writes:
        return suggestion, False
    return write(job, suggestion, proposal), True


def write(job: Project, suggestion: Suggestion, proposal: Proposal) -> Suggestion:
    """Replace the values in config.ini; what came of it goes on record either way.

    Once config.ini is changed, no failure of the store changes that: the suggestion is on record, the report says what the
    history was not told, and the next command puts it on record (history/unsettled.py).
    """
    workload = job.workload
    data = {"suggestion_id": suggestion.suggestion_id, "config": str(workload.path), "source_digest": workload.digest}
    try:
        config.write(workload.path, edits_on_disk(proposal), expected_digest=workload.digest)
    except EditError as error:
        if content_now(workload.path) != proposal.content:  # else it failed after the new file was in place
            raise withdrawn(job, suggestion, data, error) from error.__cause__
    data["written_digest"] = digest_of(proposal.content)
    try:
        job.store.audit(AuditEvent("written", suggestion.created_at, workload.identity, data))
    except StoreError as error:
        note = f"{workload.path} is written, but the history could not be told ({error}); the next command puts it on record"
        return noted(suggestion, Note(NOT_NOTED, note))
    return suggestion


def noted(suggestion: Suggestion, note: Note) -> Suggestion:
    """The suggestion for the report, with a note that is not on record."""
    return replace(suggestion, evidence=suggestion.evidence.noting([note]))


def withdrawn(job: Project, suggestion: Suggestion, data: Mapping[str, Json], error: EditError) -> EditError:
    """The error to end with, once it is on record that config.ini could not be written."""
    kind = "conflict" if isinstance(error, ConflictError) else "not written"
    event = AuditEvent(kind, suggestion.created_at, job.workload.identity, {**data, "reason": str(error), "code": error.code})
    try:
        job.store.withdraw(suggestion.suggestion_id, event)
    except StoreError as lost:
        finding = f"{error.finding} (nor could that be put on record: {lost})"
        return type(error)(error.place, finding, error.remedy, code=error.code)
    return error


def after_a_lost_race(once: Callable[[str], T], suggestion_id: str) -> tuple[T, bool]:
    """The answer of a command that reads config.ini and writes it, made once more where somebody else wrote in between.

    `once`: the command, given the id of its suggestion: what was lost is on record under the first one. Returns the answer, and
    whether it is the second one. Raises ConflictError: JPO-E220, it was lost again, or what somebody else wrote cannot be read;
    and whatever `once` raises.
    """
    try:
        return once(suggestion_id), False
    except ConflictError as lost:
        if lost.code != "JPO-E220":
            raise
        try:
            return once(f"{suggestion_id}-2"), True
        except UsageError:
            raise lost from None


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def refuse(job: Project, wanted: Parameters, guard: Guarded, *, now: float, about: Mapping[str, Json]) -> None:
    """Put the guard's refusal on record and end with it. What was refused is no suggestion: no later run can have followed it."""
    remedy = "choose another value, widen the limit in jpo.toml, or fix what the checker names"
    error = NothingAdmissible(str(job.workload.path), "; ".join(texts_of(guard.violations)), remedy, code="JPO-E401")
    job.store.audit(refused(job.workload, wanted, texts_of(guard.violations), code=error.code, now=now, about=about))
    raise error


@contextmanager
def refusals_on_record(job: Project, request: Request, known: Known, *, seed: int) -> Iterator[None]:
    """That nothing is admissible goes on record, with what that rests on."""
    try:
        yield
    except NothingAdmissible as error:
        weights = asdict(request.wanted.preference)
        about: dict[str, Json] = {"evidence": in_short(known.evidence), "preference": weights, "seed": seed}
        job.store.audit(refused(job.workload, {}, [str(error)], code=error.code, now=job.now, about=about))
        raise
