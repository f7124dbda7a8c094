"""Before and after: what became of a quantity, with an interval that says whether it could be chance.

Pure numbers: two groups of runs go in, one line of a table comes out. Which runs are "before" and "after" is the caller's to say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

import numpy as np

from jpo.forecast.track_record import share_interval
from jpo.records import Interval

if TYPE_CHECKING:
    from jpo.records import Floats

FEWEST = 3
"""Runs on each side, below which no interval is stated."""
RESAMPLES = 2000
"""Twice as many moved the bounds by less than 1 % of the ratio."""
CONFIDENCE = 0.9

Word = Literal["better", "worse", "no clear change", "too few"]


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """One quantity before and after.

    Attributes:
        before, after: geometric means, or shares of runs; None without a run that measured it.
        runs_before, runs_after: how many did.
        change: after / before for a mean, after - before for a share, with a 90 % interval; None where a side has fewer than
            FEWEST runs.
        word: better or worse if the interval leaves out "no change" (1 for a ratio, 0 for a difference).
    """

    quantity: str
    before: float | None
    after: float | None
    runs_before: int
    runs_after: int
    change: Interval | None
    word: Word


def compare(quantity: str, before: Sequence[float], after: Sequence[float], *, more_is_better: bool, seed: int) -> BeforeAfter:
    """Compare positive values of two groups of runs by the ratio of their geometric means.

    What is not a finite number above 0 does not count: it has no ratio. The interval is the percentile bootstrap's on the log
    ratio, each side resampled by itself, stretched for small groups (a bootstrap knows no t distribution).

    Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13; the stretch: Hesterberg, "What Teachers
    Should Know About the Bootstrap", The American Statistician 2015, section 5 (expanded percentile interval).
    """
    earlier, later = _logs(before), _logs(after)
    mean_before, mean_after = (float(np.exp(logs.mean())) if logs.size else None for logs in (earlier, later))
    change = _ratio(earlier, later, seed) if min(earlier.size, later.size) >= FEWEST else None
    word = _word(change, 1.0, more_is_better=more_is_better)
    return BeforeAfter(quantity, mean_before, mean_after, earlier.size, later.size, change, word)


def compare_shares(quantity: str, before: Sequence[bool], after: Sequence[bool]) -> BeforeAfter:
    """Compare how often something happened that should not, by the difference of the shares.

    Source: Newcombe, "Interval Estimation for the Difference Between Independent Proportions", Statistics in Medicine 1998,
    method 10 (from two score intervals): with nothing counted on a side a bootstrap would be certain of it.
    """
    share_before, share_after = (sum(group) / len(group) if group else None for group in (before, after))
    change = None
    if min(len(before), len(after)) >= FEWEST:
        one, two = share_interval(sum(before), len(before)), share_interval(sum(after), len(after))
        difference = two.mean - one.mean
        low = difference - math.hypot(two.mean - two.low, one.high - one.mean)
        change = Interval(difference, low, difference + math.hypot(two.high - two.mean, one.mean - one.low))
    word = _word(change, 0.0, more_is_better=False)
    return BeforeAfter(quantity, share_before, share_after, len(before), len(after), change, word)


def _logs(values: Sequence[float]) -> Floats:
    return np.log(np.array([value for value in values if math.isfinite(value) and value > 0], dtype=np.float64))


def _ratio(before: Floats, after: Floats, seed: int) -> Interval:
    """Ratio of geometric means with its bootstrap interval."""
    rng = np.random.default_rng(seed)
    drawn = [logs[rng.integers(0, logs.size, (RESAMPLES, logs.size))].mean(axis=1) for logs in (before, after)]
    mean, tail = float(after.mean() - before.mean()), (1 - CONFIDENCE) / 2
    low, high = (float(bound) for bound in np.quantile(drawn[1] - drawn[0], (tail, 1 - tail)))
    stretch = _stretch(before, after)
    return Interval(math.exp(mean), math.exp(mean - stretch * (mean - low)), math.exp(mean + stretch * (high - mean)))


def _stretch(before: Floats, after: Floats) -> float:
    """How much wider t makes the interval than the normal distribution, times what resampling loses of the variance.

    The degrees of freedom are Welch's, which are at least those of the smaller group.
    """
    of_means = [float(logs.var(ddof=1)) / logs.size for logs in (before, after)]
    of_resamples = [float(logs.var()) / logs.size for logs in (before, after)]
    if sum(of_resamples) <= 0:
        return 1.0
    freedom = sum(of_means) ** 2 / sum(one**2 / (logs.size - 1) for one, logs in zip(of_means, (before, after), strict=True))
    return _t_quantile(freedom) / NormalDist().inv_cdf(0.5 + CONFIDENCE / 2) * math.sqrt(sum(of_means) / sum(of_resamples))


def _t_quantile(freedom: float) -> float:
    """The 95 % quantile of Student's t, within 0.3 % from 2 degrees of freedom on.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 26.7.5.
    """
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, start=1))


def _word(change: Interval | None, unchanged: float, *, more_is_better: bool) -> Word:
    if change is None:
        return "too few"
    if change.low <= unchanged <= change.high:
        return "no clear change"
    return "better" if (change.low > unchanged) == more_is_better else "worse"
