"""Prequential record: what departures came to on real runs can withdraw a release, and never grants one."""

from dataclasses import replace

import pytest

from jpo.agent.policy import SHAPES, Policy
from jpo.learning.prequential import CERTAIN, FEWEST, PrequentialRecord, prequential_record, with_record
from jpo.records import Forecast, Interval, Outcome, RunStatus
from tests.made import a_run, a_suggestion

np = pytest.importorskip("numpy")


def departure(number, seconds, status=RunStatus.SUCCEEDED):
    """A departure whose run was forecast to take 100 s, 90% interval 80 to 125."""
    made = a_suggestion(f"s{number}")
    made = replace(made, next=Forecast(duration_seconds=Interval(100.0, 80.0, 125.0)), codes=("JPO-I631",))
    return made, a_run(f"r{number}", status=status, outcome=Outcome(duration_seconds=seconds))


def test_departures_that_turn_out_as_forecast_withdraw_nothing():
    record = prequential_record([departure(i, 100.0 * factor) for i, factor in enumerate((0.9, 1.1, 1.0, 0.95, 1.08, 1.02))])
    assert (record.departures, record.failed, record.withdrawn) == (6, 0, False)
    assert record.miss == pytest.approx(0.05, abs=0.1)


def test_departures_that_fail_or_take_longer_again_and_again_withdraw_the_release():
    record = prequential_record([departure(i, 130.0) for i in range(4)] + [departure(9, 30.0, RunStatus.FAILED)])
    assert (record.departures, record.failed) == (5, 1)
    assert record.withdrawn
    assert "departed from the rule 5 times, 1 of them failed" in str(record)


def test_few_departures_say_nothing():
    assert not PrequentialRecord(FEWEST - 1, FEWEST - 1, 2.5).withdrawn
    assert PrequentialRecord(FEWEST, FEWEST, 2.5).withdrawn
    assert not PrequentialRecord(100, 0, CERTAIN / 10).withdrawn, "a mean miss of .233 in 100 departures is chance"


def test_without_a_forecast_or_a_duration_nothing_is_compared():
    made, ran = departure(0, 130.0)
    assert prequential_record([(replace(made, next=Forecast()), ran)]).departures == 0
    assert prequential_record([]) == PrequentialRecord(0, 0, 0.0)


class Suggested:
    """A store of six departures, of which all but one failed."""

    def __init__(self, digest):
        self.made = [
            (replace(made, policy=digest), ran) for made, ran in (departure(i, 90.0, RunStatus.FAILED) for i in range(6))
        ]

    def suggestions_of(self, *, limit):
        return [made for made, _ in self.made][:limit]

    def runs_following(self, suggestion_id):
        return [ran for made, ran in self.made if made.suggestion_id == suggestion_id]


def policy(released):
    return Policy(({name: np.zeros(shape, np.float32) for name, shape in SHAPES.items()},), released, {})


def test_a_policy_is_judged_by_its_own_departures_alone():
    released = policy(("safe", "on"))
    judged = with_record(released, Suggested(released.digest))
    assert judged.released == ()
    assert judged.withdrawn.startswith("SAC decides no more")
    assert with_record(released, Suggested("another")) is released
    nowhere = policy(())
    assert with_record(nowhere, Suggested(nowhere.digest)) is nowhere, "real runs grant nothing"
