"""The benchmark of searches: that it runs, and that its functions and intervals are as its text says."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

SEARCH = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "search.py"))


def test_jpo_plays(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--seeds", "1", "--runs", "2", "3", "--players", "jpo", "--functions", "near", "--json"]
    assert SEARCH["main"](arguments) == 0
    figures = json.loads(capsys.readouterr().out)
    assert (figures["functions"], figures["runs"]) == (["near"], [2, 3])
    assert np.array(figures["left"]["jpo"]).shape == (1, 1, 2)


def test_peers_play_and_the_page_says_where_jpo_is_worse(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optuna", reason="optuna is not installed")
    assert SEARCH["main"](["--seeds", "2", "--runs", "2", "--players", "jpo;random", "--functions", "near,forest"]) == 0
    assert "worse by more than its interval: " in capsys.readouterr().out


@pytest.mark.parametrize("function", SEARCH["FUNCTIONS"], ids=lambda function: str(function.name))
def test_a_function_has_something_to_search(function: object) -> None:
    game = SEARCH["Game"](function, 0)
    assert game.height(function.start) > game.least() + 0.02  # type: ignore[attr-defined]


def test_an_interval_by_hand() -> None:
    assert SEARCH["interval"](np.array([0.0, 2.0])) == pytest.approx((1.0, 1 - 1.645, 1 + 1.645))
