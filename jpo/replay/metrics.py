"""What replays come to: normalised cumulative cost, cost per delivered model, stopped share, harm, each with its standard error.

Within a workload the replays of all seeds are averaged, and the standard error is that of their mean. Over workloads, costs are
combined by the geometric mean, since a workload on which everything is ten times as expensive must not outweigh the others;
shares by the plain mean. Standard errors go the same way (costs: of the logs). They tell the luck of the draws, not how far
other workloads may differ from these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jpo.replay.play import Replay

if TYPE_CHECKING:
    from jpo.records import Floats

HARM_RUNS = 10
"""Harm is counted after so many runs, or after all if they are fewer."""
HARM_ABOVE = 1.05
"""A replay has done harm if its total is above this multiple of never changing anything, with the same luck."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its standard error; the error is NaN where one replay cannot tell it."""

    mean: float
    error: float


@dataclass(frozen=True, slots=True)
class Score:
    """How a policy did under one objective, on one workload or on all of them.

    Attributes:
        curve: for each N from 1, the first N runs' cost / (N x the oracle's expected cost). 1 cannot be beaten but by luck.
        per_model: cost of all runs / runs that delivered, in multiples of the oracle's. Infinite if none did.
        stopped: share of runs that were ended for their cost.
        harm: share of replays whose total is more than 5% above never changing anything.
    """

    curve: tuple[Estimate, ...]
    per_model: Estimate
    stopped: Estimate
    harm: Estimate


def score(replays: Sequence[Replay], never_changing: Sequence[Replay]) -> Score:
    """The score on one workload; the replays of both have the same seeds in the same order."""
    charges = np.stack([one.charges for one in replays])  # (seeds, N)
    cumulative = charges.cumsum(axis=1) / np.arange(1, charges.shape[1] + 1)
    keeping = np.stack([one.charges for one in never_changing])[:, :HARM_RUNS].sum(axis=1)
    harmed = charges[:, :HARM_RUNS].sum(axis=1) > HARM_ABOVE * keeping
    return Score(
        curve=tuple(_mean(column) for column in cumulative.T),
        per_model=_ratio(charges.sum(axis=1), np.array([one.delivered.sum() for one in replays], dtype=np.float64)),
        stopped=_mean(np.array([one.stopped.mean() for one in replays])),
        harm=_mean(harmed.astype(np.float64)),
    )


def over_workloads(scores: Sequence[Score]) -> Score:
    """One score for all workloads, each of the same weight."""
    return Score(
        curve=tuple(_geometric(column) for column in zip(*(one.curve for one in scores), strict=True)),
        per_model=_geometric([one.per_model for one in scores]),
        stopped=_plain([one.stopped for one in scores]),
        harm=_plain([one.harm for one in scores]),
    )


def _mean(values: Floats) -> Estimate:
    error = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
    return Estimate(float(values.mean()), error)


def _ratio(cost: Floats, models: Floats) -> Estimate:
    """Ratio of two means over seeds, with the delta method's standard error (Cochran, "Sampling Techniques", 2.11)."""
    if not models.any():
        return Estimate(math.inf, math.nan)
    ratio = float(cost.sum() / models.sum())
    return Estimate(ratio, _mean(cost - ratio * models).error / float(models.mean()))


def _geometric(several: Sequence[Estimate]) -> Estimate:
    mean = math.exp(sum(math.log(one.mean) for one in several) / len(several))
    relative = math.sqrt(sum((one.error / one.mean) ** 2 for one in several)) / len(several)
    return Estimate(mean, mean * relative)


def _plain(several: Sequence[Estimate]) -> Estimate:
    error = math.sqrt(sum(one.error**2 for one in several)) / len(several)
    return Estimate(sum(one.mean for one in several) / len(several), error)
