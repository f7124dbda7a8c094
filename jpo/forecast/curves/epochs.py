"""Epochs of a run that goes on: when each was done, however its job counts them, and where it began."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

FEWEST_PACES = 2
"""Epochs, after the first, whose durations tell where a run began."""
RESUMED = 1.5
"""Epochs that are missing at the beginning, from which a run was resumed: the first epoch warms up, and takes longer."""
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class EpochProgress:
    """Epochs of a run so far.

    Attributes:
        times: epochs done and seconds since its start, rising; without what a restart from a checkpoint made void.
        from_zero: the job calls its first epoch 0: its numbers are one less than the epochs done, which `times` holds.
        began_at: epochs that were done when the run started; above 0: it was resumed.
    """

    times: tuple[Point, ...] = ()
    from_zero: bool = False
    began_at: float = 0.0


def onward(points: Iterable[Point]) -> list[Point]:
    """The points (epoch, value) in the order they were logged, without those that came before a restart and lie beyond it."""
    kept = list[Point]()
    for point in points:
        while kept and kept[-1][0] >= point[0]:
            kept.pop()
        kept.append(point)
    return kept


def epoch_progress(rows: Sequence[tuple[float, float, float | None]]) -> EpochProgress:
    """The epochs that rows show.

    Args:
        rows: epoch as the job calls it, seconds since its start and samples so far (None: not logged), in order.
    """
    usable = [row for row in rows if math.isfinite(row[0]) and math.isfinite(row[1]) and row[0] >= 0 and row[1] > 0]
    points = onward((epoch, seconds) for epoch, seconds, _ in usable)
    paces = [(later[1] - former[1]) / (later[0] - former[0]) for former, later in pairwise(points)]
    paces = [pace for pace in paces if pace > 0]
    pace = median(paces) if len(paces) >= FEWEST_PACES else None
    from_zero = bool(points) and points[0][0] == 0 and _is_an_epoch(usable[0], pace)
    times = [(epoch + from_zero, seconds) for epoch, seconds in points if epoch + from_zero > 0]
    began = times[0][0] - times[0][1] / pace if pace and times else 0.0
    return EpochProgress(tuple(times), from_zero, float(round(began)) if began >= RESUMED else 0.0)


def _is_an_epoch(row: tuple[float, float, float | None], pace: float | None) -> bool:
    """Whether a row of epoch 0 tells of the first epoch, not of the model before it."""
    _, seconds, samples = row
    return samples > 0 if samples is not None else pace is not None and seconds >= pace / 2
