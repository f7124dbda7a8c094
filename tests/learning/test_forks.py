import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.policy import SCORE  # noqa: E402
from jpo.agent.reward import objective  # noqa: E402
from jpo.agent.sac.fork_replay import MOST  # noqa: E402
from jpo.agent.sac.learn import new_agent, policy_of  # noqa: E402
from jpo.learning import forks  # noqa: E402
from jpo.learning.forks import cost_of, fork_at, practise_here, practise_with, practised, shortlist  # noqa: E402
from jpo.learning.job import earlier_jobs, new_job  # noqa: E402
from jpo.learning.practice import BOUND, begin, by_belief_rule, play, step  # noqa: E402
from jpo.simulate.installations import Installation  # noqa: E402


def point_of(seed, domain="on", runs=1, **options):
    """Decision point of a job that the belief rule has played for some runs."""
    point = begin(new_job(np.random.default_rng(seed), domain, **options))
    for _ in range(runs - 1):
        point = step(point.job, point, by_belief_rule(point))
    return point


def test_one_row_run_twice_from_one_state_costs_the_same_to_the_bit():
    point = point_of(1, runs=3)
    row = int(np.flatnonzero(point.problem.allowed)[-1])
    assert cost_of(point, row, by_belief_rule) == cost_of(point, row, by_belief_rule)


def test_the_job_that_is_forked_from_goes_on_as_if_nothing_had_been_tried():
    point, untouched = point_of(2, runs=2), point_of(2, runs=2)
    assert fork_at(point, by_belief_rule, np.random.default_rng(0)) is not None
    assert len(point.job.runs) == 2
    for each in (point, untouched):
        row = by_belief_rule(each)
        step(each.job, each, row)
    assert point.job.costs == untouched.job.costs
    assert point.job.chart == untouched.job.chart


def test_a_fork_is_what_each_saves_against_the_rules_choice_which_comes_first():
    point = point_of(3)
    fork = fork_at(point, by_belief_rule, np.random.default_rng(0))
    assert 2 <= len(fork.saved) == len(fork.features) <= MOST
    assert fork.saved[0] == 0
    assert fork.features[:, SCORE].argmin() == 0
    rows = shortlist(point, by_belief_rule, np.random.default_rng(0))
    costs = [cost_of(point, row, by_belief_rule) for row in rows]
    assert fork.saved.tolist() == [costs[0] - cost for cost in costs]


def test_only_what_may_be_run_is_forked_and_each_once():
    for seed in range(6):
        point = point_of(seed, "safe", runs=3)
        rows = shortlist(point, by_belief_rule, np.random.default_rng(0))
        assert len(set(rows)) == len(rows) <= MOST
        assert point.problem.allowed[rows].all()
        assert rows[0] == by_belief_rule(point)


def test_where_nothing_else_may_be_run_there_is_no_fork():
    point = point_of(1)
    point.problem = point.problem.under("off")
    assert fork_at(point, by_belief_rule, np.random.default_rng(0)) is None


def test_what_earlier_jobs_like_is_among_the_candidates_of_a_fork():
    installation = Installation("batch-limit", room=0.5)
    residuals = earlier_jobs(installation, 10, np.random.default_rng(0))
    point = point_of(1, installation=installation, residuals=residuals)
    allowed = np.flatnonzero(point.problem.allowed)
    favourite = int(allowed[point.here.score[allowed].argmin()])
    assert favourite in shortlist(point, by_belief_rule, np.random.default_rng(0))


def test_the_best_of_all_saves_against_the_rules_choice_on_average():
    gains = []
    for seed in range(8):
        point = point_of(seed)
        worth = objective(point.job.vectors(1), point.job.script.preferences[1])
        best = int(np.argmin(np.where(point.problem.allowed & ~point.job.truth.fails[0], worth, np.inf)))
        ruled, ran = (cost_of(point, row, by_belief_rule) for row in (by_belief_rule(point), best))
        gains.append(ruled - ran)
    assert np.mean(gains) > 0


def test_no_fork_counts_more_than_bounded_runs():
    point = point_of(4)
    worst = max(cost_of(point, int(row), by_belief_rule) for row in np.flatnonzero(point.problem.allowed)[::9])
    assert worst <= BOUND * (forks.AHEAD + forks.AFTERWARDS)


def test_a_practised_job_gives_a_transition_for_each_run_and_ends_where_the_end_is_known():
    job = new_job(np.random.default_rng(2), "horizon")
    practice = practised(job, None, np.random.default_rng(0))
    assert len(practice.transitions) == job.script.runs - 1
    assert [one.terminated for one in practice.transitions].index(True) == job.script.runs - 2
    assert all(len(fork.saved) >= 2 for fork in practice.forks)
    assert len(practice.forks) <= forks.FORKS_PER_JOB
    for before, after in zip(practice.transitions[:-1], practice.transitions[1:], strict=True):
        assert np.isin(before.following.rows, after.seen.rows).mean() > 0.9


def test_forks_do_not_change_what_is_played(monkeypatch):
    rows = []
    for per_job in (0, 3):
        monkeypatch.setattr(forks, "FORKS_PER_JOB", per_job)
        job = new_job(np.random.default_rng(3), "on")
        practised(job, None, np.random.default_rng(0))
        rows.append(job.rows)
    other = new_job(np.random.default_rng(3), "on")
    play(other, by_belief_rule)
    assert rows == [other.rows] * 2


def same(one, other):
    assert [each.reward.tolist() for each in one.transitions] == [each.reward.tolist() for each in other.transitions]
    assert [fork.saved.tolist() for fork in one.forks] == [fork.saved.tolist() for fork in other.forks]


def test_one_seed_gives_one_practice_job(monkeypatch):
    monkeypatch.setattr(forks, "AHEAD", 2)
    policy = policy_of(new_agent(0))
    for chooses in (None, policy):
        same(practise_with(chooses, np.random.default_rng(7)), practise_with(chooses, np.random.default_rng(7)))


@pytest.mark.slow
def test_an_agent_practises_on_jobs_like_those_of_its_installation(monkeypatch):
    asked = []
    monkeypatch.setattr(forks, "new_job", lambda rng, **options: asked.append(options) or new_job(rng, "horizon"))
    residuals = earlier_jobs(Installation("batch-limit", room=0.5), 5, np.random.default_rng(0))
    policy = policy_of(new_agent(0))
    monkeypatch.setattr(forks, "FORKS_PER_JOB", 0)
    for seed in range(12):
        practise_here(residuals, policy, np.random.default_rng(seed))
    like = [options for options in asked if options.get("like_residuals")]
    assert 0 < len(like) < len(asked)
    assert all(options["residuals"] is residuals for options in like)
    asked.clear()
    practise_here(None, policy, np.random.default_rng(0))
    assert not asked[0].get("like_residuals")
