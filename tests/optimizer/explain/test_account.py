"""What else could have been suggested: computed from the outlook that decided, by the rules that decided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from made import a_suggestion

import constraints
from constraints import Limits
from jpo.cost import Prices
from jpo.errors import NothingAdmissible
from jpo.optimizer.advise import Advice, advise
from jpo.optimizer.explain import Account, account_of
from jpo.optimizer.request import Request
from jpo.records import NAMED_PREFERENCES, Change, Identity, Known, Outcome, Run, RunStatus, Undo

NOW = {"batch_size": 64.0, "gpus": 2.0, "cpus": 8.0}
LIMITS = Limits()
JOB = Identity("d", "m", "f")


def request(**changes: object) -> Request:
    usual = Request(
        current=NOW,
        free=["batch_size", "gpus"],
        admissible=lambda today, proposed: constraints.approves(today, proposed, LIMITS),
        preference=NAMED_PREFERENCES["balanced"],
        prices=Prices(2.0, 0.04),
    )
    return replace(usual, **changes)


def runs(*measured: tuple[float, float, float]) -> list[Run]:
    """(batch size, gpus, seconds), oldest first."""
    return [
        Run(
            f"r{n}",
            JOB,
            {**NOW, "batch_size": batch, "gpus": gpus},
            RunStatus.SUCCEEDED,
            1000.0 * n,
            1000.0 * n + seconds,
            Outcome(duration_seconds=seconds),
            "csv",
        )
        for n, (batch, gpus, seconds) in enumerate(measured)
    ]


SEEN = runs((64, 2, 400), (64, 2, 404), (128, 2, 300), (64, 4, 390), (128, 2, 303))


def known(measured: Sequence[Run], last: Undo | None = None) -> Known:
    return Known(tuple(measured), last=last)


def advised(asked: Request, measured: Sequence[Run], *, last: Undo | None = None) -> Advice:
    return advise(asked, known(measured, last), None, seed=0)


@pytest.fixture(scope="module")
def told() -> tuple[Advice, Account]:
    advice = advised(request(), SEEN)
    return advice, account_of(advice, request(), known(SEEN), LIMITS)


def account(**changes: object) -> Account:
    asked = request(**changes)
    return account_of(advised(asked, SEEN), asked, known(SEEN), LIMITS)


def test_before_the_first_run_that_ended_well_there_is_nothing_to_tell() -> None:
    advice = advised(request(), [])
    assert account_of(advice, request(), known([]), LIMITS) == Account()
    assert account_of(replace(advice, surrogate=None), request(), known([]), LIMITS) == Account()


def test_alternatives_are_others_than_the_choice_with_the_forecasts_of_the_outlook(told: tuple[Advice, Account]) -> None:
    advice, found = told
    assert 3 <= len(found.alternatives) <= 5
    assert advice.surrogate is not None
    for one in found.alternatives:
        assert one.parameters not in (advice.current, advice.suggested)
        assert one.forecast == advice.surrogate.forecast(advice.surrogate.row(one.parameters))
        assert one.why_not.startswith("takes ")


def test_todays_values_are_no_alternative_even_where_they_are_the_best_that_was_measured() -> None:
    once = runs((64, 2, 400))
    advice = advised(request(chosen={"batch_size": 32.0}), once)
    found = account_of(advice, request(chosen={"batch_size": 32.0}), known(once), LIMITS)
    assert found.alternatives
    assert NOW not in [one.parameters for one in found.alternatives]


def test_a_gpu_step_more_and_less_is_among_them(told: tuple[Advice, Account]) -> None:
    advice, found = told
    others = [one.parameters for one in found.alternatives]
    alone = {one["gpus"] for one in others if {**one, "gpus": 0} == {**advice.suggested, "gpus": 0}}
    assert alone >= {advice.suggested["gpus"] * 2}


def test_what_another_preference_would_choose_is_what_it_chooses(told: tuple[Advice, Account]) -> None:
    advice, found = told
    sentences = [one for one in found.would_change if one.startswith("with the preference")]
    assert sentences
    for sentence in sentences:
        name = sentence.removeprefix("with the preference ").partition(" ")[0]
        other = advised(request(preference=NAMED_PREFERENCES[name]), SEEN).suggested
        named = ", ".join(f"{key} {value:g}" for key, value in other.items() if value != NOW[key]) or "today's configuration"
        assert sentence.endswith(f"the choice would be {named}")
        assert other != advice.suggested


def test_what_another_boldness_would_choose_is_what_it_chooses(told: tuple[Advice, Account]) -> None:
    other = advised(request(explore="off"), SEEN).suggested
    same = other == told[0].suggested
    assert same != any(one.startswith("with explore = off") for one in told[1].would_change)


def test_a_limit_that_held_a_value_back_is_named() -> None:
    steep = runs((64, 2, 400), (64, 2, 404), (128, 2, 200), (128, 2, 202), (256, 2, 100), (256, 2, 101))
    advice = advised(request(free=["batch_size"]), steep)
    found = account_of(advice, request(free=["batch_size"]), known(steep), LIMITS)
    assert (advice.suggested["batch_size"], found.capped_by) == (256.0, {"batch_size": "max_change"})
    assert "without max_change a step of batch_size to 512 could be tried" in found.would_change


def test_a_value_that_nobody_wanted_further_is_capped_by_nothing() -> None:
    """256 is as far as max_change allows, but the runs say that the last step did harm."""
    harmful = runs((64, 2, 400), (64, 2, 404), (128, 2, 200), (128, 2, 202), (256, 2, 300), (256, 2, 301))
    advice = advised(request(free=["batch_size"]), harmful)
    assert advice.surrogate is not None
    too_far = replace(advice, decision=replace(advice.decision, choice=advice.surrogate.row({**NOW, "batch_size": 256.0})))
    assert account_of(too_far, request(free=["batch_size"]), known(harmful), LIMITS).capped_by == {}


def test_an_alternative_that_breaks_the_sla_says_so() -> None:
    found = account(targets={"time_max": 310.0})
    assert any("expected to break [sla] time_max" in one.why_not for one in found.alternatives)


def test_with_exploring_off_what_was_not_run_is_out_of_the_question() -> None:
    steep = runs((32, 2, 800), (32, 2, 802), (64, 2, 400), (64, 2, 404), (128, 2, 200), (128, 2, 202))
    off = request(explore="off")
    found = account_of(advised(off, steep), off, known(steep), LIMITS)
    refused = [one.parameters for one in found.alternatives if "it was not run yet, and exploring is off" in one.why_not]
    assert refused
    assert not any(run.parameters in refused for run in steep)


def test_values_set_by_hand_are_told_what_jpo_would_do() -> None:
    left_alone = advised(request(), SEEN).suggested
    found = account(chosen={"batch_size": 32.0})
    named = ", ".join(f"{key} {value:g}" for key, value in left_alone.items() if value != NOW[key])
    assert f"left to itself, JPO would choose {named}" in found.would_change


def test_the_break_even_lies_where_the_objectives_are_equal() -> None:
    """Only time counts: the run may take as long as today's is expected to."""
    timely = request(preference=NAMED_PREFERENCES["time"], free=["batch_size"])
    advice = advised(timely, SEEN)
    (first, *_) = account_of(advice, timely, known(SEEN), LIMITS).would_change
    assert advice.now.duration_seconds is not None
    minutes, seconds = divmod(round(advice.now.duration_seconds.mean), 60)
    assert f"while a run takes less than {minutes}m {seconds:02}s" in first


def test_a_choice_of_the_agent_is_not_asked_again_without_it(told: tuple[Advice, Account]) -> None:
    decided = replace(told[0].decision, decided_by="sac")
    found = account_of(replace(told[0], decision=decided), request(), known(SEEN), LIMITS)
    assert not any(one.startswith("with ") for one in found.would_change)
    assert found.alternatives == told[1].alternatives or any("agent likes it less" in one.why_not for one in found.alternatives)


def test_what_the_agent_saw_is_finite_and_about_its_choice(told: tuple[Advice, Account]) -> None:
    advice, found = told
    assert all(math.isfinite(value) for value in found.seen.values())
    there = sum(run.parameters == advice.suggested for run in SEEN)
    assert (found.seen["runs there that ended well"], found.seen["finished runs"]) == (there, len(SEEN))


def test_nothing_that_may_change_means_no_alternatives() -> None:
    found = account(free=[])
    assert all(one.parameters["cpus"] == NOW["cpus"] for one in found.alternatives)
    assert not any(one.startswith("with ") for one in found.would_change)


PROMISED = {"time_max": 350.0}


def test_what_another_boldness_refuses_it_does_not_choose() -> None:
    """Today breaks the promise and nothing measured keeps it: with exploring off there would be no answer at all."""
    slow = runs((64, 2, 400), (64, 2, 404))
    strict = request(targets=PROMISED)
    with pytest.raises(NothingAdmissible):
        advised(replace(strict, explore="off"), slow)
    found = account_of(advised(strict, slow), strict, known(slow), LIMITS)
    assert not any(one.startswith("with explore = off") for one in found.would_change)


def test_where_nothing_keeps_the_sla_jpo_alone_would_not_choose_todays_values() -> None:
    out_of_reach = request(targets={"time_max": 1.0}, chosen={"batch_size": 32.0})
    advice = advised(out_of_reach, SEEN)
    assert (
        "left to itself, JPO would find nothing that keeps [sla]"
        in account_of(advice, out_of_reach, known(SEEN), LIMITS).would_change
    )


def test_out_of_failure_every_boldness_but_off_leads_the_same_way() -> None:
    """Today only failed, and what ended well is held: the way out does not depend on how bold one is."""
    at_four = replace(runs((64, 4, 100.0))[0], run_id="well", parameters={**NOW, "cpus": 2.0}, ended_at=1.0, started_at=0.0)
    failed = replace(runs((64, 2, 100.0))[0], run_id="bad", status=RunStatus.FAILED, ended_at=2.0)
    advice = advised(request(explore="on"), [at_four, failed])
    assert "JPO-W617" in advice.decision.codes
    assert not any(
        one.startswith("with explore = safe")
        for one in account_of(advice, request(explore="on"), known([at_four, failed]), LIMITS).would_change
    )


def test_another_preference_that_would_undo_the_last_change_says_so() -> None:
    """Four GPUs are faster and much dearer: who prefers money goes back, whatever else looks promising."""
    since = runs((64, 2, 400), (64, 2, 402), (64, 2, 399), (64, 4, 380), (64, 4, 381))
    timely = request(current={**NOW, "gpus": 4.0}, preference=NAMED_PREFERENCES["time"])
    change = Change("gpus", "resources.gpus", 2.0, 4.0, "2", "4", "faster", 0.9)
    last = Undo("s", (a_suggestion("s", current=NOW, suggested=timely.current, changes=(change,)),))
    advice = advised(timely, since, last=last)
    thrifty = advised(replace(timely, preference=NAMED_PREFERENCES["cost"]), since, last=last)
    assert (advice.undo, thrifty.suggested) == (None, NOW)
    assert (
        "with the preference cost the choice would be gpus 2"
        in account_of(advice, timely, known(since, last), LIMITS).would_change
    )


STEEP = runs((64, 2, 400), (64, 2, 404), (128, 2, 200), (128, 2, 202), (256, 2, 100), (256, 2, 101))


def capped(limits: Limits, **changes: object) -> Account:
    allowed = request(
        free=["batch_size"], admissible=lambda today, proposed: constraints.approves(today, proposed, limits), **changes
    )
    return account_of(advised(allowed, STEEP), allowed, known(STEEP), limits)


def test_of_two_limits_both_are_named() -> None:
    limits = constraints.limits_from({"parameters": {"batch_size": {"max": 256}}})
    assert capped(limits).capped_by == {"batch_size": "max and max_change"}


def test_a_step_that_could_not_be_tried_without_the_limit_either_is_not_held_back_by_it() -> None:
    """As far again from 384 is 768, which is no multiple of 512 anyway."""
    limits = constraints.limits_from({"parameters": {"batch_size": {"max": 384}}})
    steep = [replace(run, parameters={**run.parameters, "batch_size": run.parameters["batch_size"] * 1.5}) for run in STEEP]
    now = {**NOW, "batch_size": 96.0}
    allowed = request(
        current=now, free=["batch_size"], admissible=lambda today, there: constraints.approves(today, there, limits)
    )
    advice = advised(allowed, steep)
    assert account_of(advice, allowed, known(steep), limits).capped_by == {"batch_size": "max and max_change"}
    odd = constraints.limits_from({"parameters": {"batch_size": {"max": 384, "multiple_of": 512}}})
    assert account_of(advice, allowed, known(steep), odd).capped_by == {}


def test_what_follows_may_be_what_stands_at_a_limit() -> None:
    now = {**NOW, "learning_rate": 0.05}
    limits = constraints.limits_from({"parameters": {"batch_size": {"max_change": 16}, "learning_rate": {"max": 0.1}}})
    following = request(
        current=now,
        free=["batch_size", "learning_rate"],
        follow={"learning_rate": "batch_size:sqrt"},
        admissible=lambda today, proposed: constraints.approves(today, proposed, limits),
    )
    rates = (0.05, 0.05, 0.071, 0.071, 0.1, 0.1)
    steep = [replace(run, parameters={**run.parameters, "learning_rate": rate}) for run, rate in zip(STEEP, rates, strict=True)]
    found = account_of(advised(following, steep), following, known(steep), limits)
    assert found.capped_by == {"batch_size": "max of learning_rate"}


def test_a_quota_in_money_by_a_catalogue_is_named() -> None:
    """The guard reads no catalogue: it is told the price of each configuration, here too."""
    limits = constraints.limits_from({"prices": {"catalogue": "mine"}, "quota": {"usd_per_hour": 5.0}})
    rented = request(
        prices=Prices(2.0, 0.04),
        admissible=lambda today, there: there["gpus"] <= 2 and constraints.approves(today, there, LIMITS),
    )
    fast = runs((64, 2, 400), (64, 2, 404), (64, 4, 50))
    found = account_of(advised(rented, fast), rented, known(fast), limits)
    assert any("the quota is 5 USD per hour" in one.why_not for one in found.alternatives if one.parameters["gpus"] == 4)


def test_what_is_held_or_follows_is_named_where_it_stands_against_a_configuration() -> None:
    elsewhere = [replace(SEEN[2], parameters={**NOW, "cpus": 4.0}, outcome=Outcome(duration_seconds=200.0))]
    found = account_of(advised(request(), [*SEEN[:2], *elsewhere]), request(), known([*SEEN[:2], *elsewhere]), LIMITS)
    assert any(one.why_not.endswith(": cpus may not change") for one in found.alternatives)


def test_what_was_measured_and_too_rarely_is_not_told_to_gain_less() -> None:
    """One run looks better by less than noise: exploring is off, so today's stays, and nothing is tried that could gain more."""
    hardly = runs((64, 2, 400), (64, 2, 404), (128, 2, 396))
    off = request(explore="off", preference=NAMED_PREFERENCES["time"])
    found = account_of(advised(off, hardly), off, known(hardly), LIMITS)
    told = [one.why_not for one in found.alternatives if one.parameters == {**NOW, "batch_size": 128.0}]
    assert told
    assert told[0].endswith("its runs are too few to tell it from noise")
