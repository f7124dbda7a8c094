"""Traces of runs on record: the time series that the store keeps of what Prometheus measured, sample by sample.

CPU, memory and GPUs are sampled at times of their own: a sample of CPU gets the last value of the others that was measured by
then, and none where that is long ago.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from jpo.errors import UsageError
from jpo.plugins.phases.files.join import last_values
from jpo.plugins.phases.table import GIB
from jpo.plugins.phases.traces import CPU, GPU, MEMORY, ExecutionTrace, Floats, Traces
from jpo.records import Series

UNITS: Mapping[str, tuple[str, float]] = {"cpu_cores": (CPU, 1.0), "memory_gib": (MEMORY, GIB), "gpu_utilisation": (GPU, 1.0)}
"""The feature of a quantity on record, and by what it is multiplied."""


def traces_of(runs: Iterable[tuple[str, Sequence[Series]]], place: str) -> Traces:
    """The traces of runs, by their ids; those without CPU and memory are left out, GPUs count where all runs measured them.

    Raises:
        UsageError: JPO-E735, no run has time series of CPU and memory.
    """
    found = {run_id: {UNITS[one.quantity][0]: one for one in series} for run_id, series in runs}
    measured = {run_id: series for run_id, series in found.items() if {CPU, MEMORY} <= set(series)}
    features = (CPU, MEMORY, *([GPU] if measured and all(GPU in series for series in measured.values()) else []))
    executions = tuple(execution for run_id, series in measured.items() if (execution := _execution(run_id, series, features)))
    if not executions:
        finding = "has no run on record with time series of CPU and memory"
        raise UsageError(place, finding, "observe runs with Prometheus, or name a CSV file", code="JPO-E735")
    return Traces(features, executions, place)


def _execution(run_id: str, series: Mapping[str, Series], features: Sequence[str]) -> ExecutionTrace | None:
    """The samples at which all features are known; None for fewer than two."""
    times = np.array(series[CPU].times)
    values = np.stack([_at(times, series[feature], feature) for feature in features], axis=1)
    known = np.isfinite(values).all(1)
    return ExecutionTrace(run_id, times[known], np.maximum(values[known], 0.0)) if known.sum() >= 2 else None


def _at(times: Floats, series: Series, feature: str) -> Floats:
    """The last values by these times in the feature's unit, NaN where there is none."""
    factor = dict(UNITS.values())[feature]
    return last_values(times, np.array(series.times), np.array(series.values) * factor)
