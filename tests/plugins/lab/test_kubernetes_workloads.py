from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jpo.plugins.lab.kubernetes_workloads import SimulatedWorkload, draw_workload, execute, row_of, truth
from jpo.records import RunStatus
from jpo.simulate.installations import Installation


def workload(seed: int = 0, *, drift: bool = False) -> SimulatedWorkload:
    return draw_workload(0, 30, np.random.default_rng(seed), drift=drift)


def luck() -> np.random.Generator:
    return np.random.default_rng(5)


def test_the_first_configuration_works_and_is_measured_in_full() -> None:
    for seed in range(30):
        job = workload(seed)
        status, outcome = execute(job, job.first, 0, luck())
        assert status is RunStatus.SUCCEEDED
        assert outcome.duration_seconds is not None
        assert 300 < outcome.duration_seconds < 60_000
        assert (outcome.gpu_utilisation is not None) == ("gpus" in job.first)
        assert None not in (outcome.val_loss, outcome.cpu_utilisation, outcome.memory_gib, outcome.energy_joules)


def test_every_combination_of_the_choices_can_be_run_in_any_order() -> None:
    job, rng = workload(1, drift=True), np.random.default_rng(0)
    for run in range(200):
        values = {name: float(rng.choice(choices)) for name, choices in job.choices.items()}
        first, again = (execute(job, values, run % 30, np.random.default_rng(run)) for _ in range(2))
        assert first == again


def test_too_little_memory_is_killed_and_more_changes_nothing_else() -> None:
    job = next(
        job for job in map(workload, range(50)) if truth(job, 0)["need_gib"][job.grid.current] > job.choices["memory_gib"][0]
    )
    status, outcome = execute(job, {**job.first, "memory_gib": job.choices["memory_gib"][0]}, 0, luck())
    assert (status, outcome.memory_gib) == (RunStatus.OOM_KILLED, job.choices["memory_gib"][0])
    assert execute(job, {**job.first, "memory_gib": 128.0}, 0, luck()) == execute(job, job.first, 0, luck())


def test_a_learning_rate_that_fails_where_the_first_one_works_has_diverged() -> None:
    job = workload(0)
    fails = np.zeros_like(job.draws.fails)
    wild = {**job.first, "learning_rate": 0.03}
    fails[0, row_of(job, wild)] = True
    broken = replace(job, draws=replace(job.draws, fails=fails), first={**job.first, "learning_rate": 0.001})
    assert execute(broken, wild, 0, luck())[0] is RunStatus.DIVERGED
    fails[:] = True
    assert execute(broken, wild, 0, luck())[0] is RunStatus.OOM_KILLED


def test_the_same_luck_meets_every_configuration() -> None:
    job = workload(2)
    row = row_of(job, job.first)
    seconds = execute(replace(job, noise=0.1), job.first, 0, luck())[1].duration_seconds
    other = execute(replace(job, noise=0.1), {**job.first, "cpus": 32.0}, 0, luck())[1].duration_seconds
    assert seconds is not None
    assert other is not None
    expected = job.draws.log_time[0, row_of(job, {**job.first, "cpus": 32.0})] - job.draws.log_time[0, row]
    assert np.log(other / seconds) == pytest.approx(expected)


def test_drift_makes_later_runs_longer_where_the_data_grow() -> None:
    job = next(job for job in (workload(s, drift=True) for s in range(50)) if job.drift.log_data[-1] > 0)
    before, after = (execute(job, job.first, run, luck())[1] for run in (0, 29))
    assert before.duration_seconds is not None
    assert after.duration_seconds is not None
    assert before.samples is not None
    assert after.samples is not None
    assert np.log(after.duration_seconds / before.duration_seconds) == pytest.approx(job.drift.log_time[29])
    assert np.log(after.samples / before.samples) == pytest.approx(job.drift.log_data[29])


def test_an_installation_changes_the_truth_and_nothing_else() -> None:
    usual, there = (
        draw_workload(0, 30, np.random.default_rng(4), installation=Installation(kind, room=0.5))
        for kind in ("none", "batch-limit")
    )
    assert (there.first, there.choices, there.levels, there.noise) == (usual.first, usual.choices, usual.levels, usual.noise)
    assert there.draws.fails.sum() > usual.draws.fails.sum()
    largest = {**there.first, "gpus": 1.0, "batch_size": max(there.choices["batch_size"])}
    assert execute(there, largest, 0, luck())[0] is RunStatus.OOM_KILLED


def test_throughput_and_energy_agree_with_duration() -> None:
    job = next(job for job in map(workload, range(50)) if job.first.get("gpus", 0) > 1)
    outcome = execute(job, job.first, 0, luck())[1]
    assert outcome.samples is not None
    assert outcome.energy_joules is not None
    assert outcome.duration_seconds is not None
    assert outcome.throughput_samples_per_second == pytest.approx(outcome.samples / outcome.duration_seconds)
    assert outcome.energy_joules / outcome.duration_seconds == pytest.approx(300 * job.first["gpus"] * job.levels["power"])
    assert job.levels["power"] <= 1
