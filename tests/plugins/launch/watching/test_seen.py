from dataclasses import replace

import pytest

from jpo.plugins.launch.job import JobState
from jpo.plugins.launch.watching.seen import RunTimes, SeenRun, TrainingLog
from jpo.records import Identity
from jpo.telemetry.csv.follow import LogRow

ROWS = tuple(LogRow(1000.0 + 10 * n, n - 1, 100.0 * n) for n in range(1, 5))
SEEN = SeenRun(
    "now",
    Identity("d", "m", "f"),
    {"epochs": 8.0},
    "csv",
    JobState.RUNNING,
    1045.0,
    times=RunTimes(1000.0),
    training=TrainingLog(3.0, rows=ROWS),
)


def test_epochs_are_counted_from_1_however_the_job_counts_them():
    assert (SEEN.epochs_done, SEEN.epochs_planned, SEEN.share_done, SEEN.samples_per_epoch) == (4, 8, 0.5, 100)


def test_an_epoch_more_than_planned_is_no_more_than_all():
    assert replace(SEEN, training=replace(SEEN.training, last_epoch=50.0)).share_done == 1
    assert replace(SEEN, parameters={}, training=TrainingLog(share_done=0.3)).share_done == 0.3


@pytest.mark.parametrize(
    ("times", "elapsed"), [(RunTimes(), None), (RunTimes(1000.0), 45), (RunTimes(1000.0, ended_at=1042.0), 42)]
)
def test_time_passes_from_the_start_to_now_or_the_end(times, elapsed):
    assert replace(SEEN, times=times).elapsed_seconds == elapsed


def test_a_row_that_was_written_later_than_now_is_no_older_than_now():
    assert replace(SEEN, at=1020.0).elapsed_seconds == 40
