import pytest

from jpo.agent.horizon import LEAST, MOST, UNTOLD, horizon


def told(runs_done, runs):
    return horizon(runs_done, runs - runs_done - 1)


def test_where_nobody_says_how_many_runs_follow_they_are_taken_to_be_as_many_as_were_done():
    assert [horizon(done, None) for done in (1, 6, 9, 15, 100)] == [LEAST, 6, 9, UNTOLD, UNTOLD]


def test_many_runs_to_come_are_worth_a_search_and_the_last_ones_are_not():
    assert [told(done, 40) for done in (1, 2, 3, 20, 35, 39)] == [10, 10, 36, 19, 4, 0]
    assert told(3, 1000) == MOST


@pytest.mark.parametrize("runs", range(1, 60))
def test_a_gain_serves_no_more_runs_than_follow(runs):
    for done in range(1, runs):
        assert 0 <= told(done, runs) <= runs - done - 1
