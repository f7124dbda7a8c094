"""The account of exploring, by hand."""

import math

import pytest

from jpo.agent.budget import (
    BUDGET,
    BUDGET_RUNS,
    Leeway,
    budget_left,
    compared_costs,
    reference_values,
    replenished_budget,
    trials_earned,
)
from jpo.records import Identity, Outcome, Preference, Run, RunStatus

JOB = Identity("d", "m", "f")
TODAY, TRIED, OTHER = {"batch_size": 32.0}, {"batch_size": 64.0}, {"batch_size": 16.0}
WELL, FAILED, STOPPED = RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.STOPPED


def a_run(at, values, seconds, status=WELL, cost=None):
    return Run(str(at), JOB, values, status, None, float(at), Outcome(duration_seconds=seconds, cost_usd=cost), "observe")


REFERENCE, TIME, COST = a_run(0, TODAY, 100.0), Preference(1, 0), Preference(0, 1)


def spent(*followed_up, before=(REFERENCE,), preference=TIME, log_rate=lambda _run: 0.0):
    runs = [*before, *(run for run, _ in followed_up)]
    return tuple(cost for cost, _ in compared_costs(followed_up, runs, preference, log_rate))


def test_a_run_costs_multiples_of_what_it_replaced():
    assert spent((a_run(1, TRIED, 150.0), TODAY), (a_run(2, TRIED, 50.0), TODAY)) == pytest.approx((1.5, 0.5))


def test_the_reference_is_the_geometric_mean_of_the_last_three_runs():
    before = [a_run(at, TODAY, seconds) for at, seconds in enumerate((7.0, 50.0, 100.0, 200.0))]
    assert spent((a_run(4, TRIED, 150.0), TODAY), before=before) == pytest.approx((1.5,))


def test_a_failure_counts_two_runs_or_what_it_took_if_that_is_more():
    ended = [
        (a_run(1, TRIED, 10.0, FAILED), TODAY),
        (a_run(2, TRIED, 500.0, FAILED), TODAY),
        (a_run(3, TRIED, None, FAILED), TODAY),
    ]
    assert spent(*ended) == pytest.approx((2.0, 5.0, 2.0))


def test_a_stopped_run_gave_nothing_either():
    assert spent((a_run(1, TRIED, 120.0, STOPPED), TODAY)) == pytest.approx((2.0,))


def test_with_nothing_to_compare_with_a_run_does_not_count():
    assert spent((a_run(1, TRIED, 150.0), OTHER)) == ()
    assert spent((a_run(1, TRIED, 150.0), TODAY), before=[a_run(0, TODAY, 100.0, FAILED)]) == ()
    assert spent((a_run(1, TRIED, 150.0), TODAY), before=[a_run(2, TODAY, 100.0)]) == ()
    assert spent((a_run(1, TRIED, 150.0), TODAY), before=[a_run(0, TODAY, None)]) == ()


def test_going_back_to_what_was_left_is_no_saving():
    there, back = (a_run(1, TRIED, 200.0), TODAY), (a_run(2, TODAY, 100.0), TRIED)
    assert spent(there, back) == pytest.approx((2.0, 1.0))


def test_a_chain_of_changes_is_held_against_where_it_began():
    saved, then = (a_run(1, TRIED, 50.0), TODAY), (a_run(2, OTHER, 60.0), TRIED)
    assert spent(saved, then) == pytest.approx((0.5, 0.6))


def test_values_that_somebody_else_set_are_what_the_agent_found():
    before = [a_run(0, TODAY, 100.0), a_run(1, OTHER, 400.0)]
    by_agent, after_other = (a_run(2, TRIED, 50.0), TODAY), (a_run(3, TRIED, 100.0), OTHER)
    assert spent(by_agent, after_other, before=before) == pytest.approx((0.5, 0.25))


def test_what_the_agent_found_is_what_stood_there_before_its_first_change():
    there, on = (a_run(1, TRIED, 50.0), TODAY), (a_run(2, OTHER, 60.0), TRIED)
    assert reference_values([there, on], OTHER) == TODAY
    assert reference_values([there, on], TRIED) == TODAY  # put back by `jpo rollback`
    assert reference_values([there, on], {"batch_size": 8.0}) == {"batch_size": 8.0}
    assert reference_values([], TODAY) == TODAY
    long_ago = (a_run(0, OTHER, 50.0), {"batch_size": 8.0})
    assert reference_values([long_ago, there], OTHER) == OTHER  # somebody went back to it


def test_a_cost_that_was_not_measured_follows_from_the_price_per_hour():
    dearer = spent((a_run(1, TRIED, 50.0), TODAY), preference=COST, log_rate=lambda run: float(run.parameters == TRIED))
    before = [a_run(0, TODAY, 100.0, cost=3.0)]
    measured = spent((a_run(1, TRIED, 50.0, cost=9.0), TODAY), before=before, preference=COST)
    assert dearer == pytest.approx((0.5 * math.e,))
    assert measured == pytest.approx((3.0,))


def test_savings_may_be_spent_and_old_losses_are_forgotten() -> None:
    assert budget_left([]) == BUDGET
    assert budget_left([0.5] * 4) == pytest.approx(BUDGET + 2)
    assert budget_left([2.0]) == pytest.approx(BUDGET - 1)
    assert budget_left([2.0], 3) == pytest.approx(2)
    assert budget_left([9.0] + [1.0] * 20) == pytest.approx(BUDGET)
    assert budget_left([9.0] + [1.0] * 19) < 0


def test_one_bad_trial_takes_half_of_the_budget_at_most_and_less_with_every_run_since():
    assert replenished_budget([(9.0, 0)], 2.0) == 1.0
    assert replenished_budget([(9.0, BUDGET_RUNS // 2)], 2.0) == 1.5
    assert replenished_budget([(9.0, BUDGET_RUNS)], 2.0) == 2.0
    assert replenished_budget([(0.5, 0), (9.0, 1)], 2.0) == pytest.approx(2.0 + 0.5 - 0.95)


@pytest.mark.parametrize(("runs", "earned"), [(0, 5), (5, 5), (19, 5), (20, 2), (300, 2)], ids=str)
def test_a_young_job_may_make_five_trials_and_later_one_run_in_ten_may_be_one(runs, earned):
    assert trials_earned(runs, 0.1) == pytest.approx(earned)


def test_a_larger_share_earns_more_trials_and_none_earns_none():
    assert [trials_earned(runs, 0.0) for runs in (0, 10, 30)] == [0, 0, 0]
    assert [trials_earned(runs, 0.5) for runs in (0, 10, 20, 30)] == pytest.approx([10, 10, 10, 10])


def test_trials_are_used_up_when_no_whole_one_is_left_and_without_a_count_never():
    assert Leeway(trials_earned=5.5, trials_made=5).used_up
    assert not Leeway(trials_earned=5.0, trials_made=4).used_up
    assert not Leeway(trials_made=100).used_up
