"""Quality of a trained model as runs measure it: validation loss, validation accuracy, or a metric of the user's own.

Beliefs, rewards and floors know one positive error that is to be made small. This module alone turns what was measured into that
error, and forecasts of it back into what people read: an accuracy a is the error 1 - a, whose logarithm falls along learning
curves as that of a loss does. Source: Hestness et al., "Deep Learning Scaling is Predictable, Empirically", arXiv 1712.00409
(top-1 error of classifiers follows the same power laws as cross-entropy).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Literal

from jpo.records.decisions import Forecast, Interval
from jpo.records.runs import Outcome, Run, by_workload

LEAST = 1e-4
"""Smallest error that is told from none, as a share of the best value: an accuracy of 1.0 has no logarithm of its error, and a
validation set of less than ten thousand cannot measure more."""
NEWEST = 10
"""Runs that ended well and say which quality a workload measures now."""


@dataclass(frozen=True, slots=True)
class Quality:
    """One measured quality of a model.

    Attributes:
        name: "val_loss", "val_accuracy", or one of `Outcome.metrics`.
        more_is_better: whether a larger value is a better model.
        best: value of a perfect model; None: not known, and only ratios count.
        least: smallest error that is told from none, where `best` is 0.
        guessed: whether `best` is what the runs of one workload say, see `own_quality`.
    """

    name: str
    more_is_better: bool = False
    best: float | None = None
    least: float = field(default=LEAST, compare=False)
    guessed: bool = field(default=False, compare=False)

    @property
    def is_error(self) -> bool:
        """Whether a value is its own error, so that people read shares of it."""
        return not self.more_is_better and self.best is None

    def among(self, runs: Iterable[Run]) -> "Quality":
        """The same quality in another workload, whose values say what its best may be."""
        return own_quality(self.name, "max" if self.more_is_better else "min", None, runs) if self.guessed else self

    def error_of(self, value: float | None) -> float | None:
        """A value as an error above 0, less is better; None where it has none, as a loss of 0 or less has no logarithm."""
        if value is None:
            return None
        if self.best is not None:
            error = self.best - value if self.more_is_better else value - self.best
            return max(error, LEAST * abs(self.best) or self.least)
        if self.more_is_better:
            return 1 / value if value > 0 else None
        return value if value > 0 or self.name == "val_loss" else None

    def judges(self, outcome: Outcome) -> bool:
        """Whether a run measured it, with an error that has a logarithm: a validation loss of 0 or below has none."""
        return (self.error_of(outcome.of(self.name)) or 0.0) > 0

    def errors_of(self, curve: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        """A learning curve, each value with its place, as one of errors; of a metric without a known best, ratios."""
        beyond = self.best == 1 and any(value > 1 for _, value in curve if math.isfinite(value))
        quality = replace(self, best=None) if beyond else self
        errors = ((place, quality.error_of(value)) for place, value in curve)
        return [(place, math.nan if error is None else error) for place, error in errors]

    def value_of(self, error: float) -> float:
        """The value that an error means; the reverse of `error_of`."""
        if self.best is None:
            return 1 / error if self.more_is_better else error
        return self.best - error if self.more_is_better else self.best + error

    def interval_of(self, errors: Interval | None) -> Interval | None:
        """A forecast of the error as one of the value."""
        if errors is None:
            return None
        low, high = sorted((self.value_of(errors.low), self.value_of(errors.high)))
        return Interval(self.value_of(errors.mean), low, high)

    def forecast(self, forecast: Forecast, errors: Interval | None) -> Forecast:
        values = self.interval_of(errors)
        return forecast.having({self.name: values}) if values else forecast

    def judged(self, runs: Sequence[Run]) -> Sequence[Run]:
        """The runs with their error in place of the validation loss, which is what beliefs and rewards read.

        Runs that are judged already stay as they are.
        """
        return runs if self == VAL_LOSS else [self._judged(run) for run in runs]

    def _judged(self, run: Run) -> Run:
        error = self.error_of(run.outcome.of(self.name))
        if error == run.outcome.val_loss:
            return run
        outcome = replace(run.outcome, val_loss=error)
        measured = (name for name in ("val_loss", "val_accuracy") if run.outcome.of(name) is not None)
        if next(measured, self.name) != self.name:  # the slope on record is another quality's
            outcome = replace(outcome, loss_slope=None, loss_slope_error=None)
        return replace(run, outcome=outcome)


VAL_LOSS = Quality("val_loss")
VAL_ACCURACY = Quality("val_accuracy", more_is_better=True, best=1.0)
QUALITIES = (VAL_LOSS, VAL_ACCURACY)
"""What every workload may measure; a metric of the user's own comes after them."""


def own_quality(name: str, direction: Literal["max", "min"], best: float | None, runs: Iterable[Run]) -> Quality:
    """The user's own metric.

    A log-likelihood, a reward or an energy may be 0 or below, where ratios mean nothing. Of one that is always below 0 and of
    which more is better, the best is 0: it is a loss with its sign turned. Else the best is not known, and is taken to lie as far
    beyond the best run as the metric is large, by the median, so that a share of the error is about that share of the metric.

    `best`: value of a perfect model; None: 1.0 where more is better and no run has measured anything outside of 0..1.
    """
    more, guessed = direction == "max", best is None
    values = [value for run in runs if (value := run.outcome.metrics.get(name)) is not None]
    size = median(map(abs, values)) if any(values) else 1.0
    size = size or max(map(abs, values))
    if best is None and more and all(0 <= value <= 1 for value in values):
        best = 1.0
    elif best is None and values and min(values) <= 0:
        beyond = max(values) + size if more else min(values) - size
        best = 0.0 if more and max(values) < 0 else beyond
    return Quality(name, more, best, LEAST * size, guessed)


def quality_measured(runs: Sequence[Run], qualities: Sequence[Quality] = QUALITIES) -> Quality:
    """The quality by which a workload's models are judged where nobody has said it.

    The first that at least half of the newest runs that ended well have measured, else the one that most of them have: what was
    measured long ago, or once, is not compared with what is measured now.
    """
    newest = [run.outcome for run in runs if run.ended_well][-NEWEST:]
    counts = [sum(quality.judges(outcome) for outcome in newest) for quality in qualities]
    often = (quality for quality, count in zip(qualities, counts, strict=True) if count and 2 * count >= len(newest))
    return next(often, qualities[counts.index(max(counts))])


def each_judged(runs: Sequence[Run], qualities: Sequence[Quality] = QUALITIES) -> Sequence[Run]:
    """Runs of several workloads, each judged by what it measures itself: only ratios within a workload are compared."""
    if all(run.outcome.val_accuracy is None and not run.outcome.metrics for run in runs):
        return runs
    each_workload = by_workload(runs).items()
    quality = {identity: quality_measured(own, [q.among(own) for q in qualities]) for identity, own in each_workload}
    return [each for run in runs for each in quality[run.identity].judged([run])]
