from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jpo.errors import UsageError
from jpo.plugins.phases.files.columns import TraceColumns
from jpo.plugins.phases.files.read import read_traces
from jpo.plugins.phases.files.units import in_seconds, odd_figures, require_interval
from jpo.plugins.phases.traces import Traces

BEGIN = 1_565_962_220


def read(folder: Path, text: str, **named: str) -> Traces:
    (folder / "t.csv").write_text(text)
    return read_traces(folder / "t.csv", TraceColumns(named))


@pytest.mark.parametrize(("per_second", "unit"), [(10**3, "milliseconds"), (10**6, "microseconds"), (10**9, "nanoseconds")])
def test_times_too_large_for_seconds_are_known_by_their_size(tmp_path: Path, per_second: int, unit: str) -> None:
    traces = read(tmp_path, f"t,cpu,memory\n{BEGIN * per_second},1,1e9\n{(BEGIN + 20) * per_second},1,1e9\n")
    assert traces.executions[0].times.tolist() == [BEGIN, BEGIN + 20]
    assert unit in traces.notes[0]
    assert traces.notes[0].endswith("[JPO-I873]")


@pytest.mark.parametrize("header", ["t_ms", "timestamp_ms", "time_ms"])
def test_a_header_says_the_unit_of_a_time_that_begins_at_0(tmp_path: Path, header: str) -> None:
    traces = read(tmp_path, f"{header},cpu,memory\n0,1,1e9\n20000,1,1e9\n")
    assert traces.executions[0].times.tolist() == [0, 20]
    assert "milliseconds, as their column says" in traces.notes[0]


def test_so_does_an_option(tmp_path: Path) -> None:
    traces = read(tmp_path, "when,c,m\n0,1500,2\n20000,500,3\n", time_ms="when", cpu_millicores="c", memory_gib="m")
    assert traces.executions[0].times.tolist() == [0, 20]
    assert traces.executions[0].values.tolist() == [[1.5, 2 * 2**30], [0.5, 3 * 2**30]]
    assert [note.split(": ", 1)[1].split(",")[0] for note in traces.notes] == [
        "times are in milliseconds",
        "cpu_cores is read from millicores",
        "memory_bytes is read from GiB",
    ]


def test_a_header_says_the_unit_of_cpu_and_memory(tmp_path: Path) -> None:
    traces = read(tmp_path, "t,cpu_percent,memory_mib\n0,150,2048\n20,50,1024\n")
    assert traces.executions[0].values.tolist() == [[1.5, 2**31], [0.5, 2**30]]


def test_a_quantity_in_two_units_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="named 2 times") as error:
        read(tmp_path, "t,a,cpu,memory\n0,1,1,1\n20,1,1,1\n", time="t", time_ms="a")
    assert error.value.code == "JPO-E734"


def test_a_column_in_seconds_comes_before_one_in_milliseconds(tmp_path: Path) -> None:
    traces = read(tmp_path, "t_ms,t,cpu,memory\n0,5,1,1e9\n20000,25,1,1e9\n")
    assert traces.executions[0].times.tolist() == [5, 25]
    assert traces.notes == ()


def test_dates_and_milliseconds_may_be_in_one_file() -> None:
    times, said = in_seconds(np.array([BEGIN, (BEGIN + 20) * 1e3]), np.array([True, False]), "t.csv", None)
    assert times.tolist() == [BEGIN, BEGIN + 20]
    assert "milliseconds" in str(said)


def test_times_of_several_units_are_refused() -> None:
    with pytest.raises(UsageError, match="differ too much") as error:
        in_seconds(np.array([BEGIN, BEGIN * 1e3]), np.array([False, False]), "t.csv", None)
    assert error.value.code == "JPO-E730"


@pytest.mark.parametrize(
    ("seconds", "remedy"),
    [(1e-4, "write seconds"), (1e5, "--column NAME=HEADER, time_ms or"), (2e7, "--column NAME=HEADER, time_ms or")],
)
def test_an_interval_that_nobody_samples_at_is_refused(seconds: float, remedy: str) -> None:
    with pytest.raises(UsageError, match=remedy) as error:  # milliseconds would make a short one shorter still
        require_interval(np.full(3, seconds), "t.csv")
    assert error.value.code == "JPO-E730"


@pytest.mark.parametrize(("seconds", "is_odd"), [(0.015, True), (0.25, False), (20, False), (300, False), (20_000, True)])
def test_a_long_or_short_interval_is_said(seconds: float, is_odd: bool) -> None:
    said = require_interval(np.array([seconds, seconds, 1e7]), "t.csv")  # a gap is no interval
    assert (said is not None) == is_odd
    assert said is None or said.endswith("[JPO-W874]")


@pytest.mark.parametrize(("cores", "size", "count"), [(4, 2e9, 0), (1500, 2e9, 1), (4, 3.2, 1), (1500, 4000, 2), (0, 0, 0)])
def test_figures_that_no_container_has_are_said(cores: float, size: float, count: int) -> None:
    said = list(odd_figures(np.array([[0.1, 0], [cores, size]]), ("cpu_cores", "memory_bytes")))
    assert len(said) == count
    assert all("--column" in each for each in said)
