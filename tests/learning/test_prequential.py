"""The prequential record: overrides that turn out worse than forecast withdraw a release, and nothing else does."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from jpo.agent.policy import Policy, load_policy
from jpo.history import Store, open_store
from jpo.learning.prequential import (
    CERTAIN,
    FEWEST,
    LARGEST,
    PrequentialRecord,
    prequential_record,
    record_of,
    with_record,
)
from jpo.records import AS_THE_RULE, OTHERWISE, RISK, Finished, Forecast, Interval, Note, Outcome, Run, RunStatus, Suggestion
from tests.made import a_run, a_suggestion, altered

POLICY = replace(load_policy(), released=("safe", "on"))
EXPECTED = Interval(100.0, 100.0 / math.exp(0.1645), 100.0 * math.exp(0.1645))
"""Its standard deviation is 10%."""


def departure(number: int, seconds: float | None, policy: Policy = POLICY, **changes: object) -> tuple[Suggestion, Run]:
    """A departure, and the run that followed it; seconds None: it failed."""
    why = Note(OTHERWISE, "departs from the rule"), Note(RISK, "3%")
    forecast = Forecast(duration_seconds=EXPECTED)
    suggestion = a_suggestion(f"s{number}", 1000.0 * number, policy=policy.digest, reasons=why, next=forecast)
    status = RunStatus.FAILED if seconds is None else RunStatus.SUCCEEDED
    run = a_run(f"r{number}", 1000.0 * number + 500, status=status, outcome=Outcome(seconds))
    return altered(suggestion, **changes), run


def on_record(store: Store, suggestion: Suggestion, run: Run | None) -> None:
    store.append(suggestion, config="", source_digest="")
    store.record(Finished(() if run is None else (run,)), now=1e6)


def agreement(number: int, seconds: float | None, policy: Policy = POLICY) -> tuple[Suggestion, Run]:
    """A change as the rule would have made it, and the run that followed."""
    return departure(100 + number, seconds, policy, reasons=(Note(AS_THE_RULE, "as the rule"), Note(RISK, "3%")))


def recorded(departed: list[float | None], agreed: list[float | None]) -> PrequentialRecord:
    return prequential_record(
        [
            *(departure(at, seconds) for at, seconds in enumerate(departed)),
            *(agreement(at, seconds) for at, seconds in enumerate(agreed)),
        ]
    )


def test_misses_count_in_standard_deviations_and_each_no_more_than_so_much() -> None:
    record = recorded([100.0 * math.exp(0.1), 1e6, 1e-6, None], [100.0])
    assert record.overrides == pytest.approx((1.0, LARGEST, -LARGEST, LARGEST), rel=1e-3)
    assert record.agreements == (0.0,)


def test_what_cannot_be_compared_does_not_count() -> None:
    without_forecast, run = departure(1, 100.0, next=Forecast())
    pairs = [(without_forecast, run), (departure(2, 1.0)[0], replace(run, outcome=Outcome()))]
    assert prequential_record(pairs) == prequential_record([]) == PrequentialRecord((), ())
    assert not prequential_record([]).withdrawn


@pytest.mark.parametrize(
    ("departed", "agreed", "withdrawn"),
    [
        ([100.0] * 20, [100.0] * 20, False),
        ([200.0] * (FEWEST - 1), [100.0] * 20, False),
        ([200.0] * FEWEST, [100.0] * (FEWEST - 1), False),
        ([200.0] * FEWEST, [100.0] * FEWEST, True),
        ([None] * FEWEST, [100.0] * FEWEST, True),
        ([None] * FEWEST, [None] * FEWEST, False),  # an installation where all fails says nothing against overrides
        ([200.0, 100.0] * 10, [200.0, 100.0] * 10, False),
        ([50.0] * 20, [100.0] * 20, False),
        ([120.0, 85.0] * 10, [100.0] * 20, False),
    ],
)
def test_only_overrides_that_turn_out_worse_than_agreements_beyond_chance_withdraw(
    departed: list[float | None], agreed: list[float | None], withdrawn: bool
) -> None:
    assert recorded(departed, agreed).withdrawn is withdrawn


def test_a_small_difference_of_many_runs_is_chance() -> None:
    errors = math.sqrt(2 / 100)
    assert not PrequentialRecord((CERTAIN * errors - 0.01,) * 100, (0.0,) * 100).withdrawn
    assert PrequentialRecord((CERTAIN * errors + 0.01,) * 100, (0.0,) * 100).withdrawn


def test_the_store_withdraws_the_release_of_the_policy_that_departed_and_of_no_other() -> None:
    with open_store("sqlite://") as store:
        for number in range(FEWEST):
            on_record(store, *departure(number, None))
            on_record(store, *agreement(number, 100.0))
        assert record_of(POLICY, store).overrides == (LARGEST,) * FEWEST
        judged = with_record(POLICY, store)
        assert judged.released == ()
        assert judged.withdrawn == (
            "SAC decides no more: it departed from the rule 10 times, 10 of these runs failed, and its runs then missed their"
            " forecasts by 2.5 standard deviations more than as the rule"
        )
        other = Policy(POLICY.members[:1], POLICY.released, {})
        assert with_record(other, store) is other


def test_what_was_kept_or_has_not_run_yet_is_no_departure() -> None:
    with open_store("sqlite://") as store:
        for number in range(FEWEST):
            on_record(store, *departure(number, None, status="kept"))
            on_record(store, departure(FEWEST + number, None)[0], None)
        assert record_of(POLICY, store) == PrequentialRecord((), ())
        assert with_record(POLICY, store) is POLICY


def test_a_record_never_grants_a_release() -> None:
    barred = replace(POLICY, released=())
    with open_store("sqlite://") as store:
        for number in range(FEWEST):
            on_record(store, *departure(number, 50.0))
            on_record(store, *agreement(number, 100.0))
        assert with_record(barred, store) is barred
