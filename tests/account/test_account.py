"""What else could have been suggested: computed from the outlook that decided, by the rules that decided."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

import constraints
from constraints import Limits
from jpo.account import Account, account_of
from jpo.advice import Advice, advise
from jpo.cost import Prices
from jpo.outlook import Wishes
from jpo.records import NAMED_PREFERENCES, Identity, Outcome, Run, RunStatus

NOW = {"batch_size": 64.0, "gpus": 2.0, "cpus": 8.0}
LIMITS = Limits()
JOB = Identity("d", "m", "f")


def wishes(**changes: object) -> Wishes:
    usual = Wishes(
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


@pytest.fixture(scope="module")
def told() -> tuple[Advice, Account]:
    advice = advise(NOW, SEEN, wishes(), policy=None, seed=0)
    return advice, account_of(advice, wishes(), LIMITS)


def account(make: Callable[[], Wishes] = wishes, **asked: object) -> Account:
    return account_of(advise(NOW, SEEN, make(), policy=None, seed=0, **asked), make(), LIMITS)


def test_before_the_first_run_that_ended_well_there_is_nothing_to_tell() -> None:
    advice = advise(NOW, [], wishes(), policy=None, seed=0)
    assert account_of(advice, wishes(), LIMITS) == Account()
    assert account_of(replace(advice, ahead=None), wishes(), LIMITS) == Account()


def test_alternatives_are_others_than_the_choice_with_the_forecasts_of_the_outlook(told: tuple[Advice, Account]) -> None:
    advice, found = told
    assert 3 <= len(found.alternatives) <= 5
    assert advice.ahead is not None
    for one in found.alternatives:
        assert one.parameters not in (advice.current, advice.suggested)
        assert one.forecast == advice.ahead.forecast(advice.ahead.row(one.parameters))
        assert one.why_not.startswith("takes ")


def test_todays_values_are_no_alternative_even_where_they_are_the_best_that_was_measured() -> None:
    once = runs((64, 2, 400))
    advice = advise(NOW, once, wishes(), policy=None, seed=0, chosen={"batch_size": 32.0})
    found = account_of(advice, wishes(), LIMITS)
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
        other = advise(NOW, SEEN, wishes(preference=NAMED_PREFERENCES[name]), policy=None, seed=0).suggested
        named = ", ".join(f"{key} {value:g}" for key, value in other.items() if value != NOW[key]) or "today's configuration"
        assert sentence.endswith(f"the choice would be {named}")
        assert other != advice.suggested


def test_what_another_boldness_would_choose_is_what_it_chooses(told: tuple[Advice, Account]) -> None:
    other = advise(NOW, SEEN, wishes(explore="off"), policy=None, seed=0).suggested
    same = other == told[0].suggested
    assert same != any(one.startswith("with explore = off") for one in told[1].would_change)


def test_a_limit_that_held_a_value_back_is_named() -> None:
    steep = runs((64, 2, 400), (64, 2, 404), (128, 2, 200), (128, 2, 202), (256, 2, 100), (256, 2, 101))
    advice = advise(NOW, steep, wishes(free=["batch_size"]), policy=None, seed=0)
    found = account_of(advice, wishes(free=["batch_size"]), LIMITS)
    assert (advice.suggested["batch_size"], found.capped_by) == (256.0, {"batch_size": "max_change"})
    assert "without max_change a step of batch_size to 512 could be tried" in found.would_change


def test_a_value_that_nobody_wanted_further_is_capped_by_nothing() -> None:
    """256 is as far as max_change allows, but the runs say that the last step did harm."""
    harmful = runs((64, 2, 400), (64, 2, 404), (128, 2, 200), (128, 2, 202), (256, 2, 300), (256, 2, 301))
    advice = advise(NOW, harmful, wishes(free=["batch_size"]), policy=None, seed=0)
    assert advice.ahead is not None
    too_far = replace(advice, decision=replace(advice.decision, choice=advice.ahead.row({**NOW, "batch_size": 256.0})))
    assert account_of(too_far, wishes(free=["batch_size"]), LIMITS).capped_by == {}


def test_an_alternative_that_breaks_the_sla_says_so() -> None:
    found = account(lambda: wishes(promises={"time_max": 310.0}))
    assert any("expected to break [sla] time_max" in one.why_not for one in found.alternatives)


def test_with_exploring_off_what_was_not_run_is_out_of_the_question() -> None:
    steep = runs((32, 2, 800), (32, 2, 802), (64, 2, 400), (64, 2, 404), (128, 2, 200), (128, 2, 202))
    off = wishes(explore="off")
    found = account_of(advise(NOW, steep, off, policy=None, seed=0), off, LIMITS)
    refused = [one.parameters for one in found.alternatives if "it was not run yet, and exploring is off" in one.why_not]
    assert refused
    assert not any(run.parameters in refused for run in steep)


def test_values_set_by_hand_are_told_what_jpo_would_do() -> None:
    left_alone = advise(NOW, SEEN, wishes(), policy=None, seed=0).suggested
    found = account(chosen={"batch_size": 32.0})
    named = ", ".join(f"{key} {value:g}" for key, value in left_alone.items() if value != NOW[key])
    assert f"left to itself, JPO would choose {named}" in found.would_change


def test_the_break_even_lies_where_the_objectives_are_equal() -> None:
    """Only time counts: the run may take as long as today's is expected to."""
    timely = wishes(preference=NAMED_PREFERENCES["time"], free=["batch_size"])
    advice = advise(NOW, SEEN, timely, policy=None, seed=0)
    (first, *_) = account_of(advice, timely, LIMITS).would_change
    assert advice.now.duration_seconds is not None
    minutes, seconds = divmod(round(advice.now.duration_seconds.mean), 60)
    assert f"while a run takes less than {minutes} min {seconds:02}" in first


def test_a_choice_of_the_agent_is_not_asked_again_without_it(told: tuple[Advice, Account]) -> None:
    decided = replace(told[0].decision, decided_by="sac")
    found = account_of(replace(told[0], decision=decided), wishes(), LIMITS)
    assert not any(one.startswith("with ") for one in found.would_change)
    assert found.alternatives == told[1].alternatives or any("agent likes it less" in one.why_not for one in found.alternatives)


def test_what_the_agent_saw_is_finite_and_about_its_choice(told: tuple[Advice, Account]) -> None:
    advice, found = told
    assert all(math.isfinite(value) for value in found.seen.values())
    there = sum(run.parameters == advice.suggested for run in SEEN)
    assert (found.seen["runs there that ended well"], found.seen["finished runs"]) == (there, len(SEEN))


def test_nothing_that_may_change_means_no_alternatives() -> None:
    found = account(lambda: wishes(free=[]))
    assert all(one.parameters["cpus"] == NOW["cpus"] for one in found.alternatives)
    assert not any(one.startswith("with ") for one in found.would_change)
