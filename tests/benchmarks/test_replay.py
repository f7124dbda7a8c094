"""The replay benchmark: that it runs anywhere, and that it says where JPO loses."""

from __future__ import annotations

import math
import runpy
from pathlib import Path

import pytest

from jpo.plugins.lab.replay.contest import Standing
from jpo.plugins.lab.replay.metrics import Estimate, Score

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "replay.py"
REPLAY = runpy.run_path(str(SCRIPT))
NOTHING = Estimate(0.0, 0.0)


def standing(mean: float, error: float = 0.01) -> Standing:
    score = Score((Estimate(mean, error),), NOTHING, NOTHING, NOTHING)
    return Standing(score, {"one": score})


@pytest.mark.slow
def test_it_runs_without_any_trace_and_says_what_that_means(capsys: pytest.CaptureFixture[str]) -> None:
    assert REPLAY["main"](["--quick", "--jobs", "1", "--seeds", "1"]) == 0
    page = capsys.readouterr().out
    assert "flatters JPO" in page
    for objective in ("balanced", "time", "cost"):
        assert f"Where JPO loses ({objective}): " in page
    assert "| jpo |" in page


def test_a_peer_wins_only_beyond_the_luck_of_the_draws() -> None:
    losses = REPLAY["losses"]
    lost = losses("time", {"jpo": standing(1.5), "zeus": standing(1.3), "random": standing(1.4)}, (1,))
    assert lost == "Where JPO loses (time): at N = 1 to zeus (1.50 against 1.30). On single workloads, at N = 1: one."
    even = losses("time", {"jpo": standing(1.5, 0.1), "zeus": standing(1.3, 0.1)}, (1,))
    assert even == "Where JPO loses (time): nowhere. On single workloads, at N = 1: on none."


def test_variants_of_jpo_are_no_peers_and_unknown_errors_count_as_none() -> None:
    scores = {"jpo": standing(1.5, math.nan), "jpo-bold": standing(1.0), "zeus": standing(1.49, math.nan)}
    assert "to zeus (1.50 against 1.49)" in REPLAY["losses"]("cost", scores, (1,))


def test_the_best_figure_of_each_column_is_bold() -> None:
    rows = REPLAY["rows"]({"jpo": standing(1.2), "zeus": standing(1.3)}, (1,))
    assert rows[2].startswith("| jpo | **1.2** ± 0.01 |")
    assert rows[3].startswith("| zeus | 1.3 ± 0.01 |")


def test_simulated_traces_can_be_replayed_and_are_always_the_same() -> None:
    first, again = REPLAY["simulated_traces"](2), REPLAY["simulated_traces"](2)
    assert first == again
    assert all(trace.executions[trace.default][0].converged for trace in first)
