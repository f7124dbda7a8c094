"""Account of one advice: alternatives, what the agent saw, what held it back, what would have changed the answer."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from constraints import Facts, Limits
from jpo.agent.candidate_rows import rows_of
from jpo.agent.comparison import Comparison
from jpo.agent.policy import Policy
from jpo.agent.safety.confidence import log_loss_of, widened
from jpo.forecast.weights import quantiles
from jpo.optimizer.advise import Advice, problem_despite_sla
from jpo.optimizer.explain.alternatives import alternatives, trade
from jpo.optimizer.explain.counterfactuals import break_even, capped_by, counterfactuals
from jpo.optimizer.explain.scene import DecisionScene, moved
from jpo.optimizer.request import Request
from jpo.records import OBJECTIVE, VAL_LOSS, Alternative, Belief, Floats, Interval, Known, Seen
from jpo.wording import numbers
from jpo.wording.qualities import LARGEST_LOG


@dataclass(frozen=True, slots=True)
class Account:
    """Account of a suggestion that is put on record with it; all of it empty before the first run that ended well.

    Attributes:
        alternatives: see `alternatives`.
        seen: see `seen`.
        would_change: a sentence for each thing that would have led to another answer.
        capped_by: changed parameter -> the limit that its value has reached, where a step further was expected to pay off.
        single_effects: changed parameter -> what that change is expected to do by itself, where it is one of several.
        difference: see `differences`.
    """

    alternatives: tuple[Alternative, ...] = ()
    seen: Mapping[str, float] = field(default_factory=dict)
    would_change: tuple[str, ...] = ()
    capped_by: Mapping[str, str] = field(default_factory=dict)
    single_effects: Mapping[str, str] = field(default_factory=dict)
    difference: Mapping[str, Interval] = field(default_factory=dict)


def account_of(
    advice: Advice,
    request: Request,
    known: Known,
    limits: Limits,
    *,
    facts: Facts | None = None,
    policy: Policy | None = None,
) -> Account:
    """The account of an advice, from what a `DecisionScene` has. A choice of the agent is not asked again without `policy`."""
    surrogate = advice.surrogate
    if surrogate is None or surrogate.belief.duration_seconds is None:
        return Account()
    problem = advice.problem or problem_despite_sla(surrogate, request, known)  # None: set by hand, or undone
    scene = DecisionScene(advice, surrogate, request, known, limits, facts or Facts(), policy, problem)
    capped = capped_by(scene)
    lifted = (
        f"without {limit} a step of {name} to {numbers.plain(beyond)} could be tried" for name, (limit, beyond) in capped.items()
    )
    changes = (*break_even(scene), *counterfactuals(scene), *lifted)
    held = {name: limit for name, (limit, _) in capped.items()}
    prices = [surrogate.usd_per_hour(row) for row in (scene.choice, scene.candidates.current)]
    ratio = prices[0] / prices[1] if prices[0] and prices[1] else None
    expected = differences(problem.comparison, scene.choice, trial=advice.decision.kind == "trial", price_ratio=ratio)
    claimed = {name: interval for name, interval in expected if name != "energy_joules" or surrogate.measured_energy}
    return Account(alternatives(scene), seen(scene), changes, held, dict(single_effects(scene)), claimed)


def seen(scene: DecisionScene) -> dict[str, float]:
    """Numbers that the agent saw of its choice and of the workload, as they are before they are scaled to features."""
    belief, acquisition, row, now = scene.belief, scene.acquisition, scene.choice, scene.candidates.current
    allowed = scene.candidates.admissible
    numbers: dict[str, float] = {
        Seen.COST_AGAINST_TODAY: acquisition.expected[row] / acquisition.expected[now],
        Seen.COST_AGAINST_BEST: acquisition.expected[row],
        Seen.FAILS: belief.p_fail[row],
        Seen.WORSE: acquisition.p_worse_today[row],
        Seen.BETTER: acquisition.p_better[row],
        Seen.BEST: acquisition.p_optimum[row],
        Seen.IMPROVEMENT: acquisition.improvement[row],
        Seen.SCORE: acquisition.score[row],
        Seen.RUNS_THERE: belief.runs[row],
        Seen.FAILURES_THERE: belief.failures[row],
        Seen.RUNS: len(scene.surrogate.runs),
        Seen.ADMISSIBLE: allowed.sum(),
        Seen.TRIED: (belief.tried & allowed).sum() / max(allowed.sum(), 1),
        Seen.FITTING: belief.effective_share,
        Seen.NOISE: belief.noise,
        Seen.WIDENED_BY: scene.surrogate.calibration.interval_factor,
        Seen.BUDGET_LEFT: scene.problem.leeway.budget_left,
    }
    if (kept := scene.problem.comparison.p_loss_kept) is not None and not scene.problem.comparison.promise:
        numbers[Seen.LOSS_KEPT] = kept[row]
    queue = scene.problem.context.queue
    return {name: float(value) for name, value in numbers.items() if math.isfinite(value)} | (queue.numbers if queue else {})


def single_effects(scene: DecisionScene) -> Iterator[tuple[str, str]]:
    """Changed parameter -> what that change alone is expected to do, others as today and followers as they follow: a choice
    changes several at once, and people ask what each is for.

    Nothing of a value that follows another one, of the only change, which does what the headline says, or of one that alone is no
    candidate: the belief has not looked there.
    """
    candidates = scene.surrogate.candidates
    today, chosen = candidates.parameters(candidates.current), candidates.parameters(scene.choice)
    for name in candidates.names:
        if chosen[name] == today[name]:
            continue
        if name in scene.request.allowed.follow:
            leader, _, rule = scene.request.allowed.follow[name].partition(":")
            yield name, f"follows {leader} ({rule} rule)"
            continue
        rows = rows_of(candidates, moved(scene, {**today, name: chosen[name]}))
        if rows.size and rows[0] != scene.choice:
            yield name, f"expected alone: {trade(scene, int(rows[0]), than=candidates.current)}"


def differences(comparison: Comparison, row: int, *, trial: bool, price_ratio: float | None) -> Iterator[tuple[str, Interval]]:
    """By quantity the ratio next / today, of an accuracy or a metric of the user's own the difference; nothing where values stay.

    OBJECTIVE is what the chance of the claim is about: time and cost as they are weighed, with a penalty for a worse loss.
    Intervals are taken over the simulated jobs in pairs and widened as that chance is: where all of one is below 0, a run that
    ends well is so with 95% or more. The noise of a single run is not in them.

    Args:
        trial: what is claimed is a trial's.
        price_ratio: of an hour, next / today; None where one of them has no price.
    """
    candidates, belief, calibration = comparison.candidates, comparison.belief, comparison.calibration
    if row == (now := candidates.current):
        return

    def ratio(logs: Floats) -> Interval:
        return ratio_of(logs, belief.weights, calibration.interval_factor)

    longer = belief.log_time[:, row] - belief.log_time[:, now]
    yield "duration_seconds", ratio(longer)
    dearer = belief.log_cost[:, row] - belief.log_cost[:, now]
    if candidates.by_energy:
        yield "energy_joules", ratio(dearer)
    if price_ratio is not None:
        yield "cost_usd", ratio(dearer if candidates.priced else longer + math.log(price_ratio))
    yield OBJECTIVE, ratio((comparison.claimed_of_trials if trial else comparison.against_today)[:, row])
    for judged, factor in ((belief, calibration.loss_interval_factor), *((other, 1.0) for other in belief.besides)):
        if judged.val_loss is not None:
            loss = ratio_of(log_loss_of(judged, candidates, now)[:, row], judged.weights, factor)
            yield judged.quality.name, loss if judged.quality == VAL_LOSS else difference_of_values(judged, loss, now)


def ratio_of(logs: Floats, weights: Floats, factor: float) -> Interval:
    """Mean and 90% interval of a ratio, by its logs (J,), as far from their mean as the belief was too sure of itself."""
    low, high = quantiles(widened(logs[:, None], weights, factor)[:, 0], weights, (0.05, 0.95))
    mean = min(max(float(weights @ logs), low), high)
    return Interval(*(math.exp(min(log, LARGEST_LOG)) for log in (mean, low, high)))


def difference_of_values(belief: Belief, ratio: Interval, now: int) -> Interval:
    """The difference that a ratio of its error makes to today's value of a quality."""
    today = (belief.val_loss or 0.0) * math.exp(float(belief.weights @ belief.log_loss[:, now]))
    value = belief.quality.value_of
    mean, *ends = (value(today * each) - value(today) for each in (ratio.mean, ratio.low, ratio.high))
    return Interval(mean, min(ends), max(ends))
