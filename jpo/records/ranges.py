"""Ranges of a parameter, and the values in them that are offered."""

import math
import sys
from dataclasses import dataclass

STEPS_PER_DECADE, MOST_STEPS = 4, 13
"""Steps in which a range is offered, per decade and at most: between neighbours a training job hardly differs."""


@dataclass(frozen=True, slots=True)
class Range:
    """Range of a parameter: numbers from `low` to `high`, both included.

    Attributes:
        log: steps are ratios, not differences; needs low > 0.
        integer: whole numbers only.
        multiple_of: only multiples of this; whole itself where `integer` is asked for.

    Raises ValueError: no number fits, or what was asked for contradicts itself.
    """

    low: float
    high: float
    log: bool = False
    integer: bool = False
    multiple_of: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite((self.high - self.low) * (1 if self.log else MOST_STEPS)) and self.low <= self.high):
            raise ValueError(f"a range goes from a finite low to a high that is not smaller, found {self.low}..{self.high}")
        if self.log and self.low <= 0:
            raise ValueError(f"a logarithmic range begins above 0, found low = {self.low}")
        if self.multiple_of is not None and not (math.isfinite(self.multiple_of) and self.multiple_of > 0):
            raise ValueError(f"multiple_of is a number above 0, found {self.multiple_of}")
        if self.integer and self.multiple_of is not None and self.multiple_of != int(self.multiple_of):
            raise ValueError(f"whole numbers are asked for, and multiples of {self.multiple_of}")
        if self._unit and math.isinf(max(abs(self.low), abs(self.high)) / self._unit):
            raise ValueError(f"more multiples of {self._unit:g} are in {self.low}..{self.high} than can be counted")
        if not self.steps():
            raise ValueError(f"no multiple of {self._unit:g} is in {self.low}..{self.high}")

    def steps(self) -> tuple[float, ...]:
        """The values that are offered, ascending."""
        snapped = {self._snapped(value) for value in self._spread()}
        return tuple(sorted(value for value in snapped if self.low <= value <= self.high))

    def round_steps(self) -> tuple[float, ...]:
        """The values that are offered where people read them: the ends, and between them round numbers, about as many."""
        ends = [math.ceil(self.low / self._unit - 1e-9), math.floor(self.high / self._unit + 1e-9)] if self._unit else []
        found = {self._unit * end for end in ends} or {self.low, self.high}
        if self.log:
            decades = math.log10(self.high) - math.log10(self.low)
            mantissas = (1, 2, 5) if 3 * decades < MOST_STEPS else (1, 3) if 2 * decades < MOST_STEPS else (1,)
            tens = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            found |= {float(f"{mantissa}e{ten}") for ten in tens for mantissa in mantissas}
        elif (least := max((self.high - self.low) / (MOST_STEPS - 1), self._unit)) >= sys.float_info.min:  # else nothing between
            ten = 10.0 ** math.floor(math.log10(least))
            step = next(size * ten for size in (1, 2, 5, 10) if size * ten >= least * (1 - 1e-9))
            step = self._unit * math.ceil(step / self._unit - 1e-9) if self._unit else step
            found |= {step * i for i in range(math.ceil(self.low / step), math.floor(self.high / step + 1e-9) + 1)}
        values = sorted({self._snapped(value) for value in found})
        return tuple(value for value in values if self.low <= value <= self.high) or self.steps()

    @property
    def _unit(self) -> float:
        """What all values are multiples of; 0 where any number will do."""
        return float(self.multiple_of or self.integer)

    def _spread(self) -> list[float]:
        unit = self._unit
        if unit and (self.high - self.low) / unit < MOST_STEPS:
            first = math.ceil(self.low / unit - 1e-9)
            return [unit * i for i in range(first, math.floor(self.high / unit + 1e-9) + 1)]
        if not self.log:
            return [self.low + (self.high - self.low) * i / (MOST_STEPS - 1) for i in range(MOST_STEPS)]
        doublings = math.log2(self.high) - math.log2(self.low)
        if unit and doublings <= MOST_STEPS:  # batch sizes
            first, last = math.ceil(math.log2(self.low) - 1e-9), math.floor(math.log2(self.high) + 1e-9)
            return [self.low, *(2.0**i for i in range(first, last + 1)), self.high]
        steps = min(MOST_STEPS - 1, max(1, round(doublings * math.log10(2) * STEPS_PER_DECADE)))
        return [2.0 ** (math.log2(self.low) + doublings * i / steps) for i in range(steps)] + [self.high]

    def _snapped(self, value: float) -> float:
        if self._unit:
            multiples = round(min(max(value, self.low), self.high) / self._unit)
            return float(f"{self._unit * multiples:.12g}")  # 0.3, not 3 x 0.1
        return min(max(float(f"{value:.6g}"), self.low), self.high)
