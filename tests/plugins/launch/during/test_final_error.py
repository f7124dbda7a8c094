import math

import numpy as np
import pytest

from jpo.cost.thresholds import student_quantile
from jpo.forecast.curves.curve import curve_of
from jpo.plugins.launch.during.final_error import FinalError, final_error, furthest, shows_end, student_below


def falling(rng, epochs=30):
    """A power law with a floor and noise, as real curves are."""
    scale, power, floor = rng.lognormal(0, 0.3), rng.uniform(0.4, 1.2), rng.uniform(0.05, 0.2)
    return curve_of((n, (floor + scale * n**-power) * rng.lognormal(0, 0.03)) for n in range(1, epochs + 1))


@pytest.mark.parametrize(
    ("t", "freedom", "below"),
    [(0, 5, 0.5), (1.0, 1, 0.75), (2.015, 5, 0.95), (-2.015, 5, 0.05), (2.571, 5, 0.975), (1.96, 5000, 0.975)],
)
def test_students_t_is_that_of_the_tables(t, freedom, below):
    assert student_below(t, freedom) == pytest.approx(below, abs=2e-4)


@pytest.mark.parametrize("freedom", [1, 2, 7, 40])
def test_the_quantile_is_the_reverse_of_the_probability(freedom):
    assert student_below(student_quantile(0.975, freedom), freedom) == pytest.approx(0.975)


def test_an_interval_holds_the_share_that_it_says():
    final = FinalError(math.log(0.5), 0.1, 8, 3)
    interval = final.interval()
    scales = [(math.log(bound) - final.mean) / final.scale for bound in (interval.low, interval.high)]
    below, within = (student_below(each, final.freedom) for each in scales)
    assert within - below == pytest.approx(0.9)
    assert interval.low < interval.mean < interval.high


def test_nothing_is_said_after_one_epoch():
    assert final_error(curve_of([(1, 1.0)]), 30, []) is None


def test_intervals_hold_what_comes():
    """Nominal 90%; the tails of the prior are wide on purpose."""
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(60):
        *past, run = (falling(rng) for _ in range(9))
        interval = final_error(run.until(10), 30, past).interval()
        held += interval.low <= math.exp(run.logs[-1]) <= interval.high
    assert held >= 51


def test_more_runs_narrow_the_interval():
    rng = np.random.default_rng(2)
    curves = [falling(rng) for _ in range(30)]
    few, many = (final_error(curves[-1].until(10), 30, curves[:n]) for n in (2, 28))
    assert many.scale < few.scale
    assert (few.runs, many.runs) == (2, 28)


def test_runs_of_another_length_say_nothing():
    rng = np.random.default_rng(3)
    assert final_error(falling(rng).until(10), 30, [falling(rng, 60), falling(rng, 10)]).runs == 0


def test_what_all_runs_share_is_learnt():
    """A loss that falls to a tenth in the last third, as learning rates are annealed: who saw it expects it."""
    annealed = [
        curve_of((n, (1 + 0.02 * run) * (1.0 if n <= 20 else 10 ** (-(n - 20) / 10))) for n in range(1, 31)) for run in range(12)
    ]
    naive, taught = (final_error(annealed[-1].until(20), 30, annealed[:n]) for n in (0, 11))
    assert math.exp(taught.mean) == pytest.approx(0.1, rel=0.3)
    assert math.exp(naive.mean) > 0.5


def test_curves_that_were_validated_now_and_then_or_count_from_0_show_their_end():
    ends = {
        last: shows_end(curve_of((n, 1.0) for n in range(every, last + 1, every)), 32)
        for last, every in ((32, 1), (31, 1), (30, 5))
    }
    assert ends == {32: True, 31: True, 30: True}
    assert not shows_end(curve_of((n, 1.0) for n in range(1, 31)), 32)
    assert not shows_end(curve_of((n, 1.0) for n in range(1, 41)), 32)


def test_the_furthest_fall_lies_beyond_the_largest_that_was_seen_as_long_as_few_were():
    assert furthest([]) == math.inf
    assert furthest([0.5] * 5) == 0.5
    few, many = furthest([0.0, 1.0] * 3), furthest([0.0, 1.0] * 40)
    assert few == pytest.approx(1 + 0.5 * -math.log(0.02 * 7))
    assert many == 1.0


def test_what_a_run_may_reach_is_said_once_it_has_begun_by_the_falls_that_others_still_made():
    """Five runs left a plateau at the 20th epoch of 30, or never."""
    past = [curve_of((n, 1.0 if n < 20 or never else 0.001) for n in range(1, 31)) for never in (0, 0, 1, 1, 1)]
    flat = curve_of((n, 1.0) for n in range(1, 31))
    early, before, after = (final_error(flat.until(done), 30, past).reach for done in (3, 15, 25))
    assert early == -math.inf
    assert before < math.log(0.001)
    assert after == pytest.approx(0.0)


def test_an_error_beyond_all_numbers_has_an_interval():
    assert math.isfinite(FinalError(690.0, 100.0, 4, 5).interval().high)
