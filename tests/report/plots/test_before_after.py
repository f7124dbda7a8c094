from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.forecast.before_after import BeforeAfter
from jpo.records import Identity, Interval
from jpo.report.before_after import WorkloadChange
from jpo.report.plots.before_after import plot

LINES = (
    BeforeAfter("duration_seconds", "ratio", 100.0, 62.0, 10, 8, Interval(0.62, 0.5, 0.78), "better"),
    BeforeAfter("failed", "difference", 0.1, 0.0, 10, 8, Interval(-0.1, -0.35, 0.22), "no clear change"),
)
CHANGE = WorkloadChange(Identity("d", "m$x", "f"), 100.0, 200.0, 10, 8, 2, LINES, ())
NOTHING = WorkloadChange(Identity("d", "m", "f"), None, None, 1, 0, 0, (), ())


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_the_picture_is_drawn_for_any_name(tmp_path: Path, name: str) -> None:
    pytest.importorskip("matplotlib")
    plot(CHANGE, tmp_path / name)
    assert (tmp_path / name).read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")


def test_ratios_have_their_change_and_differences_are_not_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plot(CHANGE, tmp_path / "a.svg")
    page = (tmp_path / "a.svg").read_text()
    assert "<!-- -38%, better -->" in page
    assert "<!-- duration per model -->" in page
    assert "points" not in page.partition("</metadata>")[2].replace("stroke-linejoin", "")


def test_a_picture_of_nothing_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(UsageError, match="too few runs of d/m/f"):
        plot(NOTHING, tmp_path / "a.png")
