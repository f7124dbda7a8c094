from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from fronts import FRONT, NOTHING, fact, guess
from made import DIGITS

from jpo.errors import UsageError
from jpo.forecast.before_after import BeforeAfter
from jpo.optimizer.pareto.front import Front
from jpo.records import USD, Identity, Interval
from jpo.report import before_after, front
from jpo.report.before_after import WorkloadChange
from jpo.report.document import Marks, Plot
from jpo.report.forms import svg
from jpo.report.forms.picture import can_plot, save

LINES = (
    BeforeAfter("duration_seconds", "ratio", 100.0, 62.0, 10, 8, Interval(0.62, 0.5, 0.78), "better"),
    BeforeAfter("failed", "difference", 0.1, 0.0, 10, 8, Interval(-0.1, -0.35, 0.22), "no clear change"),
)
CHANGE = WorkloadChange(Identity("d", "m$x", "f"), 100.0, 200.0, 10, 8, 2, LINES, ())


def drawn(charts: list[Plot], file: Path, title: str = "<a> $x$") -> str:
    save(charts, file, title)
    return file.read_text()


def texts(picture: str) -> list[str]:
    return re.findall("<text [^>]*>([^<]*)</text>", picture)


def test_a_picture_that_could_not_be_drawn_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"neither \.png nor \.svg"):
        can_plot(Path("fleet.pdf"))
    monkeypatch.setattr("jpo.report.forms.picture.find_spec", lambda name: None)
    can_plot(Path("fleet.SVG"))
    with pytest.raises(UsageError, match="needs matplotlib"):
        can_plot(Path("fleet.png"))


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        save(front.charts(FRONT), tmp_path / "missing" / "a.svg", "t")


@pytest.mark.parametrize("form", ["svg", "png"])
def test_equal_charts_give_equal_bytes(tmp_path: Path, form: str) -> None:
    if form == "png":
        pytest.importorskip("matplotlib")
    for name in ("one", "two"):
        save(front.charts(FRONT), tmp_path / f"{name}.{form}", "t")
    one, two = ((tmp_path / f"{name}.{form}").read_bytes() for name in ("one", "two"))
    assert one == two
    assert one.startswith(b"\x89PNG" if form == "png" else b"<svg xmlns=")


def test_the_picture_says_what_is_what(tmp_path: Path) -> None:
    told = texts(drawn(front.charts(FRONT), tmp_path / "front.svg"))
    kinds = {"measured, on the front", "predicted, on the front", "today", "suggested"}
    assert kinds | {"&lt;a&gt; $x$", "cost, USD", "duration", "batch 64", "batch 128", "2h 00m"} <= set(told)
    assert "predicted, dominated" not in told


@pytest.mark.parametrize(
    "awkward", [NOTHING, replace(FRONT, points=FRONT.points[:1]), replace(FRONT, workload=replace(DIGITS, model="$x_1^$"))]
)
def test_awkward_fronts_are_drawn_too(awkward: Front, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    save(front.charts(awkward), tmp_path / "front.png", str(awkward.workload))
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")
    assert ("nothing is known yet" in drawn(front.charts(awkward), tmp_path / "a.svg")) == (awkward is NOTHING)


def test_each_further_objective_has_a_chart_and_of_three_the_front_is_no_line() -> None:
    points = tuple(
        replace(p, values={**p.values, "val_loss": 0.1}, bounds=p.bounds and {**p.bounds, "val_loss": Interval(0.1, 0.09, 0.2)})
        for p in FRONT.points
    )
    three = front.charts(replace(FRONT, objectives={**FRONT.objectives, "loss": "val_loss"}, points=points))
    assert [chart.title for chart in three] == ["cost by duration", "val loss by duration"]
    joined = [[marks.joined for marks in charts[0].marks if marks.joined] for charts in (three, front.charts(FRONT))]
    assert joined == [[], ["steps", "steps"]]


def test_texts_next_to_points_meet_neither_points_nor_texts() -> None:
    """Sixteen predictions in a corner, four of them in one place."""
    near = [guess(8 * n, 5000.0 + 60 * (n % 4), 6.0 + 0.1 * (n // 4), on_expected_front=True) for n in range(1, 13)]
    same = [guess(1000 + n, 5400.0, 7.0, on_expected_front=True) for n in range(4)]
    (chart,) = front.charts(replace(FRONT, points=(*FRONT.points[:2], *near, *same, fact(8, 9000, 9.5, on_front=True))))
    found = svg.drawing(chart, USD)
    boxes = []
    for at, end, y, text in found.labels:
        left = at - svg.LETTER * len(text) if end.endswith("end") else at
        boxes.append((left, y - 10, left + svg.LETTER * len(text), y + 3))
    assert len(boxes) >= 4
    assert not any(svg.meet(one, other) for one, other in combinations(boxes, 2))
    places = [(found.x.place(x), found.y.place(y)) for marks in chart.marks if marks.name for x, y in marks.points]
    assert not any(left < x < right and top < y < bottom for left, top, right, bottom in boxes for x, y in places)


def test_ratios_have_their_change_and_differences_are_not_drawn(tmp_path: Path) -> None:
    told = texts(drawn([before_after.chart(CHANGE)], tmp_path / "a.svg"))
    assert "duration per model: -38% (-50% to -22%), better" in told
    assert not any("failed" in text for text in told)
    assert before_after.chart(replace(CHANGE, lines=())).points == ()


def test_a_long_title_is_broken_and_not_cut(tmp_path: Path) -> None:
    title = "a-data-set-with-a-long-name/a-model-with-a-long-name/framework: 10 runs before JPO's first change, 8 after it"
    told = texts(drawn([before_after.chart(CHANGE)], tmp_path / "a.svg", title.replace("'", "’")))
    assert title.replace("'", "’") in " ".join(told)
    assert max(map(len, told)) * svg.LETTER <= 1.15 * svg.WIDTH


def test_bands_bars_and_levels_stay_within_the_axes() -> None:
    points, reach = ((1.0, 2.0), (2.0, 3.0)), ((0.0, 9.0, 0.0, 90.0), (1.0, 3.0, 1.0, 2.0))
    kinds = (Marks("bars", points, reach=reach), Marks("band", points, hue=1, joined="line", reach=reach))
    chart = Plot("t", "d", "", "", kinds, level=2.5)
    lines = {kind: strokes for kind, strokes, _ in svg.drawing(chart, USD).lines}
    assert list(lines) == ["level", "bar", "band hue1", "joined hue1"]
    assert [len(points) for points in lines["band hue1"]] == [4]
    places = [place for strokes in lines.values() for points in strokes for place in points]
    assert all(svg.LEFT <= x <= svg.WIDTH - svg.RIGHT and svg.TOP <= y <= svg.HEIGHT - svg.BOTTOM for x, y in places)


def test_a_level_is_in_the_picture_wherever_the_points_are() -> None:
    chart = Plot("t", "d", "", "", (Marks("a", ((1.0, 10.0), (2.0, 11.0))),), level=1.0)
    ((_, [[(_, y), _]], _),) = svg.drawing(chart, USD).lines
    assert svg.TOP < y < svg.HEIGHT - svg.BOTTOM
