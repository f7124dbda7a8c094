"""From advice to a suggestion that can be checked, recorded, written and read: new texts, reasons, the guard's verdict.

The guard decides on the values that will stand in the file, so they are formatted first and read back.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import constraints
from constraints import Facts, Limits, names, workload_checker
from jpo import config
from jpo.advisor import Advice, Wishes
from jpo.cost import Prices, check_sla
from jpo.errors import UsageError
from jpo.evidence import Refreshed
from jpo.layers import Loaded
from jpo.records import Change, Edit, Guarded, Parameter, Run, RunStatus, Suggestion, Workload

Values = Mapping[str, float]


def wishes_of(workload: Workload, limits: Limits, loaded: Loaded) -> Wishes:
    """What jpo.toml and config.ini allow and prefer."""
    settings, tables = loaded.settings, loaded.settings.parameters
    return Wishes(
        free=[p.name for p in workload.parameters if not p.held],
        admissible=lambda today, proposed: constraints.check(today, proposed, limits).approved,
        preference=settings.preference.record(),
        prices=Prices(**settings.prices.model_dump()),
        choices={name: table.choices for name, table in tables.items() if table.choices},
        follow={name: table.follow for name, table in tables.items() if table.follow},
        time_max_seconds=settings.sla.time_max,
        cost_max_usd=settings.sla.cost_max,
        val_loss_max=settings.sla.val_loss_max,
        explore=settings.agent.explore,
        confidence=settings.agent.confidence,
    )


def edits_of(workload: Workload, suggested: Values) -> tuple[Edit, ...]:
    """The places in config.ini where a new value must stand."""
    wanted = ((p, config.format_value(p, suggested[p.name])) for p in workload.parameters if suggested[p.name] != p.value)
    return tuple(Edit(p.key, p.line, p.text, text) for p, text in wanted if text != p.text)


def executed(workload: Workload, edits: Sequence[Edit]) -> dict[str, float]:
    """The values that the job will read: new texts may be rounded, and what is learnt from is what was run."""
    texts = {edit.key: edit.new_text for edit in edits}
    return {p.name: number_in(p, texts[p.key]) if p.key in texts else p.value for p in workload.parameters}


def number_in(parameter: Parameter, text: str) -> float:
    """The number that a new text means, read as the guard reads it."""
    value = names.parse_value(parameter.name, parameter.key.rpartition(".")[2], text)
    assert value is not None, "the old text was a number in the same unit"
    return value


def verdict_of(
    workload: Workload, advice: Advice, edits: Sequence[Edit], runs: Sequence[Run], limits: Limits, loaded: Loaded
) -> Guarded:
    """Ask the guard, and then the team's own checker, about the file as it would be."""
    verdict = constraints.check(workload.current, executed(workload, edits), limits, facts_of(workload, advice, runs))
    if not verdict.approved:
        allowed = {name: value for name, value in (verdict.parameters or {}).items() if value != workload.current[name]}
        hint = [f"allowed would be {', '.join(f'{n} = {v:g}' for n, v in allowed.items())}"] if allowed else []
        return Guarded(False, (*(violation.message for violation in verdict.violations), *hint))
    return team_verdict(workload, edits, loaded)


def facts_of(workload: Workload, advice: Advice, runs: Sequence[Run]) -> Facts:
    """What the guard cannot read in two files: the forecast, and the GPU memory which today's values were last seen to need."""
    duration, cost = advice.next.duration_seconds, advice.next.cost_usd
    like_today = [run for run in runs if all(workload.current.get(n) == v for n, v in run.parameters.items())]
    measured = [run.outcome.gpu_memory_gib for run in like_today if run.outcome.gpu_memory_gib is not None]
    return Facts(
        gpu_memory_gib_now=measured[-1] if measured else None,
        duration_seconds_next=duration.mean if duration else None,
        cost_usd_next=cost.mean if cost else None,
    )


def team_verdict(workload: Workload, edits: Sequence[Edit], loaded: Loaded) -> Guarded:
    """The word of the checker named in [check], if any."""
    check = loaded.settings.check
    if not edits or not check.command:
        return Guarded(True)
    proposed = config.edited(workload.path.read_bytes(), str(workload.path), edits)
    try:
        reason = workload_checker.run_checker(check.command, proposed, workload.path.name, check.timeout)
    except ValueError as error:
        raise UsageError("[check] command", str(error), "install it, or name its path", code="JPO-E404") from error
    return Guarded(reason is None, () if reason is None else (f"{Path(check.command[0]).name}: {reason}",))


def diff_of(workload: Workload, edits: Sequence[Edit]) -> str:
    """The change as a unified diff; empty when there is none."""
    before = workload.path.read_bytes()
    after = config.edited(before, str(workload.path), edits)
    old, new = (content.decode("utf-8", "replace").split("\n") for content in (before, after))
    return "\n".join(difflib.unified_diff(old, new, str(workload.path), str(workload.path), lineterm=""))


def suggestion_of(
    workload: Workload,
    advice: Advice,
    edits: Sequence[Edit],
    guard: Guarded,
    refreshed: Refreshed,
    runs: Sequence[Run],
    loaded: Loaded,
    suggestion_id: str,
    now: float,
    seed: int,
) -> Suggestion:
    """Everything about this answer in one record."""
    promises = {name: limit for name, limit in loaded.settings.sla.model_dump().items() if limit is not None}

    return Suggestion(
        suggestion_id=suggestion_id,
        identity=workload.identity,
        status="changed" if edits else "kept",
        keys={p.name: p.key for p in workload.parameters},
        current=advice.current,
        suggested=executed(workload, edits),
        changes=tuple(change(p, edit, advice, runs) for edit in edits for p in workload.parameters if p.key == edit.key),
        now=advice.now,
        next=advice.next,
        guard=guard,
        evidence=refreshed.evidence,
        decided_by=advice.decision.decided_by,
        confidence=advice.decision.confidence,
        reasons=advice.decision.reasons,
        codes=(*advice.decision.codes, *refreshed.codes),
        created_at=now,
        preference=loaded.settings.preference.record(),
        seed=seed,
        sla=check_sla(promises, advice.next),
    )


def change(parameter: Parameter, edit: Edit, advice: Advice, runs: Sequence[Run]) -> Change:
    """One line of the suggestion."""
    name, new = parameter.name, number_in(parameter, edit.new_text)
    reason = why(name, new, advice, runs)
    return Change(name, edit.key, parameter.value, new, edit.old_text, edit.new_text, reason, advice.decision.confidence)


def why(name: str, value: float, advice: Advice, runs: Sequence[Run]) -> str:
    """What the runs say about one value, in a few words."""
    if name in advice.by_hand:
        return "set by hand"
    there, here = (median_duration(name, v, runs) for v in (value, advice.current[name]))
    count = sum(run.parameters.get(name) == value for run in runs)
    if there is None or here is None:
        return f"{count} runs at {value:g}, none to compare" if count else f"not run yet at {value:g}"
    percent = round(100 * abs(there / here - 1))
    less = "less" if there < here else "more"
    return f"{count} runs at {value:g}: {percent} % {less} time than at {advice.current[name]:g} (median)"


def median_duration(name: str, value: float, runs: Sequence[Run]) -> float | None:
    """Median duration in seconds of the runs that ended well with this value; None without any."""
    durations = [
        seconds
        for run in runs
        if run.parameters.get(name) == value and run.status is RunStatus.SUCCEEDED and run.outcome.converged is not False
        for seconds in [run.outcome.duration_seconds]
        if seconds is not None
    ]
    return median(durations) if durations else None
