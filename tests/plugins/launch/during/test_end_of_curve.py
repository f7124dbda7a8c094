import pytest

from jpo.plugins.launch.during.end_of_curve import total_seconds


def paced(epochs, seconds=10.0, first=10.0):
    return [(n, first + (n - 1) * seconds) for n in range(1, epochs + 1)]


def test_the_epochs_that_are_left_take_as_long_as_those_before():
    total = total_seconds(100, paced(10), 40, [])
    assert total.mean == pytest.approx(400)
    assert 350 < total.low < 400 < total.high < 450


def test_the_first_epoch_warms_up():
    assert total_seconds(160, paced(10, first=70), 40, []).mean == pytest.approx(70 + 39 * 10)


def test_nothing_supports_an_end_after_two_epochs():
    assert total_seconds(20, paced(2), 40, []) is None


def test_earlier_runs_say_it_where_nothing_is_reported():
    total = total_seconds(20, [], None, [(100, None), (110, None), (105, None)])
    assert 100 < total.mean < 110
    assert total.low < 100 < 110 < total.high


def test_two_earlier_runs_support_no_interval():
    assert total_seconds(20, [], None, [(100, None), (110, None)]) is None


def test_a_run_that_takes_longer_than_all_like_it_has_no_known_end():
    assert total_seconds(500, [], None, [(100, None), (110, None), (105, None)]) is None


def test_a_target_that_ended_earlier_runs_counts():
    """They stopped at 18 to 22 of 40 epochs, at their target: so will this one."""
    total = total_seconds(100, paced(10), 40, [(180, 18), (200, 20), (220, 22)])
    assert total.mean == pytest.approx(200)
    assert total.high > 220


def test_how_many_epochs_a_new_configuration_needs_to_its_target_is_not_known():
    assert total_seconds(100, paced(10), 40, [], has_target=True) is None


def test_a_run_that_should_have_reached_its_target_has_no_known_end():
    assert total_seconds(300, paced(30), 40, [(180, 18), (200, 20), (220, 22)]) is None


def test_what_has_passed_already_is_never_undone():
    total = total_seconds(395, paced(39), 40, [])
    assert 395 <= total.low <= total.mean <= total.high
