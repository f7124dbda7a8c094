from __future__ import annotations

import numpy as np
import pytest

from jpo.plugins.lab.episode import FAILURE, LADDERS, LENGTHS, EpisodeJob, slacks
from jpo.records import NAMED_PREFERENCES, Preference
from jpo.simulate.installations import AS_SIMULATED, Installation


def job(seed: int = 0, installation: Installation = AS_SIMULATED, *, drift: bool = False) -> EpisodeJob:
    return EpisodeJob(np.random.default_rng(seed), 21, installation, drift=drift)


def luck() -> np.random.Generator:
    return np.random.default_rng(5)


def test_todays_configuration_works_and_is_the_reference() -> None:
    for seed in range(20):
        one = job(seed)
        now = one.row(one.today)
        assert one.grid.parameters(now) == {
            name: ladder[at] for (name, ladder), at in zip(LADDERS.items(), one.today, strict=True)
        }
        assert not one.fails[now]
        assert one.charges(NAMED_PREFERENCES["balanced"], {}, 0)[now] == pytest.approx(1.0)
        assert one.run(now, 0, luck()).logs == pytest.approx(one.run(now, 0, luck()).logs)


def test_too_little_memory_fails_with_memory_full_and_nothing_else_measured() -> None:
    one = next(one for one in map(job, range(50)) if one.need_gib[one.row(one.today)] > 8)
    least = np.array([*one.today[:-1], 0])
    run = one.run(one.row(least), 1, luck())
    assert run.failed
    assert run.utilisation == (0.0, 1.0, 0.0)


def test_utilisation_is_of_what_was_asked_for() -> None:
    one = next(one for one in map(job, range(50)) if one.today[-2] < 3 and one.today[-1] < 4)
    more = one.today + np.array([0, 0, 0, 0, 1])
    runs = [one.run(one.row(rungs), 1, luck()) for rungs in (one.today, more)]
    assert not any(run.failed for run in runs)
    assert runs[1].utilisation[1] == pytest.approx(runs[0].utilisation[1] / 2)
    assert runs[1].utilisation[::2] == runs[0].utilisation[::2]
    assert all(0 < share <= 1 for share in runs[0].utilisation)


def test_what_is_over_a_target_costs_three_reference_runs_per_log() -> None:
    one, time = job(3), Preference(1.0, 0.0)
    free, held = one.charges(time, {}, 0), one.charges(time, {"duration": 1.2}, 0)
    over = np.clip(one.draws.log_time[0] - np.log(1.2), 0, 1)
    assert held - free == pytest.approx(3 * over)
    assert FAILURE * 1.5 == 3.0


def test_slack_is_the_log_of_what_the_target_leaves() -> None:
    logs = np.log([2.0, 3.0, 1.0, 1.1])
    assert slacks(logs, {"duration": 4.0, "val_loss": 1.0}) == pytest.approx({"duration": np.log(2), "val_loss": -np.log(1.1)})


def test_an_installation_makes_jobs_fail_that_else_would_not() -> None:
    largest = [LENGTHS[0] - 1, *[None] * 4]
    failing = []
    for installation in (AS_SIMULATED, Installation("batch-limit", room=0.5)):
        jobs = [job(seed, installation) for seed in range(40)]
        rows = [one.row(np.array([at if up is None else up for at, up in zip(one.today, largest, strict=True)])) for one in jobs]
        failing.append(sum(bool(one.draws.fails[0, row]) for one, row in zip(jobs, rows, strict=True)))
    assert failing[1] > failing[0] + 10


def test_drift_is_drawn_only_where_asked() -> None:
    assert job().drift.log_time[20] == 0.0
    assert any(job(seed, drift=True).drift.log_time[20] != 0.0 for seed in range(10))
