"""Thresholds for [sla] that runs like earlier ones would meet: targets that a team can agree to, given its runs.

A threshold is a prediction bound for the next run, rounded outwards to a number as people write it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from jpo.cost.price import Prices
from jpo.cost.sla import measured
from jpo.records import Run
from jpo.wording.names import TARGETS

FEWEST = 3
"""Fewest runs for a threshold: with two the bound is at six times their spread."""
MOST_BEYOND = 10.0
"""A limit at ten times the worst run is not worth stating."""
NICE_SECONDS = (10, 15, 30, 60, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
"""Multiples in which people write durations above 80 seconds; below, and for all else: 1, 2, 5, 10, ..."""
COARSE = 1 / 8
FINE = 1 / 50
"""Rounding moves a limit by less than this share of it; a loss by the smaller one, because a few percent matter there."""
MOST_FREEDOM = 1000
"""Degrees of freedom beyond which Student's t is the normal distribution within a thousandth."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold for one SLA target.

    Attributes:
        name: as in [sla].
        limit: in the unit of [sla]; None where there is none to suggest.
        runs: number of runs that measured it.
        least, most: the range that they measured; None without any.
        why_not: why there is no limit; empty where there is one.
    """

    name: str
    limit: float | None
    runs: int
    least: float | None = None
    most: float | None = None
    why_not: str = ""

    @property
    def toml(self) -> str | None:
        """The limit as [sla] has it, durations in the largest unit that divides them; None where there is none."""
        if self.limit is None or self.name != "time_max":
            return None if self.limit is None else f"{self.limit:.10g}"
        unit, size = next((pair for pair in (("h", 3600.0), ("m", 60.0)) if self.limit % pair[1] == 0), ("s", 1.0))
        return f'"{f"{self.limit / size:.6f}".rstrip("0").rstrip(".")}{unit}"'


def thresholds(runs: Sequence[Run], prices: Prices, *, share: float) -> Iterator[Threshold]:
    """The thresholds of all targets of [sla], by runs that ended well; a share of them, in 0.5..1, shall meet each by itself."""
    for name in TARGETS:
        values = [value for run in runs if (value := measured(name, run, prices)) is not None]
        if values or name not in ("accuracy_min", "energy_max"):  # most jobs have none, and need no line about it
            yield threshold(name, values, share)


def threshold(name: str, values: Sequence[float], share: float) -> Threshold:
    """The threshold of one target from measured values."""
    if len(values) < FEWEST:
        missing = FEWEST - len(values)
        why_not = f"measured in {len(values)} of at least {FEWEST} runs; {missing} more {'is' if missing == 1 else 'are'} needed"
        return Threshold(name, None, len(values), min(values, default=None), max(values, default=None), why_not)
    if name == "accuracy_min":  # an accuracy of 93% is 7% away from the best, and a few per cent of these matter
        most = next_run_bound([1 - value for value in values], share, at_most=True)
        limit = None if most is None or most >= 1 else float(f"{1 - rounded('val_loss_max', most):.10g}")
    else:
        bound = next_run_bound(values, share, at_most=TARGETS[name].at_most)
        limit = None if bound is None else rounded(name, bound)
    if limit is None or (limit <= 0 and name != "val_loss_max"):
        why_not = "the runs differ too much" if any(values) else "the runs measured nothing but 0"
        return Threshold(name, None, len(values), min(values), max(values), why_not)
    return Threshold(name, limit, len(values), min(values), max(values))


def next_run_bound(values: Sequence[float], share: float, *, at_most: bool) -> float | None:
    """The prediction bound of the next value: it stays below (or above) with this probability; None where that is too wide.

    The values are assumed log-normal, or normal where one is not above zero.
    Source: Hahn and Meeker, "Statistical Intervals", 1991, section 4.7 (one-sided prediction bound).
    """
    logs = all(value > 0 for value in values)
    points = [math.log(value) for value in values] if logs else list(values)
    half = student_quantile(share, len(points) - 1) * stdev(points) * math.sqrt(1 + 1 / len(points))
    bound = fmean(points) + (half if at_most else -half)
    if not logs:
        return bound
    beyond = bound - max(points) if at_most else min(points) - bound
    return math.exp(bound) if beyond <= math.log(MOST_BEYOND) else None


def student_quantile(share: float, freedom: int) -> float:
    """The quantile of Student's t at a probability of at least 0.5; bisected is the angle whose tangent is t / sqrt(freedom)."""
    freedom = min(freedom, MOST_FREEDOM)
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, freedom) < 2 * share - 1 else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def within(angle: float, freedom: int) -> float:
    """P(|T| < sqrt(freedom) tan(angle)) of a Student's t with whole degrees of freedom.

    Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4 (finite sums).
    """
    odd, cosine = freedom % 2, math.cos(angle)
    term = total = 0.0 if freedom == 1 else cosine if odd else 1.0
    for k in range(3 if odd else 2, freedom - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def rounded(name: str, bound: float) -> float:
    """The bound as people write such a number, rounded to the side that is met more often."""
    step = _step(name, abs(bound))
    if step == 0:
        return bound
    steps = bound / step
    whole = math.ceil(steps - 1e-9) if TARGETS[name].at_most else math.floor(steps + 1e-9)
    return float(f"{whole * step:.10g}")


def _step(name: str, size: float) -> float:
    """The largest step in which people count that is small relative to a number."""
    most = size * (FINE if name == "val_loss_max" else COARSE)
    if name == "time_max" and most >= NICE_SECONDS[0]:
        return float(max(step for step in NICE_SECONDS if step <= most))
    if most < 1e-300:
        return 0.0
    power = 10.0 ** math.floor(math.log10(most))
    return max(digit * power for digit in (1, 2, 5) if digit * power <= most * (1 + 1e-9))
