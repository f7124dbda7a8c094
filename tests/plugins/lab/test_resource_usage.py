from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

from jpo.plugins.lab.resource_usage import CHECKPOINT, LOAD, PHASES, TRAIN, VALIDATE, Demand, draw_demand, peak_gib, trace, usage

ONE = np.zeros(1, dtype=np.int64)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def demand(**changes: object) -> Demand:
    """One job: 10% loading, 4 epochs, 10% validation and checkpoint each, 1 + 2 + 4 + 8 GiB."""
    quantities: dict[str, object] = {
        "load": np.array([0.1]),
        "validate": np.array([0.1]),
        "checkpoint": np.array([0.1]),
        "epochs": np.array([4]),
        "cores": np.array([[6.0, 4.0, 2.0, 1.0]]),
    }
    quantities |= {f"{name}_gib": np.array([gib]) for name, gib in {"base": 1.0, "data": 2.0, "batch": 4.0, "copy": 8.0}.items()}
    return Demand(**{**quantities, **changes})  # type: ignore[arg-type]


def test_a_run_goes_through_its_phases_in_order() -> None:
    phase = trace(demand(), ONE, np.array([8.0]), np.zeros(1), np.zeros(1), rng()).phase[0]
    order = [PHASES[phase] for phase, _ in groupby(phase)]
    assert order == ["load", *["train", "validate", "checkpoint"] * 4]
    assert np.bincount(phase) / len(phase) == pytest.approx([0.1, 0.72, 0.09, 0.09], abs=0.02)


def test_busy_cpus_follow_the_phase_and_never_exceed_the_request() -> None:
    seen = trace(demand(), ONE, np.array([5.0]), np.zeros(1), np.zeros(1), rng())
    means = [seen.cores[seen.phase == phase].mean() for phase in (LOAD, TRAIN, VALIDATE, CHECKPOINT)]
    assert means == pytest.approx([5.0, 4.0, 2.0, 1.0], rel=0.05)
    assert seen.cores.max() <= 5.0


def test_twice_the_pace_needs_twice_the_cpus_while_training_only() -> None:
    slow, fast = (trace(demand(), ONE, np.array([64.0]), np.log([pace]), np.zeros(1), rng()) for pace in (1.0, 2.0))
    training = slow.phase == TRAIN
    assert fast.cores[training] == pytest.approx(2 * slow.cores[training])
    assert (fast.cores[slow.phase == LOAD] == slow.cores[slow.phase == LOAD]).all()


def test_memory_fills_while_loading_and_peaks_at_a_checkpoint() -> None:
    seen = trace(demand(), ONE, np.array([8.0]), np.zeros(1), np.ones(1), rng())
    loading = seen.memory_gib[seen.phase == LOAD]
    assert (np.diff(loading) > 0).all()
    assert loading[-1] == pytest.approx(3.0, abs=0.1)
    assert seen.memory_gib[seen.phase == TRAIN] == pytest.approx(1 + 2 + 2 * 4)
    assert seen.memory_gib.max() == pytest.approx(peak_gib(demand(), 0, np.ones(1))[0]) == 19.0


def test_usage_summarises_a_trace_by_hand() -> None:
    seen = trace(demand(), ONE, np.array([8.0]), np.zeros(1), np.zeros(1), rng())
    of = usage(seen, np.array([8.0]))
    assert of.cpu_mean[0] == pytest.approx(seen.cores.mean() / 8)
    assert of.cpu_mean[0] < of.cpu_p95[0] <= 1.0
    assert of.memory_mean_gib[0] < of.memory_p95_gib[0] <= of.memory_peak_gib[0] == 15.0


def test_todays_request_suffices_in_nearly_all_jobs_and_is_mostly_unused() -> None:
    requests = np.full(5000, 32.0)
    drawn = draw_demand(np.full(5000, 8.0), requests, rng())
    peaks = np.array([peak_gib(drawn, job, np.zeros(1))[0] for job in range(5000)])
    assert 0 < (peaks > requests).mean() < 0.02
    assert np.median(peaks / requests) < 0.35


def test_many_runs_at_once_are_the_runs_one_by_one() -> None:
    drawn = draw_demand(np.full(3, 8.0), np.full(3, 32.0), rng())
    jobs, cpus = np.array([2, 0, 1]), np.array([4.0, 8.0, 16.0])
    seen = trace(drawn, jobs, cpus, np.zeros(3), np.arange(3.0), rng(1), points=50)
    assert seen.cores.shape == (3, 50)
    for row, job in enumerate(jobs):
        assert seen.memory_gib[row].max() == pytest.approx(peak_gib(drawn, int(job), np.arange(3.0))[row])
