"""Scenarios of a simulated job: drift, a known end, a budget, preferences that are switched, prices that change.

A script is drawn once per job, apart from the job, and says what holds in each of its runs, run 0 being the reference. What the
agent is shown of it is decided in practice.py; drift is never shown. All ranges are assumed, no recorded job went in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from jpo.agent.reward import objective
from jpo.records import NAMED_PREFERENCES, Candidates, Draws, Floats, Preference
from jpo.simulate import draw_jobs
from jpo.simulate.drift import batch_effect, draw_drift

RUNS = 20
"""Runs of a job whose end is unknown, the reference included."""
JUMPS = 0.7
"""Share of the drifting jobs which become another job at one run."""
FURTHEST = float(np.log(2.5))
"""By which factor a candidate's duration may jump."""


@dataclass(frozen=True, eq=False, slots=True)
class Script:
    """Script of a scenario: what holds in each of R runs of one job with K candidates.

    Attributes:
        drift: shape (R, K), natural log of each candidate's duration relative to run 0. Hidden.
        preferences: R of them; known before each run.
        log_rate: shape (R, K), as Candidates.log_rate; known before each run.
        horizon_known: the agent knows how many runs follow.
        budget: what all runs after the reference may cost, in multiples of the reference run; None = no budget.
        later: the run from which the second of two conditions holds; 0 = they alternate; None = there is one condition.
    """

    drift: Floats
    preferences: tuple[Preference, ...]
    log_rate: Floats
    horizon_known: bool = False
    budget: float | None = None
    later: int | None = None

    @property
    def runs(self) -> int:
        return len(self.preferences)


Scenario = Callable[[Candidates, Draws, Preference, np.random.Generator], Script]


def stationary(candidates: Candidates, _truth: Draws, preference: Preference, _rng: np.random.Generator) -> Script:
    """Nothing changes, and the end is unknown."""
    return _unchanged(candidates, preference, RUNS)


def drift(candidates: Candidates, truth: Draws, preference: Preference, rng: np.random.Generator) -> Script:
    """Data grow and hardware changes as in jpo/simulate/drift.py; in 70% of the jobs the optimum jumps as well.

    Jump: from a run in the middle three fifths on, ln duration is LU(0.3, 1) of the way towards that of another job drawn on the
    same candidates, as when code, data or hardware were exchanged, but no candidate becomes more than FURTHEST faster or slower.
    """
    moves = draw_drift(RUNS, rng)
    column = candidates.names.index("batch_size") if "batch_size" in candidates.names else None
    sizes = np.ones(len(candidates.values)) if column is None else candidates.values[:, column]
    batch = np.log2(sizes / sizes[candidates.current])  # (K,), doublings of today's
    added = np.stack([moves.log_time[run] + batch_effect(moves, run, batch) for run in range(RUNS)])  # (R, K)
    if rng.random() < JUMPS:
        other = draw_jobs(candidates, 1, rng)
        share = np.exp(rng.uniform(np.log(0.3), 0.0))
        moved = np.clip(share * (other.log_time[0] - truth.log_time[0]), -FURTHEST, FURTHEST)  # (K,)
        added[int(rng.integers(RUNS // 5, RUNS - RUNS // 5)) :] += moved
    return replace(_unchanged(candidates, preference, RUNS), drift=added)


def horizon(candidates: Candidates, _truth: Draws, preference: Preference, rng: np.random.Generator) -> Script:
    """The user says how many runs follow: 5 to 30 in all, few as often as many (log-uniform)."""
    runs = int(np.exp(rng.uniform(np.log(5), np.log(31))))
    return replace(_unchanged(candidates, preference, runs), horizon_known=True)


def budget(candidates: Candidates, truth: Draws, preference: Preference, rng: np.random.Generator) -> Script:
    """8 to 25 runs must do with what lies between the optimum's cost and today's, at least three tenths above the optimum's."""
    script = _unchanged(candidates, preference, int(rng.integers(8, 26)))
    best = float(np.exp(np.min(np.where(truth.fails[0], np.inf, objective(vectors_of(truth, candidates.log_rate), preference)))))
    per_run = max(1.3 * best, best ** rng.uniform(0.0, 0.6))
    return replace(script, horizon_known=True, budget=per_run * (script.runs - 1))


def switched(candidates: Candidates, _truth: Draws, _preference: Preference, rng: np.random.Generator) -> Script:
    """Time counts by day, cost by night: each run has one or the other, by a coin between .3 and .7, known just before it."""
    by_day = rng.random(RUNS) < rng.uniform(0.3, 0.7)
    two = (NAMED_PREFERENCES["time"], NAMED_PREFERENCES["cost"])
    preferences = tuple(two[0] if day else two[1] for day in by_day)
    return replace(_unchanged(candidates, two[0], RUNS), preferences=preferences, later=0)


def prices(candidates: Candidates, _truth: Draws, preference: Preference, rng: np.random.Generator) -> Script:
    """At a known run the price of large allocations falls or rises: ln rates are multiplied by U(0, 2). Cost has at least half of
    the weight, or nothing would change."""
    at = int(rng.integers(RUNS // 5, RUNS - RUNS // 5))
    rates = np.repeat(candidates.log_rate[None], RUNS, axis=0)  # (R, K)
    rates[at:] *= rng.uniform(0.0, 2.0)
    costly = preference if preference.cost >= 0.5 else NAMED_PREFERENCES["balanced"]
    return replace(_unchanged(candidates, costly, RUNS), log_rate=rates, later=at)


SCENARIOS: Mapping[str, Scenario] = {
    "stationary": stationary,
    "drift": drift,
    "horizon": horizon,
    "budget": budget,
    "switched": switched,
    "prices": prices,
}
"""By the name that reports and policy files use."""


def vectors_of(truth: Draws, log_rate: Floats, drift: "Floats | float" = 0.0) -> Floats:
    """Noise-free reward vectors of all candidates in one run, shape (K, 6), see jpo/agent/reward.py."""
    time = truth.log_time[0] + drift
    nothing = np.zeros_like(time)
    return np.stack((time, time + log_rate, truth.log_utilisation[0], truth.log_loss[0], nothing, nothing), axis=1)


def _unchanged(candidates: Candidates, preference: Preference, runs: int) -> Script:
    rows = len(candidates.values)
    return Script(np.zeros((runs, rows)), (preference,) * runs, np.broadcast_to(candidates.log_rate, (runs, rows)))
