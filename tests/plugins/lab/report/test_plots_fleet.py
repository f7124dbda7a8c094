from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fleets import BAD, fleet, lane, run

from jpo.plugins.lab.fleet import ratios
from jpo.plugins.lab.report.plots_fleet import plot


def test_a_failed_run_in_the_picture_counts_one_unchanged_run_more() -> None:
    one = lane([run(100), run(100), run(30, BAD)], [run(50), run(20, BAD), run(80)])
    assert ratios(fleet(one), "duration_seconds") == pytest.approx(np.array([[0.5, 1.2, 0.8]]))


@pytest.mark.parametrize("lanes", [1, 3])
def test_a_picture_is_drawn_with_nothing_but_failures(lanes: int, tmp_path: Path) -> None:
    some = fleet(*(lane([run(5, BAD)] * 2, [run(5, BAD)] * 2, goal=None) for _ in range(lanes)))
    plot(some, tmp_path / "fleet.png")
    assert (tmp_path / "fleet.png").read_bytes()[:4] == b"\x89PNG"
