"""Curve: the error of a model after some of its epochs, and what is read off it: level, slope, roughness."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from jpo.forecast.measurements import FEWEST


@dataclass(frozen=True, slots=True)
class Curve:
    """A learning curve, as natural logs of errors that are to be made small.

    Attributes:
        epochs: rising, above 0; of several values at one place the last counts.
        logs: one for each, finite.
    """

    epochs: tuple[float, ...]
    logs: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.epochs) != len(self.logs):
            raise ValueError(f"{len(self.epochs)} epochs and {len(self.logs)} errors")
        if not all(map(math.isfinite, (*self.epochs, *self.logs))):
            raise ValueError("a curve has finite values only; one that diverged is none")
        if any(later <= earlier for earlier, later in pairwise((0.0, *self.epochs))):
            raise ValueError("the epochs of a curve rise from above 0")

    def until(self, epochs: float) -> "Curve":
        """Its part up to some epoch."""
        count = sum(place <= epochs * (1 + 1e-9) for place in self.epochs)
        return Curve(self.epochs[:count], self.logs[:count])

    def level(self, epochs: float) -> float:
        """Log of the error about some epoch: the median of the last FEWEST up to it, of fewer among the first."""
        known = [log for place, log in zip(self.epochs, self.logs, strict=True) if place <= epochs * (1 + 1e-9)]
        return median(known[-min(FEWEST, max(1, len(known) // 2)) :]) if known else self.logs[0]

    def slope(self) -> float:
        """How much the log of the error fell for each unit of ln epochs over the last half; above 0: it gets better."""
        last, half = self.epochs[-1], max(self.epochs[0], self.epochs[-1] / 2)
        return (self.level(half) - self.level(last)) / math.log(last / half) if last > half else 0.0

    def roughness(self) -> float:
        """Standard deviation of one error around its neighbours, over the last half; robust."""
        recent = self.logs[len(self.logs) // 2 :] if len(self.logs) >= 6 else self.logs
        bends = [abs(a - 2 * b + c) for a, b, c in zip(recent, recent[1:], recent[2:], strict=False)]
        return 1.4826 * median(bends) / math.sqrt(6) if bends else 0.0


def curve_of(errors: Iterable[tuple[float, float]]) -> Curve | None:
    """The curve of (epochs done, error); None where there is none, the last error is not finite, or one is not above 0.

    One that is not finite before the last was none: a batch of validation was empty. Where epochs come again, the run went back
    to a checkpoint, and what it had done beyond that is void. `errors`: in the order they were logged.
    """
    logged = list(errors)
    if not logged or not math.isfinite(logged[-1][1]) or any(error <= 0 for _, error in logged):
        return None
    usable = onward((epoch, error) for epoch, error in logged if math.isfinite(error) and math.isfinite(epoch) and epoch > 0)
    return Curve(tuple(epoch for epoch, _ in usable), tuple(math.log(error) for _, error in usable)) if usable else None


FEWEST_EPOCHS = 2
"""Epochs from which on there is a curve, and durations tell where a run began."""
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

    `rows`: epoch as the job calls it, seconds since its start and samples so far (None: not logged), in order.
    """
    usable = [row for row in rows if math.isfinite(row[0]) and math.isfinite(row[1]) and row[0] >= 0 and row[1] > 0]
    points = onward((epoch, seconds) for epoch, seconds, _ in usable)
    paces = [(later[1] - former[1]) / (later[0] - former[0]) for former, later in pairwise(points)]
    paces = [pace for pace in paces if pace > 0]
    pace = median(paces) if len(paces) >= FEWEST_EPOCHS else None
    from_zero = False
    if points and points[0][0] == 0:  # a row of epoch 0 tells of the first epoch, or of the model before it
        _, seconds, samples = usable[0]
        from_zero = samples > 0 if samples is not None else pace is not None and seconds >= pace / 2
    times = [(epoch + from_zero, seconds) for epoch, seconds in points if epoch + from_zero > 0]
    began = times[0][0] - times[0][1] / pace if pace and times else 0.0
    return EpochProgress(tuple(times), from_zero, float(round(began)) if began >= RESUMED else 0.0)
