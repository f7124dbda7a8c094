import math

import pytest

from jpo.forecast.curves.epochs import epoch_progress, onward


def rows(*pairs, samples=None):
    return [(float(epoch), float(seconds), samples) for epoch, seconds in pairs]


def test_a_plain_course_is_as_it_was_logged():
    progress = epoch_progress(rows(*((n, 10 * n) for n in range(1, 6))))
    assert progress.times == tuple((n, 10 * n) for n in range(1, 6))
    assert (progress.from_zero, progress.began_at) == (False, 0)


def test_what_a_restart_from_a_checkpoint_did_again_counts_once():
    progress = epoch_progress(rows((1, 10), (2, 20), (3, 30), (4, 40), (3, 70), (4, 80)))
    assert progress.times == ((1, 10), (2, 20), (3, 70), (4, 80))
    assert onward([(1, "a"), (2, "b"), (1, "c")]) == [(1, "c")]


def test_a_job_that_calls_its_first_epoch_0_has_done_one_more_than_it_says():
    progress = epoch_progress(rows(*((n, 10 * n + 10) for n in range(5))))
    assert progress.from_zero
    assert progress.times[-1] == (5, 50)
    assert epoch_progress([(0.0, 10.0, 1500.0)]).from_zero  # of which one row with samples is enough


@pytest.mark.parametrize("first", [(0.0, 1.0, None), (0.0, 9.0, 0.0)])
def test_a_look_at_the_model_before_its_first_epoch_is_none(first):
    progress = epoch_progress([first, *rows(*((n, 10 * n) for n in range(1, 5)))])
    assert not progress.from_zero
    assert progress.times[0] == (1, 10)


def test_a_resumed_run_began_where_its_first_epoch_came_too_soon():
    assert epoch_progress(rows(*((n, 10 * (n - 20)) for n in range(21, 26)))).began_at == 20
    assert epoch_progress(rows(*((n, 10 * (n - 20)) for n in (21, 22)))).began_at == 0  # too few say so


def test_one_that_reports_every_fifth_epoch_was_not_resumed():
    assert epoch_progress(rows(*((n, 10 * n) for n in (5, 10, 15, 20)))).began_at == 0


def test_numbers_that_are_no_epochs_or_no_times_are_left_out():
    assert epoch_progress(rows((math.nan, 10), (math.inf, 20), (-1, 30), (1, math.nan), (2, 0), (3, 30))).times == ((3, 30),)
    assert epoch_progress([]).times == ()
