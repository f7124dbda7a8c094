import math

import numpy as np
import pytest

from jpo.agent.reward import OVERSPENT, WORST, failed_like, objective, regret_reward, reward_vector
from jpo.records import Identity, Outcome, Preference, Run, RunStatus

COST = Preference(0, 1, 0)
BALANCED = Preference(0.5, 0.5, 0)


def run(**outcome):
    return Run("r", Identity("d", "m", "f"), {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(**outcome), "observe")


def test_a_run_is_compared_with_the_reference_by_log_ratios():
    now, then = (
        run(duration_seconds=50.0, cost_usd=3.0, val_loss=0.2, gpu_utilisation=0.8),
        run(duration_seconds=100.0, cost_usd=2.0, val_loss=0.4, gpu_utilisation=0.4),
    )
    assert reward_vector(now, then, 0.0) == pytest.approx([math.log(0.5), math.log(1.5), math.log(2), math.log(0.5), 0, 0])


def test_a_missing_cost_is_time_times_price_and_a_missing_loss_is_nan():
    vector = reward_vector(run(duration_seconds=50.0), run(duration_seconds=100.0), math.log(4))
    assert vector[:2] == pytest.approx([math.log(0.5), math.log(2)])
    assert np.isnan(vector[2:4]).all()


def test_where_energy_counts_the_cost_is_the_energy_and_never_money() -> None:
    then = run(duration_seconds=100.0, cost_usd=2.0, energy_joules=50.0)
    now = run(duration_seconds=50.0, cost_usd=3.0, energy_joules=100.0)
    assert reward_vector(now, then, 0.0, by_energy=True)[1] == pytest.approx(math.log(2))
    unmeasured = run(duration_seconds=50.0, cost_usd=3.0)
    assert reward_vector(unmeasured, then, math.log(4), by_energy=True)[1] == pytest.approx(math.log(2)), "time times power"


def test_utilisation_of_gpus_is_never_compared_with_that_of_cpus():
    vector = reward_vector(run(gpu_utilisation=0.5), run(cpu_utilisation=0.5), 0.0)
    assert np.isnan(vector[2])


@pytest.mark.parametrize("preference", [Preference(1, 0, 0), COST, Preference(0, 0, 1), Preference(0.2, 0.3, 0.5)])
def test_a_failed_run_costs_two_runs_of_the_incumbent_under_every_preference(preference):
    incumbent = np.array((-0.3, 0.2, 0.1, 0.0, 0.0, 0.0))
    assert objective(failed_like(incumbent), preference) - objective(incumbent, preference) == pytest.approx(math.log(2))


def test_the_reward_is_minus_the_regret_cut_where_worse_makes_no_difference():
    vectors = np.array([[math.log(2)] * 2 + [0] * 4, [math.log(99)] * 2 + [0] * 4, [-1.0, -1.0, 0, 0, 0, 0]])
    assert regret_reward(vectors, BALANCED, 0.0) == pytest.approx([-1.0, -WORST, 0.0])


def test_what_breaks_the_budget_counts_over_and_above_its_cost():
    within, beyond = np.zeros(6), np.array((0, 0, 0, 0, 0, 0.2))
    assert regret_reward(within, BALANCED, math.log(0.5)) == pytest.approx(-1.0)
    assert regret_reward(beyond, BALANCED, math.log(0.5)) == pytest.approx(-1.0 - OVERSPENT * 0.2 / 0.5)
