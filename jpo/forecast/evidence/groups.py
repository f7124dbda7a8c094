"""Groups of candidates that are the same in one respect: what is measured of one is measured of all in its group."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jpo.forecast.measurements import CandidateRun
from jpo.records import Candidates

if TYPE_CHECKING:
    from jpo.records import Floats, Ints


@dataclass(frozen=True, eq=False, slots=True)
class Groups:
    """Groups of candidates.

    Attributes:
        first: shape (G,), one candidate of each; today's stands for its own.
        of: shape (K,), the group of each candidate.
        candidates: of shape (G, P).
    """

    first: Ints
    of: Ints
    candidates: Candidates

    @property
    def single(self) -> bool:
        """Whether each candidate is a group of its own."""
        return len(self.first) == len(self.of)

    def runs(self, candidate_runs: Sequence[CandidateRun]) -> list[CandidateRun]:
        """The runs with the row of their group."""
        if self.single:
            return list(candidate_runs)
        group = self.of.tolist()
        return [CandidateRun(group[each.row], each.run, each.count) for each in candidate_runs]

    def grouped(self, log: Floats) -> Floats:
        """The columns (J, G) of the groups' candidates, of (J, K)."""
        return log if self.single else log[:, self.first]

    def expanded(self, log: Floats) -> Floats:
        """Each candidate's column, (J, K), of those of the groups, (J, G)."""
        return log if self.single else log[:, self.of]


def groups_without(candidates: Candidates, names: Collection[str]) -> Groups:
    """Groups of candidates that differ in these parameters alone."""
    columns = [at for at, name in enumerate(candidates.names) if name in names]
    values = candidates.values.copy()
    values[:, columns] = values[candidates.current, columns]
    if (values == candidates.values).all():
        each = np.arange(len(values))
        return Groups(each, each, candidates)
    _, first, of = np.unique(values, axis=0, return_index=True, return_inverse=True)
    of = of.reshape(-1)
    first[of[candidates.current]] = candidates.current
    among = Candidates(
        candidates.names,
        values[first],
        int(of[candidates.current]),
        candidates.admissible[first],
        candidates.log_rate[first],
        candidates.priced,
        candidates.words,
    )
    return Groups(first.astype(np.int64), of.astype(np.int64), among)
