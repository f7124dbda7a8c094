import math
from dataclasses import replace

import pytest

from jpo.forecast.curves.curve import curve_of
from jpo.plugins.launch.during.progress import Rival, RunProgress
from jpo.plugins.launch.during.stop import verdict
from jpo.records import Interval, Preference

BALANCED, BY_LOSS = Preference(), Preference(0, 0, 0, 1)
RIVAL = Rival("best", 100.0, 1.0, 0.1)


def curve(final, epochs=30, start=2.0):
    power = math.log(start / final) / math.log(epochs)
    return curve_of((n, start * n**-power) for n in range(1, epochs + 1))


FINISHED = [curve(final) for final in (0.1, 0.11, 0.12, 0.13, 0.15, 0.2)]


def progress(elapsed, total, known=None, done=None, diverged=False):
    interval = None if total is None else Interval(total, 0.97 * total, 1.03 * total)
    return RunProgress(elapsed, interval, 36.0, known, diverged, 30 if known else None, done)


def judged(state, preference=BALANCED, rival=RIVAL, finished=(), *, needed=True):
    return verdict(state, rival, preference, finished, needed=needed, horizon=10)


def test_without_a_run_to_beat_it_is_needed_as_the_reference():
    assert not judged(progress(10, 1000), rival=None).stop


def test_a_run_that_diverged_is_stopped_even_if_it_is_the_first():
    found = judged(progress(10, 100, diverged=True), rival=None)
    assert found.stop
    assert found.saves.seconds == pytest.approx(90)
    assert found.saves.usd == pytest.approx(0.9)


def test_a_faster_run_goes_on():
    found = judged(progress(10, 60))
    assert not found.stop
    assert found.wins == 1


def test_a_trial_is_stopped_where_another_run_of_the_best_costs_less_than_the_rest():
    found = judged(progress(20, 300), needed=False)
    assert found.stop
    assert found.left == pytest.approx(2.8)
    assert "cost at least" in found.why  # money is what decides where it is known


def test_a_trial_that_brings_its_model_for_less_than_another_run_goes_on():
    found = judged(progress(100, 120), needed=False)
    assert not found.stop
    assert "less than another run" in found.why


def test_a_run_that_is_wanted_for_its_model_is_never_stopped_for_what_it_takes():
    assert not judged(progress(20, 300)).stop
    assert not judged(progress(2000, None)).stop
    bad = progress(15, 30, curve(1.0).until(15), 0.5)
    assert judged(bad, BY_LOSS, finished=FINISHED).stop, "its model will be of no use"


def test_a_curve_that_cannot_reach_the_best_is_stopped_and_one_that_may_goes_on():
    bad, good = curve(1.0), curve(0.09)
    assert judged(progress(15, 30, bad.until(15), 0.5), BY_LOSS, finished=FINISHED, needed=False).stop
    assert not judged(progress(15, 30, good.until(15), 0.5), BY_LOSS, finished=FINISHED, needed=False).stop


def test_a_run_on_a_plateau_goes_on_as_long_as_earlier_ones_still_left_it():
    late = [curve_of((n, 1.0 if n < 20 else final) for n in range(1, 31)) for final in (0.1, 0.1, 0.11, 1.0, 1.0, 1.0)]
    flat = curve_of((n, 1.0) for n in range(1, 31))
    waiting = judged(progress(15, 30, flat.until(15), 0.5), BY_LOSS, finished=late, needed=False)
    assert not waiting.stop
    assert judged(progress(25, 30, flat.until(25), 0.8), BY_LOSS, finished=late, needed=False).stop


def test_a_run_that_has_hardly_begun_goes_on():
    found = judged(progress(4, 30, curve(1.9).until(4), 0.1), BY_LOSS, finished=FINISHED, needed=False)
    assert not found.stop
    assert found.wins >= 0.03 or "only just begun" in found.why


def test_a_slower_run_is_stopped_before_that_where_a_better_model_does_not_count():
    slower = progress(20, 300, curve(1.0).until(3), 0.1)
    assert judged(slower, finished=FINISHED, needed=False).stop


def test_a_run_whose_last_epoch_is_done_is_not_stopped_while_it_saves_its_model():
    found = judged(progress(120, 120, done=1.0), needed=False)
    assert not found.stop
    assert "last epoch" in found.why


def test_where_nothing_foretells_how_good_the_model_gets_no_chance_is_claimed():
    below_zero = Rival("best", 100.0, 1.0, -0.5)
    for found in (
        judged(progress(15, 30), BY_LOSS, needed=False),
        judged(progress(15, 30, curve(0.2).until(15), 0.5), BY_LOSS, rival=below_zero, finished=FINISHED, needed=False),
    ):
        assert not found.stop
        assert found.wins is None
        assert "nothing foretells" in found.why
    assert judged(
        progress(20, 300, curve(0.2).until(15), 0.5), rival=below_zero, finished=FINISHED, needed=False
    ).stop  # by its time


def test_a_resumed_run_is_no_faster_for_what_it_had_done_before():
    part = replace(progress(20, 60), epochs=30.0, began_at=15.0)
    found = judged(part, needed=False)
    assert found.wins == 0
    assert found.left == pytest.approx(0.4)


def test_few_finished_curves_are_no_reason_to_stop():
    assert not judged(progress(15, 30, curve(1.0).until(15), 0.5), BY_LOSS, finished=FINISHED[:4], needed=False).stop


def test_of_a_trial_without_known_progress_the_paid_for_rule_decides():
    assert not judged(progress(150, None), needed=False).stop
    found = judged(progress(210, None), needed=False)
    assert found.stop
    assert "2.1 times" in found.why


def test_time_alone_counts_where_money_is_unknown():
    unpriced = RunProgress(20, Interval(300, 290, 310))
    found = judged(unpriced, rival=Rival("best", 100.0), needed=False)
    assert found.stop
    assert "take at least" in found.why


def test_a_trial_that_ends_nobody_knows_when_is_stopped_at_twice_the_best():
    assert [judged(progress(seconds, None), needed=False).stop for seconds in (199, 201)] == [False, True]


def test_one_lucky_run_is_not_what_a_trial_has_to_beat():
    lucky = replace(RIVAL, usual=1.5)
    assert [judged(progress(seconds, None), rival=lucky, needed=False).stop for seconds in (299, 301)] == [False, True]
