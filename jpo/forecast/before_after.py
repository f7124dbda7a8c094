"""Before and after: how a quantity changed, with an interval that says whether chance could explain it.

Two groups of runs go in, one line of a table comes out. The caller says which runs are "before" and "after".
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from jpo.forecast.measurements import FEWEST, WIDEST
from jpo.records import COVERAGE, HALF_WIDTH, Floats, Interval, share_interval

RESAMPLES = 2000
"""Twice as many moved the bounds by less than 1% of the ratio."""
ROUNDING = 1e-9
"""Relative: means of equal values differ by no more than this."""

Basis = Literal["runs", "forecast"]
Kind = Literal["ratio", "difference"]
Word = Literal["better", "worse", "no clear change", "too few"]


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """A quantity before and after.

    Attributes:
        kind: what `change` is; a ratio is of geometric means, a difference of arithmetic ones or of shares of runs.
        before, after: means, or shares of runs; None without a run that measured it.
        runs_before, runs_after: number of runs that measured it.
        change: after / before or after - before, with a 90% interval; None where a side has fewer than FEWEST runs.
        basis: what stands before: runs, or what was forecast for the values before the first change; then `before` is its mean.
        word: better or worse if the interval leaves out "no change" (1 for a ratio, 0 for a difference).
    """

    quantity: str
    kind: Kind
    before: float | None
    after: float | None
    runs_before: int
    runs_after: int
    change: Interval | None
    word: Word
    basis: Basis = "runs"


def compare(
    quantity: str, before: Sequence[float], after: Sequence[float], *, more_is_better: bool, seed: int, difference: bool = False
) -> BeforeAfter:
    """Compare values of two groups of runs by the ratio of their geometric means; by the difference of their means if one is not
    above 0, such as the utilisation of an idle GPU or a log-likelihood, and where a difference is asked for.

    Values that are not finite do not count, nor in a difference what is no measurement. The interval is a percentile bootstrap of
    the difference, for a ratio of the logs, with each side resampled by itself, and stretched for small groups (a bootstrap knows
    no t distribution).

    Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13; the stretch: Hesterberg, "What Teachers
    Should Know About the Bootstrap", The American Statistician 2015, section 5 (expanded percentile interval).
    """
    sides = [np.array([value for value in side if math.isfinite(value)], dtype=np.float64) for side in (before, after)]
    kind: Kind = "ratio" if not difference and all((side > 0).all() for side in sides) else "difference"
    earlier, later = (np.log(side) if kind == "ratio" else side[abs(side) < math.exp(WIDEST)] for side in sides)
    means = tuple(float(side.mean()) if side.size else None for side in (earlier, later))
    change = _difference(earlier, later, seed) if min(earlier.size, later.size) >= FEWEST else None
    return _compared(quantity, kind, means, (earlier.size, later.size), change, more_is_better=more_is_better)


def compare_with_forecast(
    quantity: str,
    expected: Interval,
    after: Sequence[float],
    *,
    more_is_better: bool,
    runs_before: int = 0,
    difference: bool = False,
) -> BeforeAfter:
    """Compare runs with what was forecast of one run with the values before: for a job whose first change came before its third
    run, so that a side without an interval would be all there ever is.

    The forecast is of a single run, noise included, which makes the interval wider than that of as many runs would be. Its
    spread stands in for that of the runs where there is one alone.
    """
    values = np.array([value for value in after if math.isfinite(value)], dtype=np.float64)
    kind: Kind = "ratio" if not difference and expected.low > 0 and (values > 0).all() else "difference"
    to_scale = np.log if kind == "ratio" else np.asarray
    middle, low, high = (float(to_scale(bound)) for bound in (expected.mean, expected.low, expected.high))
    later, mean, change = to_scale(values), None, None
    if later.size:
        error = float(later.std(ddof=1)) / math.sqrt(later.size) if later.size >= FEWEST else 0.0
        mean, half = float(later.mean()), _half_beside(high - low, error, later.size)
        change = Interval(mean - middle, mean - middle - half, mean - middle + half)
    compared = _compared(quantity, kind, (middle, mean), (runs_before, later.size), change, more_is_better=more_is_better)
    return replace(compared, before=expected.mean, basis="forecast")


def _half_beside(width: float, error: float, runs: int) -> float:
    """Half of the interval of the difference between a forecast, whose own is so wide, and the mean of runs with this standard
    error; of fewer than FEWEST the spread is not known, and that of the forecast stands in."""
    noise = width / (2 * HALF_WIDTH)
    return HALF_WIDTH * math.hypot(noise, error if runs >= FEWEST else noise / math.sqrt(runs))


def compare_per_result(
    quantity: str, before: tuple[Floats, Floats], after: tuple[Floats, Floats], expected: Interval | None = None
) -> BeforeAfter:
    """Compare what a usable result took: all runs of a side together, however they ended, by the number that brought one.

    Args:
        before, after: what each run took, and 1 where it brought a result, else 0; shapes (n,).
        expected: of a run with the values before, which stands in where fewer than FEWEST runs measured it.

    Source: of the variance of a ratio, Cochran, "Sampling Techniques", 1977, 6.4; of the degrees of freedom, Welch.
    """
    (one, of_one), (other, of_other) = map(_log_per_result, (before, after))
    runs = len(before[0]), len(after[0])
    if expected and expected.low > 0 and other is not None and runs[0] < FEWEST:
        middle, low, high = map(math.log, (expected.mean, expected.low, expected.high))
        half = _half_beside(high - low, math.sqrt(of_other), runs[1])
        change = Interval(other - middle, other - middle - half, other - middle + half)
        compared = _compared(quantity, "ratio", (middle, other), runs, change, more_is_better=False)
        return replace(compared, before=expected.mean, basis="forecast")
    known = None
    if one is not None and other is not None and min(runs) >= FEWEST:
        squares = sum(variance**2 / (n - 1) for variance, n in zip((of_one, of_other), runs, strict=True))
        half = t_quantile((of_one + of_other) ** 2 / squares) * math.sqrt(of_one + of_other) if squares > 0 else 0.0
        known = Interval(other - one, other - one - half, other - one + half)
    return _compared(quantity, "ratio", (one, other), runs, known, more_is_better=False)


def _log_per_result(side: tuple[Floats, Floats]) -> tuple[float | None, float]:
    """The log of what a result took, and its variance; None: no run brought one, or all took nothing."""
    took, well = side
    if not well.any() or took.sum() <= 0:
        return None, 0.0
    each, n = float(took.sum() / well.sum()), len(took)
    residuals = float(((took - each * well) ** 2).sum())
    return math.log(each), residuals / float(took.sum()) ** 2 * n / max(1, n - 1)


def _compared(
    quantity: str,
    kind: Kind,
    means: tuple[float | None, ...],
    runs: tuple[int, int],
    change: Interval | None,
    *,
    more_is_better: bool,
) -> BeforeAfter:
    """The line of means and their difference, which are logs where it is a ratio. The difference of equal means is 0, whatever
    floating point makes of it."""
    before, after = means
    rounding = ROUNDING * (1.0 if kind == "ratio" else max(abs(before or 0.0), abs(after or 0.0)))
    word = _word(change, rounding, more_is_better=more_is_better)
    if change:
        change = Interval(*(0.0 if abs(end) <= rounding else end for end in (change.mean, change.low, change.high)))
    if kind == "ratio":
        before, after = (None if mean is None else math.exp(mean) for mean in means)
        change = change and Interval(
            *(math.exp(min(max(log, -WIDEST), WIDEST)) for log in (change.mean, change.low, change.high))
        )
    return BeforeAfter(quantity, kind, before, after, *runs, change, word)


def compare_shares(quantity: str, before: Sequence[bool], after: Sequence[bool]) -> BeforeAfter:
    """Compare the shares of runs in which something undesirable happened, by their difference.

    Source: Newcombe, "Interval Estimation for the Difference Between Independent Proportions", Statistics in Medicine 1998,
    method 10 (from two score intervals): a bootstrap of a side without any such run would have no width.
    """
    share_before, share_after = (sum(group) / len(group) if group else None for group in (before, after))
    change = None
    if min(len(before), len(after)) >= FEWEST:
        share_one, share_two = share_interval(sum(before), len(before)), share_interval(sum(after), len(after))
        difference = share_two.mean - share_one.mean
        low = difference - math.hypot(share_two.mean - share_two.low, share_one.high - share_one.mean)
        high = difference + math.hypot(share_two.high - share_two.mean, share_one.mean - share_one.low)
        change = Interval(difference, low, high)
    word = _word(change, ROUNDING, more_is_better=False)
    return BeforeAfter(quantity, "difference", share_before, share_after, len(before), len(after), change, word)


def _difference(before: Floats, after: Floats, seed: int) -> Interval:
    """The difference of the means with its bootstrap interval."""
    rng = np.random.default_rng(seed)
    drawn = [side[rng.integers(0, side.size, (RESAMPLES, side.size))].mean(axis=1) for side in (before, after)]
    mean, tail = float(after.mean() - before.mean()), (1 - COVERAGE) / 2
    low, high = (float(bound) for bound in np.quantile(drawn[1] - drawn[0], (tail, 1 - tail)))
    stretch = _stretch(before, after)
    return Interval(mean, mean - stretch * (mean - low), mean + stretch * (high - mean))


def _stretch(before: Floats, after: Floats) -> float:
    """The factor by which t makes the interval wider than the normal distribution, times the variance that resampling loses.

    The degrees of freedom are Welch's, which are at least those of the smaller group.
    """
    of_means = [float(side.var(ddof=1)) / side.size for side in (before, after)]
    of_resamples = [float(side.var()) / side.size for side in (before, after)]
    if sum(of_resamples) <= 0:
        return 1.0
    squares = sum(variance**2 / (side.size - 1) for variance, side in zip(of_means, (before, after), strict=True))
    freedom = sum(of_means) ** 2 / squares
    return t_quantile(freedom) / HALF_WIDTH * math.sqrt(sum(of_means) / sum(of_resamples))


def t_quantile(freedom: float) -> float:
    """The 95% quantile of Student's t, within 0.3% from 2 degrees of freedom on.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 26.7.5.
    """
    z = HALF_WIDTH
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, start=1))


def _word(difference: Interval | None, rounding: float, *, more_is_better: bool) -> Word:
    if difference is None:
        return "too few"
    if difference.low <= rounding and difference.high >= -rounding:
        return "no clear change"
    return "better" if (difference.low > 0) == more_is_better else "worse"
