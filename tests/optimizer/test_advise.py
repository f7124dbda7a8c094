from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from jpo.agent.safety.queue_waits import TOO_LATE, QueueWaits
from jpo.cost import Prices
from jpo.errors import NothingAdmissible
from jpo.optimizer.advise import Advice, advise
from jpo.optimizer.request import Request
from jpo.optimizer.surrogate import surrogate_of
from jpo.records import Calibration, Change, Identity, Known, Outcome, Preference, Run, RunStatus, Undo, same, texts_of
from tests.asked import a_request, changed
from tests.made import a_suggestion

NOW = {"batch_size": 16.0, "learning_rate": 0.01, "cpus": 2.0}
JOB = Identity("d", "m", "f")


def a_run(
    number: int, seconds: float, *, status: RunStatus = RunStatus.SUCCEEDED, converged: bool | None = None, **values: float
) -> Run:
    outcome = Outcome(duration_seconds=seconds, converged=converged)
    return Run(f"r{number}", JOB, {**NOW, **values}, status, None, float(number), outcome, "observe")


def request(**more: object) -> Request:
    return a_request(**{"current": NOW, "free": ("batch_size", "learning_rate", "cpus"), **more})  # type: ignore[arg-type]


def advised(asked: Request, runs: Sequence[Run], **known: object) -> Advice:
    return advise(asked, Known(tuple(runs), **known), None, seed=0)  # type: ignore[arg-type]


GOALS = ("recurring", "search")
UNTRIED = a_suggestion("s1", suggested=NOW)
FASTER = [a_run(1, 100.0), a_run(2, 101.0), a_run(3, 40.0, batch_size=64.0), a_run(4, 41.0, batch_size=64.0)]


def test_the_same_arguments_give_the_same_advice() -> None:
    first, second = (advise(request(), Known(tuple(FASTER)), None, seed=5) for _ in range(2))
    assert first == second


def test_without_a_run_the_advice_is_to_keep_and_nothing_is_forecast() -> None:
    advice = advised(request(), [])
    assert (advice.suggested, advice.next.duration_seconds, advice.decision.decided_by) == (NOW, None, "no evidence")


def test_a_measured_better_batch_size_is_advised_and_forecast_near_what_it_took() -> None:
    advice = advised(request(explore="off"), FASTER)
    assert advice.suggested["batch_size"] == 64
    assert advice.next.duration_seconds is not None
    assert advice.next.duration_seconds.mean == pytest.approx(40.5, rel=0.15)


def test_what_breaks_the_time_target_is_not_advised() -> None:
    advice = advised(request(targets={"time_max": 60.0}, explore="off"), FASTER)
    assert advice.suggested["batch_size"] == 64
    assert "JPO-W609" in advice.decision.codes
    with pytest.raises(NothingAdmissible, match="time_max"):
        advised(request(targets={"time_max": 0.001}), FASTER)


def test_explore_off_never_leaves_the_measured_ones_for_the_sla() -> None:
    slow = [a_run(1, 100.0), a_run(2, 101.0)]
    with pytest.raises(NothingAdmissible, match="only measured ones"):
        advised(request(targets={"time_max": 60.0}, explore="off"), slow)


def test_the_cost_that_the_sla_limits_is_the_one_that_is_forecast() -> None:
    priced = request(prices=Prices(usd_per_cpu_hour=36.0), explore="off")  # one cent per CPU second
    cost = advised(priced, FASTER).next.cost_usd
    assert cost is not None
    assert cost.mean == pytest.approx(0.81, rel=0.15)
    with pytest.raises(NothingAdmissible, match="cost_max"):
        advised(request(prices=Prices(usd_per_cpu_hour=36.0), targets={"cost_max": 0.0001}), FASTER)


def test_values_set_by_hand_change_alone_and_what_follows_them() -> None:
    advice = advised(request(follow={"learning_rate": "batch_size:sqrt"}, chosen={"batch_size": 64.0}), FASTER)
    assert advice.suggested == {"batch_size": 64.0, "learning_rate": 0.02, "cpus": 2.0}
    assert (advice.decision.decided_by, advice.decision.codes) == ("user", ())


def test_only_what_keeps_the_sla_is_restored() -> None:
    """Else the guard would refuse the suggestion, although others keep it."""
    change = Change("batch_size", "training.batch_size", 16.0, 64.0, "16", "64", "", None)
    last = Undo("s1", (a_suggestion(changes=(change,)),))
    ran = ((16.0, 100.0), (16.0, 101.0), (32.0, 60.0), (32.0, 61.0), (64.0, 300.0), (64.0, 303.0))
    runs = [a_run(at, seconds, batch_size=batch) for at, (batch, seconds) in enumerate(ran)]
    now = {**NOW, "batch_size": 64.0}
    for targets, decided_by, batch_size in ({"time_max": 200.0}, "rollback", 16), ({"time_max": 80.0}, "belief", 32):
        advice = advised(request(current=now, free=("batch_size",), targets=targets), runs, last=last)
        assert (advice.decision.decided_by, advice.suggested["batch_size"]) == (decided_by, batch_size)


def test_in_a_search_a_bad_trial_is_not_set_back_and_values_that_ran_are_not_waited_for() -> None:
    """Either would run something twice."""
    change = Change("batch_size", "training.batch_size", 16.0, 64.0, "16", "64", "", None)
    last = Undo("s1", (a_suggestion(changes=(change,)),))
    runs = [
        a_run(at, seconds, batch_size=batch) for at, (batch, seconds) in enumerate(((16.0, 100.0), (16.0, 101.0), (64.0, 300.0)))
    ]
    now, untried = {**NOW, "batch_size": 64.0}, a_suggestion("s2", suggested={**NOW, "batch_size": 64.0})
    for given in ({"last": last}, {"untried": untried}):
        recurs, searched = (advised(request(current=now, free=("batch_size",), goal=goal), runs, **given) for goal in GOALS)
        assert recurs.decision.decided_by in ("rollback", "waiting")
        assert searched.decision.codes[0] == "JPO-I674"
        assert searched.suggested["batch_size"] not in (16, 64)


def test_when_no_measured_values_keep_the_sla_the_remedy_is_one_that_is_left() -> None:
    """Since exploring has spent its budget, "use explore = safe" would change nothing."""
    dear = a_run(5, 400.0, cpus=4.0)
    asked = request(targets={"time_max": 30.0})
    with pytest.raises(NothingAdmissible, match=r"^\[sla\] time_max: no .* relax a target, or try other values by --set"):
        advised(asked, [*FASTER, dear], followed_up=((dear, NOW),))


def test_an_untried_suggestion_comes_first_unless_the_user_decides() -> None:
    waiting = advised(request(), FASTER, untried=UNTRIED)
    assert (waiting.suggested, waiting.decision.codes) == (NOW, ("JPO-I611",))
    assert advised(request(chosen={"cpus": 3.0}), FASTER, untried=UNTRIED).suggested["cpus"] == 3


def test_a_run_that_missed_its_target_is_no_reference_and_not_the_best() -> None:
    runs = [a_run(0, 3.0, converged=False, batch_size=256.0), *FASTER]
    assert advised(request(explore="off"), runs).suggested["batch_size"] == 64


def test_what_exploring_has_cost_is_counted_against_the_budget() -> None:
    dear = a_run(5, 400.0, cpus=4.0)
    followed_up = ((dear, NOW),)
    free, spent = (advised(request(), [*FASTER, dear], followed_up=pairs) for pairs in ((), followed_up))
    assert "JPO-W606" not in free.decision.codes
    assert "JPO-W606" in spent.decision.codes


def test_a_model_is_worse_against_what_the_agent_found_and_not_against_its_own_last_change() -> None:
    measured = ((16.0, 100.0, 1.0), (64.0, 70.0, 1.3), (256.0, 55.0, 1.3))
    ran = [(batch, seconds, loss) for batch, seconds, loss in measured for _ in range(3)]
    runs = [
        replace(a_run(at, seconds, batch_size=batch), outcome=Outcome(duration_seconds=seconds, val_loss=loss))
        for at, (batch, seconds, loss) in enumerate(ran)
    ]
    off = request(current={**NOW, "batch_size": 64.0}, explore="off")
    by_team, by_agent = (advised(off, runs, followed_up=pairs) for pairs in ((), ((runs[5], NOW),)))
    assert by_team.suggested["batch_size"] == 256
    assert by_agent.suggested["batch_size"] == 16


GROWING = [a_run(number, 100 * 1.5**number) for number in range(14)]
"""A job that takes half as long again each time: no forecast from earlier runs holds."""


def test_the_watch_finds_steady_runs_well_forecast_and_growing_ones_not() -> None:
    for runs, watched in ((FASTER, False), ([a_run(n, 100.0 + n) for n in range(12)], False), (GROWING, True)):
        for untried in (None, UNTRIED):
            advice = advised(request(), runs, untried=untried)
            assert ("JPO-W616" in advice.decision.codes) is watched
            assert all(advice.decision.codes)


def test_forecasts_are_as_wide_as_the_watch_says() -> None:
    surrogate = surrogate_of(request(), Known(tuple(FASTER)), seed=0)
    wide, narrow = (
        replace(surrogate, calibration=Calibration(factor)).forecast(surrogate.candidates.current) for factor in (2.0, 1.0)
    )
    assert wide.duration_seconds is not None
    assert narrow.duration_seconds is not None
    ratio = [math.log(one.high / one.low) for one in (wide.duration_seconds, narrow.duration_seconds)]
    assert ratio[0] == pytest.approx(2 * ratio[1])


def test_configurations_are_the_same_if_they_agree_in_what_both_name() -> None:
    assert same({"cpus": 2.0}, {"cpus": 2.0 + 1e-9, "gpus": 1.0})
    assert not same({"cpus": 2.0}, {"cpus": 3.0})


def test_a_job_that_has_only_failed_is_helped_unless_exploring_is_off() -> None:
    failed = [a_run(0, 3.0, converged=False)]
    helped, kept = (advised(request(explore=explore), failed) for explore in ("safe", "off"))
    assert (helped.decision.decided_by, helped.decision.confidence, helped.decision.codes) == ("recovery", None, ("JPO-W618",))
    assert helped.suggested["batch_size"] == NOW["batch_size"] / 2
    assert (kept.decision.decided_by, kept.suggested) == ("no evidence", NOW)


def test_todays_values_that_fail_often_are_left_at_once_and_not_come_back_to() -> None:
    """Faster when they end well, and nothing undoes the way back."""
    before = [a_run(n, 100.0, batch_size=8.0) for n in range(4)]
    since = [a_run(4, 9.0, status=RunStatus.FAILED), a_run(5, 60.0), a_run(6, 9.0, status=RunStatus.FAILED)]
    for explore in ("off", "safe", "on"):
        left = advised(request(explore=explore), [*before, *since])
        assert (left.suggested["batch_size"], left.decision.codes[0]) == (8, "JPO-W649")
        later = advised(request(explore=explore, current={**NOW, "batch_size": 8.0}), [*before, *since])
        assert later.suggested["batch_size"] < 16
    once = advised(request(explore="off"), [*before, a_run(4, 60.0), a_run(5, 60.0), a_run(6, 9.0, status=RunStatus.FAILED)])
    assert (once.suggested, "JPO-W649" in once.decision.codes) == (NOW, False)


@pytest.mark.parametrize("explore", ["safe", "off"])
def test_one_failure_of_values_that_end_well_is_no_reason_to_go_elsewhere(explore: str) -> None:
    """The cluster loses a run now and then: with other values it is as likely."""
    runs = [a_run(n, 60.0) for n in range(8)]
    before, after = (advised(request(explore=explore), [*runs, *more]) for more in ([], [a_run(8, 9.0, status=RunStatus.FAILED)]))
    assert after.suggested == before.suggested
    assert before.surrogate is not None
    assert after.surrogate is not None
    was, now, today = before.surrogate.belief.p_fail, after.surrogate.belief.p_fail, after.surrogate.candidates.current
    assert 0.05 < now[today] < 0.2
    assert (now - was)[was < 0.2].min() > 0.6 * (now - was)[today], "as likely elsewhere"


def test_where_nothing_else_ended_well_a_cause_on_record_says_which_step_helps() -> None:
    killed = [a_run(n, 60.0, status=RunStatus.OOM_KILLED if n % 2 == 0 else RunStatus.SUCCEEDED) for n in range(3)]
    helped, kept = (advised(request(explore=explore), killed) for explore in ("safe", "off"))
    assert (helped.decision.decided_by, helped.decision.codes, helped.suggested["batch_size"]) == ("recovery", ("JPO-W649",), 8)
    assert "and the last of them ran out of memory" in helped.decision.reasons[0].text
    assert (kept.suggested, kept.decision.codes[0]) == (NOW, "JPO-W649")
    since = [*killed, a_run(3, 5.0, status=RunStatus.DIVERGED, learning_rate=0.02)]
    assert advised(request(), since).decision.reasons == helped.decision.reasons, "why other values failed does not matter"


@pytest.mark.parametrize("explore", ["safe", "off"])
def test_what_an_hour_is_not_worth_is_not_chosen_however_it_is_preferred(explore: str) -> None:
    runs = [a_run(n, seconds, cpus=cpus) for n, (seconds, cpus) in enumerate([(100.0, 2.0), (60.0, 8.0)] * 2)]
    fast = request(preference=Preference(1, 0), prices=Prices(usd_per_cpu_hour=36.0), free=("cpus",), explore=explore)
    assert advised(fast, runs).suggested["cpus"] > 2
    held = advised(changed(fast, usd_per_saved_hour=1.0), runs)
    assert (held.suggested, "JPO-I641" in held.decision.codes) == (NOW, explore == "safe")
    assert advised(changed(fast, usd_per_saved_hour=1e6), runs).suggested["cpus"] > 2


def test_a_promised_loss_that_nothing_keeps_does_not_keep_a_change_that_did_harm() -> None:
    change = Change("batch_size", "training.batch_size", 16.0, 64.0, "16", "64", "", None)
    last = Undo("s1", (a_suggestion(changes=(change,)),))
    ran = ((16.0, 100.0), (16.0, 101.0), (64.0, 300.0), (64.0, 303.0))
    runs = [
        replace(run, outcome=replace(run.outcome, val_loss=0.5))
        for run in (a_run(at, seconds, batch_size=batch) for at, (batch, seconds) in enumerate(ran))
    ]
    asked = request(current={**NOW, "batch_size": 64.0}, free=("batch_size",), targets={"val_loss_max": 0.05}, min_confidence=0.7)
    advice = advised(asked, runs, last=last)
    assert (advice.decision.decided_by, advice.suggested["batch_size"]) == ("rollback", 16)


EIGHT = [a_run(n, 3600.0 + n, gpus=4.0) for n in (1, 2)] + [a_run(n, 1800.0 + n, gpus=8.0) for n in (3, 4)]
TWO_DAYS = QueueWaits("gpus", {4.0: 0.0, 8.0: 2 * 86400.0}, free=4.0, most=8.0)


@pytest.mark.parametrize(("today", "done_by", "gpus"), [(4.0, False, 8.0), (4.0, True, 4.0), (8.0, True, 4.0), (8.0, False, 8.0)])
def test_under_a_deadline_eight_gpus_after_two_days_are_worth_less_than_four_now(
    today: float, gpus: float, *, done_by: bool
) -> None:
    """Eight were measured to take half the time. Without a deadline, and without an engine, waiting decides nothing."""
    now = {**NOW, "gpus": today}
    asked = request(current=now, free=("gpus",), choices={"gpus": (4.0, 8.0)}, preference=Preference(1, 0, 0))
    asked = changed(asked, targets={"time_max": 6 * 3600.0}, explore="off")
    advice = advised(changed(asked, queue=TWO_DAYS, done_by=done_by), EIGHT)
    assert advice.suggested["gpus"] == gpus
    assert (TOO_LATE in advice.decision.codes) == done_by
    assert ("would wait 48h 00m for its 8 gpus" in " ".join(texts_of(advice.decision.reasons))) == done_by
    assert advised(asked, EIGHT).suggested["gpus"] == 8.0


def test_where_all_would_be_done_too_late_waiting_rules_nothing_out() -> None:
    everywhere = QueueWaits("gpus", {4.0: 2 * 86400.0, 8.0: 2 * 86400.0})
    asked = request(current={**NOW, "gpus": 4.0}, free=("gpus",), choices={"gpus": (4.0, 8.0)}, preference=Preference(1, 0, 0))
    asked = changed(asked, targets={"time_max": 6 * 3600.0}, explore="off", queue=everywhere, done_by=True)
    assert advised(asked, EIGHT).suggested["gpus"] in (4.0, 8.0)
