"""What would have changed the answer: asked again, by the rules that decided."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made import a_suggestion

import constraints
from jpo.errors import NothingAdmissible
from jpo.optimizer.advise import Advice
from jpo.optimizer.explain.account import Account, account_of
from jpo.records import NAMED_PREFERENCES, Change, RunStatus, Undo
from tests.asked import changed
from tests.optimizer.explain.decided import LIMITS, NOW, SEEN, STEEP, account, advised, capped, known, request, runs


def test_what_another_preference_would_choose_is_what_it_chooses(decided: tuple[Advice, Account]) -> None:
    advice, explained = decided
    sentences = [one for one in explained.would_change if one.startswith("with the preference")]
    assert sentences
    for sentence in sentences:
        name = sentence.removeprefix("with the preference ").partition(" ")[0]
        other = advised(request(preference=NAMED_PREFERENCES[name]), SEEN).suggested
        named = ", ".join(f"{key} {value:g}" for key, value in other.items() if value != NOW[key]) or "today's configuration"
        assert sentence.endswith(f"the choice would be {named}")
        assert other != advice.suggested


def test_what_another_boldness_would_choose_is_what_it_chooses(decided: tuple[Advice, Account]) -> None:
    other = advised(request(explore="off"), SEEN).suggested
    same = other == decided[0].suggested
    assert same != any(one.startswith("with explore = off") for one in decided[1].would_change)


def test_a_limit_that_held_a_value_back_is_named() -> None:
    steep = runs((64, 2, 400), (64, 2, 404), (128, 2, 200), (128, 2, 202), (256, 2, 100), (256, 2, 101))
    advice = advised(request(free=["batch_size"]), steep)
    explained = account_of(advice, request(free=["batch_size"]), known(steep), LIMITS)
    assert (advice.suggested["batch_size"], explained.capped_by) == (256.0, {"batch_size": "max_change"})
    assert "without max_change a step of batch_size to 512 could be tried" in explained.would_change


def test_a_value_that_nobody_wanted_further_is_capped_by_nothing() -> None:
    """256 is as far as max_change allows, but the runs say that the last step did harm."""
    harmful = runs((64, 2, 400), (64, 2, 404), (128, 2, 200), (128, 2, 202), (256, 2, 300), (256, 2, 301))
    advice = advised(request(free=["batch_size"]), harmful)
    assert advice.surrogate is not None
    too_far = replace(advice, decision=replace(advice.decision, choice=advice.surrogate.row({**NOW, "batch_size": 256.0})))
    assert account_of(too_far, request(free=["batch_size"]), known(harmful), LIMITS).capped_by == {}


def test_values_set_by_hand_are_compared_with_what_jpo_would_do() -> None:
    left_alone = advised(request(), SEEN).suggested
    explained = account(chosen={"batch_size": 32.0})
    named = ", ".join(f"{key} {value:g}" for key, value in left_alone.items() if value != NOW[key])
    assert f"left to itself, JPO would choose {named}" in explained.would_change


def test_the_break_even_is_where_the_objectives_are_equal() -> None:
    """Only time counts: the run may take as long as today's is expected to."""
    timely = request(preference=NAMED_PREFERENCES["time"], free=["batch_size"])
    advice = advised(timely, SEEN)
    (first, *_) = account_of(advice, timely, known(SEEN), LIMITS).would_change
    assert advice.now.duration_seconds is not None
    minutes, seconds = divmod(round(advice.now.duration_seconds.mean), 60)
    assert f"while a run takes less than {minutes}m {seconds:02}s" in first


def test_what_another_boldness_refuses_it_does_not_choose() -> None:
    """Today breaks the target and nothing measured keeps it: with exploring off there would be no answer at all."""
    slow = runs((64, 2, 400), (64, 2, 404))
    strict = request(targets={"time_max": 350.0})
    with pytest.raises(NothingAdmissible):
        advised(changed(strict, explore="off"), slow)
    explained = account_of(advised(strict, slow), strict, known(slow), LIMITS)
    assert not any(one.startswith("with explore = off") for one in explained.would_change)


def test_where_nothing_keeps_the_sla_jpo_alone_would_not_choose_todays_values() -> None:
    out_of_reach = request(targets={"time_max": 1.0}, chosen={"batch_size": 32.0})
    advice = advised(out_of_reach, SEEN)
    assert (
        "left to itself, JPO would find no configuration that meets [sla]"
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
    """Four GPUs are faster and much more expensive: who prefers money goes back, whatever else looks promising."""
    since = runs((64, 2, 400), (64, 2, 402), (64, 2, 399), (64, 4, 380), (64, 4, 381))
    timely = request(current={**NOW, "gpus": 4.0}, preference=NAMED_PREFERENCES["time"])
    change = Change("gpus", "resources.gpus", 2.0, 4.0, "2", "4", "faster", 0.9)
    last = Undo("s", (a_suggestion("s", current=NOW, suggested=timely.current, changes=(change,)),))
    advice = advised(timely, since, last=last)
    thrifty = advised(changed(timely, preference=NAMED_PREFERENCES["cost"]), since, last=last)
    assert (advice.undo, thrifty.suggested) == (None, NOW)
    assert (
        "with the preference cost the choice would be gpus 2"
        in account_of(advice, timely, known(since, last), LIMITS).would_change
    )


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


def test_what_follows_may_be_what_is_at_a_limit() -> None:
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
    explained = account_of(advised(following, steep), following, known(steep), limits)
    assert explained.capped_by == {"batch_size": "max of learning_rate"}
