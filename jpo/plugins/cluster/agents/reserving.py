"""Reserve: a rule with EASY whose long jobs leave devices free for short ones to come. How many is learnt.

A job may start if a share of the devices stays free that grows with its requested time, by a logistic function of its logarithm,
but never more than a share of those that it leaves of all. Without it this is the rule. It is known when a job comes: simulations
are as fast as those of rules. In training mean turnaround may grow by TOLERATED alone: what is kept free costs long jobs time.

Source of the search: Rubinstein, "The Cross-Entropy Method for Combinatorial and Continuous Optimization", 1999; for policies:
Szita, Lőrincz, "Learning Tetris Using the Noisy Cross-Entropy Method", Neural Computation 2006.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from jpo.plugins.cluster.agents.base import LearningAgent
from jpo.plugins.cluster.agents.sequences import Sequence as JobSequence
from jpo.plugins.cluster.environment.rewards import METERED
from jpo.plugins.cluster.grid import schedule_metrics
from jpo.plugins.cluster.machine.bill import bill
from jpo.plugins.cluster.machine.discipline import Discipline, run
from jpo.plugins.cluster.metrics import bounded_slowdown
from jpo.plugins.cluster.queueing.selection import selection
from jpo.plugins.cluster.queueing.simulate import Rule

MOST = 0.8
"""Share of the devices that is ever kept free."""
BEGIN, SPREAD = (-4.0, 0.0, 0.0, 0.0), (2.5, 1.0, 0.7, 1.0)
"""What is learnt, and how far the search goes at first: the largest share (a logit, nearly the rule), log hours of half of it,
the logarithm of how slowly it grows, and the share of what a job leaves (a logit)."""
TRIED, KEPT, STEP, NARROWEST = 16, 5, 0.5, 0.1
"""Weights tried in a round on the same sequences; the best ones; the share of the way to them that is gone; the least spread."""
TOLERATED, EXCESS = 0.2, 10.0
"""By what share mean turnaround may grow; what more of it takes from the return."""


class Reserving(LearningAgent):
    """The cross-entropy method. `margin`: by how much less than learnt stays free; infinite: the rule."""

    def begin(self) -> None:
        self._search = np.array((BEGIN, SPREAD))
        self._rng = np.random.default_rng(self.seed)
        self._rule = Rule(self.options.order, "easy", self.options.resources)

    def evolve(self, drawn: Sequence[JobSequence], objective: str) -> Mapping[str, float]:
        """A round of the search; the mean return of what was tried (-1: as the rule)."""
        sign = 1.0 if objective == "utilisation" else -1.0
        metrics = objective, "turnaround"
        rule = np.array([values_of_rule(self._rule, one, metrics) for one in drawn])  # (drawn, 2)
        mean, spread = self._search
        tried = mean + spread * self._rng.normal(size=(TRIED, len(mean)))
        values = np.array([[self.values(one, metrics, weights) for one in drawn] for weights in tried])  # (tried, drawn, 2)
        shares, later = (values.mean(axis=1) / np.where(rule, rule, 1.0).mean(axis=0)).T
        returns = sign * shares - EXCESS * np.maximum(later - 1 - TOLERATED, 0.0)
        best = tried[np.argsort(-returns, kind="stable")[:KEPT]]
        found = np.array((best.mean(axis=0), np.maximum(best.std(axis=0), NARROWEST)))
        self._search = (1 - STEP) * self._search + STEP * found
        return {"return": float(returns.mean())}

    def values(self, drawn: JobSequence, objectives: Sequence[str], weights: NDArray[np.float64] | None = None) -> list[float]:
        """Metrics of a sequence with what has been learnt, or other weights."""
        return values_of_rule(self._rule, drawn, objectives, self._keep(drawn, self._search[0] if weights is None else weights))

    def _keep(self, drawn: JobSequence, weights: NDArray[np.float64]) -> Sequence[int]:
        """By job how many devices must stay free; never more than it leaves of all."""
        jobs, demand, platform = drawn
        wanted = demand.tasks * np.where(demand.gpus > 0, demand.gpus, demand.cpus)
        devices = np.where(demand.gpus > 0, platform.cores("gpu"), platform.cores("cpu"))
        most, middle, width, rest = weights.clip(-50, 50)
        grown = (np.log(jobs.requested_seconds / 3600) - middle) / math.exp(width)
        largest, ramp, of_rest = (0.5 + 0.5 * np.tanh(at / 2) for at in (most, grown, rest))  # logistic functions
        share = np.maximum(MOST * largest * ramp - self.margin, 0.0)
        found: list[int] = np.minimum(share * devices + 0.5, of_rest * (devices - wanted)).astype(np.int64).tolist()
        return found

    def weights(self) -> dict[str, NDArray[np.float32]]:
        return {"search": self._search.astype(np.float32)}

    def load(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        if weights["search"].shape != self._search.shape:
            raise ValueError("search has another shape")
        self._search = weights["search"].astype(np.float64)


def values_of_rule(rule: Rule, drawn: JobSequence, objectives: Sequence[str], keep: Sequence[int] = ()) -> list[float]:
    """Metrics of a sequence; `keep`: as in discipline.py. Energy is 0 where it is unknown, as the ledger has it."""
    jobs, demand, platform = drawn
    chosen = selection(rule.selection, seed=0)
    managed = Discipline(chosen, rule.resources or "first", rule.backfilling, elastic=rule.elastic, keep=keep)
    schedule = run(jobs, demand, platform, managed)
    owed = bill(jobs, demand, platform, schedule) if set(METERED) & set(objectives) else None
    found = schedule_metrics(jobs, demand, platform.cores("gpu" if demand.gpus.any() else "cpu"), schedule)
    known = {
        "wait": found.wait_seconds.average,
        # Of run times on the reference device, as in the rewards: a slow device is the policy's doing.
        "slowdown": float(bounded_slowdown(schedule.starts - jobs.submit_seconds, jobs.run_seconds).mean()),
        "turnaround": found.turnaround_seconds.average,
        "makespan": found.makespan_seconds,
        "utilisation": found.utilisation,
        "energy": owed and owed.energy_joules,
        "edp": owed and owed.edp_joule_seconds,
    }
    return [known[objective] or 0.0 for objective in objectives]
