from __future__ import annotations

import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.recorded import traces_of
from jpo.plugins.phases.table import GIB
from jpo.plugins.phases.traces import CPU, GPU, MEMORY
from jpo.records import Series


def series(quantity: str, times: tuple[float, ...], values: tuple[float, ...]) -> Series:
    return Series("r", quantity, times, values)


CORES = series("cpu_cores", (10.0, 20.0, 30.0, 500.0), (1.0, 2.0, 3.0, 4.0))
MEMORY_GIB = series("memory_gib", (5.0, 19.0, 31.0), (1.0, 2.0, 3.0))


def test_samples_of_cpu_get_the_last_value_of_the_others() -> None:
    traces = traces_of([("a", (CORES, MEMORY_GIB))], "config.ini")
    assert traces.features == (CPU, MEMORY)
    (execution,) = traces.executions
    assert execution.name == "a"
    assert execution.times.tolist() == [10, 20, 30]  # at 500 the last memory is too old
    assert execution.values.tolist() == [[1, 1 * GIB], [2, 2 * GIB], [3, 2 * GIB]]


def test_gpus_count_where_all_runs_measured_them() -> None:
    gpus = series("gpu_utilisation", (10.0, 20.0, 30.0), (0.5, 0.6, 0.7))
    assert traces_of([("a", (CORES, MEMORY_GIB, gpus))], "x").features == (CPU, MEMORY, GPU)
    assert traces_of([("a", (CORES, MEMORY_GIB, gpus)), ("b", (CORES, MEMORY_GIB))], "x").features == (CPU, MEMORY)


def test_runs_without_memory_are_left_out() -> None:
    assert [execution.name for execution in traces_of([("a", (CORES,)), ("b", (CORES, MEMORY_GIB))], "x").executions] == ["b"]
    with pytest.raises(UsageError, match="no run on record with time series"):
        traces_of([("a", (CORES,)), ("c", ())], "config.ini")
