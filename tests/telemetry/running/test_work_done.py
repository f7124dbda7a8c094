"""How far a run is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jpo.records import Identity, Outcome, Run, Running, RunStatus
from jpo.telemetry.running.work_done import share_done, with_progress

WORKLOAD = Identity("digits", "cnn", "pytorch")
NOW = Running("r", WORKLOAD, {"epochs": 10.0, "batch_size": 64.0}, 1000.0, 1500.0, "prometheus", epochs_done=2.0, samples=2500.0)


def past(seconds=2000.0, **parameters):
    outcome = Outcome(duration_seconds=seconds, samples=10_000.0, epochs=10.0)
    return Run(
        "p", WORKLOAD, {"epochs": 10.0, "batch_size": 64.0, **parameters}, RunStatus.SUCCEEDED, 0.0, seconds, outcome, "csv"
    )


def test_samples_tell_more_than_finished_epochs():
    assert share_done(NOW, []) == 0.2
    assert share_done(NOW, [past()]) == 0.25
    assert share_done(replace(NOW, parameters={}), [past()]) is None


def test_the_end_follows_from_what_is_done_else_from_runs_like_it():
    assert with_progress(NOW, [past()]).ends_at == 1000 + 500 / 0.25
    silent = replace(NOW, epochs_done=None, samples=None)
    assert with_progress(silent, [past(2000.0), past(9000.0, batch_size=8.0)]).ends_at == 3000.0
    assert with_progress(silent, []).ends_at is None


def test_what_has_only_begun_says_nothing_of_its_pace():
    begun = replace(NOW, epochs_done=0.0, samples=None)
    assert with_progress(begun, [past()]).ends_at == 3000.0


def test_a_clock_that_is_ahead_gives_no_negative_time():
    assert replace(NOW, started_at=1600.0).elapsed_seconds == 0.0
    assert with_progress(replace(NOW, started_at=None), [past()]).ends_at is None


@pytest.mark.parametrize("samples", [10_000.0, 20_000.0])
def test_no_run_has_done_more_than_all(samples):
    assert share_done(replace(NOW, samples=samples), [past()]) == 1.0
