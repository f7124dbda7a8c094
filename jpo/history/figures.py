"""What a set of runs says, workload by workload: how they ended, what they took, and which configurations did best.

Only runs that ended well say what a job takes or reaches; the others are counted. What nothing was measured of is None.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from statistics import fmean, median, quantiles

from jpo.records import PARAMETERS, Identity, Run

Measure = Callable[[Run], float | None]
QUANTITIES = ("duration_seconds", "throughput_samples_per_second", "cost_usd", "val_loss")
LARGEST = 1e150
"""What is larger is no measurement, and means of it overflow."""
GOALS = {"time": "duration_seconds", "cost": "cost_usd", "loss": "val_loss"}
"""For what a configuration can be best; less is better."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One quantity over the runs that ended well and measured it; `low` and `high` bound the middle half of at least two runs."""

    runs: int
    mean: float | None = None
    median: float | None = None
    low: float | None = None
    high: float | None = None
    least: float | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """One set of parameters that ran.

    Attributes:
        runs: how many ended well with it; failed: how many did not.
        medians: by quantity, over those that ended well.
    """

    parameters: Mapping[str, float]
    runs: int
    failed: int
    medians: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Figures:
    """One workload.

    Attributes:
        by_status: how many runs ended how, most frequent first.
        spreads: by quantity of QUANTITIES.
        best: by goal of GOALS; None where nothing was measured or no run reported its parameters.
        varied: parameters that did not always have the same value.
    """

    identity: Identity
    runs: int
    by_status: Mapping[str, int]
    spreads: Mapping[str, Spread]
    best: Mapping[str, Configuration | None]
    varied: tuple[str, ...]


def figures(runs: Sequence[Run], cost_usd: Measure) -> tuple[Figures, ...]:
    """Every workload in the order of its name.

    Args:
        cost_usd: what a run cost, measured or by the user's prices.
    """
    by_identity: dict[Identity, list[Run]] = defaultdict(list)
    for run in runs:
        by_identity[run.identity].append(run)
    return tuple(of_workload(identity, by_identity[identity], cost_usd) for identity in sorted(by_identity, key=astuple))


def of_workload(identity: Identity, runs: Sequence[Run], cost_usd: Measure) -> Figures:
    """The runs of one workload."""
    tried = configurations(runs, cost_usd)
    return Figures(
        identity=identity,
        runs=len(runs),
        by_status=dict(Counter(ending(run) for run in runs).most_common()),
        spreads={name: spread(values_of(runs, name, cost_usd)) for name in QUANTITIES},
        best={goal: best_of(tried, quantity) for goal, quantity in GOALS.items()},
        varied=tuple(name for name in PARAMETERS if len({configuration.parameters.get(name) for configuration in tried}) > 1),
    )


def ending(run: Run) -> str:
    """How a run ended; "target missed" where it ended well without reaching its own target."""
    return "target missed" if run.outcome.converged is False and run.status == "succeeded" else run.status.value


def values_of(runs: Iterable[Run], quantity: str, cost_usd: Measure) -> list[float]:
    """What the runs that ended well measured of a quantity."""
    good = [run for run in runs if run.ended_well]
    values = [cost_usd(run) if quantity == "cost_usd" else getattr(run.outcome, quantity) for run in good]
    return [value for value in values if value is not None and abs(value) < LARGEST]


def spread(values: Sequence[float]) -> Spread:
    """Mean, median, quartiles and least of so many values."""
    if not values:
        return Spread(0)
    low, _, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else (None, None, None)
    return Spread(len(values), fmean(values), median(values), low, high, min(values))


def configurations(runs: Iterable[Run], cost_usd: Measure) -> list[Configuration]:
    """The runs by their parameters; those that reported none are left out."""
    alike: dict[tuple[tuple[str, str], ...], list[Run]] = defaultdict(list)
    for run in runs:
        # Six digits: values travel through texts and units before they come back (records.SAME).
        alike[tuple((name, f"{run.parameters[name]:.6g}") for name in PARAMETERS if name in run.parameters)].append(run)
    return [configuration(group, cost_usd) for key, group in alike.items() if key]


def configuration(runs: Sequence[Run], cost_usd: Measure) -> Configuration:
    """Runs of one configuration."""
    good = sum(run.ended_well for run in runs)
    medians = {name: spread(values_of(runs, name, cost_usd)).median for name in QUANTITIES}
    return Configuration(runs[0].parameters, good, len(runs) - good, medians)


def best_of(tried: Iterable[Configuration], quantity: str) -> Configuration | None:
    """The configuration with the least median, of equal ones that with most runs."""
    medians = [(tested.medians[quantity], tested) for tested in tried]
    ranked = [(value, -tested.runs, number, tested) for number, (value, tested) in enumerate(medians) if value is not None]
    return min(ranked)[-1] if ranked else None
