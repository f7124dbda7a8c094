from __future__ import annotations

import numpy as np
import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.files.columns import TraceColumns
from jpo.plugins.phases.files.quantities import meanings
from jpo.plugins.phases.files.series import ExportedSeries, named
from jpo.plugins.phases.files.units import parts
from jpo.plugins.phases.traces import CPU, GPU, GPU_MEMORY, MEMORY


def series(*titles: str, file: str = "export.csv", unit: str | None = None) -> list[ExportedSeries]:
    return [ExportedSeries(file, file, title, *named(title), np.zeros(0), np.zeros(0), unit) for title in titles]


@pytest.mark.parametrize(
    ("title", "feature", "is_counter"),
    [
        ('container_cpu_usage_seconds_total{pod="a"}', CPU, True),
        ("container_cpu_usage_seconds_total", CPU, True),
        ("sum(rate(container_cpu_usage_seconds_total[5m])) by (pod)", CPU, False),
        ('node_namespace_pod_container:container_cpu_usage_seconds_total:sum_irate{pod="a"}', CPU, False),
        ('container_memory_working_set_bytes{pod="a"}', MEMORY, False),
        ("container_memory_rss", MEMORY, False),
        ('DCGM_FI_DEV_GPU_UTIL{pod="a"}', GPU, False),
        ('DCGM_FI_DEV_FB_USED{pod="a"}', GPU_MEMORY, False),
        ("CPU trainer-1", CPU, False),
        ("trainer-1 memory (GiB)", MEMORY, False),
    ],
)
def test_names_say_what_is_measured(title: str, feature: str, is_counter: bool) -> None:
    (meaning,) = meanings(series(title), TraceColumns())
    assert meaning is not None
    assert (meaning.feature, meaning.is_counter) == (feature, is_counter)


@pytest.mark.parametrize(
    "title",
    [
        'container_cpu_cfs_throttled_seconds_total{pod="a"}',
        'container_cpu_user_seconds_total{pod="a"}',
        'container_memory_cache{pod="a"}',
        'kube_pod_container_resource_requests_memory_bytes{pod="a"}',
        "quota - limits",
        "CPU limit",
        "DCGM_FI_DEV_GPU_TEMP",
    ],
)
def test_what_is_no_usage_is_known(title: str) -> None:
    assert meanings(series(title), TraceColumns()) == [None]


@pytest.mark.parametrize("file", ["cpu.csv", "x/CPU Usage-data-2024-05-01 12_00_00.csv", "container_cpu_cores.json"])
def test_else_the_file_says_it(file: str) -> None:
    found = meanings(series("trainer-1", "mem-worker", "requests", file=file), TraceColumns())
    assert [meaning and meaning.feature for meaning in found] == [CPU, CPU, None]


def test_else_the_unit_of_the_cells_does() -> None:
    (meaning,) = meanings(series("trainer-1", unit=MEMORY), TraceColumns())
    assert meaning is not None
    assert meaning.feature == MEMORY


def test_the_user_comes_first() -> None:
    one, two = series("a", file="x/one.csv")[0], series("cpu thing", file="x/one.csv")[0]
    for said in ("x/one.csv", "one.csv"):
        found = meanings([one, two], TraceColumns({"memory_gib": said}))
        assert [(meaning.feature, parts(meaning.unit)) for meaning in found if meaning] == [(MEMORY, 2.0**-30)] * 2
    found = meanings([one], TraceColumns({"network_bytes": "a"}))
    assert [meaning and meaning.feature for meaning in found] == ["network_bytes"]


def test_units_of_a_legend_are_read() -> None:
    found = meanings(series("cpu millicores a", "memory a (MiB)", "CPU % a", "DCGM_FI_DEV_FB_USED"), TraceColumns())
    assert [meaning and parts(meaning.unit) for meaning in found] == [1000, 2.0**-20, 100, 2.0**-20]


def test_what_nobody_says_is_asked_for() -> None:
    with pytest.raises(UsageError, match=r"nothing says what 'trainer-1' measures.*--column cpu_cores=export.csv") as error:
        meanings(series("trainer-1"), TraceColumns())
    assert error.value.code == "JPO-E876"
    with pytest.raises(UsageError, match="memory_bytes by its name and cpu_cores by its legends"):
        meanings(series("cpu-worker-1", "cpu-worker-2", file="memory.csv"), TraceColumns())
