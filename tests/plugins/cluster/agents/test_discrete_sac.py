"""Transitions of an episode: each with the next one, the last with none."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch not found: pip install "jpo[learn]"')

from jpo.plugins.cluster.agents.base import LivedEpisode  # noqa: E402
from jpo.plugins.cluster.agents.discrete_sac import _transitions  # noqa: E402


def test_a_transition_knows_what_came_next() -> None:
    seen = np.arange(6, dtype=np.float32).reshape(3, 2)
    one = LivedEpisode(seen, np.ones((3, 4), dtype=np.bool_), np.array([0, 1, 2]), np.array([-0.1, -0.2, -0.3]))
    found = _transitions(one)
    assert found[4][:2].tolist() == seen[1:].tolist()
    assert found[6].tolist() == [1, 1, 0]
    assert found[3].tolist() == pytest.approx([-0.3, -0.6, -0.9])
