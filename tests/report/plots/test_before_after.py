from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.forecast.before_after import BeforeAfter
from jpo.records import Identity, Interval
from jpo.report.before_after import WorkloadChange
from jpo.report.plots.before_after import LETTERS, plot

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


def test_a_long_title_is_broken_and_not_cut(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    identity = Identity("a-data-set-with-a-long-name", "a-model-with-a-long-name", "framework")
    plot(replace(CHANGE, identity=identity), tmp_path / "a.svg")
    texts = re.findall("<!-- (.*) -->", (tmp_path / "a.svg").read_text())
    title = texts[next(at for at, text in enumerate(texts) if "a-data-set" in text) :]
    assert " ".join(title) == f"{identity}: 10 runs before JPO's first change, 8 after; 90% intervals"
    assert max(map(len, title)) <= LETTERS
