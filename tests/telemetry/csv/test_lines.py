"""The lines of a log, taken in one by one."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from jpo.errors import TelemetryError
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


def test_a_log_is_closed_by_end_and_status_together():
    assert not a_log("# end=9").closed
    assert a_log("# end=9", "# status=succeeded").closed


@pytest.mark.parametrize(
    ("lines", "finding"),
    [
        (("# run_id=a", "# run_id=b"), "line 2: run_id is already 'a' above; one log is one run"),
        (("epoch,samples",), "line 1: the first row must name the columns"),
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
    ],
)
def test_a_loss_that_rises_to_one_looks_like_an_accuracy(losses: list[float], rises: bool) -> None:
    assert trends_of(losses).looks_like_accuracy("val_loss") is rises


def test_losses_that_are_no_numbers_are_counted_and_left_out() -> None:
    trends = trends_of([0.9, math.nan, 0.7])
    assert (trends.nans, trends.nan_line, trends.last["val_loss"]) == (1, 9, 0.7)
