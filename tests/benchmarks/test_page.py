"""docs/benchmarks.md: its figures are those of the tables, its pictures those of the figures."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

PAGE = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks/page.py"))
ROOT = PAGE["ROOT"]
TABLE = "| who | cost | time |\n|---|---|---|\n| jpo | 1.0 ± 0.1 | 2.0 |\n"
ROW = {"name": "JPO", "who": "jpo", "row": "| jpo |"}


def test_page_pictures_and_data_are_as_the_tables_have_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert PAGE["main"](["--check"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", PAGE["FIGURES"])
def test_a_figure_says_how_it_was_measured_and_its_picture_is_small(name: str) -> None:
    figure = json.loads((ROOT / f"docs/benchmarks/{name}.json").read_text())
    assert all(figure[key] for key in ("title", "shows", "command", "measured", "interval", "axis"))
    assert "commit " in figure["measured"]
    assert (ROOT / figure["command"].split()[1]).is_file()
    assert (ROOT / f"docs/benchmarks/{name}.svg").stat().st_size < 8_000


def test_a_cell_is_found_by_its_row_its_column_and_what_stands_above() -> None:
    text = f"## a\n{TABLE}\n## b\n{TABLE.replace('1.0', '3.0')}"
    rows, missing = PAGE["read"]([{"group": "all"}, {**ROW, "column": 1}, {**ROW, "column": 1, "below": "## b"}], text)
    assert ([row.get("said") for row in rows], missing) == ([None, "1.0 ± 0.1", "3.0 ± 0.1"], [])
    assert PAGE["read"]([{**ROW, "column": 3}, {**ROW, "column": 1, "row": "| tpe |"}], text) == ([], ["JPO", "JPO"])


def test_what_make_bench_measured_is_preferred_if_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PAGE["measured"].__globals__, "ROOT", tmp_path)
    line = "Measured by `python benchmarks/a.py`: 2026-12-01, x86_64, commit abc, load 1; exit code 0.\n"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text(f"{TABLE}\n{line}\n{TABLE.replace('1.0', '3.0')}| tpe | 5.0 | 6.0 |\n")
    by_hand = {"tables": "a.md", "command": "by hand", "measured": "then", "rows": [{**ROW, "column": 1}]}
    new = PAGE["measured"](by_hand)
    assert (new["command"], new["measured"]) == ("python benchmarks/a.py", "2026-12-01, x86_64, commit abc, load 1")
    assert new["rows"][0]["said"] == "1.0 ± 0.1"
    old = PAGE["measured"]({**by_hand, "rows": [*by_hand["rows"], {**ROW, "row": "| tpe |", "column": 1}]})
    assert (old["measured"], [row["said"] for row in old["rows"]]) == ("then", ["3.0 ± 0.1", "5.0"])
    with pytest.raises(SystemExit, match="no row or column for"):
        PAGE["measured"]({**by_hand, "rows": [{**ROW, "column": 7}]})
