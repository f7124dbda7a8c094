from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest

from jpo.records import USD, Currency
from jpo.report.document import Document, Marks, Plot
from jpo.report.forms import html, markdown, svg, text


def chart(points: tuple[tuple[float, float], ...], **given: object) -> Plot:
    axes = {"x": "moment", "y": "duration_seconds", **given}
    return Plot("Runs", "3 runs.", marks=(Marks("runs", points),), **axes)  # type: ignore[arg-type]


def numbers_in(path: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", path)]


def test_points_lie_inside_of_the_axes_with_the_larger_values_above_and_to_the_right() -> None:
    drawn = svg.drawing(chart(((0.0, 100.0), (86_400.0, 200.0))), USD)
    ((_, [[(left, bottom)], [(right, top)]]),) = drawn.dots
    assert svg.LEFT < left < right < svg.WIDTH - svg.RIGHT
    assert svg.TOP < top < bottom < svg.HEIGHT - svg.BOTTOM


def test_ticks_are_round_in_what_people_read_and_few() -> None:
    drawn = svg.drawing(chart(((0.0, 100.0), (20 * 86_400.0, 13_000.0))), USD)
    assert [said for _, said in drawn.x.ticks] == ["1970-01-01", "1970-01-08", "1970-01-15", "1970-01-22"]
    assert [said for _, said in drawn.y.ticks] == ["2m 00s", "10m 00s", "30m 00s", "2h 00m"]
    plain = svg.drawing(chart(((0.0, 3000.0), (100.0, 13_000.0))), USD)
    assert [said for _, said in plain.y.ticks] == ["0", "1h 00m", "2h 00m", "3h 00m"]


def test_money_has_round_numbers_in_the_readers_currency() -> None:
    drawn = svg.drawing(chart(((1.0, 2.0), (2.0, 9.0)), x="duration_seconds", y="cost_usd"), Currency("EUR", 0.5))
    assert [said for _, said in drawn.y.ticks] == ["0", "1.00", "2.00", "3.00", "4.00"]
    assert drawn.y.label == "cost, EUR"


def test_values_far_apart_are_on_a_logarithmic_axis() -> None:
    drawn = svg.drawing(chart(((0.0, 1.0), (1.0, 10.0), (2.0, 100.0))), USD)
    ((_, [[(_, first)], [(_, second)], [(_, third)]]),) = drawn.dots
    assert first - second == pytest.approx(second - third, abs=0.2)


@pytest.mark.parametrize(
    "points",
    [
        ((5.0, 7.0),),
        ((0.0, 0.0),),
        ((0.0, -1.0), (1.0, 1.0)),
        ((1.7e9, 1e-300), (1.7e9, 1e14)),
        ((1e14, 1e14), (-1e14, -1e14)),
        ((1.7e9, 1.0), (1.7e9 + 1e-6, 1.0 + 1e-15)),
    ],
)
def test_no_points_break_it(points: tuple[tuple[float, float], ...]) -> None:
    for x, y in (("moment", "duration_seconds"), ("duration_seconds", "cost_usd"), ("f1", "gpu_utilisation")):
        drawn = svg.drawing(chart(points, x=x, y=y, moments=((0.0, "a"), (1.7e9, "b"))), USD)
        paths = [svg.path(strokes) for _, strokes, *_ in (*drawn.dots, *drawn.lines)]
        assert all(math.isfinite(number) for path in paths for number in numbers_in(path))
        assert not re.search("nan|inf|e", "".join(paths))
        assert len(drawn.x.ticks) <= 2 * svg.TICKS_X + 2, "it is twice as wide"
        assert len(drawn.y.ticks) <= svg.TICKS_Y + 2


def test_what_changed_is_written_above_its_line_where_no_other_text_is() -> None:
    moments = tuple((at, f"trial: batch {at:g} → 64") for at in (10.0, 500.0, 520.0, 990.0))
    drawn = svg.drawing(chart(((0.0, 1.0), (1000.0, 2.0)), moments=moments), USD)
    labels = {text: (at, end, y) for at, end, y, text in drawn.labels}
    assert len(labels) == 4
    assert labels["trial: batch 990 → 64"][1] == " end", "to the right of its line is no room"
    (first, _, above), (second, _, below) = (labels[f"trial: batch {at} → 64"] for at in (500, 520))
    assert first < second < first + 22 * svg.LETTER
    assert above == below - svg.ROW
    ((_, [[(_, begins), (_, ends)]], _),) = [line for line in drawn.lines if line[2].endswith("500 → 64")]
    assert (begins, ends) == (above - svg.ROW + 4, 260)


def test_of_changes_without_room_the_newest_are_labelled_and_all_are_said_to_who_points_at_them() -> None:
    moments = tuple((float(at), f"trial: {at} and what else of it was changed in that night") for at in range(1000))
    drawn = svg.drawing(chart(((0.0, 1.0), (1000.0, 2.0)), moments=moments), USD)
    assert 4 <= len(drawn.labels) <= 2 * svg.WIDTH / (svg.LONGEST_LABEL * svg.LETTER) * svg.LABEL_ROWS
    assert drawn.labels[0][3] == "trial: 999 and what else of it wa…"
    assert len(drawn.lines) == 1000


def test_a_front_is_the_border_of_what_its_points_dominate() -> None:
    points = ((2.0, 3.0), (1.0, 9.0))
    drawn = svg.drawing(Plot("t", "d", "duration_seconds", "cost_usd", (Marks("front", points, joined="steps"),)), USD)
    ((kind, [[first, corner, last]], _),) = drawn.lines
    assert kind == "joined"
    assert corner == (last[0], first[1])


def test_who_does_not_see_it_has_its_description_in_every_form() -> None:
    document = Document("t", (chart(((1.0, 2.0), (3.0, 4.0)), key="A dashed line: now."),))
    page = html.render(document)
    assert 'role="img" aria-labelledby="s-1-t" aria-describedby="s-1-d"' in page
    assert '<p id="s-1-d" class="dim">3 runs. A dashed line: now.</p>' in page
    assert markdown.render(document) == "### t\n\n3 runs.\n"
    assert text.render(document, width=80, colour=False) == "t\n\n3 runs.\n"


def test_a_chart_without_points_is_not_shown() -> None:
    assert markdown.render(Document("t", (chart(()), "one"))) == "### t\n\none\n"


def test_what_is_bad_is_a_cross_and_not_only_red() -> None:
    marks = tuple(Marks(name, ((1.0, 2.0),), emphasis) for name, emphasis in (("well", "good"), ("not well", "bad")))
    drawn = svg.drawing(Plot("t", "d", "moment", "duration_seconds", marks), USD)
    assert [len(strokes) for _, strokes in drawn.dots] == [1, 2]
    assert [svg.path(signs[0].strokes) for _, signs in drawn.legend] == ["M6.0 6.0h0", "M2.5 2.5L9.5 9.5M9.5 2.5L2.5 9.5"]


@pytest.mark.parametrize("days", [0.002, 0.05, 0.3, 1, 2, 3, 5, 8, 13, 20, 45, 60, 100, 300, 700])
def test_an_axis_of_days_has_numbers_enough_to_read_it(days: float) -> None:
    drawn = svg.drawing(chart(((1.75e9, 2.0), (1.75e9 + days * 86_400, 4.0))), USD)
    texts = [text for _, text in drawn.x.ticks]
    assert 2 <= len(set(texts)) == len(texts) <= 5
    assert len({round(later - one) for (one, _), (later, _) in pairwise(drawn.x.ticks)}) == 1


def test_very_many_changes_do_not_hide_the_points() -> None:
    for count, kind in ((svg.FEW_MOMENTS, "moment"), (svg.FEW_MOMENTS + 1, "moment many")):
        moments = tuple((float(at), "a") for at in range(count))
        assert {line[0] for line in svg.drawing(chart(((1.0, 9.0),), moments=moments), USD).lines} == {kind}
