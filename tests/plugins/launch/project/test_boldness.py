"""How bold each run of `jpo optimize` is."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.plugins.launch.project.boldness import settings_of_step
from jpo.project.load import LoadedSettings, load


def settings(tmp_path: Path, **agent: object) -> LoadedSettings:
    config = tmp_path / "config.ini"
    config.write_text("[workload]\ndataset = d\nmodel = m\nframework = f\n[training]\nbatch_size = 64\n")
    return load(config, None, {}, {"agent": agent} if agent else {})


def test_each_run_is_weighed_with_those_that_follow_and_the_best_measured_is_left(tmp_path: Path) -> None:
    agents = [settings_of_step(settings(tmp_path), number, 10, on_record=2 + number).values.agent for number in range(1, 12)]
    assert [agent.explore for agent in agents] == ["on"] * 10 + ["off"]
    assert [agent.horizon_runs for agent in agents[:10]] == [13] * 10
    assert [settings_of_step(settings(tmp_path), at, 10, on_record=3).fallback is not None for at in (10, 11)] == [False, True]


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
        for number in (1, 10, 11)
    ]
    usual = given.get("quality_floor", 0.02)
    assert floors == [pytest.approx(trial) if trial != "off" else "off"] * 2 + [usual]
