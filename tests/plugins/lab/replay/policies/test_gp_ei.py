from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.lab.replay.policies.gp_ei import expected_improvement


def test_expected_improvement_by_hand() -> None:
    improvement = expected_improvement(np.array([0.0, -1.0, 1.0]), np.array([1.0, 0.0, 0.0]), best=0.0)
    assert improvement == pytest.approx([0.3989423, 1.0, 0.0], abs=1e-6)  # phi(0); certain gain of 1; none
