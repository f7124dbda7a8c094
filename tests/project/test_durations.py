import pytest

from jpo.project.durations import reset_rule, seconds


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
