"""Traces of runs on record: the time series that the store keeps of what Prometheus measured, sample by sample.

CPU, memory and GPUs are sampled at times of their own: a sample of CPU gets the last value of the others that was measured by
then, and none where that is long ago.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from jpo.errors import UsageError
from jpo.plugins.phases.files.join import Measured, aligned
from jpo.plugins.phases.table import GIB
from jpo.plugins.phases.traces import CPU, GPU, MEMORY, Traces
from jpo.records import Series

UNITS: Mapping[str, tuple[str, float]] = {"cpu_cores": (CPU, 1.0), "memory_gib": (MEMORY, GIB), "gpu_utilisation": (GPU, 1.0)}
"""The feature of a quantity on record, and by what it is multiplied."""


def traces_of(runs: Iterable[tuple[str, Sequence[Series]]], place: str) -> Traces:
    """The traces of runs, by their ids; those without CPU and memory are left out, GPUs count where all runs measured them.

    Raises UsageError: JPO-E735, no run has time series of CPU and memory.
    """
    found = {run_id: {one.feature: one for one in map(partial(_measured, run_id), series)} for run_id, series in runs}
    both = [(run_id, series) for run_id, series in found.items() if {CPU, MEMORY} <= set(series)]
    features = (CPU, MEMORY, *([GPU] if both and all(GPU in series for _, series in both) else []))
    aligned_runs = (aligned(run_id, [series[feature] for feature in features]) for run_id, series in both)
    executions = tuple(execution for execution in aligned_runs if execution)
    if not executions:
        finding = "has no run on record with time series of CPU and memory"
        raise UsageError(place, finding, "observe runs with Prometheus, or name a CSV file", code="JPO-E735")
    return Traces(features, executions, place)


def _measured(run_id: str, series: Series) -> Measured:
    feature, factor = UNITS[series.quantity]
    return Measured("", run_id, feature, np.array(series.times), np.maximum(np.array(series.values) * factor, 0.0))
