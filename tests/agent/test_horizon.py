import pytest

from jpo.agent.horizon import UNTOLD, horizon


def told(runs_done, runs):
    return horizon(runs_done, runs - runs_done - 1)


def test_where_nobody_says_how_many_runs_follow_it_is_a_constant():
    assert horizon(1, None) == horizon(100, None) == UNTOLD


def test_many_runs_to_come_are_worth_a_search_and_the_last_ones_are_not():
    assert [told(done, 40) for done in (1, 2, 3, 19, 20, 29, 30, 35, 39)] == [10, 10, 36, 20, 19, 10, 6, 4, 0]


@pytest.mark.parametrize("runs", range(1, 60))
def test_a_gain_serves_no_more_runs_than_follow(runs):
    for done in range(1, runs):
        assert 0 <= told(done, runs) <= runs - done - 1
