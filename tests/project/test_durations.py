import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from jpo.project.durations import as_people_write, reset_rule, seconds


@pytest.mark.parametrize(("given", "expected"), [("90d", 90 * 86400), ("6h", 21600), ("1.5m", 90), (10, 10)])
def test_a_duration_is_a_number_with_or_without_a_unit(given, expected):
    assert seconds(given) == expected


@pytest.mark.parametrize(("given", "expected"), [("evidence", "evidence"), ("broken-sla", "broken-sla"), ("30d", 30 * 86400)])
def test_the_agent_begins_anew_by_a_rule_or_a_timer(given, expected):
    assert reset_rule(given) == expected


@pytest.mark.parametrize("given", ["never", "0d", 0, True])
def test_what_is_neither_is_refused_in_one_message(given):
    with pytest.raises(ValueError, match="neither evidence nor broken-sla nor a duration above 0"):
        reset_rule(given)


@pytest.mark.parametrize(
    ("given", "expected"),
    [(90 * 86400.0, "90d"), (5400.0, "1h 30m"), (10.0, "10s"), (0.0, "0s"), (0.5, 0.5), (1e300, 1e300), ("evidence", "evidence")],
)
def test_a_duration_is_shown_as_people_write_it(given, expected):
    assert as_people_write(given) == expected


@drawn(st.floats(0.001, 1e15))
def test_what_is_shown_means_the_same(given):
    assert seconds(as_people_write(given)) == given
