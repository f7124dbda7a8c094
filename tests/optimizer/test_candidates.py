from __future__ import annotations

import numpy as np

from jpo.cost import Prices
from jpo.optimizer.candidates import BEST_BEFORE, MOST_RUNS, collect, weighed_runs, with_followers, with_row
from tests.optimizer.test_advise import FASTER, NOW, a_run, request


def test_candidates_say_whether_prices_are_known() -> None:
    assert not collect(request(), []).priced
    assert collect(request(prices=Prices(usd_per_cpu_hour=1.0)), []).priced
    assert np.all(np.isfinite(collect(request(), []).log_rate))


def test_a_configuration_that_is_asked_for_is_added_once_and_is_not_admissible() -> None:
    candidates = collect(request(), FASTER)
    more = with_row(candidates, {**NOW, "batch_size": 17.0}, Prices())
    assert len(more.values) == len(candidates.values) + 1
    assert not more.admissible[-1]
    assert with_row(more, {**NOW, "batch_size": 17.0}, Prices()) is more


def test_what_follows_a_value_set_by_hand_follows_unless_it_was_set_too() -> None:
    following = request(follow={"learning_rate": "batch_size:linear"})
    assert with_followers(following, {"batch_size": 32.0})["learning_rate"] == 0.02
    assert with_followers(following, {"batch_size": 32.0, "learning_rate": 0.5})["learning_rate"] == 0.5


def test_of_thousands_of_runs_the_newest_and_the_best_before_them_are_weighed() -> None:
    runs = [a_run(day, 100.0 + day % 7, batch_size=float(64 + day)) for day in range(MOST_RUNS + 500)]
    runs[100] = a_run(100, 1.0, batch_size=9.0)
    runs[3] = a_run(3, 900.0)
    weighed = weighed_runs(runs, NOW)
    assert weighed[-MOST_RUNS:] == runs[-MOST_RUNS:]
    assert runs[3] in weighed
    assert runs[100] in weighed
    assert [run.ended_at for run in weighed] == sorted(run.ended_at for run in weighed)
    assert len(weighed) <= MOST_RUNS + 3 * BEST_BEFORE + 1
    assert weighed_runs(runs[:MOST_RUNS], NOW) == runs[:MOST_RUNS]
