"""From advice to a proposal that can be checked, recorded, written and read: new texts, the guard's verdict, reasons.

The guard decides on the values that will stand in the file, so they are formatted first and read back.
"""

from __future__ import annotations

import difflib
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from statistics import median

import constraints
from constraints import Facts, Limits, names, workload_checker
from jpo import config
from jpo.agent.policy import Policy
from jpo.cost import check_sla, usd_per_hour
from jpo.errors import ConflictError, EditError, NothingAdmissible, UsageError
from jpo.history import AuditEvent, Json, Store
from jpo.history.events import account, refused
from jpo.inventory.batch_per_gpu import thinned_out
from jpo.optimizer.advise import Advice
from jpo.optimizer.explain import account_of
from jpo.optimizer.request import Request
from jpo.project.evidence import currency_in, prices_in
from jpo.project.load import LoadedSettings
from jpo.records import SAME, Change, Edit, Forecast, Guarded, Known, Parameter, Parameters, Run, Suggestion, Workload, same

TELLING = 3
"""Runs of each configuration that a suggestion names as its evidence."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What would stand in config.ini.

    Attributes:
        edits: the values to replace.
        content: the whole file with them.
        executed: the values that the job would read from it: texts may be rounded, and what is learnt from is what was run.
        guard: the word of the guard and of the team's own checker.
    """

    edits: tuple[Edit, ...]
    content: bytes
    executed: Parameters
    guard: Guarded


def request_of(
    workload: Workload, limits: Limits, runs: Sequence[Run], loaded: LoadedSettings, chosen: Parameters | None = None
) -> Request:
    """What jpo.toml and config.ini allow and prefer, with the values set by hand."""
    settings, tables = loaded.settings, loaded.settings.parameters
    facts, prices = Facts(gpu_memory_gib_now=gpu_memory_gib_now(workload, runs)), prices_in(loaded)

    def admissible(today: Parameters, proposed: Parameters) -> bool:
        known = facts if today == workload.current else Facts()
        if limits.prices.catalogue:
            known = replace(known, usd_per_hour_next=usd_per_hour(proposed, prices))
        return constraints.approves(today, proposed, limits, known)

    return Request(
        current=workload.current,
        free=[p.name for p in workload.parameters if not p.held],
        admissible=admissible,
        preference=settings.preference.record(),
        prices=prices,
        choices={name: table.choices for name, table in tables.items() if table.choices},
        scales={name: table.scale for name, table in tables.items() if table.scale},
        follow=follow_of(workload, loaded),
        targets=settings.sla.targets,
        currency=currency_in(loaded),
        explore=settings.agent.explore,
        confidence=settings.agent.confidence,
        chosen=chosen or {},
    )


def follow_of(workload: Workload, loaded: LoadedSettings) -> dict[str, str]:
    """Which parameter follows which, both of them in config.ini."""
    rules: dict[str, str] = {name: table.follow for name, table in loaded.settings.parameters.items() if table.follow}
    for name, rule in rules.items():
        for needed in (name, rule.partition(":")[0]):
            if needed not in workload.current:
                finding = f"[parameters] {name}: follow needs {needed}, which {workload.path} does not have"
                raise UsageError(str(loaded.toml or "settings"), finding, "take follow out, or add the option", code="JPO-E302")
    return rules


def propose(workload: Workload, advice: Advice, limits: Limits, runs: Sequence[Run], loaded: LoadedSettings) -> Proposal:
    """Format the advised values and have them checked."""
    edits = edits_of(workload, advice.suggested, advice.undo.texts if advice.undo else {})
    executed = executed_with(workload, edits)
    for name in advice.by_hand:
        if not math.isclose(executed[name], advice.suggested[name], rel_tol=SAME):
            finding = f"{name} = {advice.suggested[name]:g} cannot be written in the form that stands in {workload.path}"
            raise UsageError("--set", finding, f"the nearest is {executed[name]:g}", code="JPO-E305")
    return checked(workload, edits, limits, facts_of(workload, advice, runs), loaded)


def checked(workload: Workload, edits: tuple[Edit, ...], limits: Limits, facts: Facts, loaded: LoadedSettings) -> Proposal:
    """Read the values back, and ask the guard and then the team's own checker about the result."""
    executed = executed_with(workload, edits)
    content = config.edited(workload.content, str(workload.path), edits)
    guard = guarded(workload, executed, limits, facts)
    if guard.approved and edits and loaded.settings.check.command:
        objection = team_objection(workload, content, loaded)
        guard = guard if objection is None else replace(guard, approved=False, violations=(objection,))
    return Proposal(edits, content, executed, guard)


def guarded(workload: Workload, proposed: Parameters, limits: Limits, facts: Facts) -> Guarded:
    """The guard's word in sentences; for a refusal also the nearest values that it would allow."""
    verdict = constraints.check(workload.current, proposed, limits, facts)
    notices = tuple(f"{notice.message}; it was left as it is" for notice in verdict.notices)
    if verdict.approved:
        return Guarded(True, (), notices)
    allowed = {name: value for name, value in (verdict.parameters or {}).items() if value != workload.current[name]}
    hint = [f"allowed would be {', '.join(f'{n} = {v:g}' for n, v in allowed.items())}"] if allowed else []
    return Guarded(False, (*(violation.message for violation in verdict.violations), *hint), notices)


def edits_of(workload: Workload, suggested: Parameters, restored: Mapping[str, str]) -> tuple[Edit, ...]:
    """The places in config.ini where a new value must stand, or by name of the parameter a text that stood there before."""
    wanted = (
        (p, restored[p.name] if p.name in restored else config.format_value(p, suggested[p.name]))
        for p in workload.parameters
        if p.name in restored or suggested[p.name] != p.value
    )
    return tuple(Edit(p.key, p.line, p.text, text) for p, text in wanted if text != p.text)


def executed_with(workload: Workload, edits: Sequence[Edit]) -> dict[str, float]:
    """The values that the job reads after these edits."""
    texts = {edit.key: edit.new_text for edit in edits}
    return {p.name: number_in(p, texts[p.key]) if p.key in texts else p.value for p in workload.parameters}


def number_in(parameter: Parameter, text: str) -> float:
    """The number that a new text means, read as the guard reads it."""
    value = names.parse_value(parameter.name, parameter.key.rpartition(".")[2], text)
    assert value is not None, "the old text was a number in the same unit"
    return value


def facts_of(workload: Workload, advice: Advice, runs: Sequence[Run]) -> Facts:
    """What the guard cannot read in two files: the forecast, and the GPU memory that today's values need."""
    expected = {f"{f.name}_next": interval.mean for f in fields(Forecast) if (interval := getattr(advice.next, f.name))}
    rate = usd_per_hour(advice.suggested, advice.surrogate.prices) if advice.surrogate else None
    return Facts(gpu_memory_gib_now=gpu_memory_gib_now(workload, runs), usd_per_hour_next=rate, **expected)


def gpu_memory_gib_now(workload: Workload, runs: Sequence[Run]) -> float | None:
    """The most GPU memory that a run with today's batch size, GPUs and layers was seen to need; what else differs costs none."""
    today = {name: value for name, value in workload.current.items() if name in ("batch_size", "gpus", "num_layers")}
    like_today = [run for run in runs if run.parameters and same(run.parameters, today)]
    return max((run.outcome.gpu_memory_gib for run in like_today if run.outcome.gpu_memory_gib is not None), default=None)


def team_objection(workload: Workload, content: bytes, loaded: LoadedSettings) -> str | None:
    """Why the checker named in [check] rejects the file; None if it does not."""
    check = loaded.settings.check
    try:
        return workload_checker.run_checker(check.command, content, workload.path.name, check.timeout)
    except ValueError as error:
        raise UsageError(str(loaded.toml or "settings"), str(error), code="JPO-E404") from error


def diff_of(workload: Workload, proposal: Proposal) -> str:
    """The change as a unified diff; empty when there is none."""
    old, new = (content.decode("utf-8", "replace").split("\n") for content in (workload.content, proposal.content))
    return "\n".join(difflib.unified_diff(old, new, str(workload.path), str(workload.path), lineterm=""))


def suggestion_of(
    workload: Workload,
    advice: Advice,
    proposal: Proposal,
    known: Known,
    request: Request,
    limits: Limits,
    loaded: LoadedSettings,
    *,
    suggestion_id: str,
    now: float,
    seed: int,
    policy: str | None = None,
    agent: Policy | None = None,
) -> Suggestion:
    """Everything about this answer in one record; `agent` was asked, `policy` is the digest of what decided."""
    decision, edits = advice.decision, {edit.key: edit for edit in proposal.edits}
    facts = Facts(gpu_memory_gib_now=gpu_memory_gib_now(workload, known.runs))
    told = account_of(advice, request, known, limits, facts=facts, policy=agent)
    few = thinned_out(advice.current, proposal.executed, known.runs)
    changes = (change(p, edits[p.key], advice, known.runs) for p in workload.parameters if p.key in edits)
    return Suggestion(
        suggestion_id=suggestion_id,
        identity=workload.identity,
        status="changed" if edits else "kept",
        keys={p.name: p.key for p in workload.parameters},
        current=advice.current,
        suggested=proposal.executed,
        changes=tuple(replace(one, capped_by=told.capped_by.get(one.parameter)) for one in changes),
        now=advice.now,
        next=advice.next,
        guard=proposal.guard,
        evidence=replace(known.evidence, run_ids=telling_runs(known.runs, advice.current, proposal.executed)),
        decided_by=decision.decided_by,
        confidence=decision.confidence,
        reasons=(*decision.reasons, *([few] if few else [])),
        codes=(*decision.codes, *(["JPO-I863"] if few else []), *known.codes),
        created_at=now,
        preference=loaded.settings.preference.record(),
        seed=seed,
        sla=check_sla(loaded.settings.sla.targets, advice.next),
        policy=policy,
        alternatives=told.alternatives,
        seen=told.seen,
        would_change=told.would_change,
        undoes=advice.undo.suggestion_id if advice.undo else None,
    )


def telling_runs(runs: Sequence[Run], *configurations: Parameters) -> tuple[str, ...]:
    """Ids of the newest TELLING runs with each of these configurations, oldest first."""
    alike = [[run for run in runs if run.parameters and same(run.parameters, values)][-TELLING:] for values in configurations]
    ids = {run.run_id for some in alike for run in some}
    return tuple(dict.fromkeys(run.run_id for run in runs if run.run_id in ids))


def change(parameter: Parameter, edit: Edit, advice: Advice, runs: Sequence[Run]) -> Change:
    """One line of the suggestion."""
    name, new = parameter.name, number_in(parameter, edit.new_text)
    reason = "set by hand" if name in advice.by_hand else why(name, new, advice.current, runs)
    return Change(name, edit.key, parameter.value, new, edit.old_text, edit.new_text, reason, advice.decision.confidence)


def why(name: str, value: float, current: Parameters, runs: Sequence[Run]) -> str:
    """What the runs say about one value: how many there were, how many did not end well, and what it changes alone."""
    there = [run for run in runs if name in run.parameters and same({name: run.parameters[name]}, {name: value})]
    if not there:
        return f"not run yet at {value:g}"
    failed = sum(not run.ended_well for run in there)
    told = f"{len(there)} run{'' if len(there) == 1 else 's'} at {value:g}" + (f", {failed} of them not well" if failed else "")
    alone, today = (median_seconds(runs, {**current, name: v}) for v in (value, current[name]))
    if alone is None or today is None:
        return told
    return f"{told}; alone it takes {round(100 * abs(alone / today - 1))}% {'less' if alone < today else 'more'} time (median)"


def median_seconds(runs: Sequence[Run], values: Parameters) -> float | None:
    """Median duration of the runs that ended well with these values; None without any."""
    alike = [run.outcome.duration_seconds for run in runs if run.ended_well and run.parameters and same(run.parameters, values)]
    measured = [seconds for seconds in alike if seconds is not None]
    return median(measured) if measured else None


def carry_out(store: Store, workload: Workload, proposal: Proposal, suggestion: Suggestion, *, dry_run: bool) -> bool:
    """Refuse what the guard refuses; else put it on record, and only then write. Whether config.ini was written."""
    if not proposal.guard.approved:
        refuse(store, workload, proposal.executed, proposal.guard, now=suggestion.created_at, about=account(suggestion))
    store.append(suggestion, config=str(workload.path), source_digest=workload.digest)
    if not proposal.edits or dry_run:
        return False
    write(store, workload, proposal, suggestion)
    return True


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


def refuse(
    store: Store, workload: Workload, wanted: Mapping[str, float], guard: Guarded, *, now: float, about: Mapping[str, Json]
) -> None:
    """Put the guard's refusal on record and end with it. What was refused is no suggestion: no later run can have followed it."""
    remedy = "choose another value, widen the limit in jpo.toml, or mend what the checker names"
    error = NothingAdmissible(str(workload.path), "; ".join(guard.violations), remedy, code="JPO-E401")
    store.audit(refused(workload, wanted, guard.violations, code=error.code, now=now, about=about))
    raise error
