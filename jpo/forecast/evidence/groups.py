"""Groups of candidates that are the same in one respect: what is measured of one is measured of all in its group.

A measured quantity adjusts the particles at the groups, and gives each candidate those of its group.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jpo.forecast.discrepancy import AdjustedParticles, Discrepancy, adjusted, explained
from jpo.forecast.ensemble import conditioned
from jpo.forecast.measurements import NO_MEASUREMENTS, CandidateRun, Measurements
from jpo.records import Candidates, Floats, Ints


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
    among = replace(
        candidates,
        values=values[first],
        current=int(of[candidates.current]),
        admissible=candidates.admissible[first],
        log_rate=candidates.log_rate[first],
    )
    return Groups(first.astype(np.int64), of.astype(np.int64), among)


@dataclass(frozen=True, eq=False, slots=True)
class MeasuredQuantity:
    """What the runs say of one quantity.

    Attributes:
        groups: of candidates that have the same of it.
        measurements, lower_bounds: at the groups; the latter from stopped runs.
        discrepancy: how far off a particle may be.
    """

    groups: Groups
    measurements: Measurements
    discrepancy: Discrepancy
    lower_bounds: Measurements = NO_MEASUREMENTS

    def adjusted(self, log: Floats) -> AdjustedParticles:
        """Particles at every candidate, (J, K), adjusted to the runs."""
        measured = (self.measurements, self.lower_bounds, self.discrepancy)
        return self.expanded(adjusted(self.groups.grouped(log), *measured, self.groups.candidates))

    def conditioned(self, log: Floats, rng: np.random.Generator) -> AdjustedParticles:
        """Transferred surfaces, conditioned on the runs."""
        measured = (self.measurements, self.lower_bounds, self.discrepancy)
        return self.expanded(conditioned(self.groups.grouped(log), *measured, self.groups.candidates.current, rng))

    def log_likelihood(self, log: Floats) -> Floats:
        """Log-likelihood of what was measured under each particle, (J,)."""
        if not self.measurements.rows.size:
            return np.zeros(len(log))
        return explained(self.groups.grouped(log), self.measurements, self.lower_bounds, self.discrepancy)[1]

    def expanded(self, particles: AdjustedParticles) -> AdjustedParticles:
        """Particles of the groups at every candidate."""
        return replace(particles, log=self.groups.expanded(particles.log))
