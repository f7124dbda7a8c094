"""Metrics of replays: normalised cumulative cost, cost per delivered model, stopped share, harm, each with its standard error.

Within a workload the replays of all seeds are averaged, and the standard error is that of their mean. Over workloads, costs are
combined by the geometric mean, since a workload on which everything is ten times as expensive must not outweigh the others;
shares by the plain mean. Standard errors are combined likewise (costs: of the logs). They measure the noise of the draws,
not how much other workloads may differ from these.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jpo.plugins.lab.replay.play import Replay
from jpo.records import Floats

HARM_RUNS = 10
"""Number of runs after which harm is counted, or after all if they are fewer."""
HARM_ABOVE = 1.05
"""A replay did harm if its total is above this multiple of the default's, with the same random numbers."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its standard error; the error is NaN with a single replay."""

    mean: float
    error: float


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a policy under one objective, on one workload or on all of them.

    Attributes:
        curve: for each N from 1, the first N runs' cost / (N x the oracle's expected cost). Below 1 is luck.
        per_model: cost of all runs / runs that delivered, in multiples of the oracle's. Infinite if none did.
        stopped: share of runs that were ended for their cost.
        harm: share of replays whose total is more than 5% above that of never changing anything.
    """

    curve: tuple[Estimate, ...]
    per_model: Estimate
    stopped: Estimate
    harm: Estimate

    def after(self, runs: int) -> Estimate:
        return self.curve[runs - 1]


def score(replays: Sequence[Replay], never_changing: Sequence[Replay]) -> Score:
    """The score on one workload; the replays of both have the same seeds in the same order."""
    charges = np.stack([replay.charges for replay in replays])  # (seeds, N)
    cumulative = charges.cumsum(axis=1) / np.arange(1, charges.shape[1] + 1)
    keeping = np.stack([replay.charges for replay in never_changing])[:, :HARM_RUNS].sum(axis=1)
    harmed = charges[:, :HARM_RUNS].sum(axis=1) > HARM_ABOVE * keeping
    return Score(
        curve=tuple(_mean(column) for column in cumulative.T),
        per_model=_ratio(charges.sum(axis=1), np.array([replay.delivered.sum() for replay in replays], dtype=np.float64)),
        stopped=_mean(np.array([replay.stopped.mean() for replay in replays])),
        harm=_mean(harmed.astype(np.float64)),
    )


def over_workloads(scores: Sequence[Score]) -> Score:
    return Score(
        curve=tuple(_geometric(column) for column in zip(*(score.curve for score in scores), strict=True)),
        per_model=_geometric([score.per_model for score in scores]),
        stopped=_plain([score.stopped for score in scores]),
        harm=_plain([score.harm for score in scores]),
    )


def _mean(values: Floats) -> Estimate:
    error = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
    return Estimate(float(values.mean()), error)


def _ratio(cost: Floats, models: Floats) -> Estimate:
    """The ratio of two means over seeds, with the delta method's standard error (Cochran, "Sampling Techniques", 2.11)."""
    if not models.any():
        return Estimate(math.inf, math.nan)
    ratio = float(cost.sum() / models.sum())
    return Estimate(ratio, _mean(cost - ratio * models).error / float(models.mean()))


def _geometric(estimates: Sequence[Estimate]) -> Estimate:
    mean = math.exp(sum(math.log(estimate.mean) for estimate in estimates) / len(estimates))
    relative = math.sqrt(sum((estimate.error / estimate.mean) ** 2 for estimate in estimates)) / len(estimates)
    return Estimate(mean, mean * relative)


def _plain(estimates: Sequence[Estimate]) -> Estimate:
    error = math.sqrt(sum(estimate.error**2 for estimate in estimates)) / len(estimates)
    return Estimate(sum(estimate.mean for estimate in estimates) / len(estimates), error)
