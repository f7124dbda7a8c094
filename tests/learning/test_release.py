import pytest

from jpo.learning.release import compare


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
