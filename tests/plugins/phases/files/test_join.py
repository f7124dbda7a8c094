from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.files.columns import TraceColumns
from jpo.plugins.phases.files.join import Measured, joined, last_values, lived, measured_of, rates
from jpo.plugins.phases.files.series import ExportedSeries, named
from jpo.plugins.phases.traces import CPU, GPU, MEMORY

TIMES = np.array([0.0, 15, 30, 45])


def series(title: str, values: Sequence[float], unit: str | None = None) -> ExportedSeries:
    return ExportedSeries("f.csv", "f.csv:1", title, *named(title), TIMES[: len(values)], np.array(values, dtype=float), unit)


def measured(feature: str, execution: str = "a", file: str = "f.csv", times: Sequence[float] = TIMES) -> Measured:
    return Measured(file, execution, feature, np.array(times), np.arange(len(times)) + (1e9 if feature == MEMORY else 1.0))


def test_a_counter_is_its_growth_per_second_also_when_it_began_anew() -> None:
    times, values = rates(TIMES, np.array([0.0, 15, 45, 30]))
    assert times.tolist() == [15, 30, 45]
    assert values.tolist() == [1, 2, 2]


@pytest.mark.parametrize(("still", "kept"), [(19, 10), (20, 10), (10, 20), (30, 40), (1, 11)])
def test_what_prometheus_repeats_of_a_counter_that_ended_is_no_sample(still: int, kept: int) -> None:
    counter = np.r_[np.arange(10.0), np.full(still, 9.0)]
    assert lived(np.arange(len(counter)) * 15.0, counter) == kept


def test_a_last_value_counts_while_it_is_fresh() -> None:
    last = last_values(np.array([-5.0, 0, 14, 70, 100]), TIMES, np.arange(4.0))
    assert last.tolist()[1:4] == [0, 0, 3]
    assert np.isnan(last[[0, 4]]).all()


def test_parts_of_a_container_are_added_and_what_was_done_is_said() -> None:
    parts = [series(f'container_cpu_usage_seconds_total{{pod="a",container="t",cpu="{at}"}}', [0, 15, 30]) for at in (0, 1)]
    (one,), notes = measured_of([parts], TraceColumns())
    assert (one.execution, one.feature, one.values.tolist()) == ("a", CPU, [2, 2])
    assert "is a counter" in notes[0]
    assert "several series of one quantity are taken together: a" in notes[1]


def test_the_end_that_is_left_out_is_said() -> None:
    counter = np.r_[np.arange(10.0), np.full(20, 9.0)]
    title = 'container_cpu_usage_seconds_total{pod="a"}'
    ended = ExportedSeries("f.csv", "f.csv:1", title, *named(title), np.arange(30) * 15.0, counter)
    (one,), notes = measured_of([[ended]], TraceColumns())
    assert len(one.times) == 9
    assert any("five minutes at the end" in note and note.endswith("a [JPO-W877]") for note in notes)


def test_two_servers_that_measure_the_same_count_once() -> None:
    titles = [f'container_memory_rss{{pod="a",cpu="{cpu}",prometheus="{at}"}}' for at in "ab" for cpu in (0, 1)]
    (one,), _ = measured_of([[series(title, [1e6] * 3) for title in titles]], TraceColumns())
    assert one.values.tolist() == [2e6] * 3


def test_of_several_metrics_of_memory_the_working_set_is_read() -> None:
    both = [
        series(f'container_memory_{name}{{pod="a"}}', [size] * 3) for name, size in (("rss", 1e6), ("working_set_bytes", 2e6))
    ]
    (one,), _ = measured_of([both], TraceColumns())
    assert one.values.tolist() == [2e6] * 3


def test_so_it_is_of_several_legends() -> None:
    (one,), _ = measured_of([[series("memory a", [2e6] * 3), series("memory rss a", [1e6] * 3)]], TraceColumns())
    assert one.values.tolist() == [2e6] * 3


def test_the_use_of_several_gpus_is_their_mean() -> None:
    gpus = [series(f'DCGM_FI_DEV_GPU_UTIL{{pod="a",gpu="{at}"}}', [50 * at] * 2) for at in (0, 1)]
    (one,), _ = measured_of([gpus], TraceColumns())
    assert one.values.tolist() == [25, 25]


def test_units_of_cells_come_before_those_of_legends() -> None:
    found, notes = measured_of([[series("cpu a", [150, 250], "percent"), series("memory a (MiB)", [1, 2])]], TraceColumns())
    assert [one.values.tolist() for one in found] == [[1.5, 2.5], [2**20, 2**21]]
    assert len(notes) == 2


def test_files_are_joined_by_execution_at_the_first_features_times() -> None:
    parts = [measured(CPU), measured(MEMORY, file="m.csv", times=[-1, 14, 29, 44]), measured(CPU, "b")]
    traces = joined(parts, TraceColumns(), "f.csv, m.csv")
    assert [execution.name for execution in traces.executions] == ["a"]
    assert traces.executions[0].values.tolist() == [[1, 1e9], [2, 1e9 + 1], [3, 1e9 + 2], [4, 1e9 + 3]]
    assert "left out, not all of cpu_cores, memory_bytes were measured: b" in traces.notes[0]


def test_gpus_of_some_executions_are_left_out_and_named() -> None:
    parts = [measured(feature, execution) for feature in (CPU, MEMORY) for execution in "ab"]
    assert joined([*parts, measured(GPU), measured(GPU, "b")], TraceColumns(), "").features == (CPU, MEMORY, GPU)
    traces = joined([*parts, measured(GPU)], TraceColumns(), "")
    assert traces.features == (CPU, MEMORY)
    assert "left out, not measured of all executions: gpu_utilisation" in traces.notes[0]


def test_what_nobody_owns_is_of_one_execution_where_the_features_differ() -> None:
    traces = joined([measured(CPU, ""), measured(MEMORY, "", "m.csv")], TraceColumns(), "")
    assert [execution.name for execution in traces.executions] == ["f"]
    parts = [measured(feature, "", file) for file in ("f.csv", "g.csv") for feature in (CPU, MEMORY)]
    assert [execution.name for execution in joined(parts, TraceColumns(), "").executions] == ["f", "g"]


def test_the_same_thing_twice_is_refused() -> None:
    with pytest.raises(UsageError, match=r"g.csv: has cpu_cores of execution 'a', as f.csv has") as error:
        joined([measured(CPU), measured(CPU, file="g.csv")], TraceColumns(), "")
    assert error.value.code == "JPO-E730"


def test_a_file_may_go_on_where_another_one_ends() -> None:
    both = [measured(CPU, file="g.csv", times=TIMES + 60), measured(CPU), measured(MEMORY, times=np.arange(0, 120.0, 15))]
    (execution,) = joined(both, TraceColumns(), "").executions
    assert execution.times.tolist() == np.arange(0, 120, 15).tolist()
    assert execution.values[:, 0].tolist() == [1, 2, 3, 4] * 2
    with pytest.raises(UsageError, match=r"g.csv: has cpu_cores .* does not start where that ends"):
        joined([measured(CPU), measured(CPU, file="g.csv", times=TIMES + 600)], TraceColumns(), "")


def test_executions_that_never_meet_are_named() -> None:
    with pytest.raises(UsageError, match="a has cpu_cores, b has memory_bytes") as error:
        joined([measured(CPU), measured(MEMORY, "b")], TraceColumns(), "f.csv")
    assert error.value.code == "JPO-E735"
    with pytest.raises(UsageError, match="no execution has two samples") as error:
        joined([measured(CPU, "a\n")], TraceColumns(), "f.csv")
    assert "\n" not in str(error.value)
    with pytest.raises(UsageError, match="at like times"):
        joined([measured(CPU), measured(MEMORY, times=[900, 915, 930])], TraceColumns(), "f.csv")
