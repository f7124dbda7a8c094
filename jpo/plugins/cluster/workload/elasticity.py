"""Elasticity: with how many tasks jobs can run, and how much faster more of them are, by Amdahl's law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jpo.plugins.cluster.workload.jobs import Whole

SERIAL_SHARE = 0.05
"""Of a job's work on one task, where neither job nor platform says: eight tasks are 5.9 times, 64 are 15 times as fast as one."""
Shares = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Elasticity:
    """One row per job, as in the JobTable; a job whose smallest and largest number of tasks are the same is rigid.

    `min_tasks`, `max_tasks`: with how many it can run; what it asks for lies between. `serial_shares`: of its work on one task
    that no further task makes faster, 0 to 1; NaN: as the platform says.
    """

    min_tasks: Whole
    max_tasks: Whole
    serial_shares: Shares

    def __post_init__(self) -> None:
        if len({len(self.min_tasks), len(self.max_tasks), len(self.serial_shares)}) != 1:
            raise ValueError("columns of different lengths")
        if (self.min_tasks < 1).any() or (self.max_tasks < self.min_tasks).any():
            raise ValueError("a job can run with no task, or with fewer at most than at least")
        if ((self.serial_shares < 0) | (self.serial_shares > 1)).any():
            raise ValueError("a serial share is outside 0 to 1")

    def rows(self, which: slice | Whole | NDArray[np.bool_]) -> Elasticity:
        return Elasticity(self.min_tasks[which], self.max_tasks[which], self.serial_shares[which])

    @property
    def resizable(self) -> NDArray[np.bool_]:
        """By job whether its number of tasks may change."""
        return self.max_tasks > self.min_tasks


def speedup(tasks: Shares | Whole, serial_shares: Shares) -> Shares:
    """How much faster a job is on so many tasks than on one: 1 / (s + (1 - s) / n), with s its serial share.

    Source: Amdahl, "Validity of the single processor approach to achieving large scale computing capabilities", AFIPS 1967.
    """
    return 1 / (serial_shares + (1 - serial_shares) / tasks)
