"""The page that text is printed on: as wide as asked for, and names are shown as they are."""

from __future__ import annotations

import pytest

from jpo.report.page import blank_page, text_of


@pytest.mark.parametrize("width", [20, 60])
def test_a_line_fills_the_page_and_is_no_wider(width: int) -> None:
    page = blank_page(width, colour=False)
    page.print("x" * 130)
    lines = text_of(page).split("\n")
    assert max(map(len, lines)) == width
    assert "".join(lines) == "x" * 130


def test_lines_end_without_blanks() -> None:
    page = blank_page(20, colour=False)
    page.print("a   ")
    page.print("b")
    assert text_of(page) == "a\nb\n"


def test_colours_are_there_only_where_asked_for() -> None:
    for colour in (True, False):
        page = blank_page(20, colour=colour)
        page.print("12 warning", style="bold red")
        assert ("\x1b[" in text_of(page)) is colour


def test_names_are_no_instructions_unless_markup_is_asked_for() -> None:
    for markup, text in ((False, "[bold]a[/bold] :smile: 12\n"), (True, "a :smile: 12\n")):
        page = blank_page(40, colour=False, markup=markup)
        page.print("[bold]a[/bold] :smile: 12")
        assert text_of(page) == text
