"""The phases in figures: how much of the time, how long at a time, what is used meanwhile, and what follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jpo.plugins.phases.chain import Ints
from jpo.plugins.phases.traces import CPU, MEMORY, Floats, Traces

GIB = float(1 << 30)


@dataclass(frozen=True, slots=True)
class Use:
    """What a resource came to within a phase."""

    mean: float
    p50: float
    p95: float
    p99: float
    most: float


@dataclass(frozen=True, slots=True)
class PhaseFigures:
    """One phase.

    Attributes:
        phase: its number.
        share: of all samples.
        stays: how often it was entered.
        dwell_seconds: mean time from entering it to entering another one; None where it was never left.
        used: by feature; sizes in bytes.
        next: share of the changes that led to each other phase.
    """

    phase: int
    share: float
    stays: int
    dwell_seconds: float | None
    used: Mapping[str, Use]
    next: Mapping[int, float]


def phase_figures(traces: Traces, phases: Ints, k: int) -> tuple[PhaseFigures, ...]:
    """The figures of k phases in these traces; of a phase without samples there are no uses.

    Args:
        phases: shape (samples,), execution after execution.
    """
    values = traces.stacked()
    stays = list(_stays(traces, phases))
    return tuple(_figures(phase, values, phases, traces.features, stays) for phase in range(k))


def _stays(traces: Traces, phases: Ints) -> list[tuple[int, float | None, int | None]]:
    """Each stay: its phase, how long until the next one, and which that is; None where the execution ended."""
    found: list[tuple[int, float | None, int | None]] = []
    begin = 0
    for execution in traces.executions:
        own = phases[begin : begin + len(execution.times)]
        begin += len(execution.times)
        edges = [0, *(np.flatnonzero(own[1:] != own[:-1]) + 1)]
        for at, edge in enumerate(edges):
            following = edges[at + 1] if at + 1 < len(edges) else None
            seconds = None if following is None else float(execution.times[following] - execution.times[edge])
            found.append((int(own[edge]), seconds, None if following is None else int(own[following])))
    return found


def _figures(
    phase: int,
    values: Floats,
    phases: Ints,
    features: Sequence[str],
    stays: Sequence[tuple[int, float | None, int | None]],
) -> PhaseFigures:
    inside = values[phases == phase]
    own = [(seconds, following) for at, seconds, following in stays if at == phase]
    left = [(seconds, following) for seconds, following in own if seconds is not None and following is not None]
    followers = sorted({following for _, following in left})
    return PhaseFigures(
        phase=phase,
        share=float(len(inside) / len(values)),
        stays=len(own),
        dwell_seconds=float(np.mean([seconds for seconds, _ in left])) if left else None,
        used={name: _spread(inside[:, at]) for at, name in enumerate(features)} if len(inside) else {},
        next={to: sum(following == to for _, following in left) / len(left) for to in followers},
    )


def _spread(values: Floats) -> Use:
    p50, p95, p99 = (float(quantile) for quantile in np.quantile(values, (0.5, 0.95, 0.99)))
    return Use(float(values.mean()), p50, p95, p99, float(values.max()))


def in_units(feature: str, value: float) -> float:
    """A value as people read it: memory in GiB."""
    return value / GIB if feature.endswith("_bytes") else value


QUANTITIES: Mapping[str, str] = {CPU: "cpu_cores_mean", MEMORY: "memory_gib", "gpu_utilisation": "gpu_utilisation"}
"""The quantity that a feature is of, in reports; others are plain numbers."""
