"""Where simulator, forecast and agent meet: a workload's runs go in, one decision with its forecasts comes out.

Values travel, the parts do not know each other: draws = what training jobs may be like; belief = those that fit the runs;
decision = the agent's choice under that belief. No store, no file, no clock: the same arguments give the same
advice, in every process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from jpo.agent.decide import decide
from jpo.agent.policy import Policy
from jpo.agent.reasons import of_watch
from jpo.agent.rows import row_of_run, rows_of, rows_of_run
from jpo.agent.situation import UNKNOWN, Situation, watched
from jpo.agent.spent import relative_costs, values_found
from jpo.cost import usd_per_hour
from jpo.errors import NothingAdmissible
from jpo.forecast import predict
from jpo.outlook import Outlook, Wishes, look_ahead, with_followers
from jpo.records import Belief, Candidates, Decision, Forecast, Run

if TYPE_CHECKING:
    from jpo.records import Floats

Values = Mapping[str, float]

WATCHED = 100
"""Last runs that a policy is told of, each candidate's age and how it moved."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The decision, what it means in parameters, and what is expected today and then."""

    decision: Decision
    current: Values
    suggested: Values
    now: Forecast
    next: Forecast
    by_hand: Collection[str] = ()
    """Parameters whose value the user set."""
    ahead: Outlook | None = field(default=None, compare=False)
    """What was known and believed of all candidates; None where the caller of `advise_among` has it."""


def advise(
    current: Values,
    runs: Sequence[Run],
    wishes: Wishes,
    *,
    policy: Policy | None,
    seed: int,
    others: Sequence[Run] = (),
    followed_up: Sequence[tuple[Run, Values]] = (),
    chosen: Values | None = None,
    waiting_for: str | None = None,
    widen: float | None = None,
) -> Advice:
    """Choose the next configuration.

    Args:
        current: today's values by parameter name.
        runs: finished runs of this workload, oldest first.
        policy: the trained agent; None, or not released for this `explore`: the belief rule chooses.
        others: runs of other workloads, which have a say in what is believed before the first run.
        followed_up: runs that followed a suggestion of the agent, with the values it replaced: what exploring has cost so far.
        chosen: values which the user sets by hand; nothing else changes then but what follows them.
        waiting_for: id of a suggestion that is in force and untried: without its outcome nothing new is known, so keep.
        widen: by how much the belief is too sure of itself, at least 1; None: as the forecasts of the last runs say.

    Raises:
        NothingAdmissible: JPO-E402, no configuration is expected to keep the SLA.
    """
    asked = [with_followers(chosen, current, wishes)] if chosen else []
    ahead = look_ahead(current, runs, wishes, seed=seed, others=others, asked=asked, widen=widen)
    warned, warnings = of_watch(ahead.widen)
    if chosen:
        told = ", ".join(f"{name} = {value:g}" for name, value in chosen.items()) + " was set by hand"
        decision = Decision(ahead.row(*asked), None, "user", (told, *warned), warnings, "try")
    else:
        candidates = within_sla(ahead.candidates, ahead.belief, wishes)
        if waiting_for and candidates.admissible[candidates.current]:
            told = f"suggestion {waiting_for} is in force and no run with it has finished; its outcome comes first"
            decision = Decision(candidates.current, None, "waiting", (told, *warned), ("JPO-I611", *warnings))
        else:
            decision = choose(candidates, ahead.belief, runs, wishes, policy, followed_up, ahead.widen)
    now, then = ahead.forecast(ahead.candidates.current), ahead.forecast(decision.choice)
    return Advice(decision, current, ahead.candidates.parameters(decision.choice), now, then, tuple(chosen or ()), ahead)


def advise_among(
    candidates: Candidates,
    belief: Belief,
    runs: Sequence[Run],
    wishes: Wishes,
    *,
    policy: Policy | None,
    followed_up: Sequence[tuple[Run, Values]] = (),
    widen: float = 1.0,
) -> Advice:
    """The advice where candidates, belief and the calibration watch's factor are given."""
    decision = choose(candidates, belief, runs, wishes, policy, followed_up, widen)
    now, then = (_forecast(belief, candidates, one, wishes, widen) for one in (candidates.current, decision.choice))
    today, suggested = candidates.parameters(candidates.current), candidates.parameters(decision.choice)
    return Advice(decision, today, suggested, now, then)


def choose(
    candidates: Candidates,
    belief: Belief,
    runs: Sequence[Run],
    wishes: Wishes,
    policy: Policy | None,
    followed_up: Sequence[tuple[Run, Values]],
    widen: float = 1.0,
) -> Decision:
    """The agent's decision among the admissible candidates; a row that is not admissible only while nothing is known."""
    rates = candidates.log_rate
    decision = decide(
        candidates,
        belief,
        wishes.preference,
        explore=wishes.explore,
        confidence=wishes.confidence,
        policy=policy,
        runs_finished=len(runs),
        recent=relative_costs(followed_up, runs, wishes.preference, lambda run: float(rates[row_of_run(candidates, run)])),
        widen=widen,
        situation=situation_of(candidates, belief, runs) if policy is not None and wishes.explore in policy.released else UNKNOWN,
        found=row_found(candidates, followed_up),
    )
    if not candidates.admissible[decision.choice] and decision.decided_by != "no evidence":
        finding = "no configuration that was measured keeps it, and only measured ones may be used now"
        raise NothingAdmissible("[sla]", finding, "relax it, or use explore = safe", code="JPO-E402")
    return decision


def situation_of(candidates: Candidates, belief: Belief, runs: Sequence[Run]) -> Situation:
    """What the last runs say of change, for a policy that reads it."""
    placed = [(int(rows[0]), run) for run in runs[-WATCHED:] if (rows := rows_of_run(candidates, run)).size]
    return watched(UNKNOWN, belief, [row for row, _ in placed], [run for _, run in placed])


def row_found(candidates: Candidates, followed_up: Sequence[tuple[Run, Values]]) -> int | None:
    """The row of the values before the agent's first change; None where they are no candidate, and cannot be compared with."""
    today = candidates.parameters(candidates.current)
    rows = rows_of(candidates, {**today, **values_found(followed_up, today)})
    return int(rows[0]) if rows.size else None


def within_sla(candidates: Candidates, belief: Belief, wishes: Wishes) -> Candidates:
    """Take out what is expected to break the SLA.

    Raises:
        NothingAdmissible: nothing is left; names the promise and what comes nearest.
    """
    keeps = candidates.admissible
    for name, limit, expected in _promises(candidates, belief, wishes):
        kept = keeps & ~(expected > limit)  # what is not known (NaN) breaks no promise
        if not kept.any():
            nearest = float(np.nanmin(expected[keeps]))
            finding = f"no admissible configuration is expected to keep {limit:g}; the nearest expects {nearest:.4g}"
            raise NothingAdmissible(f"[sla] {name}", finding, "relax it, or widen the limits in [parameters]", code="JPO-E402")
        keeps = kept
    return replace(candidates, admissible=keeps)


def _promises(candidates: Candidates, belief: Belief, wishes: Wishes) -> Iterator[tuple[str, float, Floats]]:
    """(name, limit, expected value per row (K,)) of every promise about which something is known."""
    if belief.duration_seconds is not None:
        seconds = belief.duration_seconds * np.exp(belief.weights @ belief.log_time)
        if "time_max" in wishes.promises:
            yield "time_max", wishes.promises["time_max"], seconds
        if "cost_max" in wishes.promises:
            rows = (candidates.parameters(row) for row in range(len(candidates.values)))
            prices = np.array([usd_per_hour(values, wishes.prices) for values in rows], dtype=np.float64)  # NaN: no price
            yield "cost_max", wishes.promises["cost_max"], seconds / 3600 * prices
    if "val_loss_max" in wishes.promises and belief.val_loss is not None:
        yield "val_loss_max", wishes.promises["val_loss_max"], belief.val_loss * np.exp(belief.weights @ belief.log_loss)


def _forecast(belief: Belief, candidates: Candidates, row: int, wishes: Wishes, widen: float) -> Forecast:
    return predict(belief, row, usd_per_hour=usd_per_hour(candidates.parameters(row), wishes.prices), widen=widen)
