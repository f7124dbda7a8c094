"""Elasticity: Amdahl's law by hand, and ranges that cannot be."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.cluster.workload.elasticity import SERIAL_SHARE, Elasticity, speedup


def test_speedup_by_hand() -> None:
    """1 / (.5 + .5 / 4) = 1.6; all parallel: 4; all serial: 1; eight tasks with the default share: 1 / (.05 + .95 / 8)."""
    found = speedup(np.array([4.0, 4.0, 4.0, 8.0]), np.array([0.5, 0.0, 1.0, SERIAL_SHARE]))
    assert found.tolist() == pytest.approx([1.6, 4.0, 1.0, 5.926], abs=1e-3)


@pytest.mark.parametrize(
    ("least", "most", "share", "finding"),
    [
        ([0], [1], [0.1], "no task"),
        ([3], [2], [0.1], "fewer at most"),
        ([1], [2], [1.1], "0 to 1"),
        ([1], [2, 3], [0.0], "lengths"),
    ],
)
def test_what_cannot_be_is_refused(least: list[int], most: list[int], share: list[float], finding: str) -> None:
    with pytest.raises(ValueError, match=finding):
        Elasticity(np.array(least), np.array(most), np.array(share))
