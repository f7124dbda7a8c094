"""`jpo suggest config.ini`: the CI step, and the whole story of JPO.

Audit before write: the suggestion is on record before config.ini changes, so an edit that is not on record cannot exist.
Killed at any instant, config.ini is the old file or the new one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from constraints import Facts, Limits
from jpo import config, learning
from jpo.advice import Advice, advise
from jpo.agent.policy import Policy
from jpo.errors import ConflictError, EditError, NothingAdmissible, UsageError
from jpo.evidence import Known, gather, limits_of, waiting_for, workload_of
from jpo.history import AuditEvent, Json, Store
from jpo.history.events import account, in_short, refused
from jpo.layers import Loaded
from jpo.opening import store_of
from jpo.outlook import Wishes
from jpo.proposal import Proposal, diff_of, guarded, propose, suggestion_of, wishes_of
from jpo.records import WHOLE, Guarded, Suggestion, Workload
from jpo.report import Report


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asked for; see `jpo suggest --help`."""

    suggestion_id: str
    now: float
    dry_run: bool = False
    diff: bool = False
    offline: bool = False
    strict: bool = False
    learn: bool = True
    seed: int = 0
    chosen: Mapping[str, float] = field(default_factory=dict)


def suggest(path: Path, loaded: Loaded, options: Options) -> Report:
    """Read, look, learn, decide, check, record, write."""
    now, seed = options.now, options.seed
    workload = workload_of(path, loaded, now=now)
    limits = limits_of(workload, loaded)
    chosen = known_values(options.chosen, workload)
    with store_of(loaded, read_only=options.dry_run) as store:
        screen(store, workload, chosen, limits, now=now)
        known = gather(store, workload.identity, loaded, now=now, offline=options.offline, strict=options.strict)
        wishes = wishes_of(workload, limits, known.runs, loaded)
        if options.learn and not options.dry_run:
            known = learning.learn_if_possible(store, workload.identity, known, wishes, loaded, seed=seed, now=now)
        policy = learning.policy_in(store, workload.identity, wishes.explore)
        advice = advised(store, workload, known, wishes, policy, chosen, options)
        proposal = propose(workload, advice, limits, known.runs, loaded)
        suggestion = suggestion_of(
            workload,
            advice,
            proposal,
            known,
            loaded,
            suggestion_id=options.suggestion_id,
            now=now,
            seed=seed,
            policy=learning.decider(policy, advice.decision.decided_by),
        )
        if not proposal.guard.approved:
            refuse(store, workload, proposal.executed, proposal.guard, now=now, about=account(suggestion))
        store.append(suggestion, config=str(path), source_digest=workload.digest)
        if proposal.edits and not options.dry_run:
            write(store, workload, proposal, suggestion)
        return Report(
            suggestion,
            path,
            written=bool(proposal.edits) and not options.dry_run,
            track=known.track,
            diff=diff_of(workload, proposal) if options.diff else None,
        )


def advised(
    store: Store,
    workload: Workload,
    known: Known,
    wishes: Wishes,
    policy: Policy | None,
    chosen: Mapping[str, float],
    options: Options,
) -> Advice:
    """What belief and agent advise; that nothing is admissible goes on record, too."""
    try:
        return advise(
            workload.current,
            known.runs,
            wishes,
            policy=policy,
            seed=options.seed,
            others=known.others,
            followed_up=known.followed_up,
            chosen=chosen,
            waiting_for=waiting_for(known, workload.current),
        )
    except NothingAdmissible as error:
        about: dict[str, Json] = {
            "evidence": in_short(known.evidence),
            "preference": asdict(wishes.preference),
            "seed": options.seed,
        }
        store.audit(refused(workload, {}, [str(error)], code=error.code, now=options.now, about=about))
        raise


def write(store: Store, workload: Workload, proposal: Proposal, suggestion: Suggestion) -> None:
    """Replace the values in config.ini; what came of it goes on record either way."""
    told = {"suggestion_id": suggestion.suggestion_id, "config": str(workload.path), "source_digest": workload.digest}
    try:
        config.write(workload.path, proposal.edits, expected_digest=workload.digest)
    except EditError as error:
        kind = "conflict" if isinstance(error, ConflictError) else "not written"
        why = {**told, "reason": str(error), "code": error.code}
        store.withdraw(suggestion.suggestion_id, AuditEvent(kind, suggestion.created_at, workload.identity, why))
        raise
    told["written_digest"] = hashlib.sha256(proposal.content).hexdigest()
    store.audit(AuditEvent("written", suggestion.created_at, workload.identity, told))


def screen(store: Store, workload: Workload, chosen: Mapping[str, float], limits: Limits, *, now: float) -> None:
    """Values set by hand that the guard refuses anyway are refused before anything is computed with them."""
    wanted = {**workload.current, **chosen}
    guard = guarded(workload, wanted, limits, Facts())
    if not guard.approved:
        refuse(store, workload, wanted, guard, now=now, about={"decided_by": "user"})


def refuse(
    store: Store, workload: Workload, wanted: Mapping[str, float], guard: Guarded, *, now: float, about: Mapping[str, Json]
) -> None:
    """Put the guard's refusal on record and end with it. What was refused is no suggestion: no later run can have followed it."""
    remedy = "choose another value, widen the limit in jpo.toml, or mend what the checker names"
    error = NothingAdmissible(str(workload.path), "; ".join(guard.violations), remedy, code="JPO-E401")
    store.audit(refused(workload, wanted, guard.violations, code=error.code, now=now, about=about))
    raise error


def known_values(chosen: Mapping[str, float], workload: Workload) -> Mapping[str, float]:
    """The values of --set: of parameters that this config.ini has, whole where they must be."""
    for name, value in chosen.items():
        if name not in workload.current:
            known = ", ".join(workload.current)
            raise UsageError("--set", f"{workload.path} has no parameter {name}", f"it has {known}", code="JPO-E305")
        if name in WHOLE and not value.is_integer():
            raise UsageError("--set", f"{name} = {value:g} is not a whole number", f"write e.g. {name}=32", code="JPO-E305")
    return chosen
