import math

import numpy as np
import pytest

from jpo.forecast.trials import Trial, TrialLog, full_runs, loss_after, steady, trial_of

VALUES = {"batch_size": 64.0, "epochs": 40.0}


def rows_of(ends, samples=100.0):
    return [{"time": end, "epoch": float(i + 1), "samples": (i + 1) * samples} for i, end in enumerate(ends)]


def trial(fraction=1.0, epoch_seconds=10.0, **more):
    return Trial("t", VALUES, fraction, epoch_seconds, 0.01, 4.0, around_seconds=0.0, **more)


def one_law(*columns):
    return np.zeros((400, len(columns))) + np.array(columns)


def test_a_trial_separates_start_up_and_end_from_its_epochs():
    result = trial_of(TrialLog("t", {}, rows_of([15.0, 25.0, 35.0, 45.0]), fraction=1.0, started_at=0.0, ended_at=47.0))
    assert (result.epoch_seconds, result.around_seconds, result.samples, result.epochs) == (10.0, 7.0, 100.0, 3.0)


def test_slow_first_epochs_belong_to_the_start():
    mean, error, warm = steady([30.0, 10.0, 10.0, 10.0, 10.0])
    assert (mean, warm) == (10.0, 20.0)
    assert 0 < error < 0.1


def test_a_stall_counts_no_more_than_three_medians():
    assert steady([10.0, 10.0, 1000.0])[0] == pytest.approx(50 / 3)


@pytest.mark.parametrize("ends", [[], [10.0], [10.0, 10.0], [10.0, 5.0]])
def test_rows_that_tell_nothing_are_refused(ends):
    with pytest.raises(ValueError, match=r"fewer than two|does not rise"):
        trial_of(TrialLog("t", {}, rows_of(ends), fraction=1.0, started_at=0.0, ended_at=None))


def test_rows_within_an_epoch_tell_the_evaluation_apart():
    rows = []
    for epoch in range(3):  # 8 s of training, 2 s of evaluation
        rows += [
            {"time": 10.0 * epoch + 4, "epoch": epoch + 0.5, "samples": 100.0 * epoch + 50},
            {"time": 10.0 * epoch + 10, "epoch": epoch + 1.0, "samples": 100.0 * epoch + 100, "val_loss": 1.0},
        ]
    result = trial_of(TrialLog("t", {}, rows, fraction=1.0, started_at=0.0, ended_at=None))
    assert result.epoch_seconds == 10.0
    assert result.evaluation == pytest.approx(0.2)


def test_all_epochs_on_all_data_take_as_many_times_as_long():
    (seconds,) = full_runs([trial()], [VALUES], [VALUES], one_law(0.0, 0.0), 0)
    assert seconds.mean == pytest.approx(400, rel=0.05)
    assert seconds.low < 400 < seconds.high


def test_a_law_carries_the_speed_to_another_configuration():
    twice = {**VALUES, "batch_size": 128.0}  # half the steps, each twice as long
    (seconds,) = full_runs([trial()], [VALUES], [twice], one_law(0.0, math.log(2)), 0)
    assert seconds.mean == pytest.approx(400, rel=0.05)


def test_two_shares_of_the_data_tell_what_does_not_shrink_with_them():
    trials = [trial(0.1, 1.0 + 2.0, samples=1e4), trial(0.2, 2.0 + 2.0, samples=2e4)]  # 10 s to train on all, 2 s to evaluate
    (seconds,) = full_runs(trials, [VALUES, VALUES], [VALUES], one_law(0.0, 0.0, 0.0), 0)
    assert seconds.mean == pytest.approx(480, rel=0.12)


def test_the_interval_is_wider_the_farther_the_full_run_is():
    short, long = ({**VALUES, "epochs": epochs} for epochs in (8.0, 8000.0))
    few, many = full_runs([trial()], [VALUES], [short, long], one_law(0.0, 0.0, 0.0), 0)
    assert many.high / many.low > 1.2 * few.high / few.low


def test_trials_that_no_law_explains_widen_the_interval():
    agree, differ = ([trial(), trial(epoch_seconds=seconds)] for seconds in (10.0, 40.0))
    some, wide = (full_runs(trials, [VALUES] * 2, [VALUES], one_law(0.0, 0.0, 0.0), 0)[0] for trials in (agree, differ))
    assert wide.high / wide.low > 3 * some.high / some.low


def test_an_evaluation_that_a_row_separates_is_not_multiplied_with_the_data():
    with_evaluation = trial(
        0.1, 1.0 + 2.0, samples=1e4, evaluation=2 / 3
    )  # 10 s to train on all; 2 s to evaluate, whatever is trained on
    (seconds,) = full_runs([with_evaluation], [VALUES], [VALUES], np.zeros((2000, 2)), 0)
    assert seconds.low < 480 < seconds.high
    assert seconds.mean == pytest.approx(480, rel=0.15)


def test_a_smooth_loss_is_carried_on():
    losses = [(float(e), 0.2 + e**-0.7) for e in range(1, 21)]
    interval = loss_after(losses, 40.0)
    assert interval is not None
    assert interval.low < 0.2 + 40**-0.7 < interval.high
    assert interval.mean == pytest.approx(0.2 + 40**-0.7, rel=0.03)


@pytest.mark.parametrize(
    ("losses", "epochs"),
    [
        ([(float(e), 1 / e) for e in range(1, 5)], 8.0),  # too few
        ([(float(e), 1 / e) for e in range(1, 21)], 400.0),  # too far
        ([(float(e), 1.0 + (e % 2)) for e in range(1, 21)], 40.0),  # too rough
        ([(float(e), -1.0 / e) for e in range(1, 21)], 40.0),  # no logarithm
        ([], 40.0),
    ],
)
def test_a_loss_that_the_curve_does_not_support_is_unknown(losses, epochs):
    assert loss_after(losses, epochs) is None
