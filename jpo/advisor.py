"""Where simulator, forecast and agent meet: a workload's runs go in, one decision with its forecasts comes out.

Values travel, the parts do not know each other: draws = what training jobs may be like; belief = those that fit the runs;
decision = the agent's choice under that belief. No store, no file, no clock: the same arguments give the same
advice, in every process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from jpo.agent.action import propose_candidates
from jpo.agent.decide import decide
from jpo.agent.policy import Policy
from jpo.cost import Prices, log_rate, usd_per_hour
from jpo.errors import NothingAdmissible
from jpo.forecast import posterior, predict
from jpo.records import Belief, Candidates, Decision, Forecast, Preference, Run, RunStatus
from jpo.simulate import draw_jobs

Values = Mapping[str, float]

PARTICLES = 1000
"""Simulated jobs that form the prior; on recorded jobs, 250 to 30,000 gave equal results within 3 %."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user wants and allows.

    Attributes:
        free: parameters that may change.
        admissible: the guard's word on (today's, proposed) values.
        choices, follow: see `propose_candidates`.
        time_max_seconds, cost_max_usd, val_loss_max: promises of the SLA, None where nothing was promised.
        explore, confidence: see `decide`.
    """

    free: Collection[str]
    admissible: Callable[[Values, Values], bool]
    preference: Preference
    prices: Prices = field(default_factory=Prices)
    choices: Mapping[str, Sequence[float]] = field(default_factory=dict)
    follow: Mapping[str, str] = field(default_factory=dict)
    time_max_seconds: float | None = None
    cost_max_usd: float | None = None
    val_loss_max: float | None = None
    explore: Literal["off", "safe", "on"] = "safe"
    confidence: float = 0.9


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


def advise(
    current: Values,
    runs: Sequence[Run],
    wishes: Wishes,
    *,
    policy: Policy | None,
    seed: int,
    suggested_runs: Collection[str] = (),
    chosen: Values | None = None,
) -> Advice:
    """Choose the next configuration.

    Args:
        current: today's values by parameter name.
        runs: finished runs of this workload, oldest first.
        policy: the trained agent; None, or not released for this `explore`: the belief rule chooses.
        suggested_runs: ids of runs that followed a suggestion; only they count against the budget for exploring.
        chosen: values which the user sets by hand; they replace the agent's, whatever the guard will say of them.

    Raises:
        NothingAdmissible: JPO-E402, no configuration is expected to keep the SLA.
    """
    candidates = collect(current, runs, wishes, also=chosen)
    draws = draw_jobs(candidates, PARTICLES, np.random.default_rng(seed))
    belief = posterior(draws, candidates, runs)
    candidates = within_sla(candidates, belief, wishes)
    decision = decide(
        candidates,
        belief,
        wishes.preference,
        explore=wishes.explore,
        confidence=wishes.confidence,
        policy=policy,
        runs_finished=len(runs),
        recent=relative_costs(runs, candidates, wishes.preference, suggested_runs),
    )
    decision = escape(decision, candidates, belief)
    row = decision.choice
    if chosen:
        row = row_of(candidates, {**candidates.parameters(row), **chosen})
        by_hand = ", ".join(f"{name} = {value:g}" for name, value in chosen.items())
        decision = replace(decision, choice=row, decided_by="user", confidence=None, reasons=(f"{by_hand} was set by hand",))
    now, then = (_forecast(belief, candidates, one, wishes) for one in (candidates.current, row))
    return Advice(decision, current, candidates.parameters(row), now, then, tuple(chosen or ()))


def collect(current: Values, runs: Sequence[Run], wishes: Wishes, *, also: Values | None) -> Candidates:
    """The candidate set; every configuration with the user's own values beside the agent's is a row of it."""

    candidates = propose_candidates(
        current,
        runs,
        free=wishes.free,
        admissible=lambda proposed: wishes.admissible(current, proposed),
        log_rate=lambda values: log_rate(values, wishes.prices),
        choices=wishes.choices,
        follow=wishes.follow,
    )
    if not also:
        return candidates
    by_hand = candidates.values.copy()
    for name, value in also.items():
        by_hand[:, candidates.names.index(name)] = value
    rates = [log_rate(dict(zip(candidates.names, row, strict=True)), wishes.prices) for row in by_hand]
    return replace(
        candidates,
        values=np.vstack([candidates.values, by_hand]),
        admissible=np.concatenate([candidates.admissible, np.zeros(len(by_hand), dtype=np.bool_)]),
        log_rate=np.concatenate([candidates.log_rate, np.array(rates) - log_rate(current, wishes.prices)]),
    )


def within_sla(candidates: Candidates, belief: Belief, wishes: Wishes) -> Candidates:
    """Take out what is expected to break the SLA.

    Raises:
        NothingAdmissible: nothing is left; names the promise and what comes nearest.
    """
    keeps = np.ones(len(candidates.values), dtype=np.bool_)
    for name, limit, expected in _promises(candidates, belief, wishes):
        kept = keeps & (expected <= limit)
        if not (kept & candidates.admissible).any():
            nearest = float(np.min(expected[keeps & candidates.admissible], initial=math.inf))
            finding = f"no admissible configuration is expected to keep {limit:g}; the nearest expects {nearest:.4g}"
            raise NothingAdmissible(f"[sla] {name}", finding, "relax it, or widen the limits in [parameters]", code="JPO-E402")
        keeps = kept
    return replace(candidates, admissible=candidates.admissible & keeps)


def _promises(candidates: Candidates, belief: Belief, wishes: Wishes) -> list[tuple[str, float, np.ndarray]]:
    """(name, limit, expected value per row (K,)) of every promise about which something is known."""
    found = []
    if belief.duration_seconds is not None:
        seconds = belief.duration_seconds * np.exp(belief.weights @ belief.log_time)
        if wishes.time_max_seconds is not None:
            found.append(("time_max", wishes.time_max_seconds, seconds))
        price = usd_per_hour(candidates.parameters(candidates.current), wishes.prices)
        if wishes.cost_max_usd is not None and price is not None:
            found.append(("cost_max", wishes.cost_max_usd, seconds / 3600 * price * np.exp(candidates.log_rate)))
    if wishes.val_loss_max is not None and belief.val_loss is not None:
        found.append(("val_loss_max", wishes.val_loss_max, belief.val_loss * np.exp(belief.weights @ belief.log_loss)))
    return found


def escape(decision: Decision, candidates: Candidates, belief: Belief) -> Decision:
    """Keeping is no answer when today's values are expected to break the SLA: then the row most likely to end well and soon."""
    if candidates.admissible[decision.choice] or decision.decided_by == "no evidence":
        return decision
    expected = np.where(candidates.admissible, belief.weights @ belief.log_time + belief.p_fail, np.inf)
    reason = "today's configuration is not admissible or is expected to break the SLA"
    return replace(decision, choice=int(np.argmin(expected)), confidence=None, reasons=(reason,), codes=("JPO-W609",))


def relative_costs(
    runs: Sequence[Run], candidates: Candidates, preference: Preference, suggested: Collection[str]
) -> tuple[float, ...]:
    """What each run that followed a suggestion cost, in multiples of the first run on record; failed runs count twice that."""
    ended_well = [run for run in runs if run.status is RunStatus.SUCCEEDED and run.outcome.duration_seconds]
    if not ended_well:
        return ()
    reference = _log_cost(ended_well[0], candidates, preference)
    followed = [run for run in runs if run.run_id in suggested]
    return tuple(math.exp(_log_cost(run, candidates, preference) - reference) if run in ended_well else 2.0 for run in followed)


def _log_cost(run: Run, candidates: Candidates, preference: Preference) -> float:
    rate = float(candidates.log_rate[row_of(candidates, {**candidates.parameters(candidates.current), **run.parameters})])
    weight = preference.time + preference.cost
    return (weight * math.log(run.outcome.duration_seconds or 1.0) + preference.cost * rate) / (weight or 1.0)


def row_of(candidates: Candidates, values: Values) -> int:
    """The row with these values, which must be there."""
    wanted = [values[name] for name in candidates.names]
    same = np.isclose(candidates.values, wanted, rtol=1e-9, atol=0).all(axis=1)
    return int(np.flatnonzero(same)[0])


def _forecast(belief: Belief, candidates: Candidates, row: int, wishes: Wishes) -> Forecast:
    return predict(belief, row, usd_per_hour=usd_per_hour(candidates.parameters(row), wishes.prices))
