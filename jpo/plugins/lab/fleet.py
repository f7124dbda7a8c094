"""Fleet of simulated workloads: each next to itself left unchanged, in numbers.

Medians are over the last runs of a workload that ended well; intervals are over workloads. Totals include failed runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

import numpy as np

from jpo.records import Floats, Interval, Run

METRICS = ("gpu_utilisation", "cpu_utilisation", "duration_seconds", "cost_usd", "energy_joules", "val_loss")
"""Fields of an outcome that are compared, in the order of reports."""
CLEARLY = 1.05
"""Worse by more than a twentieth is worse beyond noise."""
_RESAMPLES = 2000
MOST = 4.0
"""Where fleets are compared, a run or goal counts at most four times the unchanged one; so does a goal of failed runs alone."""
LEARNT_FROM = 20
"""Workloads that run one after the other are compared apart from so many on: what was learnt from these shows there."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One workload, run on the same nights with its first configuration unchanged and with JPO.

    `goal`: the objective of the user's preference over the last runs, failed ones paid for, in multiples of the unchanged
    configuration's (smaller is better); None if none of the last runs ended well. `best`: the same for the best possible
    configuration, which only the simulator knows.
    """

    workload: str
    first: Mapping[str, float]
    unchanged: tuple[Run, ...]
    tuned: tuple[Run, ...]
    goal: float | None
    best: float


@dataclass(frozen=True, slots=True)
class Fleet:
    """A fleet of workloads and the plan of their runs; the `last` runs of each are compared.

    `installation`: kind of the one in which they ran one after the other; None: they ran at the same time, as simulated.
    `decided_by`: how many suggestions each decided, see records.Decision.
    """

    lanes: tuple[Lane, ...]
    runs: int
    last: int
    seed: int
    drift: bool
    explore: str
    preference: Mapping[str, float]
    installation: str | None = None
    decided_by: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Totals:
    runs: int
    failed: int
    cost_usd: float
    hours: float

    @property
    def duration_seconds(self) -> float:
        return 3600 * self.hours

    @property
    def usd_per_model(self) -> float | None:
        """Cost per run that ended well, failed ones paid for; None if none ended well."""
        return self.cost_usd / (self.runs - self.failed) if self.runs > self.failed else None


def median_of(runs: Sequence[Run], name: str) -> float | None:
    """Median of a quantity over the runs that ended well; None where it was not measured."""
    values = [getattr(run.outcome, name) for run in runs if run.ended_well]
    return median(measured) if (measured := [value for value in values if value is not None]) else None


def failures(lane: Lane) -> tuple[int, int]:
    """Runs that did not end well: unchanged, with JPO."""
    unchanged, tuned = (sum(not run.ended_well for run in runs) for runs in (lane.unchanged, lane.tuned))
    return unchanged, tuned


def per_model(runs: Sequence[Run], name: str) -> float | None:
    """Time or money per run that ended well, failed ones paid for; None if none ended well."""
    good = sum(run.ended_well for run in runs)
    return sum(getattr(run.outcome, name) or 0.0 for run in runs) / good if good else None


def before_after(lane: Lane, name: str, last: int) -> tuple[float | None, float | None]:
    """Medians of a quantity over the last runs: unchanged, with JPO."""
    return median_of(lane.unchanged[-last:], name), median_of(lane.tuned[-last:], name)


def change(lane: Lane, name: str, last: int) -> float | None:
    """Ratio of the medians, with JPO / unchanged; None where one of them is unknown or not positive."""
    before, after = before_after(lane, name, last)
    return after / before if before and after and before > 0 and after > 0 else None


def overall(fleet: Fleet, name: str) -> Interval | None:
    """Median change over the workloads with a 90% bootstrap interval; None where no workload measured it.

    Source: percentile bootstrap, Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 1979.
    """
    ratios = [ratio for lane in fleet.lanes if (ratio := change(lane, name, fleet.last)) is not None]
    if not ratios:
        return None
    drawn = np.random.default_rng(0).choice(np.array(ratios), (_RESAMPLES, len(ratios)))
    low, high = np.quantile(np.median(drawn, axis=1), (0.05, 0.95))
    return Interval(median(ratios), float(low), float(high))


def paid(fleet: Fleet) -> Floats:
    """What the runs of each workload took in the mean, in multiples of the unchanged configuration, failed ones as in `ratios`;
    time and money weighed as the user prefers. Shape (workloads,)."""
    weights = np.array([fleet.preference[name] for name in ("time", "cost")])
    time, cost = weights / weights.sum() if weights.any() else (0.5, 0.5)
    multiples = ratios(fleet, "duration_seconds") ** time * ratios(fleet, "cost_usd") ** cost
    return np.asarray(np.nanmean(np.minimum(multiples, MOST), axis=1))


def typical_paid(fleet: Fleet) -> float:
    """Geometric mean of what was paid over the workloads, in multiples of the unchanged configuration."""
    return float(np.exp(np.mean(np.log(paid(fleet)))))


def against(fleet: Fleet, other: Fleet) -> Interval:
    """Ratio of what the same workloads paid under two policies: geometric mean with a 90% bootstrap interval."""
    logs = np.log(paid(fleet) / paid(other))
    means = np.random.default_rng(0).choice(logs, (_RESAMPLES, len(logs))).mean(axis=1)
    return Interval(*(float(np.exp(log)) for log in (logs.mean(), *np.quantile(means, (0.05, 0.95)))))


def later(fleet: Fleet) -> Fleet | None:
    """The workloads of a fleet in turn that had LEARNT_FROM before them; None if there are none. Who decided is left out."""
    lanes = fleet.lanes[LEARNT_FROM:]
    return replace(fleet, lanes=lanes, decided_by={}) if fleet.installation and lanes else None


def typical_goal(fleet: Fleet) -> float:
    """Geometric mean of the goals, in multiples of the unchanged configuration."""
    return float(np.exp(np.mean(np.log([MOST if lane.goal is None else min(lane.goal, MOST) for lane in fleet.lanes]))))


def share_decided_by(fleet: Fleet, decider: str) -> float | None:
    """Share of the suggestions that somebody or something decided; None if that is not known."""
    total = sum(fleet.decided_by.values())
    return fleet.decided_by.get(decider, 0) / total if total else None


def typical(fleet: Fleet, name: str) -> tuple[float | None, float | None]:
    """Medians over those workloads that measured both: unchanged, with JPO."""
    pairs = [before_after(lane, name, fleet.last) for lane in fleet.lanes]
    both = [(before, after) for before, after in pairs if before is not None and after is not None]
    return (median(before for before, _ in both), median(after for _, after in both)) if both else (None, None)


def totals(runs: Sequence[Run]) -> Totals:
    cost = sum(run.outcome.cost_usd or 0.0 for run in runs)
    hours = sum(run.outcome.duration_seconds or 0.0 for run in runs) / 3600
    return Totals(len(runs), sum(not run.ended_well for run in runs), cost, hours)


def all_runs(fleet: Fleet) -> tuple[Totals, Totals]:
    """Totals of the whole fleet: unchanged, with JPO."""
    unchanged = [run for lane in fleet.lanes for run in lane.unchanged]
    return totals(unchanged), totals([run for lane in fleet.lanes for run in lane.tuned])


def worse(fleet: Fleet, *, than: float = 1.0) -> int:
    """Number of workloads that ended worse than unchanged by their own objective; one whose last runs all failed is worse."""
    return sum(lane.goal is None or lane.goal > than for lane in fleet.lanes)


def ratios(fleet: Fleet, name: str) -> Floats:
    """Each run with JPO in multiples of the unchanged configuration that night, shape (workloads, runs).

    A failed run counts what it took and one unchanged run more, because its work is still to be done; otherwise failing early
    would look like a saving. A night on which the unchanged run failed is compared with the median of those that did not.
    """
    return np.array([_lane(lane, name) for lane in fleet.lanes], dtype=np.float64)


def _lane(lane: Lane, name: str) -> list[float]:
    usual = median_of(lane.unchanged, name)
    multiples = []
    for tuned, unchanged in zip(lane.tuned, lane.unchanged, strict=True):
        ours, theirs = getattr(tuned.outcome, name), median_of([unchanged], name) or usual or getattr(unchanged.outcome, name)
        comparable = ours is not None and theirs
        multiples.append(ours / theirs + (not tuned.ended_well) if comparable else np.nan)
    return multiples
