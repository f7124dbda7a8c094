import pytest

from jpo.agent.policy import load_policy
from jpo.learning.job import DOMAINS
from jpo.learning.release import compare, release_test, released_for


def test_means_ratio_and_its_error_are_those_of_the_paired_jobs():
    result = compare([1.0, 2.0], [1.0, 1.0])
    assert (result.jobs, result.policy, result.rule, result.ratio) == (2, 1.5, 1.0, 1.5)
    assert result.standard_error == pytest.approx(0.5)
    assert not result.passed


def test_a_policy_that_passes_by_luck_alone_does_not_pass():
    result = compare([0.8, 1.2, 0.9, 1.1], [1.0, 1.0, 1.0, 1.0])
    assert result.ratio == pytest.approx(1.0)
    assert not result.passed


def test_not_worse_by_more_than_one_percent_passes():
    assert compare([1.009, 1.009], [1.0, 1.0]).passed
    assert not compare([1.011, 1.011], [1.0, 1.0]).passed


def test_the_release_test_is_the_same_each_time_and_covers_every_domain():
    policy = load_policy()
    results = release_test(policy, range(18))
    assert results["on"] == release_test(policy, (1, 3, 10, 12))["on"]
    assert tuple(results) == DOMAINS
    assert [result.jobs for result in results.values()] == [4, 4, 2, 2, 2, 2, 2]


def test_a_policy_that_fails_where_the_world_drifts_is_released_nowhere():
    good, bad = (type("Result", (), {"passed": passed})() for passed in (True, False))
    assert released_for({"safe": good, "on": bad, "drift": good}) == ["safe", "drift"]
    assert released_for({"safe": good, "on": bad, "drift": bad}) == []
