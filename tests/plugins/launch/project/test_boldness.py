"""How bold each run of `jpo optimize` is."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.plugins.launch.project.boldness import settings_of_step, trials_of
from jpo.project.load import LoadedSettings, load


def settings(tmp_path: Path, **agent: object) -> LoadedSettings:
    config = tmp_path / "config.ini"
    config.write_text("[workload]\ndataset = d\nmodel = m\nframework = f\n[training]\nbatch_size = 64\n")
    return load(config, None, {}, {"agent": agent} if agent else {})


@pytest.mark.parametrize(("runs", "trials"), [(0, 0), (1, 1), (2, 2), (10, 5), (30, 9), (100, 16)])
def test_some_of_the_runs_are_trials(runs: int, trials: int) -> None:
    assert trials_of(runs) == trials


@pytest.mark.parametrize(("runs", "trials"), [(0, 0), (1, 1), (2, 2), (10, 7), (30, 13), (100, 24)])
def test_there_are_half_as_many_again_where_none_of_them_ended_well(tmp_path: Path, runs: int, trials: int) -> None:
    assert trials_of(runs, vain=True) == trials
    agents = [settings_of_step(settings(tmp_path), at, runs, 3, vain=True).values.agent for at in (trials, trials + 1)]
    assert [agent.explore for agent in agents[runs == 0 :]] == ["on", "off"][runs == 0 :]


def test_trials_come_first_then_what_was_measured(tmp_path: Path) -> None:
    agents = [settings_of_step(settings(tmp_path), number, 10, on_record=2 + number).values.agent for number in range(1, 12)]
    assert [agent.explore for agent in agents] == ["on"] * 5 + ["off"] * 6
    measured = [settings_of_step(settings(tmp_path), number, 10, on_record=3).fallback is not None for number in range(1, 12)]
    assert measured == [False] * 5 + [True] * 6
    assert [agent.exploration_runs for agent in agents[:6]] == [4, 5, 6, 7, 8, 0]
    assert [agent.horizon_runs for agent in agents[:10]] == [13] * 10


def test_where_the_user_says_how_bold_to_be_that_holds_and_so_does_the_horizon(tmp_path: Path) -> None:
    given = settings(tmp_path, explore="safe", horizon_runs=50)
    agents = [settings_of_step(given, number, 10, on_record=3).values.agent for number in (1, 10, 11)]
    assert [agent.explore for agent in agents] == ["safe", "safe", "off"]
    assert [(agent.exploration_runs, agent.horizon_runs) for agent in agents] == [(0, 50)] * 3


@pytest.mark.parametrize(("given", "trial"), [({}, 0.1), ({"quality_floor": 0.02}, 0.02), ({"quality_floor": "off"}, "off")])
def test_trials_may_end_five_times_as_far_below_as_the_rest_unless_the_user_has_set_it(
    tmp_path: Path, given: dict[str, object], trial: float | str
) -> None:
    floors = [
        settings_of_step(settings(tmp_path, **given), number, 10, on_record=3).values.agent.quality_floor
        for number in (1, 5, 6, 11)
    ]
    usual = given.get("quality_floor", 0.02)
    assert floors == [pytest.approx(trial) if trial != "off" else "off"] * 2 + [usual] * 2
