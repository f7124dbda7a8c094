"""Trace files: what counts as a knob and as a repetition, and what is said of files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.plugins.lab.replay.traces import Execution, Trace, read_trace

SHARED = Path(__file__).parents[5] / "shared" / "traces"


def test_the_power_limit_stays_at_the_default_and_is_no_knob(zeus: Path) -> None:
    trace = read_trace(zeus)
    assert trace.configurations == ({"batch_size": 32.0}, {"batch_size": 64.0})
    assert trace.executions == (
        (Execution(100, 1000, True), Execution(110, 1100, True)),
        (Execution(200, 2000, False),),  # never converges: the bill of the whole run
    )
    assert (trace.name, trace.default, trace.cost_unit) == ("zeus_toy", 0, "J")


def test_an_opened_power_limit_is_a_knob(zeus: Path) -> None:
    trace = read_trace(zeus, opened=["power_limit_w"])
    assert [tuple(execution.values()) for execution in trace.configurations] == [(32, 200), (32, 250), (64, 250)]
    assert trace.default == 1


def test_of_several_placements_the_packed_one_counts_and_cost_is_gpu_hours(pollux: Path) -> None:
    trace = read_trace(pollux)
    assert trace.configurations == ({"batch_size": 32.0, "gpus": 1.0}, {"batch_size": 32.0, "gpus": 2.0})
    assert trace.executions == ((Execution(3600, 1.0, True),), (Execution(1800, 1.0, True),))
    assert trace.cost_unit == "GPU h"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"zeus_toy"', "", "head is not TOML"),
        ('"zeus_toy"', '"\\u001b[31mred"', "not a printable name"),
        ("# family", "# kind", "no `# family = ...`"),
        ('["batch_size", "power_limit_w"]', '"batch_size"', "not a list of different names"),
        ("batch_size = 32, gpus", 'batch_size = "32", gpus', "does not give a number for each of its knobs"),
        ("batch_size = 32, gpus", "batch_size = 48, gpus", "has no row for its default (batch_size = 48)"),
        ("energy_j", "euros", "cost_column is neither of energy_j, gpu_hours"),
        ("32,1,250,2,1,110", "32,1,250,2,yes,110", "zeus.csv:8: converged = 'yes' is neither 0 nor 1"),
        ("110,1100", "-110,1100", "zeus.csv:8: time_to_target_s = '-110' is not a number above 0"),
        ("110,1100", "nan,1100", "zeus.csv:8: time_to_target_s = 'nan' is not a number above 0"),
        ("110,1100", "1e308,1100", "zeus.csv:8: time_to_target_s = '1e308' is not a number above 0"),
        ("110,1100", "1e-320,1100", "zeus.csv:8: time_to_target_s = '1e-320' is not a number above 0"),
        ("110,1100,", "110,", "zeus.csv:8: has 8 cells below 9 columns"),
        ("64,1,250,1,0", ",1,250,1,0", "zeus.csv:10: batch_size = '' is not a number above 0"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_with_place_and_reason(zeus: Path, old: str, new: str, told: str) -> None:
    text = zeus.read_text()
    assert old in text
    zeus.write_text(text.replace(old, new))
    with pytest.raises(UsageError) as caught:
        read_trace(zeus)
    assert caught.value.code == "JPO-E701"
    assert told in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"# a = 1\n", b"\xff\xfe\x00", b"batch_size,gpus\n1,2\n", b"\x00" * 100])
def test_anything_else_is_refused_too(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.csv").write_bytes(content)
    with pytest.raises(UsageError, match=r"odd\.csv"):
        read_trace(tmp_path / "odd.csv")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read") as caught:
        read_trace(tmp_path / "none.csv")
    assert caught.value.code == "JPO-E701"


def test_one_configuration_or_no_success_leaves_nothing_to_replay() -> None:
    once = (Execution(1, 1, True),)
    with pytest.raises(UsageError, match="one configuration only"):
        Trace("toy", ({"batch_size": 1.0},), (once,), 0, "USD")
    never = (Execution(1, 1, False),)
    with pytest.raises(UsageError, match="none of its runs reached the target"):
        Trace("toy", ({"batch_size": 1.0}, {"batch_size": 2.0}), (never, never), 0, "USD")


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_run_takes_time_and_costs_something(value: float) -> None:
    with pytest.raises(ValueError, match="not a finite number above 0"):
        Execution(value, 1.0, True)
    with pytest.raises(ValueError, match="not a finite number above 0"):
        Execution(1.0, value, True)


@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/traces")
def test_the_shared_traces_have_the_configurations_of_their_readme() -> None:
    traces = [read_trace(path) for path in sorted(SHARED.glob("*.csv"))]
    assert [len(trace.configurations) for trace in traces] == [27, 24, 39, 10, 5, 15]
