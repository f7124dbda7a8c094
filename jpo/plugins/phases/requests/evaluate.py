"""How good an allocation is: demand met, resizes per hour, and what was allocated against the run's own peak held throughout."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jpo.plugins.phases.model import PhaseModel
from jpo.plugins.phases.requests.allocate import RESIZES_PER_HOUR, Allocation, allocate
from jpo.plugins.phases.requests.demand import RESOURCES
from jpo.plugins.phases.requests.peers import PEERS
from jpo.plugins.phases.traces import CPU, MEMORY, Floats, Traces
from jpo.records import Track, silently

DRAWS = 1000
"""Of the bootstrap over executions."""
MOST_LEFT_OUT = 20
"""Executions that are left out one after the other; of more, parts of as many executions each."""


@dataclass(frozen=True, slots=True)
class Share:
    """A ratio over all samples with its 90% interval, bootstrapped over executions; without one for a single execution."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Standings:
    """What a way to allocate came to.

    Attributes:
        met: share of the samples whose demand for CPU and memory was met.
        cpu, memory: sum of the allocations / the run's own peak held throughout.
        resizes_per_hour: over all executions.
        most_resizes_per_hour: in the execution where they were most frequent.
    """

    met: Share
    cpu: Share
    memory: Share
    resizes_per_hour: float
    most_resizes_per_hour: float


def standings(allocations: Sequence[Allocation]) -> Standings:
    samples = np.array([len(allocation.requests) for allocation in allocations], dtype=np.float64)
    used = [allocation.execution.values[:, :RESOURCES] for allocation in allocations]
    met = np.array([(a.requests >= u).all(1).sum() for a, u in zip(allocations, used, strict=True)], dtype=np.float64)
    shares = np.array([(a.requests / np.maximum(u.max(0), 1e-9)).sum(0) for a, u in zip(allocations, used, strict=True)])
    hours = np.array([allocation.execution.seconds / 3600 for allocation in allocations])
    resizes = np.array([len(allocation.resized) for allocation in allocations])
    draws = np.random.default_rng(0).integers(0, len(samples), (DRAWS, len(samples)))
    return Standings(
        met=_share(met, samples, draws),
        cpu=_share(shares[:, 0], samples, draws),
        memory=_share(shares[:, 1], samples, draws),
        resizes_per_hour=float(resizes.sum() / hours.sum()),
        most_resizes_per_hour=float((resizes / hours).max()),
    )


def _share(parts: Floats, samples: Floats, draws: np.ndarray) -> Share:
    mean = float(parts.sum() / samples.sum())
    if len(parts) < 2:
        return Share(mean, None, None)
    low, high = np.quantile(parts[draws].sum(1) / samples[draws].sum(1), (0.05, 0.95))
    return Share(mean, float(low), float(high))


def compare(
    traces: Traces, training: Traces, model: PhaseModel, *, per_hour: float = RESIZES_PER_HOUR
) -> Mapping[str, tuple[Allocation, ...]]:
    """Allocations by the model and by its peers, by name; the model comes first."""
    both, history = traces.narrowed((CPU, MEMORY)), training.narrowed((CPU, MEMORY))
    return {
        "phases": allocate(model, traces, per_hour=per_hour),
        **{name: tuple(map(peer(history.executions, per_hour), both.executions)) for name, peer in PEERS.items()},
    }


def leave_out(
    traces: Traces, fit: Callable[[Traces], PhaseModel], *, per_hour: float = RESIZES_PER_HOUR, track: Track = silently
) -> Mapping[str, tuple[Allocation, ...]]:
    """The same, each execution allocated for by a model that was fitted on the others."""
    folds = min(MOST_LEFT_OUT, len(traces.executions))
    together: dict[str, tuple[Allocation, ...]] = {}
    for fold in track(range(folds), "executions left out"):
        left_out = replace(traces, executions=traces.executions[fold::folds])
        kept = [execution for at, execution in enumerate(traces.executions) if at % folds != fold]
        rest = replace(traces, executions=tuple(kept))
        for name, allocations in compare(left_out, rest, fit(rest), per_hour=per_hour).items():
            together[name] = together.get(name, ()) + allocations
    return together
