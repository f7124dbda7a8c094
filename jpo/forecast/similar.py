"""Durations of a workload that has neither runs nor trials: from runs of similar workloads.

The intervals are wide: they answer "minutes or days?". Every number comes from measured runs or from descriptors.csv.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from jpo.forecast.descriptors import family, operations_per_sample, plain_name, samples_of, size_of
from jpo.records import HALF_WIDTH, Identity, Interval, Parameters, Run

ALONE, AT_LEAST = 0.6, 0.25
"""Standard deviation of ln duration carried over from one or two other workloads (assumed), and its minimum for any number."""
PER_DOUBLING = 0.15
"""Additional error per doubling between the two in batch size, GPUs or CPUs."""
SPEED_UP = 0.8
"""Scaling exponent: n devices are n to this power times as fast. Assumed, between a node (0.9) and a network (0.6)."""


@dataclass(frozen=True, slots=True)
class DurationGuess:
    """A rough duration of a full run, and in words what it is based on."""

    seconds: Interval
    words: str


def from_similar(identity: Identity, values: Parameters, others: Sequence[Run]) -> DurationGuess | None:
    """A duration from the most similar workloads in the history; None where none can be converted."""
    by_workload: dict[Identity, list[tuple[float, float]]] = defaultdict(list)
    for run in others:
        if run.ended_well and run.outcome.duration_seconds and similarity(identity, run.identity):
            log_ratio = _log_ratio(identity, values, run)
            if log_ratio is not None:
                ratios = [_of(values, run.parameters, name) for name in ("batch_size", "gpus", "cpus")]  # what changes speed
                distance = sum(abs(math.log2(ratio)) for ratio in ratios if ratio)
                by_workload[run.identity].append((math.log(run.outcome.duration_seconds) + log_ratio, distance))
    if not by_workload:
        return None
    best = max(similarity(identity, workload) for workload in by_workload)
    similar = [workload for workload in by_workload if similarity(identity, workload) == best]
    logs = [median(log for log, _ in by_workload[workload]) for workload in similar]
    shortest = min(distance for workload in similar for _, distance in by_workload[workload])
    names = ", ".join(map(str, similar[:3])) + (f" and {len(similar) - 3} more" if len(similar) > 3 else "")
    return DurationGuess(around(fmean(logs), math.hypot(_spread(logs), PER_DOUBLING * shortest)), f"similar workloads: {names}")


def similarity(workload: Identity, other: Identity) -> float:
    """Similarity of two workloads by name; 0: nothing in common that says how long they take."""
    same_model = plain_name(workload.model) == plain_name(other.model)
    shared = 2.0 * same_model or 1.0 * (family(workload.model) == family(other.model) != "")
    shared += plain_name(workload.dataset) == plain_name(other.dataset)
    return shared + 0.5 * (plain_name(workload.framework) == plain_name(other.framework)) if shared else 0.0


def _log_ratio(identity: Identity, values: Parameters, run: Run) -> float | None:
    """Log ratio of the durations of this workload and a run of another; None where a factor is unknown."""
    others = run.parameters
    ratios = _per_sample(identity, values, run), _samples(identity, run), _of(values, others, "epochs"), _devices(values, others)
    return math.fsum(map(math.log, ratios)) if all(ratios) else None  # type: ignore[arg-type]


def _per_sample(identity: Identity, values: Parameters, run: Run) -> float | None:
    """Ratio of the work per sample: by the descriptors, else where both are the same model."""
    operations, other_operations = operations_per_sample(identity), operations_per_sample(run.identity)
    if operations and other_operations:
        return operations / other_operations
    if plain_name(identity.model) != plain_name(run.identity.model):
        return None
    layers = _of(values, run.parameters, "num_layers")
    if plain_name(identity.dataset) == plain_name(run.identity.dataset):
        return layers
    sizes = size_of(identity.dataset), size_of(run.identity.dataset)
    return layers * (sizes[0] / sizes[1]) ** 2 if layers and sizes[0] and sizes[1] else None


def _samples(identity: Identity, run: Run) -> float | None:
    """Ratio of the samples of an epoch."""
    if plain_name(identity.dataset) == plain_name(run.identity.dataset):
        return 1.0
    samples, other_samples = samples_of(identity.dataset), samples_of(run.identity.dataset)
    return samples / other_samples if samples and other_samples else None


def _devices(values: Parameters, others: Parameters) -> float | None:
    """Ratio of durations by GPU count, or by CPU count where neither has GPUs; None where only one has."""
    devices, other_devices = values.get("gpus", 0.0), others.get("gpus", 0.0)
    if (devices > 0) != (other_devices > 0):
        return None
    ratio = devices / other_devices if devices > 0 else _of(values, others, "cpus")
    return ratio**-SPEED_UP if ratio else None


def _of(values: Parameters, others: Parameters, name: str) -> float | None:
    """Ratio of one parameter; 1 where both lack it, None where only one does."""
    if (name in values) != (name in others):
        return None
    value, other_value = values.get(name, 1.0), others.get(name, 1.0)
    return value / other_value if value > 0 and other_value > 0 else None


def _spread(logs: Sequence[float]) -> float:
    """Standard deviation of ln duration predicted for each workload from the others (leave one out), for three or more."""
    n = len(logs)
    if n < 3:
        return ALONE
    mean = fmean(logs)
    errors = [(log - mean) * n / (n - 1) for log in logs]
    return max(AT_LEAST, math.sqrt(fmean(error**2 for error in errors)))


def around(log_seconds: float, deviation: float) -> Interval:
    """The interval of a duration, or of another quantity, by its ln and the standard deviation of that."""
    middle, reach = math.exp(log_seconds), math.exp(HALF_WIDTH * deviation)
    return Interval(middle, middle / reach, middle * reach)
