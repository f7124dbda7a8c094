"""Where simulator, forecast and agent meet: a workload's runs go in, one decision with its forecasts comes out.

Parameters travel, the parts do not know each other: draws = what training jobs may be like; belief = those that fit the runs;
decision = the agent's choice under that belief. No store, no file, no clock: the same arguments give the same
advice, in every process.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from jpo.agent.acquisition import AcquisitionValues, acquisition_values
from jpo.agent.budget import relative_costs, values_found
from jpo.agent.context import UNKNOWN, Context, watched
from jpo.agent.decide import decide
from jpo.agent.harm import setback
from jpo.agent.policy import Policy
from jpo.agent.reasons import of_loss_watch, of_watch
from jpo.agent.rows import row_of_run, rows_of, rows_of_run
from jpo.cost import usd_per_hour
from jpo.errors import NothingAdmissible
from jpo.forecast import predict
from jpo.optimizer.candidates import with_followers
from jpo.optimizer.request import Request
from jpo.optimizer.sla import promised, within_sla
from jpo.optimizer.surrogate import Surrogate, surrogate_of
from jpo.records import Belief, Candidates, Decision, Forecast, Known, Parameters, Run, Undo

WATCHED = 100
"""Last runs that a policy is told of, each candidate's age and how it moved."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The decision, what it means in parameters, and what is expected today and then."""

    decision: Decision
    current: Parameters
    suggested: Parameters
    now: Forecast
    next: Forecast
    by_hand: Collection[str] = ()
    """Parameters whose value the user set."""
    ahead: Surrogate | None = field(default=None, compare=False)
    """What was known and believed of all candidates; None where the caller of `advise_among` has it."""
    undo: Undo | None = None
    """What is undone, if that is the advice."""
    last: Undo | None = None
    """How the agent's last change could be undone; None where that is not the question."""
    seed: int = 0
    """With which the belief was drawn."""


def advise(request: Request, known: Known, policy: Policy | None, *, seed: int, interval_factor: float | None = None) -> Advice:
    """Choose the next configuration.

    Args:
        known: the workload's runs, those of other workloads, what followed suggestions, and what is untried or may be undone.
        policy: the trained agent; None, or not released for this `explore`: the belief rule chooses.
        interval_factor: by how much the belief is too sure of itself, at least 1; None: as the forecasts of the last runs say.

    Raises:
        NothingAdmissible: JPO-E402, no configuration is expected to keep the SLA.
    """
    chosen, followed_up = request.chosen, known.followed_up
    asked = [with_followers(request, chosen)] if chosen else []
    surrogate = surrogate_of(request, known.runs, seed=seed, others=known.others, asked=asked, interval_factor=interval_factor)
    warned, warnings = of_watch(surrogate.interval_factor)
    undone: Undo | None = None
    if chosen:
        told = ", ".join(f"{name} = {value:g}" for name, value in chosen.items()) + " was set by hand"
        decision = Decision(surrogate.row(*asked), None, "user", (told, *warned), warnings, "try")
    else:
        candidates = within_sla(surrogate, request)
        waiting_for = known.waiting_for(request.current)
        if waiting_for and candidates.admissible[candidates.current]:
            told = f"suggestion {waiting_for} is in force and no run with it has finished; its outcome comes first"
            decision = Decision(candidates.current, None, "waiting", (told, *warned), ("JPO-I611", *warnings))
        elif known.last and (found := set_back(surrogate, request, known.last, followed_up)):
            decision, undone = found, known.last
        else:
            belief = surrogate.belief
            decision = choose(candidates, belief, known.runs, request, policy, followed_up, surrogate.interval_factor)
    lost, codes = of_loss_watch(surrogate.loss_interval_factor)
    decision = replace(decision, reasons=(*decision.reasons, *lost), codes=(*decision.codes, *codes))
    now, then = surrogate.forecast(surrogate.candidates.current), surrogate.forecast(decision.choice)
    suggested = {**request.current, **undone.values} if undone else surrogate.candidates.parameters(decision.choice)
    return Advice(decision, request.current, suggested, now, then, tuple(chosen), surrogate, undone, known.last, seed)


def advise_among(
    candidates: Candidates,
    belief: Belief,
    runs: Sequence[Run],
    request: Request,
    *,
    policy: Policy | None,
    followed_up: Sequence[tuple[Run, Parameters]] = (),
    interval_factor: float = 1.0,
) -> Advice:
    """The advice where candidates, belief and the calibration watch's factor are given."""
    decision = choose(candidates, belief, runs, request, policy, followed_up, interval_factor)
    now, then = (_forecast(belief, candidates, one, request, interval_factor) for one in (candidates.current, decision.choice))
    today, suggested = candidates.parameters(candidates.current), candidates.parameters(decision.choice)
    return Advice(decision, today, suggested, now, then)


def choose(
    candidates: Candidates,
    belief: Belief,
    runs: Sequence[Run],
    request: Request,
    policy: Policy | None,
    followed_up: Sequence[tuple[Run, Parameters]],
    interval_factor: float = 1.0,
    promise: AcquisitionValues | None = None,
) -> Decision:
    """The agent's decision among the admissible candidates; a row that is not admissible only while nothing is known.

    Args:
        promise: see `decide`.

    Raises:
        NothingAdmissible: JPO-E402, only measured configurations may be used now, and none of them keeps the SLA.
    """
    rates = candidates.log_rate
    decision = decide(
        candidates,
        belief,
        request.preference,
        explore=request.explore,
        confidence=request.confidence,
        policy=policy,
        runs_finished=len(runs),
        recent=relative_costs(followed_up, runs, request.preference, lambda run: float(rates[row_of_run(candidates, run)])),
        interval_factor=interval_factor,
        context=situation_of(candidates, belief, runs) if policy is not None and request.explore in policy.released else UNKNOWN,
        found=row_found(candidates, followed_up),
        promise=promise,
    )
    if not candidates.admissible[decision.choice] and decision.decided_by != "no evidence":
        finding = (
            "no configuration that was measured is expected to keep what is promised, and only measured ones may be used now"
        )
        remedy = "relax a promise, or " + ("use explore = safe" if request.explore == "off" else "try other values by --set")
        raise NothingAdmissible(f"[sla] {', '.join(request.targets)}", finding, remedy, code="JPO-E402")
    return decision


def set_back(ahead: Surrogate, request: Request, last: Undo, followed_up: Sequence[tuple[Run, Parameters]]) -> Decision | None:
    """Undo the last change if it did harm, and the values before it may stand there and are expected to keep the SLA."""
    candidates, belief, now = ahead.candidates, ahead.belief, ahead.candidates.current
    today = candidates.parameters(now)
    before = {**today, **last.values}
    rows = rows_of(candidates, before)
    movable = {name for name in before if before[name] != today[name]} <= {*request.free}
    if not (rows.size and movable and request.admissible(today, before)):
        return None
    row = int(rows[0])
    targets = list(promised(ahead, request))
    if not all(one.kept[row] for one in targets):
        return None
    broken = [one for one in targets if not one.kept[now] and np.isfinite(one.expected[row])]
    told = [(one.name, one.limit, float(one.expected[row]), float(one.expected[now])) for one in broken]
    found = row_found(candidates, followed_up)
    harm = setback(row, belief, candidates, request.preference, broken=told, interval_factor=ahead.interval_factor, found=found)
    if harm is None:
        return None
    why, code = harm
    warned, warnings = of_watch(ahead.interval_factor)
    worse = acquisition_values(
        belief, candidates, request.preference, interval_factor=ahead.interval_factor, found=found
    ).p_worse_today[row]
    reasons = (f"suggestion {last.suggestion_id} is undone: {why}", *warned)
    return Decision(row, 1 - float(worse), "rollback", reasons, (code, *warnings), "known")


def situation_of(candidates: Candidates, belief: Belief, runs: Sequence[Run]) -> Context:
    """What the last runs say of change, for a policy that reads it."""
    placed = [(int(rows[0]), run) for run in runs[-WATCHED:] if (rows := rows_of_run(candidates, run)).size]
    return watched(UNKNOWN, belief, [row for row, _ in placed], [run for _, run in placed])


def row_found(candidates: Candidates, followed_up: Sequence[tuple[Run, Parameters]]) -> int | None:
    """The row of the values before the agent's first change; None where they are no candidate, and cannot be compared with."""
    today = candidates.parameters(candidates.current)
    rows = rows_of(candidates, {**today, **values_found(followed_up, today)})
    return int(rows[0]) if rows.size else None


def _forecast(belief: Belief, candidates: Candidates, row: int, request: Request, interval_factor: float) -> Forecast:
    return predict(
        belief, row, usd_per_hour=usd_per_hour(candidates.parameters(row), request.prices), interval_factor=interval_factor
    )
