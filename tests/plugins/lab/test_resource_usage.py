from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

from jpo.plugins.lab.resource_usage import (
    CHECKPOINT,
    LOAD,
    PHASES,
    POINTS,
    TRAIN,
    VALIDATE,
    Demand,
    draw_demand,
    peak_gib,
    trace,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def demand(**changes: object) -> Demand:
    """One job: 10% loading, 4 epochs, 10% validation and checkpoint each, 1 + 2 + 4 + 8 GiB."""
    quantities: dict[str, object] = {
        "load": 0.1,
        "validate": 0.1,
        "checkpoint": 0.1,
        "epochs": 4,
        "cores": np.array([6.0, 4.0, 2.0, 1.0]),
    }
    quantities |= {"base_gib": 1.0, "data_gib": 2.0, "batch_gib": 4.0, "copy_gib": 8.0}
    return Demand(**{**quantities, **changes})  # type: ignore[arg-type]


def test_a_run_goes_through_its_phases_in_order() -> None:
    phase = trace(demand(), 8.0, 0.0, 0.0, rng()).phase
    order = [PHASES[phase] for phase, _ in groupby(phase)]
    assert order == ["load", *["train", "validate", "checkpoint"] * 4]
    assert np.bincount(phase) / len(phase) == pytest.approx([0.1, 0.72, 0.09, 0.09], abs=0.02)


def test_busy_cpus_follow_the_phase_and_never_exceed_the_request() -> None:
    seen = trace(demand(), 5.0, 0.0, 0.0, rng())
    means = [seen.cores[seen.phase == phase].mean() for phase in (LOAD, TRAIN, VALIDATE, CHECKPOINT)]
    assert means == pytest.approx([5.0, 4.0, 2.0, 1.0], rel=0.05)
    assert seen.cores.max() <= 5.0


def test_twice_the_pace_needs_twice_the_cpus_while_training_only() -> None:
    slow, fast = (trace(demand(), 64.0, float(np.log(pace)), 0.0, rng()) for pace in (1.0, 2.0))
    training = slow.phase == TRAIN
    assert fast.cores[training] == pytest.approx(2 * slow.cores[training])
    assert (fast.cores[slow.phase == LOAD] == slow.cores[slow.phase == LOAD]).all()


def test_memory_fills_while_loading_and_peaks_at_a_checkpoint() -> None:
    seen = trace(demand(), 8.0, 0.0, 1.0, rng())
    loading = seen.memory_gib[seen.phase == LOAD]
    assert (np.diff(loading) > 0).all()
    assert loading[-1] == pytest.approx(3.0, abs=0.1)
    assert seen.memory_gib[seen.phase == TRAIN] == pytest.approx(1 + 2 + 2 * 4)
    assert seen.memory_gib.max() == pytest.approx(peak_gib(demand(), np.ones(1))[0]) == 19.0


def test_todays_request_suffices_in_nearly_all_jobs_and_is_mostly_unused() -> None:
    request, generator = 32.0, rng()
    peaks = np.array([peak_gib(draw_demand(8.0, request, generator), np.zeros(1))[0] for _ in range(5000)])
    assert 0 < (peaks > request).mean() < 0.02
    assert np.median(peaks / request) < 0.35


@pytest.mark.parametrize(("seed", "cpus", "doublings"), [(2, 4.0, 0.0), (0, 8.0, 1.0), (1, 16.0, 2.0)])
def test_a_run_comes_to_its_peak(seed: int, cpus: float, doublings: float) -> None:
    drawn = draw_demand(8.0, 32.0, rng(seed))
    seen = trace(drawn, cpus, 0.0, doublings, rng(1))
    assert seen.cores.shape == (POINTS,)
    assert seen.memory_gib.max() == pytest.approx(peak_gib(drawn, np.array([doublings]))[0])
