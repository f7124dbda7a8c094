from __future__ import annotations

import math
from dataclasses import replace

import pytest
from made import a_run

from jpo.cost import Prices
from jpo.plugins.page.rewards import reward_components
from jpo.records import Outcome, Preference, Run, RunStatus

COST_ALONE = Preference(0.0, 1.0, 0.0)


def run(name: str, seconds: float, status: RunStatus = RunStatus.SUCCEEDED, **measured: float) -> Run:
    return a_run(name, status=status, parameters={"cpus": 1.0}, outcome=Outcome(duration_seconds=seconds, **measured))


def test_components_are_logs_of_ratios_to_the_first_run_that_ended_well() -> None:
    runs = [run("bad", 9, RunStatus.FAILED), run("first", 100, val_loss=0.4), run("second", 50, val_loss=0.2)]
    first, second = reward_components(runs, {}, Prices(usd_per_cpu_hour=36.0), COST_ALONE)
    assert (first.run.run_id, first.time, first.cost, first.loss, first.reward) == ("first", 0.0, 0.0, 0.0, 0.0)
    assert (second.time, second.cost, second.loss) == pytest.approx((-math.log(2),) * 3)
    assert second.reward == pytest.approx(0.0), "it is the best so far"
    assert second.efficiency is None


def test_a_failed_run_is_charged_like_two_of_the_best_before_it() -> None:
    runs = [run("first", 100), run("second", 50), run("third", 1, RunStatus.OOM_KILLED)]
    *_, failed = reward_components(runs, {}, Prices(usd_per_cpu_hour=36.0), COST_ALONE)
    assert failed.failed
    assert failed.cost == pytest.approx(0.0)
    assert failed.reward == pytest.approx(-1.0)


def test_what_is_not_known_stays_unknown() -> None:
    (first,) = reward_components([replace(run("first", 100), parameters={})], {}, Prices(), COST_ALONE)
    assert (first.cost, first.reward) == (None, None)


def test_a_missed_target_is_said_and_lowers_the_reward() -> None:
    (first,) = reward_components([run("first", 100)], {"time_max": 50.0}, Prices(usd_per_cpu_hour=36.0), COST_ALONE)
    assert first.sla == pytest.approx(math.log(2))
    assert first.reward == pytest.approx(-3 * math.log(2))


def test_without_a_run_that_ended_well_there_is_nothing_to_compare_with() -> None:
    assert list(reward_components([run("bad", 9, RunStatus.FAILED)], {}, Prices(), COST_ALONE)) == []
