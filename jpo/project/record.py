"""On record: a suggestion is in the store before config.ini changes, and so is every refusal.

Audit before write: an edit that is not on record cannot exist. Killed at any instant, config.ini is the old file or the new one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict

from jpo import config
from jpo.errors import ConflictError, EditError, NothingAdmissible
from jpo.history import AuditEvent, Json
from jpo.history.events import account, in_short, refused
from jpo.optimizer.request import Request
from jpo.optimizer.suggestion import Proposal
from jpo.project.project import Project
from jpo.records import Guarded, Known, Parameters, Suggestion


def carry_out(job: Project, suggestion: Suggestion, proposal: Proposal, *, dry_run: bool) -> bool:
    """Refuse what the guard refuses; else put it on record, and only then write. Whether config.ini was written."""
    if not proposal.guard.approved:
        refuse(job, proposal.executed, proposal.guard, now=suggestion.created_at, about=account(suggestion))
    job.store.append(suggestion, config=str(job.workload.path), source_digest=job.workload.digest)
    if not proposal.edits or dry_run:
        return False
    write(job, suggestion, proposal)
    return True


def write(job: Project, suggestion: Suggestion, proposal: Proposal) -> None:
    """Replace the values in config.ini; what came of it goes on record either way."""
    workload = job.workload
    data = {"suggestion_id": suggestion.suggestion_id, "config": str(workload.path), "source_digest": workload.digest}
    try:
        config.write(workload.path, proposal.edits, expected_digest=workload.digest)
    except EditError as error:
        kind = "conflict" if isinstance(error, ConflictError) else "not written"
        failure = {**data, "reason": str(error), "code": error.code}
        job.store.withdraw(suggestion.suggestion_id, AuditEvent(kind, suggestion.created_at, workload.identity, failure))
        raise
    data["written_digest"] = hashlib.sha256(proposal.content).hexdigest()
    job.store.audit(AuditEvent("written", suggestion.created_at, workload.identity, data))


def refuse(job: Project, wanted: Parameters, guard: Guarded, *, now: float, about: Mapping[str, Json]) -> None:
    """Put the guard's refusal on record and end with it. What was refused is no suggestion: no later run can have followed it."""
    remedy = "choose another value, widen the limit in jpo.toml, or fix what the checker names"
    error = NothingAdmissible(str(job.workload.path), "; ".join(guard.violations), remedy, code="JPO-E401")
    job.store.audit(refused(job.workload, wanted, guard.violations, code=error.code, now=now, about=about))
    raise error


@contextmanager
def refusals_on_record(job: Project, request: Request, known: Known, *, seed: int) -> Iterator[None]:
    """That nothing is admissible goes on record, with what that rests on."""
    try:
        yield
    except NothingAdmissible as error:
        about: dict[str, Json] = {"evidence": in_short(known.evidence), "preference": asdict(request.preference), "seed": seed}
        job.store.audit(refused(job.workload, {}, [str(error)], code=error.code, now=job.now, about=about))
        raise
