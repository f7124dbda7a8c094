"""Horizon of the belief rule: how many further runs a gain is weighed with, from the runs that were done and that are to come."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

UNTOLD = 15.0
"""Runs, where nobody says how many will follow: the best constant in simulation."""
FIRST, FIRST_RUNS = 10.0, 2
"""Runs, in the first runs after the reference: what is wrong with the prior shows in any of them."""
MOST, PER_SQUARE = 60.0, 0.15
LAST = 6.0
"""Runs, towards the end."""


def horizon(runs_done: int, runs_left: int | None) -> float:
    """Further runs which a better configuration is taken to serve; more than follow, while a trial says much of others, too.

    Args:
        runs_done: finished runs, at least 1; equal ones at the beginning count as one.
        runs_left: runs that follow the next one, at least 0; None = not known.
    """
    if runs_left is None:
        return UNTOLD
    runs = runs_done + 1 + runs_left
    return min(_planned(runs_done, runs), runs_left)


def _planned(done: int, runs: int) -> float:
    most = min(MOST, PER_SQUARE * runs**2)
    if done <= FIRST_RUNS:
        return FIRST
    if done < runs / 2:
        return most
    return most / 2 if done < 0.75 * runs else LAST
