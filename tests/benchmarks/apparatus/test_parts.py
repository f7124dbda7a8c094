"""The parts of `make bench`: a page is replaced once its script has ended, and what was written by hand stays below it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

PARTS = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks/apparatus/parts.py"))
measured, renewed, MEASURED = PARTS["measured"], PARTS["renewed"], PARTS["MEASURED"]
HOW = "Measured by `python benchmarks/nights.py`: 2026-11-30, x86_64, 2 cores, Python 3.11.7, commit {}, load 1; exit code 0."


def test_what_was_written_by_hand_stays_below_what_is_measured_again_and_again() -> None:
    first = renewed(
        "# Nights\n\n| old |\n", "nights", "## Nights\n\n### By kind\n\n```\n## no heading \n```\n", HOW.format("abc")
    )
    begin = f"# Nights\n\n## By kind\n\n```\n## no heading\n```\n\n{HOW.format('abc')}\n"
    assert first == f"{begin}\n## Remarks, and earlier figures\n\n| old |\n"
    again = renewed(first, "nights", "## Nights\n\n### By kind\n\n```\n## no heading\n```\n", HOW.format("abc"))
    assert again == first
    assert MEASURED.search(first)["commit"] == "abc"


def test_a_page_that_was_not_there_gets_a_title_and_nothing_else() -> None:
    assert renewed("", "early_stopping", "| a |\n", HOW.format("abc")) == f"# Early stopping\n\n| a |\n\n{HOW.format('abc')}\n"


@pytest.mark.parametrize(
    ("script", "code"),
    [("print('## A')", 0), ("print('## A\\n\\nDOES NOT HOLD'); raise SystemExit(1)", 1)],
    ids=["holds", "does not hold"],
)
def test_a_claim_that_does_not_hold_is_a_result(script: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(script)
    assert measured("a", ["--few"], tmp_path, tmp_path) == code
    page = (tmp_path / "a.md").read_text()
    assert page.startswith("# A\n")
    assert MEASURED.search(page)["command"] == "python benchmarks/a.py --few"
    assert f"exit code {code}." in page


@pytest.mark.parametrize("script", ["print('half'); 1 / 0", "raise SystemExit(2)", "pass"])
def test_a_script_that_fails_leaves_its_page_as_it_was(script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text(script)
    (tmp_path / "a.md").write_text("as it was")
    assert measured("a", [], tmp_path, tmp_path) == 1
    assert (tmp_path / "a.md").read_text() == "as it was"
    assert "not measured" in capsys.readouterr().err


def test_what_is_no_part_is_told() -> None:
    with pytest.raises(SystemExit, match=r"'knights' is no part; parts are .*nights"):
        PARTS["main"](["knights"])


def test_only_parts_of_other_code_are_measured_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    there = {"a": "abc", "b": "of before", "c": None}
    names = PARTS["main"].__globals__
    monkeypatch.setitem(names, "names", lambda: list(there))
    monkeypatch.setitem(names, "measured_at", there.get)
    monkeypatch.setitem(names, "commit", lambda: "abc")
    monkeypatch.setitem(names, "measured", lambda name, _: ran.append(name) or int(name == "c"))
    assert PARTS["main"]([]) == 1
    assert ran == ["b", "c"]
