from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from jpo.advice import advise, row_found, within_sla
from jpo.agent.rows import row_of
from jpo.cost import Prices
from jpo.errors import NothingAdmissible
from jpo.outlook import Wishes, collect
from jpo.records import Candidates, Identity, Outcome, Preference, Run, RunStatus, same

NOW = {"batch_size": 16.0, "learning_rate": 0.01, "cpus": 2.0}
JOB = Identity("d", "m", "f")


def a_run(
    number: int, seconds: float, *, status: RunStatus = RunStatus.SUCCEEDED, converged: bool | None = None, **values: float
) -> Run:
    outcome = Outcome(duration_seconds=seconds, converged=converged)
    return Run(f"r{number}", JOB, {**NOW, **values}, status, None, float(number), outcome, "observe")


def wishes(**changed: object) -> Wishes:
    defaults = {
        "free": ("batch_size", "learning_rate", "cpus"),
        "admissible": lambda _today, _proposed: True,
        "preference": Preference(),
    }
    return Wishes(**{**defaults, **changed})  # type: ignore[arg-type]


FASTER = [a_run(1, 100.0), a_run(2, 101.0), a_run(3, 40.0, batch_size=64.0), a_run(4, 41.0, batch_size=64.0)]


def test_the_same_arguments_give_the_same_advice() -> None:
    first, second = (advise(NOW, FASTER, wishes(), policy=None, seed=5) for _ in range(2))
    assert first == second


def test_without_a_run_the_advice_is_to_keep_and_nothing_is_forecast() -> None:
    advice = advise(NOW, [], wishes(), policy=None, seed=0)
    assert (advice.suggested, advice.next.duration_seconds, advice.decision.decided_by) == (NOW, None, "no evidence")


def test_a_measured_better_batch_size_is_advised_and_forecast_near_what_it_took() -> None:
    advice = advise(NOW, FASTER, wishes(explore="off"), policy=None, seed=0)
    assert advice.suggested["batch_size"] == 64
    assert advice.next.duration_seconds is not None
    assert advice.next.duration_seconds.mean == pytest.approx(40.5, rel=0.15)


def test_what_breaks_the_promised_time_is_not_advised() -> None:
    advice = advise(NOW, FASTER, wishes(promises={"time_max": 60.0}, explore="off"), policy=None, seed=0)
    assert advice.suggested["batch_size"] == 64
    assert "JPO-W609" in advice.decision.codes
    with pytest.raises(NothingAdmissible, match="time_max"):
        advise(NOW, FASTER, wishes(promises={"time_max": 0.001}), policy=None, seed=0)


def test_explore_off_never_leaves_the_measured_ones_for_the_sla() -> None:
    slow = [a_run(1, 100.0), a_run(2, 101.0)]
    with pytest.raises(NothingAdmissible, match="only measured ones"):
        advise(NOW, slow, wishes(promises={"time_max": 60.0}, explore="off"), policy=None, seed=0)


def test_the_cost_that_the_sla_limits_is_the_one_that_is_forecast() -> None:
    priced = wishes(prices=Prices(usd_per_cpu_hour=36.0), explore="off")  # one cent per CPU second
    cost = advise(NOW, FASTER, priced, policy=None, seed=0).next.cost_usd
    assert cost is not None
    assert cost.mean == pytest.approx(0.81, rel=0.15)
    with pytest.raises(NothingAdmissible, match="cost_max"):
        advise(NOW, FASTER, wishes(prices=Prices(usd_per_cpu_hour=36.0), promises={"cost_max": 0.0001}), policy=None, seed=0)


class Foreseen:
    """An outlook in which these means are expected of three candidates; a quantity that is not named is unknown."""

    def __init__(self, **expected: list[float]) -> None:
        self.candidates = Candidates(("cpus",), np.array([[1.0], [2.0], [3.0]]), 0, np.array([True] * 3), np.zeros(3))
        self.means = {name: np.array(values) for name, values in expected.items()}

    def expected(self, quantity: str) -> np.ndarray | None:
        return self.means.get(quantity)


@pytest.mark.parametrize(
    ("promise", "quantity", "means"),
    [
        ("time_max", "duration_seconds", [1.0, 2.0, 3.0]),
        ("throughput_min", "throughput_samples_per_second", [3.0, 2.0, 1.0]),
        ("memory_max_gib", "memory_gib", [2.0, 1.0, 2.1]),
        ("gpu_util_min", "gpu_utilisation", [3.0, np.nan, 1.0]),
        ("val_loss_max", "val_loss", [-1.0, 2.0, 2.5]),
    ],
)
def test_every_promise_takes_out_what_is_expected_to_break_it_and_what_is_unknown_stays(promise, quantity, means) -> None:
    left = within_sla(Foreseen(**{quantity: means}), wishes(promises={promise: 2.0, "cpu_util_min": 1.0}))
    assert left.admissible.tolist() == [True, True, False]


def test_one_promise_that_nothing_keeps_is_named_with_what_comes_nearest() -> None:
    with pytest.raises(NothingAdmissible, match=r"\[sla\] throughput_min: .* keep 9; the nearest expects 4; relax it"):
        within_sla(Foreseen(throughput_samples_per_second=[1.0, 4.0, 2.0]), wishes(promises={"throughput_min": 9.0}))


def test_promises_that_exclude_each_other_are_named_with_what_each_demands() -> None:
    ahead = Foreseen(duration_seconds=[100.0, 50.0, 20.0], cost_usd=[1.0, 2.0, 5.0], val_loss=[0.1, 0.1, 0.1])
    with pytest.raises(NothingAdmissible) as caught:
        within_sla(ahead, wishes(promises={"val_loss_max": 0.2, "time_max": 30.0, "cost_max": 3.0}))
    assert str(caught.value) == (
        "[sla]: time_max (30 s) and cost_max (3.00 USD) contradict each other: what keeps time_max costs at least 5.00 USD; "
        "what keeps cost_max takes at least 50 s; relax one of them, or widen the limits in [parameters]"
    )


def test_three_promises_of_which_any_two_can_be_kept_are_named_together() -> None:
    ahead = Foreseen(duration_seconds=[9.0, 1.0, 1.0], memory_gib=[1.0, 9.0, 1.0], val_loss=[1.0, 1.0, 9.0])
    with pytest.raises(NothingAdmissible, match="time_max, memory_max_gib, val_loss_max cannot be kept together, though any two"):
        within_sla(ahead, wishes(promises={"time_max": 2.0, "memory_max_gib": 2.0, "val_loss_max": 2.0}))


def test_values_set_by_hand_change_alone_and_what_follows_them() -> None:
    advice = advise(
        NOW, FASTER, wishes(follow={"learning_rate": "batch_size:sqrt"}), policy=None, seed=0, chosen={"batch_size": 64.0}
    )
    assert advice.suggested == {"batch_size": 64.0, "learning_rate": 0.02, "cpus": 2.0}
    assert (advice.decision.decided_by, advice.decision.codes) == ("user", ())


def test_an_untried_suggestion_comes_first_unless_the_user_decides() -> None:
    waiting = advise(NOW, FASTER, wishes(), policy=None, seed=0, waiting_for="s1")
    assert (waiting.suggested, waiting.decision.codes) == (NOW, ("JPO-I611",))
    assert advise(NOW, FASTER, wishes(), policy=None, seed=0, waiting_for="s1", chosen={"cpus": 3.0}).suggested["cpus"] == 3


def test_a_run_that_missed_its_target_is_no_reference_and_not_the_best() -> None:
    runs = [a_run(0, 3.0, converged=False, batch_size=256.0), *FASTER]
    assert advise(NOW, runs, wishes(explore="off"), policy=None, seed=0).suggested["batch_size"] == 64


def test_what_exploring_has_cost_is_counted_against_the_budget() -> None:
    dear = a_run(5, 400.0, cpus=4.0)
    followed_up = [(dear, NOW)]
    free, spent = (advise(NOW, [*FASTER, dear], wishes(), policy=None, seed=0, followed_up=one) for one in ((), followed_up))
    assert "JPO-W606" not in free.decision.codes
    assert "JPO-W606" in spent.decision.codes


def test_the_values_that_the_agent_found_are_looked_up_among_the_candidates() -> None:
    candidates = collect(NOW, FASTER, wishes())
    then, gone = {**NOW, "batch_size": 64.0}, {**NOW, "batch_size": 8.5}
    assert row_found(candidates, ()) == candidates.current
    assert row_found(candidates, [(a_run(5, 50.0), then)]) == row_of(candidates, then)
    assert row_found(candidates, [(a_run(5, 50.0), gone)]) is None


def test_a_model_is_worse_against_what_the_agent_found_and_not_against_its_own_last_change() -> None:
    measured = ((16.0, 100.0, 1.0), (64.0, 70.0, 1.3), (256.0, 55.0, 1.3))
    ran = [(batch, seconds, loss) for batch, seconds, loss in measured for _ in range(3)]
    runs = [
        replace(a_run(at, seconds, batch_size=batch), outcome=Outcome(duration_seconds=seconds, val_loss=loss))
        for at, (batch, seconds, loss) in enumerate(ran)
    ]
    now, off = {**NOW, "batch_size": 64.0}, wishes(explore="off")
    by_team, by_agent = (advise(now, runs, off, policy=None, seed=0, followed_up=f) for f in ((), [(runs[5], NOW)]))
    assert by_team.suggested["batch_size"] == 256
    assert by_agent.suggested["batch_size"] == 16


GROWING = [a_run(number, 100 * 1.5**number) for number in range(14)]
"""A job that takes half as long again each time: no forecast from earlier runs holds."""


def test_the_watch_finds_steady_runs_well_forecast_and_growing_ones_not() -> None:
    for runs, watched in ((FASTER, False), ([a_run(n, 100.0 + n) for n in range(12)], False), (GROWING, True)):
        for waiting in (None, "s1"):
            advice = advise(NOW, runs, wishes(), policy=None, seed=0, waiting_for=waiting)
            assert ("JPO-W616" in advice.decision.codes) is watched
            assert len(advice.decision.reasons) == len(advice.decision.codes)


def test_forecasts_are_as_wide_as_the_watch_says() -> None:
    wide, narrow = (advise(NOW, FASTER, wishes(), policy=None, seed=0, widen=widen).now for widen in (2.0, 1.0))
    assert wide.duration_seconds is not None
    assert narrow.duration_seconds is not None
    ratio = [math.log(one.high / one.low) for one in (wide.duration_seconds, narrow.duration_seconds)]
    assert ratio[0] == pytest.approx(2 * ratio[1])


def test_configurations_are_the_same_if_they_agree_in_what_both_name() -> None:
    assert same({"cpus": 2.0}, {"cpus": 2.0 + 1e-9, "gpus": 1.0})
    assert not same({"cpus": 2.0}, {"cpus": 3.0})


def test_candidates_say_whether_prices_are_known() -> None:
    assert not collect(NOW, [], wishes()).priced
    assert collect(NOW, [], wishes(prices=Prices(usd_per_cpu_hour=1.0))).priced
    assert np.all(np.isfinite(collect(NOW, [], wishes()).log_rate))
