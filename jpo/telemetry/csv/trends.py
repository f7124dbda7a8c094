"""Trends of a log: what is needed of its rows, kept while they are read, in the same memory for any number of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

LOSSES = ("train_loss", "val_loss")
FEWEST_ROWS = 4
"""Rows after which a trend says something."""
RISING = 0.9
"""Share of the steps up from which a loss rises all the time."""
PERCENT = 100.0


@dataclass(slots=True)
class Trends:
    """How the rows of a log went.

    Attributes:
        first, last: by column, the first and the last value; of losses finite ones.
        most: by loss, the highest finite value.
        up, steps: by loss, how often it rose, and how often it could.
        line: of the last row.
        back_line: of the first row whose time is before the one above it; 0: none.
        nan_line, nans: of the first row with a loss that is no number, and how many rows have one.
    """

    first: dict[str, float] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    up: dict[str, int] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)
    line: int = 0
    back_line: int = 0
    nan_line: int = 0
    nans: int = 0

    def take(self, row: Mapping[str, float], line: int) -> None:
        """Take the values of one more row."""
        self.line = line
        if not self.back_line and row.get("time", math.inf) < self.last.get("time", -math.inf):
            self.back_line = line
        lost = False
        for name, value in row.items():
            if name in LOSSES:
                if not math.isfinite(value):
                    lost = True
                    continue
                if name in self.last:
                    self.steps[name] = self.steps.get(name, 0) + 1
                    self.up[name] = self.up.get(name, 0) + (value > self.last[name])
                self.most[name] = max(value, self.most.get(name, value))
            self.first.setdefault(name, value)
            self.last[name] = value
        if lost:
            self.nans += 1
            self.nan_line = self.nan_line or line

    def looks_like_accuracy(self, name: str) -> bool:
        """Whether a loss rises from row to row towards 1, or 100, and never beyond."""
        steps, first, last = self.steps.get(name, 0), self.first.get(name, 0.0), self.last.get(name, 0.0)
        top = 1.0 if self.most.get(name, 0.0) <= 1 else PERCENT
        rises = steps + 1 >= FEWEST_ROWS and self.up[name] >= RISING * steps
        return rises and first >= 0 and 0.5 * top <= last and self.most[name] <= top and last - first >= 0.1 * top
