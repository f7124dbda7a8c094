import numpy as np
import pytest

from jpo.agent.decide import by_rule
from jpo.agent.policy import load_policy
from jpo.practice import new_job, play, pretrain, release_test


def rule(_belief, _candidates, _preference, promise, allowed):
    return by_rule(promise, allowed)


def stay(_belief, candidates, *_):
    return candidates.current


def played(seed, choose=rule):
    job = new_job(np.random.default_rng(seed))
    return job, play(job, choose, runs=6)


def test_a_job_starts_with_todays_configuration_and_one_seed_gives_one_job():
    job, transitions = played(3)
    assert job.runs[0].parameters == job.candidates.parameters(job.candidates.current)
    assert (len(job.runs), len(transitions)) == (6, 5)
    assert played(3)[0].costs == job.costs


def test_luck_does_not_depend_on_what_is_chosen():
    (one, _), (other, _) = played(5, stay), played(5, rule)
    assert one.runs[0].outcome == other.runs[0].outcome
    assert one.best == other.best


def test_staying_costs_what_today_costs_in_multiples_of_the_optimum():
    job, transitions = played(11, stay)
    ok = [cost for cost, run in zip(job.costs, job.runs, strict=True) if run.status == "succeeded"]
    assert min(ok) > 0.5  # noise alone may be better than the optimum's mean
    assert all(one.executed == one.seen.index(job.candidates.current) for one in transitions)


def test_the_belief_rule_is_better_than_staying():
    means = [[np.mean(played(seed, choose)[0].costs) for seed in range(20)] for choose in (rule, stay)]
    assert np.mean(means[0]) < 0.8 * np.mean(means[1])


def test_the_release_test_is_the_same_each_time():
    policy = load_policy()
    assert release_test(policy, range(8)) == release_test(policy, range(8))


def test_pretraining_gives_a_policy_that_says_whether_it_passed():
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    data, results = pretrain(updates=2, seed=0, test_jobs=8)
    policy = load_policy(data)
    assert policy.card["command"] == "jpo learn --pretrain policy.safetensors --updates 2 --seed 0"
    assert policy.released == tuple(explore for explore, result in results.items() if result.passed)
    assert pretrain(updates=2, seed=0, test_jobs=8)[0] == data
