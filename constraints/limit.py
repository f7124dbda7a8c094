"""Limit: what is allowed of one parameter, and how far one step may go."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """Limits of one parameter. None and the infinities mean: no such limit.

    Attributes:
        low, high: smallest and largest value, both allowed.
        choices: the only values allowed.
        power_of_two: 1, 2, 4, 8 ... only.
        multiple_of: whole multiples of this number only.
        max_change: the largest factor of one step, up or down; more than 1.
        held: the reason why the value must stay ("frozen in jpo.toml", "pinned in config.ini").
        key: `section.option` in config.ini; None: found by its name.
        whole: whole numbers only. worded: the choices are words. Of a parameter of the team's own (own.py).
    """

    low: float = -math.inf
    high: float = math.inf
    choices: tuple[float, ...] | None = None
    power_of_two: bool = False
    multiple_of: float | None = None
    max_change: float | None = None
    held: str | None = None
    key: str | None = None
    whole: bool = False
    worded: bool = False

    def reach(self, now: float, *, quota: float = math.inf) -> tuple[float, float]:
        """The lowest and highest value within one step of today's.

        From 0 a factor leads nowhere, so it counts as 1. A value outside its limits may come back to the nearest allowed one at
        once: otherwise both limits together would hold it where it must not be.
        """
        if self.max_change is None:
            return -math.inf, math.inf
        base = now if now > 0 else 1.0
        choices = self.choices or ()
        lowest, highest = max(self.low, min(choices, default=-math.inf)), min(self.high, quota, max(choices, default=math.inf))
        return min(now, base / self.max_change, highest), max(base * self.max_change, lowest)
