"""Error after the last epoch of a run that goes on, as a distribution: earlier runs say what is still gained from there on.

From the same share of its epochs on, the fall of ln error that is left, for each unit of ln epochs, is

    fall / h = common + persistence x slope + lag x (1 - share) (level - lowest level) / h,    h = ln(all epochs / epochs so far)

with a Student's t around it. Finished runs of the workload say the three numbers and how far reality strays; before there are
any, and beside few of them, wide priors do. `common` holds what all runs of a job share, such as a learning rate that falls along
a schedule; `persistence` is 1 for a power law without a floor; `lag`: who is behind has more left to learn.

A line through falls does not foretell one that comes all at once after a plateau. So the largest fall that any finished run still
made from there says how far this one may get: `reach`.

Source: Bayesian linear regression with a conjugate normal-inverse-gamma prior (Bishop, "Pattern Recognition and Machine
Learning", 2006, section 3.3); slopes in ln-ln: Hestness et al., "Deep Learning Scaling is Predictable, Empirically", 2017. The
priors are of the curves of two families (benchmarks/curves: digits, teacher); the others were kept for judging.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import pstdev

import numpy as np

from jpo.cost.thresholds import student_quantile, within
from jpo.forecast.curves.curve import Curve
from jpo.records import Floats, Interval

PRIOR = np.array((0.3, 0.3, 0.5))
PRIOR_DEVIATIONS = np.array((0.5, 0.4, 0.5))
"""Of common, persistence and lag: means and standard deviations."""
OWN, LAGGING = 0.1, 0.25
"""Standard deviation of what is left: for each unit of h, and for each unit of lag, before the data say more or less."""
PRIOR_RUNS = 4
"""Finished runs that the prior of the spread counts for."""
FEWEST_EPOCHS = 2
FINISHED = 0.97
"""A curve that has this share of the epochs shows its end; so does one on which no further validation would have fitted."""
LARGEST = 700.0
"""Log of an error, of which more is no number any more."""
BEGUN, UNSEEN = 0.15, 0.02
"""Share of its epochs after which it can be said how far a run may still fall, and the probability that it falls further."""


@dataclass(frozen=True, slots=True)
class FinalError:
    """Natural log of the error after the last epoch: a Student's t.

    Attributes:
        mean, scale: of the log.
        freedom: degrees of freedom, above 0.
        runs: finished runs that it rests on.
        reach: log of an error that a run hardly gets below, even if it falls further than any of them still did; -inf: nothing
            says so yet.
    """

    mean: float
    scale: float
    freedom: int
    runs: int
    reach: float = -math.inf

    def interval(self) -> Interval:
        """The error itself, with an interval that should hold it in 90 of 100 cases."""
        reach = self.scale * student_quantile(0.95, self.freedom)
        return Interval(*(math.exp(min(log, LARGEST)) for log in (self.mean, self.mean - reach, self.mean + reach)))


def final_error(curve: Curve, epochs: float, finished: Sequence[Curve]) -> FinalError | None:
    """The log of the error after all epochs, by the curve so far; None before FEWEST_EPOCHS.

    `finished`: curves of runs of the same workload that came to their end, of which those with as many epochs count.
    """
    done = curve.epochs[-1]
    if len(curve.epochs) < FEWEST_EPOCHS or epochs <= 0:
        return None
    horizon = math.log(max(epochs, done * (1 + 1e-6)) / done)
    share = min(1.0, done / epochs)
    past = [other for other in finished if shows_end(other, epochs) and other.epochs[0] <= done]
    begun = [other.until(done) for other in past]
    level = curve.level(done)
    levels = [other.level(done) for other in begun]
    lowest = min((level, *levels))
    known = [_row(other, behind - lowest, share, horizon) for other, behind in zip(begun, levels, strict=True)]
    falls = [levels[n] - past[n].logs[-1] for n in range(len(past))]
    mean, covariance, scale, freedom = _posterior([row for row, _ in known], falls, [spread for _, spread in known])
    row, spread = _row(curve, level - lowest, share, horizon)
    deviation = scale * math.sqrt(spread**2 + float(row @ covariance @ row))
    reach = level - furthest(falls) if share >= BEGUN else -math.inf
    return FinalError(level - float(row @ mean), deviation, freedom, len(past), reach)


def shows_end(curve: Curve, epochs: float) -> bool:
    """Whether a finished run's curve has as many epochs; where every fifth is validated, or they count from 0, a few less."""
    last, every = curve.epochs[-1], curve.epochs[-1] - curve.epochs[-2] if len(curve.epochs) > 1 else 0.0
    return min(FINISHED * epochs, epochs - every) <= last <= epochs / FINISHED


def furthest(falls: Sequence[float]) -> float:
    """A fall of the log of the error that the next run exceeds with a probability of UNSEEN at most; infinite without any.

    The largest of n is exceeded by the next one with 1 / (n + 1), and by more than so much with an exponential tail as wide as
    the falls are apart.
    """
    if not falls:
        return math.inf
    return max(falls) + pstdev(falls) * max(0.0, -math.log(UNSEEN * (len(falls) + 1)))


def _row(curve: Curve, behind: float, share: float, horizon: float) -> tuple[Floats, float]:
    """What the three numbers are multiplied by, for a curve so far behind the lowest, and the standard deviation of what is left,
    where the posterior scale is 1; the last error is as rough as those before it."""
    spread = math.hypot(OWN * horizon + LAGGING * math.sqrt(1 - share) * behind, 1.25 * curve.roughness(), 0.01)
    return np.array((horizon, horizon * curve.slope(), (1 - share) * behind)), spread


def _posterior(rows: Sequence[Floats], falls: Sequence[float], spreads: Sequence[float]) -> tuple[Floats, Floats, float, int]:
    """Mean and covariance (of scale 1) of the three numbers, the scale, and its degrees of freedom."""
    precision, right = np.diag(PRIOR_DEVIATIONS**-2.0), PRIOR / PRIOR_DEVIATIONS**2
    prior_precision, squares = precision, float(PRIOR_RUNS)
    if rows:
        weighted = np.array(rows) / np.array(spreads)[:, None]
        measured = np.array(falls) / np.array(spreads)
        precision, right = precision + weighted.T @ weighted, right + weighted.T @ measured
        mean = np.asarray(np.linalg.solve(precision, right), dtype=np.float64)
        squares += float(measured @ measured + PRIOR @ prior_precision @ PRIOR - mean @ precision @ mean)
    else:
        mean = PRIOR.copy()
    freedom = PRIOR_RUNS + len(rows)
    return mean, np.asarray(np.linalg.inv(precision), dtype=np.float64), math.sqrt(max(squares, 1e-9) / freedom), freedom


def student_below(t: float, freedom: int) -> float:
    """Probability that a Student's t with whole degrees of freedom is below `t`."""
    return 0.5 * (1 + math.copysign(within(math.atan(abs(t) / math.sqrt(freedom)), freedom), t))
