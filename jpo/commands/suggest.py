"""`jpo suggest config.ini`: the CI step, and the whole story of JPO.

Audit before write: the suggestion is on record before config.ini changes, so an edit that is not on record cannot exist.
Killed at any instant, config.ini is the old file or the new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from jpo import config, learning
from jpo.advisor import advise
from jpo.errors import EditError, NothingAdmissible, UsageError
from jpo.evidence import limits_of, past_forecasts, refresh, workload_of
from jpo.history import AuditEvent, Store, open_store
from jpo.layers import Loaded
from jpo.proposal import diff_of, edits_of, suggestion_of, verdict_of, wishes_of
from jpo.records import Edit, Suggestion, Workload
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
    workload = workload_of(path, loaded, today=datetime.fromtimestamp(options.now, UTC).date())
    limits = limits_of(workload, loaded)
    wishes = wishes_of(workload, limits, loaded)
    identity = workload.identity
    with open_store(loaded.store_url, read_only=options.dry_run, timeout_seconds=loaded.settings.store.timeout) as store:
        refreshed = refresh(store, identity, loaded, now=options.now, offline=options.offline, strict=options.strict)
        runs = store.runs_of(identity)
        if options.learn and not options.dry_run:
            learning.catch_up_if_possible(
                store, identity, runs, wishes, loaded.settings.agent.learn_budget, options.seed, now=options.now
            )
        advice = advise(
            workload.current,
            runs,
            wishes,
            policy=learning.policy_in(store, identity),
            seed=options.seed,
            suggested_runs=[known.run.run_id for known in store.recorded_runs(identity) if known.suggestion_id],
            chosen=known_names(options.chosen, workload),
        )
        edits = edits_of(workload, advice.suggested)
        diff = diff_of(workload, edits) if options.diff else None
        guard = verdict_of(workload, advice, edits, runs, limits, loaded)
        suggestion = suggestion_of(
            workload, advice, edits, guard, refreshed, runs, loaded, options.suggestion_id, options.now, options.seed
        )
        store.append(suggestion, config=str(path), source_digest=workload.digest)
        if not guard.approved:
            refuse(store, suggestion, path)
        if edits and not options.dry_run:
            write(store, workload, edits, suggestion)
        track = past_forecasts(store, identity)
    return Report(suggestion, path, written=bool(edits) and not options.dry_run, track=track, diff=diff)


def write(store: Store, workload: Workload, edits: tuple[Edit, ...], suggestion: Suggestion) -> None:
    """Replace the values in config.ini; what came of it goes on record either way."""
    told = {"suggestion_id": suggestion.suggestion_id, "config": str(workload.path)}
    try:
        config.write(workload.path, edits, expected_digest=workload.digest)
    except EditError as error:
        store.audit(AuditEvent("conflict", suggestion.created_at, workload.identity, {**told, "reason": str(error)}))
        raise
    store.audit(AuditEvent("written", suggestion.created_at, workload.identity, told))


def refuse(store: Store, suggestion: Suggestion, path: Path) -> None:
    """Put the guard's refusal on record and end with it."""
    told = {"suggestion_id": suggestion.suggestion_id, "config": str(path), "violations": list(suggestion.guard.violations)}
    store.audit(AuditEvent("refused", suggestion.created_at, suggestion.identity, told))
    remedy = "choose another value, or widen the limit in jpo.toml"
    raise NothingAdmissible(str(path), "; ".join(suggestion.guard.violations), remedy, code="JPO-E401")


def known_names(chosen: Mapping[str, float], workload: Workload) -> dict[str, float]:
    """The values of --set, all of them for parameters that this config.ini has."""
    for name in chosen:
        if name not in workload.current:
            known = ", ".join(workload.current)
            raise UsageError("--set", f"{workload.path} has no parameter {name}", f"it has {known}", code="JPO-E305")
    return dict(chosen)
