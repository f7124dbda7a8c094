from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.report.plots.picture import save


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    figures = pytest.importorskip("matplotlib.figure")
    for name in ("one.svg", "two.svg"):
        figure = figures.Figure()
        figure.subplots().plot([1, 2], [2, 1])
        save(figure, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    figures = pytest.importorskip("matplotlib.figure")
    with pytest.raises(UsageError, match="cannot be written"):
        save(figures.Figure(), tmp_path / "missing" / "a.png")
