"""Comparison of the candidates under a belief and a preference: what of a decision no boldness, no context and no hold changes.

It is most of the work of a decision, and done once: problems that differ in the rest alone share it.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from jpo.agent.acquisition import AcquisitionValues, acquisition_values, log_objective, log_ratios
from jpo.agent.candidate_rows import base_row
from jpo.agent.preference import LOSS_TOLERANCE
from jpo.agent.safety.confidence import p_claim, p_loss_worse
from jpo.agent.safety.failing import known_to_end_well, often_failing
from jpo.agent.safety.promise import Promise
from jpo.agent.safety.risk import WORSE
from jpo.records import CALIBRATED, Belief, Bools, Calibration, Candidates, Floats, Preference


@dataclass(frozen=True, eq=False)
class Comparison:
    """Comparison of the candidates.

    Attributes:
        candidates: the configurations between which is chosen; what may not be proposed is not admissible.
        belief: the posterior over them after the runs so far.
        preference: what time, cost, efficiency and loss are worth.
        reference: row of the values before the agent's first change, against whose validation loss a model is worse; None =
            today's.
        calibration: by how much the belief was too sure of itself.
        quality_floor: by which share the validation loss may be worse than the reference's; None = as the preference says.
        promise: a validation loss that was promised, if today's values break it: what lowers it claims just that.
    """

    candidates: Candidates
    belief: Belief
    preference: Preference
    reference: int | None = None
    calibration: Calibration = CALIBRATED
    quality_floor: float | None = None
    promise: Promise | None = None

    @property
    def base(self) -> int:
        return base_row(self.candidates, self.reference)

    @cached_property
    def objective(self) -> Floats:
        """Log objective of every particle of the belief, (J, K)."""
        return log_objective(self.belief, self.preference, self.base)

    @cached_property
    def against_today(self) -> Floats:
        """The same against today's configuration, (J, K)."""
        return log_ratios(self.objective, self.candidates.current)

    @cached_property
    def weighed(self) -> AcquisitionValues:
        """Acquisition values where it is not known how many runs follow."""
        factor = self.calibration.interval_factor
        return acquisition_values(self.belief, self.candidates, self.objective, self.against_today, interval_factor=factor)

    @cached_property
    def p_better(self) -> Floats:
        """Chance that each candidate ends well, better than today's, with the validation loss kept, shape (K,)."""
        tolerance = self.quality_floor
        chance = p_claim(
            self.belief, self.candidates, self.against_today, self.calibration, reference=self.base, tolerance=tolerance
        )
        return chance if self.promise is None else np.where(self.promise.lowering, self.promise.p_lower, chance)

    @cached_property
    def claimed_of_trials(self) -> Floats:
        """Log objective against today's as far as a trial claims it, (J, K): where a floor judges its loss, of time and cost."""
        if self.quality_floor is None:
            return self.against_today
        without_loss = log_objective(replace(self.belief, val_loss=None), self.preference, self.base)
        return log_ratios(without_loss, self.candidates.current)

    @cached_property
    def p_safe(self) -> Floats:
        """Chance of what a trial claims, shape (K,): that it ends well and costs no more than a tenth more than today's."""
        claimed = self.claimed_of_trials
        chance = p_claim(self.belief, self.candidates, claimed, self.calibration, WORSE, reference=self.base)
        return chance if self.promise is None else np.where(self.promise.lowering, self.promise.p_lower, chance)

    @cached_property
    def p_loss_kept(self) -> "Floats | None":
        """Chance that a run that ends well keeps the quality floor, (K,); None where there is none, or no loss was measured."""
        return None if self.quality_floor is None or self.belief.val_loss is None else 1 - self._p_loss_worse(self.quality_floor)

    @cached_property
    def p_loss_kept_closely(self) -> Floats:
        """Chance that it is not worse than LOSS_TOLERANCE, (K,); 1 where there is no floor, as with a target of the job's own."""
        none = np.zeros(len(self.belief.runs))
        return np.asarray(1 - (none if self.quality_floor is None else self._p_loss_worse(math.expm1(LOSS_TOLERANCE))))

    def _p_loss_worse(self, tolerance: float) -> Floats:
        return p_loss_worse(self.belief, self.candidates, self.base, tolerance, self.calibration.loss_interval_factor)

    @cached_property
    def leaves_today(self) -> bool:
        """Whether today's values end well at times, and fail more often than chance would have it: they are left for others."""
        now = self.candidates.current
        return bool(self.belief.runs[now] and self.often_failing[now])

    @cached_property
    def often_failing(self) -> Bools:
        """Rows that fail more often than chance would have it, shape (K,)."""
        return often_failing(self.belief.runs, self.belief.failures)

    @cached_property
    def known_to_end_well(self) -> Bools:
        """Rows besides today's that have ended well and do not fail often, shape (K,), admissible or not."""
        return known_to_end_well(self.candidates, self.belief.runs, self.often_failing)

    @property
    def ways_back(self) -> Bools:
        """Those of them that may be gone back to."""
        return self.candidates.admissible & self.known_to_end_well
