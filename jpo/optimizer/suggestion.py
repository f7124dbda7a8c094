"""Suggestion: everything about one answer in one record, from advice, proposal and what was known.

The proposal has been formatted and checked already, and nothing is written here.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from operator import itemgetter

from constraints import Facts, Limits, names
from constraints.limit import Limit
from constraints.own import read_value
from jpo.agent.budget import REFERENCES
from jpo.agent.policy import Policy
from jpo.cost import check_sla
from jpo.cost.comparison import trade_off
from jpo.inventory.batch_per_gpu import thinned_out
from jpo.optimizer.advise import Advice
from jpo.optimizer.explain.account import account_of
from jpo.optimizer.request import Request
from jpo.records import (
    RISK,
    SAME,
    WORTH,
    Change,
    DecisionOnRecord,
    Edit,
    Guarded,
    Known,
    Note,
    Parameter,
    Parameters,
    Prospects,
    Run,
    SuggestedValues,
    Suggestion,
    Word,
    Workload,
    in_order,
    same,
)
from jpo.wording import numbers


@dataclass(frozen=True, slots=True)
class Proposal:
    """Proposal for config.ini: what would be written into it.

    Attributes:
        workload: the file as it is, or with the values in force where the checkout has older ones.
        limits: by which the guard decided.
        edits: the values to replace.
        content: the whole file with them.
        executed: the values that the job would read from it: texts may be rounded, and what is learnt from is what was run.
        guard: the word of the guard and of the team's own checker.
    """

    workload: Workload
    limits: Limits
    edits: tuple[Edit, ...]
    content: bytes
    executed: Parameters
    guard: Guarded


def suggestion_of(
    advice: Advice, request: Request, proposal: Proposal, known: Known, policy: Policy | None, *, suggestion_id: str, now: float
) -> Suggestion:
    """Suggestion that goes on record. `policy`: the agent that was asked; None where the belief rule was. `now`: unix seconds."""
    workload, decision, edits = proposal.workload, advice.decision, {edit.key: edit for edit in proposal.edits}
    facts = Facts(gpu_memory_gib_now=gpu_memory_gib_now(workload.current, known.runs))
    explanation = account_of(advice, request, known, proposal.limits, facts=facts, policy=policy)
    as_run = {name: advice.current[name] for name in request.as_run}
    changed = [p for p in workload.parameters if p.key in edits]
    new = {p.name for p in changed if not already_run(p, proposal.executed, advice)}
    changes = (change(p, edits[p.key], proposal.executed, advice, known, explanation.single_effects) for p in changed)
    values = SuggestedValues(
        # the key alone would mislead where the file counts in other terms
        keys={p.name: f"{p.name} in all ({p.key})" if p.counted and p.key not in edits else p.key for p in workload.parameters},
        current={**workload.current, **as_run},
        suggested={**proposal.executed, **{name: advice.suggested[name] for name in as_run}},
        texts={p.name: p.text for p in workload.parameters if not p.counted},
        as_run=in_order({*as_run, *(p.name for p in changed)} - new),
    )
    on_record = DecisionOnRecord(
        decided_by=decision.decided_by,
        confidence=decision.confidence,
        reasons=(*decision.reasons, *change_reasons(advice, request, proposal, known)),
        preference=request.wanted.preference,
        seed=advice.seed,
        policy=decider(policy, decision.decided_by),
        undoes=advice.undo.suggestion_id if advice.undo else None,
        kind=decision.kind,
        trial=trial_number(advice),
        rules=decision.rules,
        runs_saved=decision.runs_saved,
    )
    return Suggestion(
        suggestion_id=suggestion_id,
        identity=workload.identity,
        created_at=now,
        status="changed" if edits else "kept",
        values=values,
        changes=tuple(replace(item, capped_by=explanation.capped_by.get(item.parameter)) for item in changes),
        now=advice.now,
        next=advice.next,
        guard=proposal.guard,
        evidence=replace(known.evidence, run_ids=evidence_runs(known.runs, advice.current, proposal.executed)),
        decision=on_record,
        prospects=Prospects(
            check_sla(request.wanted.targets, advice.next),
            explanation.alternatives,
            explanation.seen,
            explanation.would_change,
            explanation.difference,
        ),
    )


def trial_number(advice: Advice) -> tuple[int, int] | None:
    """Which trial it is of those that the newest runs earned; None: it is none, or nobody counts, as in a search."""
    if advice.decision.kind != "trial" or advice.problem is None or advice.problem.search is not None:
        return None
    if not math.isfinite(advice.problem.leeway.trials_earned):
        return None
    made, earned = advice.problem.leeway.trials_made, math.floor(advice.problem.leeway.trials_earned)
    return made + 1, max(earned, made + 1)


def change_reasons(advice: Advice, request: Request, proposal: Proposal, known: Known) -> Iterator[Note]:
    """What else a change means: for the batch in all, for time against money, for each GPU's batch; and how likely a run of it
    fails, and where that comes from, as `jpo predict` and `jpo pareto` say it.
    """
    if grown := grown_with_gpus(proposal.workload, proposal.edits, proposal.executed):
        yield Note("JPO-I642", grown)
    if trade := trade_off(advice.now, advice.next, request.wanted.usd_per_saved_hour):
        yield Note(WORTH, trade.words(request.wanted.usd_per_saved_hour or 0.0, request.currency))
    if thin := thinned_out(advice.current, proposal.executed, known.runs):
        yield Note("JPO-I863", thin)
    if proposal.edits and advice.surrogate:
        yield Note(RISK, f"chance that it fails: {advice.surrogate.failure_chance(advice.decision.choice)}")


def decider(policy: Policy | None, decided_by: str) -> str | None:
    """Decider, for the record: the digest of the policy's weights, or "belief rule"; None where neither was asked."""
    if policy is not None and decided_by == policy.name:
        return policy.digest
    return "belief rule" if decided_by == "belief" else None


def gpu_memory_gib_now(current: Parameters, runs: Sequence[Run]) -> float | None:
    """Highest GPU memory that a run with today's batch size, GPUs and layers was seen to need; what else differs costs none."""
    today = {name: value for name, value in current.items() if name in ("batch_size", "gpus", "num_layers")}
    measured = [(peak, run.parameters) for run in runs if run.parameters and (peak := run.outcome.gpu_memory_gib) is not None]
    highest_first = sorted(measured, key=itemgetter(0), reverse=True)  # so that few of many runs are compared
    return next((peak for peak, ran in highest_first if same(today, ran)), None)


def number_in(parameter: Parameter, text: str) -> float:
    """Number (or word) that a new text means, read as the guard reads it."""
    if parameter.name not in names.WELL_KNOWN:
        said = read_value(parameter.key, text, Limit(worded=isinstance(parameter.value, Word)))
        return Word(said) if isinstance(said, str) else said
    value = names.parse_value(parameter.name, parameter.key.rpartition(".")[2], text)
    assert value is not None, "the old text was a number in the same unit"
    return value


def evidence_runs(runs: Sequence[Run], *configurations: Parameters) -> tuple[str, ...]:
    """Ids of the newest REFERENCES runs with each of these configurations, oldest first."""
    newest = [run for run in reversed(runs) if run.parameters]
    alike = (islice((run for run in newest if same(run.parameters, values)), REFERENCES) for values in configurations)
    ids = {run.run_id for some in alike for run in some}
    return tuple(dict.fromkeys(run.run_id for run in runs if run.run_id in ids))


def change(
    parameter: Parameter, edit: Edit, executed: Parameters, advice: Advice, known: Known, single_effects: Mapping[str, str]
) -> Change:
    """Change of one parameter: a line of the suggestion, what it is expected to do and on what ground."""
    name, new = parameter.name, executed[parameter.name]
    ground = "set by hand" if name in advice.by_hand else why(name, new, known.runs) + elsewhere(name, new, known)
    reason = f"{single_effects[name]}; {ground}" if name in single_effects else ground
    if known.phase_needs and name in ("cpus", "memory_gib"):
        reason = f"{reason}; {known.phase_needs}"
    if already_run(parameter, executed, advice):
        reason = "the value that the job really ran with"
    if parameter.counted:
        reason = f"{name} {parameter.value:g} → {new:g} in all: {reason}"
    return Change(name, edit.key, parameter.value, new, edit.old_text, edit.new_text, reason, advice.decision.confidence)


def already_run(parameter: Parameter, executed: Parameters, advice: Advice) -> bool:
    """Whether a new value only writes down what runs have, whatever config.ini says."""
    new = executed[parameter.name]
    return new != parameter.value and new == advice.current[parameter.name]


def grown_with_gpus(workload: Workload, edits: Sequence[Edit], executed: Parameters) -> str | None:
    """What happens to the global batch where the file says the batch per device, and that stays while the GPUs change."""
    batch = next((p for p in workload.parameters if p.name == "batch_size" and p.counted), None)
    if batch is None or executed["batch_size"] == batch.value or any(edit.key == batch.key for edit in edits):
        return None
    stays = f"{batch.key} stays {batch.text} on each device"
    return f"{stays}: the global batch_size becomes {executed['batch_size']:g}, from {batch.value:g}"


def why(name: str, value: float, runs: Sequence[Run]) -> str:
    """Ground of one value, from the runs: how many there were, and how many did not end well."""
    there = runs_at(name, value, runs)
    if not there:
        return f"not tried yet at {numbers.written(name, value)}"
    failed = sum(not run.ended_well for run in there)
    badly = f", {failed} did not end well" if failed else ""
    return f"{numbers.counted(len(there), 'run')} at {numbers.written(name, value)}{badly}"


def runs_at(name: str, value: float, runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if name in run.parameters and math.isclose(run.parameters[name], value, rel_tol=SAME)]


def elsewhere(name: str, value: float, known: Known) -> str:
    """What the same job did at a value that has not been run here, on the hardware that ran it most often."""
    there = runs_at(name, value, known.siblings)
    if not there or runs_at(name, value, known.runs):
        return ""
    ((identity, _),) = Counter(run.identity for run in there).most_common(1)
    runs = [run for run in known.siblings if run.identity == identity]
    return f"; on {identity.hardware or 'hardware that is not named'} {why(name, value, runs)}"
