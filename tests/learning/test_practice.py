import math
from functools import partial

import numpy as np
import pytest

from jpo.agent.reward import OVERSPENT
from jpo.learning.job import new_job
from jpo.learning.practice import by_belief_rule, by_policy, play


def stay(point):
    return point.problem.candidates.current


def played(seed, choose=by_belief_rule, domain="safe"):
    job = new_job(np.random.default_rng(seed), domain)
    return job, play(job, choose)


def decision_points(seed, domain):
    """Every decision point of a job that the belief rule plays."""
    seen = []

    def choose(point):
        seen.append(point)
        return by_belief_rule(point)

    return played(seed, choose, domain)[0], seen


def test_a_job_starts_with_todays_configuration_and_one_seed_gives_one_job():
    job, transitions = played(3)
    assert job.runs[0].parameters == job.candidates.parameters(job.candidates.current)
    assert (len(job.runs), len(transitions)) == (20, 19)
    assert played(3)[0].costs == job.costs


def test_luck_does_not_depend_on_what_is_chosen():
    (one, _), (other, _) = played(5, stay), played(5)
    assert one.runs[0].outcome == other.runs[0].outcome
    assert one.best(0) == other.best(0)


def test_staying_costs_what_today_costs_in_multiples_of_the_optimum():
    job, transitions = played(11, stay)
    ok = [cost for cost, run in zip(job.costs, job.runs, strict=True) if run.status == "succeeded"]
    assert min(ok) > 0.5  # noise alone may be better than the optimum's mean
    assert all(one.executed == one.seen.index(job.candidates.current) for one in transitions)


def test_the_belief_rule_is_better_than_staying():
    means = [[np.mean(played(seed, choose)[0].costs) for seed in range(12)] for choose in (by_belief_rule, stay)]
    assert np.mean(means[0]) < 0.8 * np.mean(means[1])


def test_a_known_horizon_ends_the_job_and_the_rule_tries_nothing_in_the_last_run():
    job, seen = decision_points(2, "horizon")
    assert [point.problem.context.runs_left for point in seen] == list(range(job.script.runs - 2, -1, -1))
    assert (
        seen[-1].problem.acquisition.score >= seen[-1].problem.acquisition.expected
    ).all()  # no gain later makes up for a dearer run
    assert [one.terminated for one in played(2, domain="horizon")[1]].index(True) == job.script.runs - 2


def test_what_is_spent_beyond_the_budget_counts_over_and_above():
    job, transitions = next(pair for pair in (played(seed, stay, "budget") for seed in range(9)) if sum(pair[0].spent[1:]) > 1)
    beyond = [one.reward[5] for one in transitions]
    assert sum(beyond) == pytest.approx(max(0.0, sum(job.spent[1:]) - job.script.budget))
    assert job.costs[-1] == pytest.approx((job.spent[-1] + OVERSPENT * beyond[-1]) * math.exp(-job.best(job.script.runs - 1)))


def test_the_slack_falls_when_money_is_wasted():
    job, seen = decision_points(4, "budget")
    slack = [point.problem.context.budget_slack for point in seen]
    assert slack[0] == pytest.approx(math.log(job.script.budget / (job.script.runs - 1)), abs=0.5)
    assert all(value is not None for value in slack)


@pytest.mark.parametrize("domain", ["switched", "prices"])
def test_the_present_preference_and_prices_count_and_the_others_are_known(domain):
    job, seen = decision_points(1, domain)
    later = [point.problem.context.later is not None for point in seen]
    at = job.script.later
    assert later == ([True] * 19 if domain == "switched" else [run < at for run in range(1, 20)])
    assert [point.problem.preference for point in seen] == list(job.script.preferences[1:])
    assert all((point.problem.candidates.log_rate == job.script.log_rate[run]).all() for run, point in enumerate(seen, 1))


def test_costs_are_held_against_the_optimum_of_their_own_run():
    job = next(
        j for j in (new_job(np.random.default_rng(seed), "drift") for seed in range(99)) if j.script.preferences[0].time == 1
    )
    bests = [np.where(job.truth.fails[0], np.inf, job.vectors(run)[:, 0]).min() for run in range(20)]
    assert np.ptp(bests) > 0.02
    play(job, lambda point: int(point.observation.rows[0]))
    assert job.costs == pytest.approx(np.array(job.spent) / np.exp([job.best(run) for run in range(20)]))


def test_an_untrained_policy_is_the_belief_rule():
    torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    assert torch
    from jpo.agent.sac.learn import new_agent, policy_of

    choose = partial(by_policy, policy_of(new_agent(0)))
    assert [played(seed, choose, "on")[0].rows for seed in (1, 2)] == [played(seed, domain="on")[0].rows for seed in (1, 2)]
