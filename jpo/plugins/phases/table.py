"""The phases in figures: how much of the time, how long at a time, what is used meanwhile, and what follows."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jpo.plugins.phases.chain import Ints
from jpo.plugins.phases.traces import CPU, MEMORY, Floats, Traces

GIB = float(1 << 30)


@dataclass(frozen=True, slots=True)
class Use:
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
    """The figures of k phases in these traces; of a phase without samples there are no uses."""
    values, is_first = traces.stacked, np.zeros(traces.samples, dtype=bool)
    is_first[traces.firsts] = True
    begins = np.flatnonzero(is_first | np.r_[True, phases[1:] != phases[:-1]])
    stays, goes_on = phases[begins], ~is_first[begins[1:]]  # goes_on: the next stay is of the same execution
    came, went, lasted = stays[:-1][goes_on], stays[1:][goes_on], np.diff(traces.times[begins])[goes_on]

    def figures(phase: int) -> PhaseFigures:
        inside = values[phases == phase]
        followers, seconds = went[came == phase], lasted[came == phase]
        return PhaseFigures(
            phase=phase,
            share=float(len(inside) / len(values)),
            stays=int((stays == phase).sum()),
            dwell_seconds=float(np.mean(seconds)) if len(seconds) else None,
            used={name: _spread(inside[:, at]) for at, name in enumerate(traces.features)} if len(inside) else {},
            next={to: count / len(followers) for to, count in enumerate(np.bincount(followers).tolist()) if count},
        )

    return tuple(map(figures, range(k)))


def _spread(values: Floats) -> Use:
    p50, p95, p99 = (float(quantile) for quantile in np.quantile(values, (0.5, 0.95, 0.99)))
    return Use(float(values.mean()), p50, p95, p99, float(values.max()))


def in_units(feature: str, value: float) -> float:
    """A value as people read it: memory in GiB."""
    return value / GIB if feature.endswith("_bytes") else value


QUANTITIES: Mapping[str, str] = {CPU: "cpu_cores_mean", MEMORY: "memory_gib", "gpu_utilisation": "gpu_utilisation"}
"""The quantity that a feature is of, in reports; others are plain numbers."""
