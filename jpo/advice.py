"""Where simulator, forecast and agent meet: a workload's runs go in, one decision with its forecasts comes out.

Values travel, the parts do not know each other: draws = what training jobs may be like; belief = those that fit the runs;
decision = the agent's choice under that belief. No store, no file, no clock: the same arguments give the same
advice, in every process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from jpo.agent.action import followed, propose_candidates
from jpo.agent.decide import decide
from jpo.agent.policy import Policy
from jpo.agent.reasons import of_watch
from jpo.agent.rows import row_of, row_of_run, rows_of, rows_of_run
from jpo.agent.situation import UNKNOWN, Situation, watched
from jpo.agent.spent import relative_costs, values_found
from jpo.cost import Prices, log_rate, usd_per_hour
from jpo.errors import NothingAdmissible
from jpo.forecast import predict
from jpo.forecast.widening import one_step_ahead, widening
from jpo.prior import Prior, believe, prior_of, thinned
from jpo.records import Belief, Candidates, Decision, Forecast, Preference, Run

if TYPE_CHECKING:
    from jpo.records import Floats

Values = Mapping[str, float]

FEW = 250
"""Simulated jobs in the beliefs of the calibration watch: 250 and more were measured to be equal within 3 %."""
WATCHED = 100
"""Last runs that a policy is told of, each candidate's age and how it moved."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user wants and allows.

    Attributes:
        free: parameters that may change.
        admissible: the guard's word on (today's, proposed) values.
        choices, scales, follow: see `propose_candidates`.
        time_max_seconds, cost_max_usd, val_loss_max: promises of the SLA, None where nothing was promised.
        explore, confidence: see `decide`.
    """

    free: Collection[str]
    admissible: Callable[[Values, Values], bool]
    preference: Preference
    prices: Prices = field(default_factory=Prices)
    choices: Mapping[str, Sequence[float]] = field(default_factory=dict)
    scales: Mapping[str, str] = field(default_factory=dict)
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
    candidates = collect(current, runs, wishes)
    if chosen:
        candidates, row = with_chosen(candidates, chosen, wishes)
    prior = prior_of(candidates, seed, others)
    belief = believe(prior, candidates, runs)
    widen = calibration(prior, candidates, runs) if widen is None else widen
    warned, warnings = of_watch(widen)
    if chosen:
        told = ", ".join(f"{name} = {value:g}" for name, value in chosen.items()) + " was set by hand"
        decision = Decision(row, None, "user", (told, *warned), warnings, "try")
    else:
        candidates = within_sla(candidates, belief, wishes)
        if waiting_for and candidates.admissible[candidates.current]:
            told = f"suggestion {waiting_for} is in force and no run with it has finished; its outcome comes first"
            decision = Decision(candidates.current, None, "waiting", (told, *warned), ("JPO-I611", *warnings))
        else:
            decision = choose(candidates, belief, runs, wishes, policy, followed_up, widen)
    now, then = (_forecast(belief, candidates, one, wishes, widen) for one in (candidates.current, decision.choice))
    return Advice(decision, current, candidates.parameters(decision.choice), now, then, tuple(chosen or ()))


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


def calibration(prior: Prior, candidates: Candidates, runs: Sequence[Run]) -> float:
    """By how much forecasts must be widened, as the last runs say, each forecast from those before it: 1.0 = not at all."""
    few = thinned(prior, FEW)  # one belief per run that is looked back upon
    return widening(one_step_ahead(lambda known: believe(few, candidates, known), candidates, runs))


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


def collect(current: Values, runs: Sequence[Run], wishes: Wishes) -> Candidates:
    """The candidate set of a workload."""
    candidates = propose_candidates(
        current,
        runs,
        free=wishes.free,
        admissible=lambda proposed: wishes.admissible(current, proposed),
        log_rate=lambda values: log_rate(values, wishes.prices),
        choices=wishes.choices,
        scales=wishes.scales,
        follow=wishes.follow,
    )
    return replace(candidates, priced=usd_per_hour(current, wishes.prices) is not None)


def with_chosen(candidates: Candidates, chosen: Values, wishes: Wishes) -> tuple[Candidates, int]:
    """Today's configuration with the user's values, and what follows them, as one more row; the set and that row."""
    now = candidates.parameters(candidates.current)
    rules = {name: rule for name, rule in wishes.follow.items() if name in wishes.free and name not in chosen}
    values = followed({**now, **chosen}, now, rules)
    rate = log_rate(values, wishes.prices) - log_rate(now, wishes.prices)
    larger = replace(
        candidates,
        values=np.vstack([candidates.values, [values[name] for name in candidates.names]]),
        admissible=np.append(candidates.admissible, False),
        log_rate=np.append(candidates.log_rate, rate),
    )
    return larger, row_of(larger, values)


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
        if wishes.time_max_seconds is not None:
            yield "time_max", wishes.time_max_seconds, seconds
        if wishes.cost_max_usd is not None:
            rows = (candidates.parameters(row) for row in range(len(candidates.values)))
            prices = np.array([usd_per_hour(values, wishes.prices) for values in rows], dtype=np.float64)  # NaN: no price
            yield "cost_max", wishes.cost_max_usd, seconds / 3600 * prices
    if wishes.val_loss_max is not None and belief.val_loss is not None:
        yield "val_loss_max", wishes.val_loss_max, belief.val_loss * np.exp(belief.weights @ belief.log_loss)


def _forecast(belief: Belief, candidates: Candidates, row: int, wishes: Wishes, widen: float) -> Forecast:
    return predict(belief, row, usd_per_hour=usd_per_hour(candidates.parameters(row), wishes.prices), widen=widen)
