"""The pictures of the benchmarks: a figure is read as a table has it, and stands where its axis says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

FOREST = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks/apparatus/forest.py"))
numbers, picture = FOREST["numbers"], FOREST["picture"]


@pytest.mark.parametrize(
    ("said", "figures"),
    [
        ("0.35", (0.35, 0.35, 0.35)),
        (".050", (0.05, 0.05, 0.05)),
        ("1.35 ± 0.25", (1.35, 1.1, 1.6)),
        ("**0.50 (0.45-0.55)**", (0.5, 0.45, 0.55)),
        ("-10.8 (-15.1 to -6.9)", (-10.8, -15.1, -6.9)),
        ("0.962 (0.960)", (0.962, 0.962, 0.962)),
        ("8.338 measured on 25 runs", (8.338, 8.338, 8.338)),
        ("1,016", (1016, 1016, 1016)),
    ],
)
def test_a_figure_is_read_as_a_table_has_it(said: str, figures: tuple[float, float, float]) -> None:
    assert numbers(said) == pytest.approx(figures)


def test_what_is_no_figure_is_refused() -> None:
    with pytest.raises(ValueError, match="'–' begins with no number"):
        numbers("–")


def test_points_stand_where_the_axis_says() -> None:
    rows = [
        {"group": "A & B"},
        {"name": "JPO", "who": "jpo", "said": "1.0 (0.5 to 2.0)"},
        {"name": "x", "who": "peer", "said": "4.0"},
    ]
    drawn = picture(rows, "cost; less is better", 1.0)
    assert re.findall(r"<text[^>]*>(.*?)</text>", drawn) == [
        "A &amp; B",
        "JPO",
        "1.0 (0.5 to 2.0)",
        "x",
        "4.0",
        "0",
        "1",
        "2",
        "3",
        "4",
        "cost; less is better",
    ]
    assert re.findall(r"cx='([\d.]+)'", drawn) == ["106.0", "388.0"]  # of 12 to 388, that are 0 to 4
    assert "M59.0 62H200.0" in drawn
    far = [rows[1], {**rows[2], "said": "100"}, {**rows[2], "said": "10"}]
    assert re.findall(r"cx=.([\d.]+)", picture(far, "", logarithmic=True)) == ["137.3", "388.0", "262.7"]  # 0.1 to 100
