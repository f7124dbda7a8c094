from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from fronts import FRONT, NOTHING, fact, guess
from made import DIGITS
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

from jpo.errors import UsageError
from jpo.optimizer.pareto.front import Front
from jpo.records import Interval
from jpo.report.plots.front import plot


def texts(file: Path) -> list[str]:
    """What a picture says: matplotlib notes each text in a comment next to its outlines."""
    return re.findall("<!-- (.*?) -->", file.read_text())


def test_the_picture_says_what_is_what(tmp_path: Path) -> None:
    plot(FRONT, tmp_path / "front.svg")
    told = texts(tmp_path / "front.svg")
    for text in (
        "duration, h",
        "cost, USD",
        "measured, on the front",
        "predicted, on the front",
        "today",
        "suggested",
        "batch 64",
        "batch 128",
    ):
        assert text in told, text


def test_the_same_front_gives_the_same_picture(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        plot(FRONT, tmp_path / name)
    one, two = ((tmp_path / name).read_bytes() for name in ("one.svg", "two.svg"))
    assert one == two
    assert b"<dc:date>" not in one


@pytest.mark.parametrize(
    "front", [NOTHING, replace(FRONT, points=FRONT.points[:1]), replace(FRONT, workload=replace(DIGITS, model="$x_1^$"))]
)
def test_awkward_fronts_are_drawn_too(front: Front, tmp_path: Path) -> None:
    plot(front, tmp_path / "front.png")
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")


def test_points_far_apart_get_a_logarithmic_axis(tmp_path: Path) -> None:
    plot(replace(FRONT, points=(*FRONT.points, fact(8, 7200 * 40, 300))), tmp_path / "front.svg")
    assert {"10", "100"} <= set(texts(tmp_path / "front.svg"))


def test_each_further_objective_has_a_panel(tmp_path: Path) -> None:
    loss = "val_loss"
    points = tuple(
        replace(p, values={**p.values, loss: 0.1}, bounds=p.bounds and {**p.bounds, loss: Interval(0.1, 0.09, 0.2)})
        for p in FRONT.points
    )
    three = replace(FRONT, objectives={**FRONT.objectives, "loss": loss}, points=points)
    plot(three, tmp_path / "front.svg")
    assert texts(tmp_path / "front.svg").count("duration, h") == 2


def test_a_picture_that_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        plot(FRONT, tmp_path / "missing" / "front.png")


def test_labels_of_a_crowded_front_collide_with_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sixteen predictions in a corner, four of them in one place: no label over another, over a point or over a line to one."""
    figures: list[Figure] = []
    monkeypatch.setattr("jpo.report.plots.front.save", lambda figure, _file: figures.append(figure))
    near = [guess(8 * n, 5000.0 + 60 * (n % 4), 6.0 + 0.1 * (n // 4), on_expected_front=True) for n in range(1, 13)]
    same = [guess(1000 + n, 5400.0, 7.0, on_expected_front=True) for n in range(4)]
    plot(replace(FRONT, points=(*FRONT.points[:2], *near, *same)), tmp_path / "front.png")
    (axes,) = figures[0].axes
    labels = [one for one in axes.texts if isinstance(one, Annotation)]
    boxes = [Text.get_window_extent(one) for one in labels]
    assert len(boxes) >= 3
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert sum("(+3 alike)" in one.get_text() for one in labels) == 1
    for scatter in axes.collections:
        if isinstance(scatter, PathCollection):
            spots = axes.transData.transform(scatter.get_offsets())
            assert not any(box.contains(*spot) for box in boxes for spot in spots)
