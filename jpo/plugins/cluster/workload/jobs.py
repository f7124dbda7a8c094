"""JobTable: the jobs of a workload as columns, sorted by arrival. What a job needs of which device is in `Demand` beside it.

Times are seconds. A table says what jobs want and how long they truly run; when they start is what a simulation finds out.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Seconds: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
NEVER = float("inf")
"""The time of what does not happen."""


@dataclass(frozen=True, slots=True)
class JobTable:
    """Jobs in the order of (submit_seconds, ids), one row each.

    Attributes:
        ids: as the log numbers them.
        submit_seconds: when they come.
        run_seconds: how long they truly run, on the reference device where devices differ; not negative.
        requested_seconds: how long their users said, above 0; policies and backfilling know this alone.
        processors: how many each holds from start to end, at least 1.
        users: who sent them, numbered; -1: unknown.

    Raises ValueError: columns of different lengths, out of order, or out of range.
    """

    ids: Whole
    submit_seconds: Seconds
    run_seconds: Seconds
    requested_seconds: Seconds
    processors: Whole
    users: Whole

    def __post_init__(self) -> None:
        columns = self._columns
        if len({column.shape for column in columns}) != 1 or self.ids.ndim != 1:
            raise ValueError(f"columns of different shapes: {[column.shape for column in columns]}")
        if not all(np.isfinite(column).all() for column in columns):
            raise ValueError("a job has a number that is not finite")
        if (np.diff(self.submit_seconds) < 0).any():
            raise ValueError("jobs are not in the order of their arrival")
        if (self.run_seconds < 0).any() or (self.requested_seconds <= 0).any() or (self.processors < 1).any():
            raise ValueError("a job runs for negative time, requests none, or needs no processor")

    @property
    def _columns(self) -> tuple[Whole, Seconds, Seconds, Seconds, Whole, Whole]:
        return self.ids, self.submit_seconds, self.run_seconds, self.requested_seconds, self.processors, self.users

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, which: slice | Whole | NDArray[np.bool_]) -> "JobTable":
        """Some of the jobs; `which` keeps their order."""
        return JobTable(*[column[which] for column in self._columns])  # type: ignore[arg-type]


def sorted_jobs(
    ids: Whole, submit: Seconds, run: Seconds, requested: Seconds, processors: Whole, users: Whole | None = None
) -> JobTable:
    """A table of jobs that came in any order: sorted by submit time, then id, then their place in the file."""
    order = np.lexsort((ids, submit))
    users = np.full(len(ids), -1, dtype=np.int64) if users is None else users
    return JobTable(ids[order], submit[order], run[order], requested[order], processors[order], users[order])
