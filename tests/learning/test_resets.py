import pytest

from jpo.learning.continual import due
from jpo.records import Outcome, Preference
from tests.asked import a_request
from tests.made import a_run

DAY = 86400.0


def wanted(resets):
    return a_request(
        {"batch_size": 64.0}, (), lambda _today, _next: True, Preference(1, 0, 0), targets={"time_max": 60}, resets=resets
    )


@pytest.mark.parametrize(
    ("resets", "expected"),
    [
        ("evidence", None),
        ("broken-sla", [True, False, False, True]),
        (2 * DAY, [False, True, False, True]),
    ],
)
def test_the_agent_begins_anew_as_asked(resets, expected):
    seconds = [50, 70, 80, 50, 90]
    runs = [a_run(str(i), (i + 1) * DAY - 1, outcome=Outcome(duration_seconds=s)) for i, s in enumerate(seconds)]
    assert due(runs, wanted(resets)) == expected


def test_without_targets_nothing_is_broken():
    request = a_request({}, (), lambda _today, _next: True, Preference(1, 0, 0), resets="broken-sla")
    assert due([a_run("a"), a_run("b")], request) == [False]
