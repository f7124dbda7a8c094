"""What a search knows: the first step, then the Gaussian process; and what runs say of it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jpo.agent.comparison import Comparison
from jpo.optimizer.prior import believe, prior_of
from jpo.optimizer.search import MOST_RUNS, best_of, objectives_of, places, search_values
from jpo.records import Candidates, Identity, Outcome, Preference, Run, RunStatus

LOSS, TIME = Preference(0.0, 0.0, 0.0, 1.0), Preference(1.0, 0.0, 0.0, 0.0)
DROPOUTS = (0.0, 0.1, 0.2, 0.3, 0.4)
CANDIDATES = Candidates(
    ("dropout",), np.array([[value] for value in DROPOUTS]), 0, np.ones(5, dtype=np.bool_), np.zeros(5), priced=False
)


def run(number: int, dropout: float, loss: float | None, status: RunStatus = RunStatus.SUCCEEDED) -> Run:
    outcome = Outcome(duration_seconds=600.0, val_loss=loss)
    return Run(str(number), Identity("d", "m", "f"), {"dropout": dropout}, status, None, float(number), outcome, "told")


def comparison(runs: list[Run], preference: Preference = LOSS) -> Comparison:
    return Comparison(CANDIDATES, believe(prior_of(CANDIDATES, 0), CANDIDATES, runs), preference)


def test_a_run_counts_against_the_first_and_a_failed_one_as_the_worst() -> None:
    runs = [run(0, 0.0, 1.0), run(1, 0.1, 3.0), run(2, 0.2, None, RunStatus.FAILED), run(3, 0.3, None)]
    rows, values = objectives_of(CANDIDATES, runs, LOSS)
    assert rows.tolist() == [0, 1, 2]  # without a loss a run that ended well says nothing
    assert values == pytest.approx([0.0, math.log(3), math.log(3)])


def test_many_runs_are_the_newest_and_the_best() -> None:
    runs = [run(i, 0.0, 1.0 + i) for i in range(MOST_RUNS + 20)]
    _, values = objectives_of(CANDIDATES, runs, LOSS)
    assert len(values) == MOST_RUNS
    assert (values.min(), values.max()) == (0.0, pytest.approx(math.log(MOST_RUNS + 20)))


def test_after_one_run_a_search_for_a_loss_goes_to_the_middle_and_one_for_time_where_the_belief_says() -> None:
    runs = [run(0, 0.0, 1.0)]
    assert search_values(comparison(runs), runs, None).promise.argmax() == 2
    timed = comparison(runs, TIME)
    assert search_values(timed, runs, None).promise is timed.weighed.improvement


def test_the_best_is_by_all_runs_and_not_the_luckiest() -> None:
    losses = [(0.0, 2.0), (0.1, 1.5), (0.2, 1.2), (0.3, 1.05), (0.4, 1.0), (0.4, 1.02), (0.0, 0.99), *[(0.0, 2.0)] * 6]
    runs = [run(i, *pair) for i, pair in enumerate(losses)]
    assert search_values(comparison(runs), runs, None).best == 4


def test_words_have_a_column_each_and_numbers_their_scale() -> None:
    values = np.array([[0.001, 0.0], [0.1, 1.0], [0.01, 2.0]])
    both = Candidates(("learning_rate", "optimizer"), values, 0, np.ones(3, dtype=np.bool_), np.zeros(3), words={"optimizer": {}})
    points, knobs = places(both)
    assert knobs.tolist() == [0, 1, 1, 1]
    assert points[:, 0] == pytest.approx([0.0, 1.0, 0.5])
    assert points[1] @ points[1] == pytest.approx(1.5)


def test_candidates_lie_around_the_two_best_runs() -> None:
    runs = [run(0, 0.0, 3.0), run(1, 0.1, None), run(2, 0.2, 1.0), run(3, 0.3, 2.0)]
    assert best_of(runs, LOSS, lambda _: 0.0) == [{"dropout": 0.2}, {"dropout": 0.3}]
    assert best_of([run(0, 0.0, None, RunStatus.FAILED)], LOSS, lambda _: 0.0) == []
