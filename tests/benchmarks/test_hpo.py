"""The search benchmark: that it runs anywhere, and that its figures are computed as its text says."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

from jpo import Outcome

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "hpo.py"
HPO = runpy.run_path(str(SCRIPT))
SPACE = ({"batch_size": 1.0}, {"batch_size": 2.0}, {"batch_size": 4.0})


def toy(name: str = "toy") -> object:
    """Values sqrt(seconds x error): 2 (the default), 1 (the optimum) and 4."""
    return HPO["Task"](name, SPACE, 0, np.array([8.0, 2.0, 32.0]), np.array([0.5, 0.5, 0.5]))


class Listed:
    """Runs the rows of a list."""

    def __init__(self, rows: list[int]) -> None:
        self.rows = rows
        self.told: list[tuple[int, float]] = []

    def ask(self) -> int:
        return self.rows.pop(0)

    def tell(self, choice: int, outcome: Outcome, charge: float) -> None:
        self.told.append((choice, charge))


@pytest.mark.slow
def test_it_runs_without_any_table_and_every_policy_takes_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert HPO["main"](["--quick", "--seeds", "1", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert list(figures) == list(HPO["MAKES"])
    assert all(0 <= figure["regret"]["5"] <= figure["regret"]["1"] <= 1 for figure in figures.values())


def test_regret_cost_and_share_by_hand() -> None:
    figures = HPO["summarise"]([toy(), toy()], [[2, 1], [0, 2]], (1, 2))
    assert figures.regret == {1: 1.0, 2: 0.5}  # the optimum in the second run of the first search, never in the other
    assert figures.error[2] == pytest.approx(0.5)
    assert figures.cost == pytest.approx((2 + 0.5 + 1 + 2) / 4)
    assert figures.worse == 0.5


def test_a_search_starts_with_the_default_and_gets_the_value() -> None:
    listed = Listed([2, 1])
    assert HPO["search"](toy(), 0, lambda *_: listed, [], runs=2) == [2, 1]
    assert listed.told == [(0, pytest.approx(2.0)), (2, pytest.approx(4.0)), (1, pytest.approx(1.0))]


def test_a_task_whose_default_is_the_optimum_is_left_out() -> None:
    done = HPO["Task"]("done", SPACE, 0, np.array([1.0, 2.0, 3.0]), np.ones(3))
    figures = HPO["measure"]([done, toy()], {"listed": lambda *_: Listed([1])}, seeds=1, after=(1,))
    assert figures["listed"].regret == {1: 0.0}


def test_the_grid_table_becomes_a_task() -> None:
    pd = pytest.importorskip("pandas")
    rows = {"batch_size": [64, 128], "learning_rate": np.float32([0.01, 0.01]), "num_layers": [3, 3]}
    for epochs in (12, 25, 50):
        rows |= {f"val_acc_e{epochs}": [90.0, 100.0], f"time_s_e{epochs}": [1.0 * epochs, 2.0 * epochs]}
    task = HPO["task_of"]("t", pd.DataFrame(rows))
    assert task.configurations[task.default] == {"batch_size": 128, "learning_rate": 0.01, "num_layers": 3, "epochs": 50}
    assert (task.seconds[0], task.error[0]) == (12.0, pytest.approx(0.1))
    assert task.error[task.default] == 0.001  # no error is counted below one in a thousand


def test_runs_of_other_tasks_are_known_by_their_name_and_hold_the_default() -> None:
    runs = HPO["finished_runs"](toy("other"), 2, 0)
    assert [name for name, _, _ in runs] == ["other", "other"]
    assert runs[0][1:] == (SPACE[0], Outcome(duration_seconds=8.0, val_loss=0.5))
    assert HPO["finished_runs"](toy("other"), 0, 0) == []


def test_jpo_knows_the_other_tasks_and_never_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    histories: list[list[str]] = []

    class Recorder:
        def __init__(self, *_: object, history: list[tuple[str, object, Outcome]], **__: object) -> None:
            histories.append([name for name, _, _ in history])

    monkeypatch.setitem(HPO["Advised"].__init__.__globals__, "Advisor", Recorder)
    tasks = [toy("mine"), toy("other")]
    for known_runs in (0, 2):
        HPO["Advised"](tasks[0], tasks, 0, known_runs=known_runs)
    assert histories == [[], ["other", "other"]]


def test_where_jpo_loses_is_said_of_each_variant() -> None:
    figures = {
        name: HPO["Figures"]({1: regret}, {1: 0.0}, 1.0, 0.0)
        for name, regret in (("jpo", 0.5), ("jpo-bold", 0.1), ("gp-ei", 0.2))
    }
    assert HPO["losses"](figures, (1,)) == "Where JPO loses. jpo: after 1 to gp-ei; jpo-bold: nowhere."
