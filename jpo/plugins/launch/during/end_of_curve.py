"""End of a run that goes on: how long it takes in all, by the pace of its epochs, or by what runs like it took."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, stdev

from jpo.cost.thresholds import student_quantile
from jpo.records import Interval

FEWEST = 3
"""Epochs, or runs, that support an interval."""
NEWEST = 10
"""Runs like it that count."""
SMOOTH = 0.02
"""Least relative deviation of an epoch's, or a run's, duration: the next one is not exactly as the last ones."""


def total_seconds(
    elapsed: float,
    times: Sequence[tuple[float, float]],
    epochs: float | None,
    alike: Sequence[tuple[float, float | None]],
    *,
    has_target: bool = False,
) -> Interval | None:
    """How long a run takes in all, with an interval that should hold it in 90 of 100 cases; None where nothing supports one.

    Args:
        elapsed: seconds since its start.
        times: epochs done and seconds since its start, rising, as far as it reported them.
        epochs: those that it may have at most.
        alike: seconds and epochs of earlier runs with the same configuration that ended well, oldest first. Where they ended
            before their last epoch, a target ends them, and their number of epochs counts.
        has_target: runs of the job are ended by a target: what is not known of a configuration is how many epochs it needs.
    """
    recent = alike[-NEWEST:]
    counts = [done for _, done in recent if done is not None]
    early = has_target or (epochs is not None and bool(counts) and max(counts) < epochs - 0.5)
    last = (fmean(counts) if counts else None) if early else epochs
    if last is not None and not early and times and times[-1][0] > last:
        last = None  # it is not the number that this run goes by
    paces = [(later[1] - former[1]) / (later[0] - former[0]) for former, later in pairwise(((0.0, 0.0), *times))]
    paces = [pace for pace in paces[1:] or paces if pace > 0]  # the first epoch warms up
    if early and counts and times and times[-1][0] > max(counts):
        return None  # it should have ended by now
    if last is None or len(paces) < FEWEST or (early and len(counts) < FEWEST):
        return _by_runs(elapsed, [seconds for seconds, _ in recent])
    return _by_pace(elapsed, times[-1], paces, last, counts if early else [])


def _by_pace(elapsed: float, now: tuple[float, float], paces: Sequence[float], last: float, counts: Sequence[float]) -> Interval:
    """The epochs that are left at the pace so far; both may vary."""
    pace, left = fmean(paces), max(0.0, last - now[0])
    deviation = max(stdev(paces), SMOOTH * pace)
    variance = left * deviation**2 + (left * deviation) ** 2 / len(paces)
    freedom = len(paces) - 1
    if len(counts) >= FEWEST:
        variance += (pace * max(stdev(counts), 0.5)) ** 2 * (1 + 1 / len(counts))
        freedom = min(freedom, len(counts) - 1)
    reach, total = math.sqrt(variance) * student_quantile(0.95, max(2, freedom)), now[1] + left * pace
    return Interval(max(elapsed, total), max(elapsed, total - reach), max(elapsed, total + reach))


def _by_runs(elapsed: float, seconds: Sequence[float]) -> Interval | None:
    """What such runs took, as a log-normal; a run that takes longer already is none of which they tell."""
    if len(seconds) < FEWEST:
        return None
    logs = [math.log(value) for value in seconds]
    mean, deviation = fmean(logs), max(stdev(logs), SMOOTH) * math.sqrt(1 + 1 / len(logs))
    reach = deviation * student_quantile(0.95, len(logs) - 1)
    if elapsed > math.exp(mean + reach):
        return None
    return Interval(*(max(elapsed, math.exp(value)) for value in (mean, mean - reach, mean + reach)))
