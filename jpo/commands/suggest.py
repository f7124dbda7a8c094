"""`jpo suggest config.ini`: the CI step, and the whole story of JPO.

Audit before write: the suggestion is on record before config.ini changes, so an edit that is not on record cannot exist.
Killed at any instant, config.ini is the old file or the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from constraints import Facts, Limits
from jpo import config, learning
from jpo.advice import advise
from jpo.errors import ConflictError, EditError, NothingAdmissible, UsageError
from jpo.evidence import gather, limits_of, waiting_for, workload_of
from jpo.history import AuditEvent, Json, Store, open_store
from jpo.layers import Loaded
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
    with open_store(loaded.store_url, read_only=options.dry_run, timeout_seconds=loaded.settings.store.timeout) as store:
        screen(store, workload, chosen, limits, now=now)
        known = gather(store, workload.identity, loaded, now=now, offline=options.offline, strict=options.strict)
        wishes = wishes_of(workload, limits, known.runs, loaded)
        if options.learn and not options.dry_run:
            known = learning.learn_if_possible(store, workload.identity, known, wishes, loaded, seed=seed, now=now)
        policy = learning.policy_in(store, workload.identity, wishes.explore)
        advice = advise(
            workload.current,
            known.runs,
            wishes,
            policy=policy,
            seed=seed,
            others=known.others,
            followed_up=known.followed_up,
            chosen=chosen,
            waiting_for=waiting_for(known, workload.current),
        )
        proposal = propose(workload, advice, limits, known.runs, loaded)
        suggestion = suggestion_of(
            workload, advice, proposal, known, loaded, suggestion_id=options.suggestion_id, now=now, seed=seed
        )
        if not proposal.guard.approved:
            refuse(store, workload, proposal.executed, proposal.guard, now=now)
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


def write(store: Store, workload: Workload, proposal: Proposal, suggestion: Suggestion) -> None:
    """Replace the values in config.ini; what came of it goes on record either way."""
    told = {"suggestion_id": suggestion.suggestion_id, "config": str(workload.path)}
    try:
        config.write(workload.path, proposal.edits, expected_digest=workload.digest)
    except EditError as error:
        kind = "conflict" if isinstance(error, ConflictError) else "not written"
        reason = {**told, "reason": str(error)}
        store.withdraw(suggestion.suggestion_id, AuditEvent(kind, suggestion.created_at, workload.identity, reason))
        raise
    store.audit(AuditEvent("written", suggestion.created_at, workload.identity, told))


def screen(store: Store, workload: Workload, chosen: Mapping[str, float], limits: Limits, *, now: float) -> None:
    """Values set by hand that the guard refuses anyway are refused before anything is computed with them."""
    wanted = {**workload.current, **chosen}
    guard = guarded(workload, wanted, limits, Facts())
    if not guard.approved:
        refuse(store, workload, wanted, guard, now=now)


def refuse(store: Store, workload: Workload, wanted: Mapping[str, float], guard: Guarded, *, now: float) -> None:
    """Put the guard's refusal on record and end with it. What was refused is no suggestion: no later run can have followed it."""
    changes = {name: value for name, value in wanted.items() if value != workload.current[name]}
    told: dict[str, Json] = {"config": str(workload.path), "wanted": changes, "violations": list(guard.violations)}
    store.audit(AuditEvent("refused", now, workload.identity, told))
    remedy = "choose another value, widen the limit in jpo.toml, or mend what the checker names"
    raise NothingAdmissible(str(workload.path), "; ".join(guard.violations), remedy, code="JPO-E401")


def known_values(chosen: Mapping[str, float], workload: Workload) -> Mapping[str, float]:
    """The values of --set: of parameters that this config.ini has, whole where they must be."""
    for name, value in chosen.items():
        if name not in workload.current:
            known = ", ".join(workload.current)
            raise UsageError("--set", f"{workload.path} has no parameter {name}", f"it has {known}", code="JPO-E305")
        if name in WHOLE and not value.is_integer():
            raise UsageError("--set", f"{name} = {value:g} is not a whole number", f"write e.g. {name}=32", code="JPO-E305")
    return chosen
