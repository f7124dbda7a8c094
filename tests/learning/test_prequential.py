"""The prequential record: departures that turn out worse than forecast withdraw a release, and nothing else does."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from jpo.agent.policy import Policy, load_policy
from jpo.history import Store, open_store
from jpo.learning.prequential import (
    CERTAIN,
    DEPARTED,
    FEWEST,
    LARGEST,
    PrequentialRecord,
    prequential_record,
    record_of,
    with_record,
)
from jpo.records import Finished, Forecast, Interval, Outcome, Run, RunStatus, Suggestion
from tests.made import a_run, a_suggestion

POLICY = replace(load_policy(), released=("safe", "on"))
EXPECTED = Interval(100.0, 100.0 / math.exp(0.1645), 100.0 * math.exp(0.1645))
"""Its standard deviation is 10%."""


def departure(number: int, seconds: float | None, policy: Policy = POLICY, **changes: object) -> tuple[Suggestion, Run]:
    """A departure, and the run that followed it; seconds None: it failed."""
    codes, forecast = ("JPO-I603", DEPARTED), Forecast(duration_seconds=EXPECTED)
    suggestion = a_suggestion(f"s{number}", 1000.0 * number, policy=policy.digest, codes=codes, next=forecast)
    status = RunStatus.FAILED if seconds is None else RunStatus.SUCCEEDED
    run = a_run(f"r{number}", 1000.0 * number + 500, status=status, outcome=Outcome(seconds))
    return replace(suggestion, **changes), run


def on_record(store: Store, suggestion: Suggestion, run: Run | None) -> None:
    store.append(suggestion, config="", source_digest="")
    store.record(Finished(() if run is None else (run,)), now=1e6)


def test_misses_count_in_standard_deviations_and_each_no_more_than_so_much() -> None:
    record = prequential_record([departure(1, 100.0 * math.exp(0.1)), departure(2, 1e6), departure(3, 1e-6)])
    assert (record.departures, record.failed) == (3, 0)
    assert record.miss == pytest.approx(1 / 3)
    failed = prequential_record([departure(1, None)])
    assert (failed.failed, failed.miss) == (1, LARGEST)


def test_what_cannot_be_compared_does_not_count() -> None:
    without_forecast, run = departure(1, 100.0, next=Forecast())
    assert prequential_record([(without_forecast, run), (departure(2, 1.0)[0], replace(run, outcome=Outcome()))]).departures == 0
    assert not prequential_record([]).withdrawn


@pytest.mark.parametrize(
    ("seconds", "withdrawn"),
    [
        ([100.0] * 20, False),
        ([200.0] * (FEWEST - 1), False),
        ([200.0] * FEWEST, True),
        ([None] * FEWEST, True),
        ([50.0] * 20, False),
        ([120.0, 85.0] * 10, False),
    ],
)
def test_only_departures_that_turn_out_worse_beyond_chance_withdraw(seconds: list[float | None], withdrawn: bool) -> None:
    record = prequential_record([departure(at, each) for at, each in enumerate(seconds)])
    assert record.withdrawn is withdrawn


def test_a_small_miss_of_many_departures_is_chance() -> None:
    assert not PrequentialRecord(100, 0, CERTAIN / 10 - 0.001).withdrawn
    assert PrequentialRecord(100, 0, CERTAIN / 10 + 0.001).withdrawn


def test_the_store_withdraws_the_release_of_the_policy_that_departed_and_of_no_other() -> None:
    with open_store("sqlite://") as store:
        for number in range(FEWEST):
            on_record(store, *departure(number, None))
        assert record_of(POLICY, store).failed == FEWEST
        judged = with_record(POLICY, store)
        assert judged.released == ()
        assert judged.withdrawn == (
            "SAC decides no more: it departed from the rule 5 times, 5 of them failed, and their runs missed the forecasts by 2.5"
            " standard deviations on average"
        )
        other = Policy(POLICY.members[:1], POLICY.released, {})
        assert with_record(other, store) is other


def test_what_was_as_the_rule_or_has_not_run_yet_is_no_departure() -> None:
    with open_store("sqlite://") as store:
        for number in range(FEWEST):
            on_record(store, *departure(number, None, codes=("JPO-I603", "JPO-I630")))
        for number in range(FEWEST):
            on_record(store, departure(FEWEST + number, None)[0], None)
        assert record_of(POLICY, store).departures == 0
        assert with_record(POLICY, store) is POLICY


def test_a_record_never_grants_a_release() -> None:
    barred = replace(POLICY, released=())
    with open_store("sqlite://") as store:
        for number in range(FEWEST):
            on_record(store, *departure(number, 50.0))
        assert with_record(barred, store) is barred
