import math

import numpy as np
import pytest

from jpo.agent.preference import LOSS_TOLERANCE, LOSS_WEIGHT, scalarise
from jpo.records import Preference


def logs(*values):
    return np.array(values, dtype=np.float64)


def test_weights_time_cost_and_utilisation():
    found = scalarise(logs(0.2, 0.0), logs(0.4, 0.0), logs(0.1, 0.0), logs(0.0, 0.0), Preference(0.5, 0.3, 0.2))
    assert found == pytest.approx([0.5 * 0.2 + 0.3 * 0.4 - 0.2 * 0.1, 0.0])


def test_penalises_a_worse_loss_in_proportion_and_only_beyond_the_tolerance():
    zero = logs(0, 0, 0)
    found = scalarise(zero, zero, zero, logs(-1.0, math.log(1.015), LOSS_TOLERANCE + 0.1), Preference(1, 0, 0))
    assert found == pytest.approx([0.0, 0.0, LOSS_WEIGHT * 0.1])


def test_what_carries_no_weight_need_not_be_measured():
    nan = logs(math.nan)
    assert scalarise(logs(0.3), nan, nan, nan, Preference(1, 0, 0)) == pytest.approx([0.3])
    assert np.isnan(scalarise(logs(0.3), nan, nan, nan, Preference(0.5, 0.5, 0)))
