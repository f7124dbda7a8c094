"""Figures of a set of runs, by workload: how they ended, what they took, and which configurations did best.

Only runs that ended well count for what a job takes or reaches; the others are counted. Quantities without measurements are None.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, quantiles

from jpo.records import Identity, Quality, Run, in_order

Measure = Callable[[Run], float | None]
QUANTITIES = ("duration_seconds", "throughput_samples_per_second", "cost_usd", "val_loss", "val_accuracy")
NO_METRICS: Mapping[str, Quality] = {}
LARGEST = 1e150
"""Anything larger is not a measurement, and its means overflow."""
GOALS = {"time": "duration_seconds", "cost": "cost_usd", "loss": "val_loss", "accuracy": "val_accuracy"}
"""Goals for which a configuration can be best, besides the user's own metrics; less is better, but of an accuracy."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread of a quantity over the runs that ended well and measured it; `low` to `high` is the middle half of two or more."""

    runs: int
    mean: float | None = None
    median: float | None = None
    low: float | None = None
    high: float | None = None
    least: float | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration that ran.

    `runs`, `failed`: how many runs ended well with it, and how many did not; `medians`: by quantity, over those that ended well.
    """

    parameters: Mapping[str, float]
    runs: int
    failed: int
    medians: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one workload.

    Attributes:
        by_status: number of runs by how they ended, most frequent first.
        spreads: by quantity of QUANTITIES, then the user's own metrics.
        best: by goal of GOALS, then by metric of which the direction is known; None where nothing
            was measured or no run reported its parameters.
        varied: parameters that did not always have the same value.
    """

    identity: Identity
    runs: int
    by_status: Mapping[str, int]
    spreads: Mapping[str, Spread]
    best: Mapping[str, Configuration | None]
    varied: tuple[str, ...]


def figures(runs: Sequence[Run], cost_usd: Measure, metrics: Mapping[str, Quality] = NO_METRICS) -> tuple[Figures, ...]:
    """Figures of every workload, sorted by name.

    `cost_usd`: the cost of a run, measured or by the user's prices. `metrics`: the user's own of which the direction is known, by
    name.
    """
    by_identity: dict[Identity, list[Run]] = defaultdict(list)
    for run in runs:
        by_identity[run.identity].append(run)
    by_name = sorted(by_identity.items(), key=lambda item: (*item[0].labels.values(),))
    return tuple(_workload_figures(identity, its_runs, cost_usd, metrics) for identity, its_runs in by_name)


def _workload_figures(identity: Identity, runs: Sequence[Run], cost_usd: Measure, metrics: Mapping[str, Quality]) -> Figures:
    tried = configurations(runs, cost_usd)
    own = dict.fromkeys(name for run in runs for name in run.outcome.metrics)
    directed = {name: metrics[name] for name in own if name in metrics}
    named = in_order(name for configuration in tried for name in configuration.parameters)
    return Figures(
        identity=identity,
        runs=len(runs),
        by_status=dict(Counter(ending(run) for run in runs).most_common()),
        spreads={name: spread(values_of(runs, name, cost_usd)) for name in (*QUANTITIES, *own)},
        best={
            **{goal: best_of(tried, quantity, more_is_better=goal == "accuracy") for goal, quantity in GOALS.items()},
            **{name: best_of(tried, name, more_is_better=quality.more_is_better) for name, quality in directed.items()},
        },
        varied=tuple(name for name in named if len({configuration.parameters.get(name) for configuration in tried}) > 1),
    )


def ending(run: Run, by_jpo: Container[str] = ()) -> str:
    """How a run ended; "target missed" for one that succeeded without its own target. `by_jpo`: ids of those that JPO ended."""
    if run.outcome.converged is False and run.status == "succeeded":
        return "target missed"
    return f"{run.status.value} by JPO" if run.run_id in by_jpo and run.status == "stopped" else run.status.value


def values_of(runs: Iterable[Run], quantity: str, cost_usd: Measure) -> list[float]:
    good = [run for run in runs if run.ended_well]
    values = [cost_usd(run) if quantity == "cost_usd" else run.outcome.of(quantity) for run in good]
    return [value for value in values if value is not None and abs(value) < LARGEST]


def spread(values: Sequence[float]) -> Spread:
    if not values:
        return Spread(0)
    low, _, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else (None, None, None)
    return Spread(len(values), fmean(values), median(values), low, high, min(values))


def seconds_by_values(runs: Iterable[Run]) -> dict[tuple[tuple[str, float], ...], list[float]]:
    """What the runs that ended well took, by their values."""
    taken = defaultdict[tuple[tuple[str, float], ...], list[float]](list)
    for run in runs:
        if run.ended_well and run.outcome.duration_seconds:
            taken[tuple(sorted(run.parameters.items()))].append(run.outcome.duration_seconds)
    return taken


def configurations(runs: Iterable[Run], cost_usd: Measure) -> list[Configuration]:
    """Configurations that ran; runs that reported no parameters are left out."""
    alike: dict[tuple[tuple[str, str], ...], list[Run]] = defaultdict(list)
    for run in runs:
        # Six digits: values travel through texts and units before they come back (records.SAME).
        alike[tuple((name, f"{run.parameters[name]:.6g}") for name in in_order(run.parameters))].append(run)
    return [configuration(group, cost_usd) for key, group in alike.items() if key]


def configuration(runs: Sequence[Run], cost_usd: Measure) -> Configuration:
    good = sum(run.ended_well for run in runs)
    own = dict.fromkeys(name for run in runs for name in run.outcome.metrics)
    medians = {name: spread(values_of(runs, name, cost_usd)).median for name in (*QUANTITIES, *own)}
    return Configuration(runs[0].parameters, good, len(runs) - good, medians)


def best_of(tried: Iterable[Configuration], quantity: str, *, more_is_better: bool) -> Configuration | None:
    """The configuration with the best median; of equal ones, the one with most runs."""
    sign = -1 if more_is_better else 1
    ranked = [
        (sign * value, -candidate.runs, number, candidate)
        for number, candidate in enumerate(tried)
        if (value := candidate.medians.get(quantity)) is not None
    ]
    return min(ranked)[-1] if ranked else None


def usual_values(runs: Sequence[Run]) -> dict[Identity, dict[str, float]]:
    """The values which runs, oldest first, are taken to have had where they do not say: the first that were reported."""
    usual: dict[Identity, dict[str, float]] = {}
    for run in reversed(runs):
        usual.setdefault(run.identity, {}).update(run.parameters)
    return usual
