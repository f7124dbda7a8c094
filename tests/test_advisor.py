from __future__ import annotations

import numpy as np
import pytest

from jpo.advisor import Wishes, advise, collect, relative_costs
from jpo.cost import Prices
from jpo.errors import NothingAdmissible
from jpo.records import Identity, Outcome, Preference, Run, RunStatus, same

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
    advice = advise(NOW, FASTER, wishes(time_max_seconds=60.0, explore="off"), policy=None, seed=0)
    assert advice.suggested["batch_size"] == 64
    assert "JPO-W609" in advice.decision.codes
    with pytest.raises(NothingAdmissible, match="time_max"):
        advise(NOW, FASTER, wishes(time_max_seconds=0.001), policy=None, seed=0)


def test_explore_off_never_leaves_the_measured_ones_for_the_sla() -> None:
    slow = [a_run(1, 100.0), a_run(2, 101.0)]
    with pytest.raises(NothingAdmissible, match="only measured ones"):
        advise(NOW, slow, wishes(time_max_seconds=60.0, explore="off"), policy=None, seed=0)


def test_the_cost_that_the_sla_limits_is_the_one_that_is_forecast() -> None:
    priced = wishes(prices=Prices(usd_per_cpu_hour=36.0), explore="off")  # one cent per CPU second
    cost = advise(NOW, FASTER, priced, policy=None, seed=0).next.cost_usd
    assert cost is not None
    assert cost.mean == pytest.approx(0.81, rel=0.15)
    with pytest.raises(NothingAdmissible, match="cost_max"):
        advise(NOW, FASTER, wishes(prices=Prices(usd_per_cpu_hour=36.0), cost_max_usd=0.0001), policy=None, seed=0)


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


def test_exploring_is_paid_in_multiples_of_the_run_that_it_replaced() -> None:
    candidates = collect(NOW, FASTER, wishes())
    tried, failed = a_run(5, 150.0, cpus=2.0), a_run(6, 1.0, status=RunStatus.FAILED)
    costs = relative_costs([(tried, NOW), (failed, NOW)], FASTER, candidates, Preference(1.0, 0.0, 0.0))
    assert costs == pytest.approx((150 / 101, 2.0))


def test_a_run_with_nothing_to_compare_with_costs_nothing() -> None:
    candidates = collect(NOW, FASTER, wishes())
    assert relative_costs([(a_run(5, 150.0), {**NOW, "batch_size": 8.0})], FASTER, candidates, Preference()) == ()


def test_configurations_are_the_same_if_they_agree_in_what_both_name() -> None:
    assert same({"cpus": 2.0}, {"cpus": 2.0 + 1e-9, "gpus": 1.0})
    assert not same({"cpus": 2.0}, {"cpus": 3.0})


def test_candidates_say_whether_prices_are_known() -> None:
    assert not collect(NOW, [], wishes()).priced
    assert collect(NOW, [], wishes(prices=Prices(usd_per_cpu_hour=1.0))).priced
    assert np.all(np.isfinite(collect(NOW, [], wishes()).log_rate))
