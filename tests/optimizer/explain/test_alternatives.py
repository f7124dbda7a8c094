"""What else could have been suggested, and what stood against it."""

from __future__ import annotations

from dataclasses import replace

import constraints
from jpo.cost import Prices
from jpo.optimizer.advise import Advice
from jpo.optimizer.explain.account import Account, account_of
from jpo.records import NAMED_PREFERENCES, Outcome
from tests.optimizer.explain.decided import LIMITS, NOW, SEEN, account, advised, known, request, runs


def test_alternatives_are_others_than_the_choice_with_the_forecasts_of_the_outlook(decided: tuple[Advice, Account]) -> None:
    advice, explained = decided
    assert 3 <= len(explained.alternatives) <= 5
    assert advice.surrogate is not None
    for one in explained.alternatives:
        assert one.parameters not in (advice.current, advice.suggested)
        assert one.forecast == advice.surrogate.forecast(advice.surrogate.row(one.parameters))
        assert one.why_not.startswith("time ")


def test_todays_values_are_no_alternative_even_where_they_are_the_best_that_was_measured() -> None:
    once = runs((64, 2, 400))
    advice = advised(request(chosen={"batch_size": 32.0}), once)
    explained = account_of(advice, request(chosen={"batch_size": 32.0}), known(once), LIMITS)
    assert explained.alternatives
    assert NOW not in [one.parameters for one in explained.alternatives]


def test_a_gpu_step_more_and_less_is_among_them(decided: tuple[Advice, Account]) -> None:
    advice, explained = decided
    others = [one.parameters for one in explained.alternatives]
    alone = {one["gpus"] for one in others if {**one, "gpus": 0} == {**advice.suggested, "gpus": 0}}
    assert alone >= {advice.suggested["gpus"] * 2}


def test_an_alternative_that_breaks_the_sla_says_so() -> None:
    explained = account(targets={"time_max": 310.0})
    assert any("expected to break [sla] time_max" in one.why_not for one in explained.alternatives)


def test_with_exploring_off_what_was_not_run_is_out_of_the_question() -> None:
    steep = runs((32, 2, 800), (32, 2, 802), (64, 2, 400), (64, 2, 404), (128, 2, 200), (128, 2, 202))
    off = request(explore="off")
    explained = account_of(advised(off, steep), off, known(steep), LIMITS)
    refused = [one.parameters for one in explained.alternatives if "best that was measured" in one.why_not]
    assert any(not any(run.parameters == values for run in steep) for values in refused)
    assert {**NOW, "batch_size": 128.0} not in refused, "the best that was measured"


def test_a_quota_in_money_by_a_catalogue_is_named() -> None:
    """The guard reads no catalogue: it is given the price of each configuration, here too."""
    limits = constraints.limits_from({"prices": {"catalogue": "mine"}, "quota": {"usd_per_hour": 5.0}})
    rented = request(
        prices=Prices(2.0, 0.04),
        admissible=lambda today, there: there["gpus"] <= 2 and constraints.approves(today, there, LIMITS),
    )
    fast = runs((64, 2, 400), (64, 2, 404), (64, 4, 50))
    explained = account_of(advised(rented, fast), rented, known(fast), limits)
    assert any("the quota is 5 USD per hour" in one.why_not for one in explained.alternatives if one.parameters["gpus"] == 4)


def test_what_is_held_or_follows_is_named_where_it_rules_out_a_configuration() -> None:
    elsewhere = [replace(SEEN[2], parameters={**NOW, "cpus": 4.0}, outcome=Outcome(duration_seconds=200.0))]
    explained = account_of(advised(request(), [*SEEN[:2], *elsewhere]), request(), known([*SEEN[:2], *elsewhere]), LIMITS)
    assert any(one.why_not.endswith(": cpus may not change") for one in explained.alternatives)


def test_what_was_measured_too_rarely_is_not_said_to_gain_less() -> None:
    """One run looks better by less than noise: exploring is off, so today's stays, and nothing is tried that could gain more."""
    hardly = runs((64, 2, 400), (64, 2, 404), (128, 2, 396))
    off = request(explore="off", preference=NAMED_PREFERENCES["time"])
    explained = account_of(advised(off, hardly), off, known(hardly), LIMITS)
    reasons = [one.why_not for one in explained.alternatives if one.parameters == {**NOW, "batch_size": 128.0}]
    assert reasons
    assert reasons[0].endswith('it is not the best that was measured, where `explore` is "off"')
