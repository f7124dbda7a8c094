"""The lines of a log, taken in one by one."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from jpo.errors import TelemetryError
from jpo.records import Identity
from jpo.telemetry.contract import STALE_SECONDS
from jpo.telemetry.csv.lines import FIRST_PAUSE_SECONDS, LONGEST_LINE, MOST_LOSSES, Log, Trends

HEADER = "time,epoch,samples,train_loss,val_loss"


def a_log(*lines: str) -> Log:
    log = Log(Path("r.csv"))
    for line in lines:
        log.take(line)
    return log


def test_a_row_is_what_was_measured_of_the_known_columns():
    log = a_log("time,colour,epoch,val_loss")
    assert log.take("10,red,1, ") == {"time": 10.0, "epoch": 1.0}
    assert log.latest == {"time": 10.0, "epoch": 1.0}


def test_head_lines_blank_lines_and_the_header_are_no_rows():
    log = Log(Path("r.csv"))
    assert [log.take(line) for line in ("# run_id = r1", "", HEADER)] == [None] * 3
    assert (log.head, log.lines) == ({"run_id": "r1"}, 3)


def test_patience_grows_with_the_longest_pause():
    log = a_log("# start=100", HEADER)
    assert log.longest_silence_seconds == FIRST_PAUSE_SECONDS
    log.take("110,,,,")
    assert (log.longest_pause, log.longest_silence_seconds) == (10.0, STALE_SECONDS)
    log.take("710,,,,")
    log.take("720,,,,")
    assert (log.longest_pause, log.longest_silence_seconds) == (600.0, 1800.0)
    assert (log.silent(720.0 + 1800), log.silent(720.0 + 1801)) == (False, True)
    assert [a_log("# start=100", HEADER, f"{time},,,,").longest_pause for time in (100.5, 99)] == [0.5, 0.0]


def test_a_log_is_closed_by_end_and_status_together():
    assert not a_log("# end=9").closed
    assert a_log("# end=9", "# status=succeeded").closed


@pytest.mark.parametrize(
    ("lines", "finding"),
    [
        (("# run_id=a", "# run_id=b"), "line 2: run_id is already 'a' above; one log is one run"),
        (("epoch,samples",), "line 1: the first row must name the columns"),
        (("time,epoch,epoch",), "line 1: the first row must name the columns"),
        ((HEADER, "1,2"), "line 2: 2 cells under 5 columns"),
        ((HEADER, "1,x,,,"), "line 2: epoch 'x' is not a number"),
        ((HEADER, "inf,,,,"), "line 2: time is not finite"),
        (("x" * (LONGEST_LINE + 1),), "line 1 is longer than 64 KiB"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(lines, finding):
    with pytest.raises(TelemetryError) as error:
        a_log(*lines)
    assert (error.value.code, error.value.finding) == ("JPO-E110", finding)


def test_a_learning_curve_of_any_length_is_thinned_towards_its_beginning():
    log = a_log(HEADER, "5,,,,0.9", *(f"{10 + at},{at},,,0.5" for at in range(1, 3 * MOST_LOSSES + 1)))
    assert len(log.curves["val_loss"]) <= MOST_LOSSES
    assert log.curves["val_loss"][-1] == (3 * MOST_LOSSES, 0.5)
    assert min(log.curves["val_loss"])[0] < MOST_LOSSES
    log = a_log(HEADER, *(f"{at},{at},,,0.5" for at in range(1, MOST_LOSSES + 2)))
    assert [epoch for epoch, _ in log.curves["val_loss"]] == [*range(2, MOST_LOSSES + 1, 2), MOST_LOSSES + 1]


def trends_of(losses: list[float]) -> Trends:
    trends = Trends()
    for line, loss in enumerate(losses, start=8):
        trends.take({"time": 10.0 * line, "val_loss": loss}, line)
    return trends


@pytest.mark.parametrize(
    ("losses", "rises"),
    [
        ([0.5, 0.6, 0.7, 0.8], True),
        ([50.0, 60.0, 70.0, 80.0], True),
        ([0.5, 0.6, 0.7], False),
        ([0.5, 0.4, 0.7, 0.8], False),
        ([0.5, 0.6, 0.7, 180.0], False),
        ([0.7, 0.8, 0.9, 1.0], True),  # and no further
        ([50.0, 70.0, 90.0, 100.0], True),
        ([50.0, 70.0, 90.0, 100.5], False),
        ([0.5, 0.7, 0.9, 1.1], False),
        ([0.0, 0.3, 0.6, 0.9], True),
        ([-0.1, 0.3, 0.6, 0.9], False),
        ([0.1, 0.2, 0.4, 0.5], True),  # half of the way
        ([0.1, 0.2, 0.4, 0.49], False),
        ([10.0, 20.0, 40.0, 49.0], False),
        ([0.75, 0.8, 0.85, 0.875], True),
        ([0.75, 0.8, 0.81, 0.82], False),  # it hardly rises
        ([*(at / 10 for at in range(10)), 0.8], True),  # nine of ten steps
        ([*(at / 10 for at in range(9)), 0.7, 0.6], False),
    ],
)
def test_a_loss_that_rises_to_one_looks_like_an_accuracy(losses: list[float], rises: bool) -> None:
    assert trends_of(losses).looks_like_accuracy("val_loss") is rises


def test_losses_that_are_no_numbers_are_counted_and_left_out() -> None:
    trends = trends_of([0.9, math.nan, 0.7])
    assert (trends.nans, trends.nan_line, trends.last["val_loss"]) == (1, 9, 0.7)


def test_the_first_row_whose_time_is_before_the_one_above_it_is_kept() -> None:
    trends = Trends()
    assert (trends.line, trends.back_line, trends.nan_line, trends.nans) == (0, 0, 0, 0)
    found = []
    for line, time in enumerate((10.0, 10.0, 9.0, 20.0, 8.0), start=4):
        trends.take({"time": time}, line)
        found.append(trends.back_line)
    assert (found, trends.line) == ([0, 0, 6, 6, 6], 8)


def test_steps_and_rises_of_a_loss_are_counted_from_its_second_value() -> None:
    trends = trends_of([0.5, 0.6, 0.6, 0.4])
    assert (trends.steps, trends.up, trends.most, trends.first["val_loss"]) == (
        {"val_loss": 3},
        {"val_loss": 1},
        {"val_loss": 0.6},
        0.5,
    )


@pytest.mark.parametrize(("line", "hardware"), [("# hardware=a100", "a100"), ("# hardware=", None), ("# x=1", None)])
def test_the_workload_has_the_hardware_that_the_log_names(line: str, hardware: str | None) -> None:
    assert a_log("# dataset=d", "# model=m", "# framework=f", line).identity == Identity("d", "m", "f", hardware)


def test_a_line_may_be_as_long_as_the_longest_and_a_later_list_of_metrics_replaces_the_first() -> None:
    log = a_log("# note=" + "x" * (LONGEST_LINE - 7), "# metrics=f1", "# metrics=f1,auc,val_loss", "# f1", "# f1")
    assert (log.head["metrics"], log.metric_names, log.lines) == ("f1,auc,val_loss", ["f1", "auc"], 5)
    assert (log.place_of("metrics"), log.place_of("end")) == ("# metrics= in line 2", "# end=")


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        ("# duration=7", ("duration", 7.0)),
        ("# duration_seconds=8", ("duration_seconds", 8.0)),
        ("# duration=1h", None),
        ("# d=1", None),
    ],
)
def test_a_log_may_say_how_long_its_run_took(line: str, stated: tuple[str, float] | None) -> None:
    assert a_log(line).stated_duration == stated


def test_steps_of_the_optimiser_are_read_from_whichever_column_has_them() -> None:
    log = a_log("time,global_step,val_loss", "1,10,0.5", "2,,0.4", "3,30,0.3")
    assert (log.trends.first["step"], log.trends.last["step"]) == (10.0, 30.0)
