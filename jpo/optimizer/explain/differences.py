"""Difference of the choice from today's values, each quantity with its interval.

It is taken over the simulated jobs in pairs, widened as the chance of the claim is, so that a reader can tell the chance from it:
where all of the interval is below 0, a run that ends well is so with 95% or more. The noise of a single run is not in it.
"""

import math
from collections.abc import Iterator

from jpo.agent.comparison import Comparison
from jpo.agent.safety.confidence import log_loss_of, widened
from jpo.forecast.weights import quantiles
from jpo.records import OBJECTIVE, VAL_LOSS, Belief, Floats, Interval
from jpo.wording.qualities import LARGEST_LOG


def differences(comparison: Comparison, row: int, *, trial: bool, price_ratio: float | None) -> Iterator[tuple[str, Interval]]:
    """By quantity the ratio next / today, of an accuracy or a metric of the user's own the difference; nothing where values stay.

    OBJECTIVE is what the chance of the claim is about: time and cost as they are weighed, with a penalty for a worse loss.

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
