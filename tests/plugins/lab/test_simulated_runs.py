from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jpo.plugins.lab.fleet import Lane
from jpo.plugins.lab.kubernetes_workloads import draw_workload
from jpo.plugins.lab.simulated_runs import best_goal, goal, run_of, window
from jpo.records import Identity, Outcome, Preference, Run, RunStatus


def test_the_last_third_is_compared_and_at_most_ten_runs() -> None:
    assert [window(runs) for runs in (1, 6, 30, 100)] == [1, 2, 10, 10]


def test_luck_is_new_every_night_and_with_every_seed() -> None:
    job = draw_workload(0, 3, np.random.default_rng(0))
    runs = [run_of(job, job.first, night, seed, run_id="r", start=0.0) for night, seed in ((0, 0), (0, 0), (1, 0), (0, 1))]
    losses = [run.outcome.val_loss for run in runs]
    assert losses[0] == losses[1]
    assert len(set(losses)) == 3


def test_the_goal_by_hand_with_a_failed_run_paid_for() -> None:
    identity, values = Identity("d", "m", "f"), {"cpus": 1.0}

    def runs(*seconds: tuple[float, RunStatus]) -> tuple[Run, ...]:
        return tuple(Run("r", identity, values, status, None, 1.0, Outcome(s, cost_usd=s), "observe") for s, status in seconds)

    good, bad = RunStatus.SUCCEEDED, RunStatus.FAILED
    both = Lane("d", values, runs((100, good), (100, good)), runs((50, good), (30, bad)), None, 1.0)
    assert goal(both, Preference(0.5, 0.5), 2) == pytest.approx(0.8)
    assert goal(both, Preference(0.5, 0.5), 1) is None, "the last run failed"


def test_the_best_goal_is_that_of_the_best_configuration_that_works() -> None:
    job = draw_workload(0, 3, np.random.default_rng(0))
    fails = np.ones_like(job.draws.fails)
    fails[0, [job.grid.current, job.grid.current - 1]] = False
    few = replace(job, draws=replace(job.draws, fails=fails))
    assert best_goal(job, Preference(1.0, 0.0), 0) < best_goal(few, Preference(1.0, 0.0), 0)
    at = few.draws.log_loss[0, few.grid.current - 1]
    there = few.draws.log_time[0, few.grid.current - 1] + 3 * max(0.0, at - np.log(1.02))
    assert best_goal(few, Preference(1.0, 0.0), 0) == pytest.approx(min(1.0, np.exp(there)))
