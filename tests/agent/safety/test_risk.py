import math
from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.safety import risk
from jpo.agent.safety.risk import INFLATION
from jpo.records import Preference
from tests.asked import a_problem

TIME, HALF = Preference(1, 0, 0), math.log(0.5)


def chance_of_harm(belief, candidates, allowance, *, reference=None, **options):
    today = a_problem(candidates, belief, TIME, reference=reference).comparison.against_today
    return risk.chance_of_harm(belief, today, candidates.current, allowance, **options)


def test_a_run_beyond_the_allowance_is_judged_under_the_widened_belief(grid, belief):
    believed = belief([[0, -0.3, 0.3], [0, 0.3, 0.3]], runs=(1, 0, 0), noise=0.05)
    limit = math.expm1(0.3 * INFLATION)  # the widened particle at 0.36 just reaches it
    assert chance_of_harm(believed, grid(), limit * 0.99) == pytest.approx([0, 0.5, 0])
    assert chance_of_harm(believed, grid(), limit * 1.01) == pytest.approx([0, 0, 0])
    assert chance_of_harm(believed, grid(), limit * 1.01, interval_factor=2.0) == pytest.approx([0, 0.5, 0])


def test_a_failure_is_beyond_the_allowance_unless_it_can_be_paid(grid, belief):
    believed = belief([[0, HALF, HALF]], p_fail=(0.5, 0.3, 0))
    assert chance_of_harm(believed, grid(), 0.99) == pytest.approx([0, 0.3, 0])
    assert chance_of_harm(believed, grid(), 1.0) == pytest.approx([0, 0, 0])


def test_what_is_tolerated_of_a_model_does_not_add_up(grid, belief):
    believed = replace(belief([[0, 0, 0]], val_loss=0.4), log_loss=np.log([[1 / 1.02, 1, 1.02]]))
    assert chance_of_harm(believed, grid(current=1), 0.05, reference=0)[2] == 1.0
    assert chance_of_harm(believed, grid(current=1), 0.05)[2] == 0.0
