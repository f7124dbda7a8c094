"""Sequences of jobs: parts of a workload, each counted from its first job, on one platform."""

from dataclasses import dataclass, replace

import numpy as np

from jpo.plugins.cluster.platform.platform import Platform
from jpo.plugins.cluster.workload.demand import DemandTable
from jpo.plugins.cluster.workload.jobs import JobTable

Sequence = tuple[JobTable, DemandTable, Platform]


@dataclass(frozen=True, slots=True)
class Sequences:
    """Parts of so many jobs of a workload, drawn anywhere in a range of it.

    `begin`, `end`: the range, as shares of the jobs: learn from one part, be judged on another.
    """

    jobs: JobTable
    demand: DemandTable
    platform: Platform
    length: int
    begin: float = 0.0
    end: float = 1.0

    def __call__(self, rng: np.random.Generator) -> Sequence:
        """A part, drawn at random."""
        first, last = self._range()
        return self._part(first + int(rng.integers(max(last - first - self.length, 0) + 1)), last)

    def one_after_the_other(self) -> list[Sequence]:
        """As many whole parts as there are, none of which overlap."""
        first, last = self._range()
        return [self._part(start, last) for start in range(first, last - self.length + 1, self.length)]

    def _range(self) -> tuple[int, int]:
        return int(self.begin * len(self.jobs)), int(self.end * len(self.jobs))

    def _part(self, start: int, last: int) -> Sequence:
        which = slice(start, min(start + self.length, last))
        jobs = self.jobs.rows(which)
        return replace(jobs, submit_seconds=jobs.submit_seconds - jobs.submit_seconds[0]), self.demand.rows(which), self.platform


@dataclass(frozen=True, slots=True)
class SeveralWorkloads:
    """Sequences of one of several workloads, drawn at random."""

    workloads: tuple[Sequences, ...]

    def __call__(self, rng: np.random.Generator) -> Sequence:
        return self.workloads[int(rng.integers(len(self.workloads)))](rng)

    def one_after_the_other(self) -> list[Sequence]:
        """As many whole parts as there are, none of which overlap."""
        return [part for workload in self.workloads for part in workload.one_after_the_other()]
