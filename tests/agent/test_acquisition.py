import math
from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.acquisition import WORTH, clearly_better, knowledge_gradient
from jpo.agent.horizon import UNTOLD
from jpo.agent.safety.risk import INFLATION, WORSE
from jpo.records import Preference
from tests.asked import a_problem

TIME = Preference(1, 0, 0)
HALF, DOUBLE = math.log(0.5), math.log(2)


def acquisition_values(belief, candidates, preference, **options):
    return a_problem(candidates, belief, preference, **options).comparison.weighed


def test_weighs_cost_now_against_gain_later(grid, belief):
    found = acquisition_values(belief([[0, HALF], [0, DOUBLE]], runs=(1, 0), failures=(0, 0)), grid((32, 64)), TIME)
    assert found.incumbent == 0
    assert found.expected == pytest.approx([1.0, 1.25])
    assert found.improvement == pytest.approx([0.0, 0.25])
    assert found.score == pytest.approx([1.0, 1.25 - UNTOLD * 0.25 + WORTH])
    assert found.mean == pytest.approx([0.0, 0.0])
    assert found.sd == pytest.approx([0.0, DOUBLE])
    assert found.p_optimum == pytest.approx([0.5, 0.5])
    assert found.p_better[1] == 0.5


def test_another_horizon_weighs_the_gain_of_what_is_untried(grid, belief):
    promise = acquisition_values(belief([[0, -1, 0], [0, 1, 0]]), grid(), TIME)
    gain = promise.improvement
    assert gain[1] > 0
    assert promise.horizon == UNTOLD
    assert promise.within(2).score == pytest.approx(promise.score + (UNTOLD - 2) * gain)
    assert promise.within(0).score == pytest.approx(promise.score + UNTOLD * gain)
    assert promise.within(2).within(UNTOLD).score == pytest.approx(promise.score)
    assert promise.within(2).horizon == 2


def test_a_failure_is_charged_as_two_runs_of_the_incumbent(grid, belief):
    found = acquisition_values(belief([[0, HALF]], runs=(1, 0), failures=(0, 0), p_fail=(0, 0.4)), grid((32, 64)), TIME)
    assert found.expected == pytest.approx([1.0, 0.6 * 0.5 + 0.4 * 2])
    assert found.p_better[1] == pytest.approx(0.6)
    assert found.p_worse[1] == pytest.approx(0.4)


def test_only_untried_candidates_earn_a_bonus(grid, belief):
    once_failed = belief([[0, HALF], [0, DOUBLE]], runs=(1, 0), failures=(0, 1))
    assert acquisition_values(once_failed, grid((32, 64)), TIME).score == pytest.approx([1.0, 1.25])


def test_the_incumbent_is_the_best_measured_that_may_be_used(grid, belief):
    believed = belief([[0, HALF, 2 * HALF]], runs=(1, 1, 1))
    assert acquisition_values(believed, grid(), TIME).incumbent == 2
    assert acquisition_values(believed, grid(admissible=[True, True, False]), TIME).incumbent == 1
    assert acquisition_values(belief([[0, HALF, HALF]], runs=(0, 0, 0)), grid(), TIME).incumbent == 0


@pytest.mark.parametrize(
    ("runs", "log_time", "incumbent"),
    [
        ((5, 1, 0), -0.05, 0),  # one lucky run within the noise of the means, 0.06 * sqrt(1 / 5 + 1) = 0.066
        ((5, 1, 0), -0.08, 1),  # beyond it
        ((5, 2, 0), -0.05, 1),  # confirmed
        ((1, 1, 0), -0.05, 0),  # today's values stand as long as nothing ran twice
        ((0, 1, 0), -0.05, 1),  # and if they never ran, the only one that did
    ],
)
def test_one_lucky_run_makes_no_incumbent(grid, belief, runs, log_time, incumbent):
    assert acquisition_values(belief([[0, log_time, 1]], runs=runs, noise=0.06), grid(), TIME).incumbent == incumbent


def test_a_lucky_run_at_todays_values_does_not_dethrone_what_ran_more_often(grid, belief):
    assert acquisition_values(belief([[0.05, 0, 1]], runs=(5, 1, 0), noise=0.06), grid(current=1), TIME).incumbent == 0
    assert acquisition_values(belief([[0.09, 0, 1]], runs=(5, 1, 0), noise=0.06), grid(current=1), TIME).incumbent == 1


def test_clearly_better_means_by_more_than_the_noise_of_the_means(belief):
    believed, mean = belief([[0, 0, 0]], runs=(4, 1, 4), noise=0.1), np.array([0.0, -0.1, -0.08])
    assert [clearly_better(believed, mean, row, 0) for row in range(3)] == [False, False, True]  # 0.112, 0.071


def test_a_worse_model_is_one_worse_than_what_the_agent_found(grid, belief):
    believed = belief([[0, 0, 0]], val_loss=0.4)
    believed = replace(believed, log_loss=np.log([[1 / 1.02, 1, 1.02]]))  # each step adds what is tolerated
    crept = acquisition_values(believed, grid(current=1), TIME)
    held = acquisition_values(believed, grid(current=1), TIME, reference=0)
    assert crept.mean[2] == pytest.approx(crept.mean[1], abs=1e-3)
    assert held.mean[2] - held.mean[1] == pytest.approx(3 * math.log(1.02))


def test_harm_is_judged_under_a_widened_belief(grid, belief):
    near = WORSE * 0.95  # below the threshold as simulated, above it when widened
    found = acquisition_values(belief([[0, near], [0, -near]], runs=(1, 0), failures=(0, 0)), grid((32, 64)), TIME)
    assert near * INFLATION > WORSE
    assert found.p_worse[1] == 0.5
    assert found.p_worse_today[0] == 0.0
    smaller = belief([[0, near / 2], [0, -near / 2]], runs=(1, 0), failures=(0, 0))
    assert [
        acquisition_values(smaller, grid((32, 64)), TIME, interval_factor=interval_factor).p_worse_today[1]
        for interval_factor in (1.0, 2.0)
    ] == [0.0, 0.5]


def test_extreme_particles_stay_finite(grid, belief):
    found = acquisition_values(belief([[0, 800], [0, -800]], runs=(1, 0), failures=(0, 0)), grid((32, 64)), TIME)
    assert np.isfinite(found.score).all()


def test_a_run_is_worth_what_it_tells_of_all_values(belief):
    """The second and the third row are the same jobs' work: a run of either tells of both, one of the first of nothing."""
    spread = np.linspace(-2, 2, 41)
    particles = np.stack([np.zeros(41), spread, spread], axis=1)
    believed = replace(belief(particles, runs=(1, 0, 0), failures=(0, 0, 0)), noise=0.0)
    found = knowledge_gradient(believed, particles, np.ones(3, dtype=bool))
    sd = spread.std()
    exact = 0.5 - math.exp(sd**2 / 2) * math.erfc(sd / math.sqrt(2)) / 2  # E[max(1 - exp(sd Z), 0)]
    assert found[0] == 0
    assert found[1:] == pytest.approx([exact, exact], rel=0.15)


def test_what_may_not_be_used_is_told_of_in_vain(belief):
    particles = np.stack([np.zeros(41), np.linspace(-2, 2, 41)], axis=1)
    believed = belief(particles, runs=(1, 0), failures=(0, 0))
    assert knowledge_gradient(believed, particles, np.array([True, False])) == pytest.approx([0, 0])
