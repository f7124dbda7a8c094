"""Epochs that a run still needs until a target ends it: by how long runs that reached it went on from where this one is.

A run that has come down to an error after e epochs, where one that reached the target was after e' of its N epochs, reaches it
after e N / e' epochs if its learning is that one's at another pace. That is the best that is to be hoped for: of runs with other
values, one in ten is faster by a quarter, half need twice as long, and many of those that are slow never get there. A run that
differs in its hardware alone learns as they did: it is later than at their pace by chance alone (decision 0092).

The numbers are fitted to seven families of small networks (benchmarks/curves: teacher, autoencoder, overfitting; four more that
were trained for this; decision 0092), and were judged on others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import median

from jpo.forecast.curves.curve import FEWEST_EPOCHS, Curve
from jpo.forecast.measurements import FEWEST
from jpo.records import RESOURCES, Parameters, same

FARTHEST = 1.5
"""Of ln(N / e'), beyond which a forecast does not get any worse."""
LATER, LATER_BY = 0.1, 0.7
"""By how much the ln of the epochs in all is larger than that of e N / e', and how much more for each unit of ln(N / e')."""
SPREAD, SPREAD_BY = 0.15, 0.75
"""Standard deviation of the ln of the epochs in all, likewise."""
ALIKE_BY = 0.15
"""SPREAD_BY of runs that learn alike."""
SLOW = 2.0
"""Times the longest epoch of any run that reached the target, from which on one is slow."""
FIRST_EPOCH = 0.7
"""Standard deviation of the ln of a pace that the first epoch alone tells: it may warm up, or read its data anew."""


@dataclass(frozen=True, slots=True)
class EpochsToTarget:
    """How far the target is: natural log of all epochs over those that are done, a normal distribution.

    Attributes:
        mean, deviation: of the log.
        runs: that reached the target, on which it rests.
        by_curve: its errors say so; else its pace alone does.
    """

    mean: float
    deviation: float
    runs: int
    by_curve: bool = True

    @classmethod
    def of(cls, at_their_pace: float, runs: int, *, alike: bool = False) -> EpochsToTarget:
        """What is ahead of a run, by the natural log of what would be at the pace of those that reached the target.

        `alike`: the run learns as they did.
        """
        far = min(at_their_pace, FARTHEST)
        if alike:
            return cls(at_their_pace, SPREAD + ALIKE_BY * far, runs)
        return cls(at_their_pace + LATER + LATER_BY * far, SPREAD + SPREAD_BY * far, runs)


@dataclass(frozen=True, slots=True)
class ReachedTarget:
    """A run that reached the target: its curve up to there, and whether the run that goes on learns alike."""

    curve: Curve
    alike: bool = False


def learns_alike(values: Parameters, others: Parameters) -> bool:
    """Whether runs differ at most in their hardware and in how many epochs they may have; False where nothing is known of one."""
    learnt = {name: value for name, value in values.items() if name not in (*RESOURCES, "epochs")}
    return bool(learnt.keys() & others.keys()) and same(learnt, others)


def epochs_to_target(curve: Curve, reached: Sequence[ReachedTarget]) -> EpochsToTarget | None:
    """How far the target is; by those alone that learn alike, where there are enough of them.

    `curve`: of the run so far; `reached`: runs of the same workload. Returns None before FEWEST_EPOCHS, and where fewer than
    FEWEST runs have reached it.
    """
    if len(curve.epochs) < FEWEST_EPOCHS or len(reached) < FEWEST:
        return None
    lowest, alike = min(curve.logs), [run for run in reached if run.alike]
    among = alike if len(alike) >= FEWEST else reached
    at_their_pace = median(math.log(run.curve.epochs[-1] / _after(run.curve, lowest)) for run in among)
    return EpochsToTarget.of(at_their_pace, len(among), alike=among is alike)


def epochs_to_target_by_pace(
    done: float, elapsed: float, longest_epoch: float | None, reached: Sequence[ReachedTarget]
) -> EpochsToTarget | None:
    """How far the target is of a run that has no curve yet: as far as it was for those that reached it, and their first epochs.

    So one that takes several times as long for an epoch is known before twice the best has been paid.

    Args:
        done: epochs, below FEWEST_EPOCHS. In its first one, that counts as about to end.
        elapsed: seconds since its start.
        longest_epoch: seconds, the start included, of those that reached the target: what warms up is not slow; None: not known.

    Returns None from FEWEST_EPOCHS on, where a curve says more; for one that is not SLOW; and where fewer than FEWEST
    runs have reached the target.
    """
    if done >= FEWEST_EPOCHS or len(reached) < FEWEST or longest_epoch is None:
        return None
    if elapsed < SLOW * longest_epoch * max(done, 1.0):
        return None
    ahead = EpochsToTarget.of(max(0.0, median(math.log(run.curve.epochs[-1] / max(done, 1.0)) for run in reached)), len(reached))
    return replace(ahead, deviation=math.hypot(ahead.deviation, FIRST_EPOCH), by_curve=False)


def _after(curve: Curve, log_error: float) -> float:
    """Epochs after which a curve was first so low, between two of them in proportion; its last where it never was."""
    lowest = list(accumulate(curve.logs, min))
    at = next((place for place, log in enumerate(lowest) if log <= log_error), None)
    if at is None:
        return curve.epochs[-1]
    if at == 0:
        return curve.epochs[0]
    share = (lowest[at - 1] - log_error) / (lowest[at - 1] - lowest[at])
    return curve.epochs[at - 1] + share * (curve.epochs[at] - curve.epochs[at - 1])
