import math

import numpy as np
import pytest

from jpo.agent.prospects import HORIZON_RUNS, INFLATION, WORSE, prospects
from jpo.records import Preference

TIME = Preference(1, 0, 0)
HALF, DOUBLE = math.log(0.5), math.log(2)


def test_weighs_cost_now_against_gain_later(grid, belief):
    found = prospects(belief([[0, HALF], [0, DOUBLE]], runs=(1, 0), failures=(0, 0)), grid((32, 64)), TIME)
    assert found.incumbent == 0
    assert found.expected == pytest.approx([1.0, 1.25])
    assert found.improvement == pytest.approx([0.0, 0.25])
    assert found.score == pytest.approx([1.0, 1.25 - HORIZON_RUNS * 0.25])
    assert found.mean == pytest.approx([0.0, 0.0])
    assert found.sd == pytest.approx([0.0, DOUBLE])
    assert found.p_optimum == pytest.approx([0.5, 0.5])
    assert found.p_better[1] == 0.5


def test_a_failure_is_charged_as_two_runs_of_the_incumbent(grid, belief):
    found = prospects(belief([[0, HALF]], runs=(1, 0), failures=(0, 0), p_fail=(0, 0.4)), grid((32, 64)), TIME)
    assert found.expected == pytest.approx([1.0, 0.6 * 0.5 + 0.4 * 2])
    assert found.p_better[1] == pytest.approx(0.6)
    assert found.p_worse[1] == pytest.approx(0.4)


def test_only_untried_candidates_earn_a_bonus(grid, belief):
    once_failed = belief([[0, HALF], [0, DOUBLE]], runs=(1, 0), failures=(0, 1))
    assert prospects(once_failed, grid((32, 64)), TIME).score == pytest.approx([1.0, 1.25])


def test_the_incumbent_is_the_best_measured_that_may_be_used(grid, belief):
    believed = belief([[0, HALF, 2 * HALF]], runs=(1, 1, 1))
    assert prospects(believed, grid(), TIME).incumbent == 2
    assert prospects(believed, grid(admissible=[True, True, False]), TIME).incumbent == 1
    assert prospects(belief([[0, HALF, HALF]], runs=(0, 0, 0)), grid(), TIME).incumbent == 0


def test_harm_is_judged_under_a_widened_belief(grid, belief):
    near = WORSE * 0.95  # below the threshold as simulated, above it when widened
    found = prospects(belief([[0, near], [0, -near]], runs=(1, 0), failures=(0, 0)), grid((32, 64)), TIME)
    assert near * INFLATION > WORSE
    assert found.p_worse[1] == 0.5
    assert found.p_worse_today[0] == 0.0


def test_extreme_particles_stay_finite(grid, belief):
    found = prospects(belief([[0, 800], [0, -800]], runs=(1, 0), failures=(0, 0)), grid((32, 64)), TIME)
    assert np.isfinite(found.score).all()
