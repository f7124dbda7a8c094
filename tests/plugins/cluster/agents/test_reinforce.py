"""Returns by hand."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason='torch not found: pip install "jpo[learn]"')

from jpo.plugins.cluster.agents.reinforce import discounted


def test_returns_are_what_is_still_to_come() -> None:
    rewards = np.array([1.0, 2.0, 4.0])
    assert discounted(rewards, 1.0).tolist() == [7, 6, 4]
    assert discounted(rewards, 0.5).tolist() == [3, 4, 4]
