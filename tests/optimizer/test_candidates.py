from __future__ import annotations

from dataclasses import astuple, replace

import numpy as np
import pytest

from jpo.agent.candidate_rows import rows_of_runs
from jpo.cost import Prices
from jpo.forecast.belief import at_rows
from jpo.forecast.predict import predict
from jpo.optimizer.candidates import (
    BEST_BEFORE,
    MOST_RUNS,
    candidates_at,
    collect,
    rows_pooled_with,
    weighed_runs,
    with_followers,
    with_row,
)
from jpo.optimizer.prior import Prior, believe, prior_of
from jpo.records import Outcome
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


@pytest.mark.parametrize("prices", [Prices(), Prices(usd_per_gpu_hour=2.0)])
@pytest.mark.parametrize("samples", [None, 1e6])
@pytest.mark.parametrize("memories", [(), (32.0, 16.0, 64.0, 32.0)])
def test_a_belief_at_the_rows_of_the_runs_is_that_at_all_candidates(
    prices: Prices, samples: float | None, memories: tuple[float, ...]
) -> None:
    now = {"batch_size": 32.0, "learning_rate": 0.01, "gpus": 1.0, **({"memory_gib": memories[0]} if memories else {})}
    told = {"samples": samples, "memory_gib": 6.0, "val_loss": 0.5}
    runs = [
        replace(
            a_run(
                i,
                100.0 + i,
                **{
                    **now,
                    "learning_rate": 0.01 * 2**i,
                    "batch_size": 32.0 * 2 ** (i % 3),
                    **({"memory_gib": memories[i]} if memories else {}),
                },
            ),
            outcome=Outcome(100.0 + i, energy_joules=1e5 * 1.5**i, **told),
        )
        for i in range(4)
    ]
    candidates = collect(request(prices=prices, current=now, free=tuple(now)), runs)
    prior, rows = prior_of(candidates, 0), rows_pooled_with(candidates, rows_of_runs(candidates, runs))
    some = candidates_at(candidates, rows)
    recalled = prior.recalled and replace(prior.recalled, draws=at_rows(prior.recalled.draws, rows))
    whole, part = believe(prior, candidates, runs), believe(Prior(at_rows(prior.draws, rows), recalled), some, runs)
    assert len(rows) < len(candidates.values)
    for row in rows_of_runs(some, runs):
        told_of_all, told_here = (predict(b, int(at), usd_per_hour=1.0) for b, at in ((whole, rows[row]), (part, row)))
        for quantity in ("duration_seconds", "cost_usd", "val_loss"):
            assert astuple(getattr(told_here, quantity)) == pytest.approx(astuple(getattr(told_of_all, quantity)))
