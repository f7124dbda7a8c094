"""Durations for a workload that has neither runs nor trials: from runs of workloads like it, else from mere arithmetic.

Wide, and said to be: it answers "minutes or days". Every number comes from measured runs or from descriptors.csv.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from jpo.forecast.descriptors import family, operations_per_sample, peak_of, peak_of_core, plain_name, samples_of, size_of
from jpo.records import Identity, Interval, Parameters, Run

ALONE, AT_LEAST = 0.6, 0.25
"""Standard deviation of ln duration carried over from one or two other workloads (assumed), and from however many at least."""
PER_DOUBLING = 0.15
"""By so much more it may err with every doubling between the two in batch size, GPUs or CPUs."""
SPEED_UP = 0.8
"""n devices are n to this power times as fast. Assumed, between a node (0.9) and a network (0.6)."""
UTILISATION, ARITHMETIC_ERROR = 0.3, 1.1
"""Share of a processor's peak that training reaches, and standard deviation of its ln. Three recorded jobs whose model and data
are described reached 0.51 (ResNet-18, T4), 0.57 (ResNet-50, V100) and 0.12 (ShuffleNet, V100): mean 0.33, deviation 0.9."""
_REACH = 1.645  # standard deviations to either end of a 90% interval


@dataclass(frozen=True, slots=True)
class Guess:
    """How long a full run may take, and what that rests on, in words."""

    seconds: Interval
    words: str


def from_similar(identity: Identity, values: Parameters, others: Sequence[Run]) -> Guess | None:
    """From those workloads in the history that are most like this one; None where none can be converted.

    Args:
        others: runs of other workloads.
    """
    found: dict[Identity, list[tuple[float, float]]] = defaultdict(list)
    for run in others:
        if run.ended_well and run.outcome.duration_seconds and likeness(identity, run.identity):
            ratio = _log_ratio(identity, values, run)
            if ratio is not None:
                found[run.identity].append((math.log(run.outcome.duration_seconds) + ratio, _distance(values, run.parameters)))
    if not found:
        return None
    best = max(likeness(identity, one) for one in found)
    alike = [one for one in found if likeness(identity, one) == best]
    logs = [median(log for log, _ in found[one]) for one in alike]
    away = min(distance for one in alike for _, distance in found[one])
    names = ", ".join(map(str, alike[:3])) + (f" and {len(alike) - 3} more" if len(alike) > 3 else "")
    return Guess(_around(fmean(logs), math.hypot(_spread(logs), PER_DOUBLING * away)), f"similar workloads: {names}")


def likeness(some: Identity, other: Identity) -> float:
    """How much two workloads have in common by name; 0: nothing that tells how long they take."""
    same_model = plain_name(some.model) == plain_name(other.model)
    alike = 2.0 * same_model or 1.0 * (family(some.model) == family(other.model) != "")
    alike += plain_name(some.dataset) == plain_name(other.dataset)
    return alike + 0.5 * (plain_name(some.framework) == plain_name(other.framework)) if alike else 0.0


def by_arithmetic(identity: Identity, values: Parameters, gpu_type: str | None) -> Guess | None:
    """Operations of all epochs over what the processors do; None where model, data set or GPU type are not described."""
    per_sample, samples, epochs = operations_per_sample(identity), samples_of(identity.dataset), values.get("epochs")
    gpus, cpus = values.get("gpus", 0.0), values.get("cpus", 0.0)
    peak, devices = (peak_of(gpu_type), gpus) if gpus > 0 else (peak_of_core(), cpus)
    if per_sample is None or samples is None or not epochs or peak is None or devices <= 0:
        return None
    seconds = per_sample * samples * epochs / (peak * UTILISATION * devices**SPEED_UP)
    on = f"{gpu_type}" if gpus > 0 else "CPU cores"
    return Guess(_around(math.log(seconds), ARITHMETIC_ERROR), f"heuristic: arithmetic of {identity.model} on {on}")


def _log_ratio(identity: Identity, values: Parameters, run: Run) -> float | None:
    """ln of how much longer this takes than a run of another workload; None where something between the two is unknown."""
    ratios = (
        _per_sample(identity, values, run),
        _samples(identity, run),
        _of(values, run.parameters, "epochs"),
        _devices(values, run.parameters),
    )
    return math.fsum(map(math.log, ratios)) if all(ratios) else None  # type: ignore[arg-type]


def _per_sample(identity: Identity, values: Parameters, run: Run) -> float | None:
    """Ratio of the work per sample: by the table, else that of one and the same model."""
    mine, its = operations_per_sample(identity), operations_per_sample(run.identity)
    if mine and its:
        return mine / its
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
    mine, its = samples_of(identity.dataset), samples_of(run.identity.dataset)
    return mine / its if mine and its else None


def _devices(values: Parameters, others: Parameters) -> float | None:
    """Ratio of times by GPUs, or by CPUs where neither has GPUs; None between the two."""
    some, other = values.get("gpus", 0.0), others.get("gpus", 0.0)
    if (some > 0) != (other > 0):
        return None
    ratio = some / other if some > 0 else _of(values, others, "cpus")
    return ratio**-SPEED_UP if ratio else None


def _of(values: Parameters, others: Parameters, name: str) -> float | None:
    """Ratio of one parameter; 1 where neither names it, None where only one does."""
    if (name in values) != (name in others):
        return None
    some, other = values.get(name, 1.0), others.get(name, 1.0)
    return some / other if some > 0 and other > 0 else None


def _distance(values: Parameters, others: Parameters) -> float:
    """Doublings between two configurations in what changes speed."""
    ratios = [_of(values, others, name) for name in ("batch_size", "gpus", "cpus")]
    return sum(abs(math.log2(ratio)) for ratio in ratios if ratio)


def _spread(logs: Sequence[float]) -> float:
    """Error of carrying over: each workload from the others (leave one out), where there are three or more."""
    n = len(logs)
    if n < 3:
        return ALONE
    mean = fmean(logs)
    errors = [(log - mean) * n / (n - 1) for log in logs]
    return max(AT_LEAST, math.sqrt(fmean(error**2 for error in errors)))


def _around(log_seconds: float, deviation: float) -> Interval:
    middle, reach = math.exp(log_seconds), math.exp(_REACH * deviation)
    return Interval(middle, middle / reach, middle * reach)
