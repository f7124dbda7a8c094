"""An end that loops of learning keep: asked before each step, it allows for the longest step so far."""

import time
from dataclasses import dataclass
from math import inf


@dataclass(eq=False, slots=True)
class Deadline:
    """Whether the time is up, so that a loop ends before it and not one step after it.

    Attributes:
        at: of `time.monotonic()`, in seconds; inf: never.
        longest_seconds: step between two questions so far.
        asked_at: when it was last asked; None: not yet, so that the first step is always begun in time.
    """

    at: float = inf
    longest_seconds: float = 0.0
    asked_at: float | None = None

    def __call__(self) -> bool:
        """Whether a step as long as the longest so far would end after the deadline."""
        now = time.monotonic()
        if self.asked_at is not None:
            self.longest_seconds = max(self.longest_seconds, now - self.asked_at)
        self.asked_at = now
        return now + self.longest_seconds >= self.at

    def no_later_than(self, seconds: float) -> "Deadline":
        """One of its own for a part of the work: in so many seconds, or when this one ends."""
        return Deadline(min(self.at, time.monotonic() + seconds))

    @property
    def half_way(self) -> "Deadline":
        """One of its own in the middle of the time that is left."""
        now = time.monotonic()
        return Deadline(now + (self.at - now) / 2)

    @property
    def past(self) -> bool:
        """Whether it has come, whatever a step takes."""
        return time.monotonic() >= self.at


def in_seconds(seconds: float) -> Deadline:
    return Deadline(time.monotonic() + seconds)
