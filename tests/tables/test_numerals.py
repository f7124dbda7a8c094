"""What tables prove of their numerals, and what they leave open."""

from __future__ import annotations

import pytest

from jpo.tables.numerals import plain, style_of


@pytest.mark.parametrize(
    ("cells", "style"),
    [
        (["0,41", "1.024", "a"], "comma"),
        (["1,5 h"], "comma"),
        (["1.500.000"], "comma"),
        (["1.500,25"], "comma"),
        (["2,5e-5"], "comma"),
        (["0.41", "1,024"], "point"),
        (["1,500,000"], "point"),
        (["1,500.25"], "point"),
        ([".5", "90%"], None),
        (["1,024", "2.048", "16", "", "text, and more.", "2026-01-01", "1.2.3", "02.01.2026"], None),
        (["0,41", "0.41"], None),
    ],
)
def test_what_a_table_proves(cells, style):
    assert style_of(cells) == style


@pytest.mark.parametrize(
    ("cell", "style", "number"),
    [
        ("0,41", "comma", "0.41"),
        ("1.024", "comma", "1024"),
        ("-1.500,25", "comma", "-1500.25"),
        ("1,5 h", "comma", "1.5 h"),
        ("2,5e-5", "comma", "2.5e-5"),
        ("1,024", "point", "1024"),
        ("1,024.5%", "point", "1024.5%"),
        ("1,024", None, "1,024"),
        ("adam, sgd", "comma", "adam, sgd"),
        ("2026-01-01", "comma", "2026-01-01"),
        ("02.01.2026", "comma", "02.01.2026"),
        ("1,24", "point", "1,24"),
    ],
)
def test_a_cell_in_a_style(cell, style, number):
    assert plain(cell, style) == number
