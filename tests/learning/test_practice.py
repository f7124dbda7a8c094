import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from jpo.agent.context import UNKNOWN, after_misses
from jpo.agent.reward import OVERSPENT
from jpo.learning.job import PARTICLES, earlier_jobs, new_job
from jpo.learning.practice import BOUND, begin, by_belief_rule, by_policy, mean_cost, play, step
from jpo.optimizer import surrogate
from jpo.optimizer.advise import advise
from jpo.optimizer.prior import Prior
from jpo.records import Known
from jpo.simulate.installations import draw_installation
from tests.learning.test_experience import REQUEST, RUNS, a_run


def stay(point):
    return point.problem.candidates.current


def played(seed, choose=by_belief_rule, domain="safe"):
    job = new_job(np.random.default_rng(seed), domain)
    play(job, choose)
    return job


def decision_points(seed, domain):
    """Every decision point of a job that the belief rule plays."""
    seen = []

    def choose(point):
        seen.append(point)
        return by_belief_rule(point)

    return played(seed, choose, domain), seen


def test_a_job_starts_with_todays_configuration_and_one_seed_gives_one_job():
    job = played(3)
    assert job.runs[0].parameters == job.candidates.parameters(job.candidates.current)
    assert (len(job.runs), len(job.rewards), len(job.against_keeping)) == (20, 20, 19)
    assert played(3).costs == job.costs


def test_luck_does_not_depend_on_what_is_chosen():
    one, other = played(5, stay), played(5)
    assert one.runs[0].outcome == other.runs[0].outcome
    assert one.best(0) == other.best(0)


def test_staying_costs_what_today_costs_in_multiples_of_the_optimum():
    job = played(11, stay)
    ok = [cost for cost, run in zip(job.costs, job.runs, strict=True) if run.status == "succeeded"]
    assert min(ok) > 0.5  # noise alone may be better than the optimum's mean
    assert set(job.rows) == {job.candidates.current}


def test_the_belief_rule_is_better_than_staying():
    means = [[np.mean(played(seed, choose).costs) for seed in range(12)] for choose in (by_belief_rule, stay)]
    assert np.mean(means[0]) < 0.8 * np.mean(means[1])


def test_a_known_horizon_ends_the_job_and_the_rule_tries_nothing_in_the_last_run():
    job, seen = decision_points(2, "horizon")
    assert [point.problem.context.runs_left for point in seen] == list(range(job.script.runs - 2, -1, -1))
    assert (
        seen[-1].problem.acquisition.score >= seen[-1].problem.acquisition.expected
    ).all()  # no gain later makes up for a dearer run
    assert (job.next_run, len(job.runs)) == (job.script.runs - 1, job.script.runs), "what its last conditions were goes on"


def test_what_is_spent_beyond_the_budget_counts_over_and_above():
    job = next(job for job in (played(seed, stay, "budget") for seed in range(9)) if sum(job.spent[1:]) > 1)
    beyond = [vector[5] for vector in job.rewards[1:]]
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
    assert [point.problem.comparison.preference for point in seen] == list(job.script.preferences[1:])
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
    for domain in ("safe", "on", "horizon"):
        assert played(1, choose, domain).rows == played(1, domain=domain).rows


def test_a_new_agent_departs_from_the_rule_only_for_what_earlier_jobs_make_better():
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    from jpo.agent.sac.learn import new_agent, policy_of

    policy, decided = policy_of(new_agent(3)), 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        installation = draw_installation(rng)
        point = begin(new_job(rng, installation=installation, residuals=earlier_jobs(installation, 4, rng)))
        for _ in range(3):
            row = by_belief_rule(point)
            choice, here = by_policy(policy, point), point.here
            assert choice == row or (here is not None and here.score[choice] < here.score[row])
            point, decided = step(point.job, point, row), decided + 1
    assert decided == 36


def test_a_run_counts_four_optima_at_most_where_costs_are_compared():
    job = played(3)
    job.costs[:] = [1.0] * 19 + [40.0]
    assert mean_cost(job) == pytest.approx((19 + BOUND) / 20)


def test_what_earlier_jobs_say_is_in_what_a_policy_sees_and_not_in_what_the_rule_weighs():
    rng = np.random.default_rng(1)
    installation = draw_installation(rng, "batch-limit")
    job = new_job(rng, "on", installation=installation, residuals=earlier_jobs(installation, 10, rng))
    alone = replace(job.copy(), installation=None)
    informed, plain = begin(job), begin(alone)
    assert informed.here is not None
    assert plain.here is None
    assert informed.context.earlier.jobs == job.installation.jobs
    assert (informed.context.earlier.p_fails >= 0).all()
    assert np.array_equal(informed.problem.acquisition.score, plain.problem.acquisition.score)
    assert by_belief_rule(informed) == by_belief_rule(plain)


def test_the_last_miss_is_shown_only_where_forecasts_are_watched():
    for seed in range(6):
        job, seen = decision_points(seed, "safe")
        known = [point.problem.context.watch.last_miss is not None for point in seen[1:]]
        assert any(known) == job.watched


def test_practice_and_service_say_the_same_of_how_the_last_forecasts_were_met(monkeypatch):
    monkeypatch.setattr(surrogate, "FEW", PARTICLES)
    seen = set()
    for seed in range(4):
        job = new_job(np.random.default_rng(seed), "drift")
        job.watched = True
        point = begin(job)
        for at in range(8):
            point = step(job, point, job.rows[-1] if at % 3 == 0 else by_belief_rule(point))
            today = replace(job.candidates, current=job.rows[-1])
            misses = surrogate.calibration(Prior(against(job.draws, job.rows[-1]), None), today, job.runs).misses
            served, practised = after_misses(UNKNOWN, misses), point.problem.context
            assert served.watch.last_miss == (
                None if practised.watch.last_miss is None else pytest.approx(practised.watch.last_miss)
            )
            assert served.watch.surprise == pytest.approx(practised.watch.surprise)
            seen |= {served.watch.last_miss is None, served.watch.surprise > 0}
    assert seen == {True, False}


def against(draws, row):
    """The draws relative to another row, as the prior of a suggestion has them."""
    names = ("log_time", "log_loss", "log_utilisation", "log_power", "log_throughput")
    return replace(draws, **{name: log - log[:, [row]] for name in names if (log := getattr(draws, name)) is not None})


def test_a_suggestion_is_shown_how_the_last_forecasts_were_met():
    surprised = [*RUNS[1:3], a_run(4, 51.0, batch_size=64.0), a_run(5, 150.0, batch_size=64.0)]
    context = advise(REQUEST, Known(tuple(surprised)), None, seed=0).problem.context
    assert context.watch.last_miss > 2, "a run of what had run before took three times as long"
    assert context.watch.surprise > 0
    calm = advise(REQUEST, Known(tuple(surprised[:3])), None, seed=0).problem.context
    assert (abs(calm.watch.last_miss) < 1, calm.watch.surprise) == (True, 0)
    new = advise(REQUEST, Known(tuple(surprised[:2])), None, seed=0).problem.context
    assert new.watch.last_miss is None, "what had not run before says nothing of change"
