"""The notebook-shaped example, cell by cell as a notebook runs it: what ends a cell is shown."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "search" / "search.py"


def test_every_cell_runs_and_the_search_found_something_better() -> None:
    pytest.importorskip("pandas", reason="the table of the runs is pandas'")
    cells = EXAMPLE.read_text().split("\n# %%")
    names: dict[str, object] = {}
    shown = [run_cell(cell, names) for cell in cells if not cell.startswith((" [markdown]", "# %% [markdown]"))]
    runs, search = names["runs"], names["search"]
    assert len(runs) == 8  # type: ignore[arg-type]
    best, first = runs["val_loss"].min(), runs["val_loss"].iloc[0]  # type: ignore[index]
    assert best < first
    assert dict(search.parameters) == shown[2]  # type: ignore[attr-defined]
    assert "val_loss" in repr(shown[3])
    assert shown[4]


def run_cell(cell: str, names: dict[str, object]) -> object:
    """Run a cell; what a notebook shows of it."""
    tree = ast.parse(f"#{cell}")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(EXAMPLE), "exec"), names)  # noqa: S102
    return eval(compile(ast.Expression(last.value), str(EXAMPLE), "eval"), names) if isinstance(last, ast.Expr) else None  # noqa: S307
