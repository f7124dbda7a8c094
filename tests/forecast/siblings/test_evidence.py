"""What siblings measured: differences on each hardware, levels of their own."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.forecast.calibration import RUNS_REMEMBERED
from jpo.forecast.siblings.evidence import by_hardware, evidence_of
from jpo.records import Candidates, Identity, Outcome, Run, RunStatus

BATCHES = Candidates(("batch_size",), np.array([[32.0], [64.0], [128.0]]), 0, np.ones(3, dtype=np.bool_), np.zeros(3))


def a_run(number: int, batch: float, seconds: float, hardware: str = "a100", **changes: object) -> Run:
    status = changes.pop("status", RunStatus.SUCCEEDED)
    outcome = Outcome(duration_seconds=seconds, **changes)  # type: ignore[arg-type]
    identity = Identity("d", "m", "f", hardware)
    return Run(str(number), identity, {"batch_size": batch}, status, None, float(number), outcome, "csv")  # type: ignore[arg-type]


def test_without_a_run_at_a_candidate_there_is_no_evidence() -> None:
    assert evidence_of(BATCHES, []) is None
    assert evidence_of(BATCHES, [a_run(1, 48, 100)]) is None


def test_each_measurement_says_whose_it_is() -> None:
    evidence = evidence_of(BATCHES, [a_run(1, 32, 100), a_run(2, 64, 50), a_run(3, 64, 10, "t4")])
    assert evidence is not None
    assert (evidence.log_time.rows.tolist(), evidence.log_time.sibling.tolist()) == ([0, 1, 1], [0, 0, 1])
    assert evidence.log_time.mean == pytest.approx(np.log([100, 50, 10]))
    assert not evidence.log_loss.rows.size


def test_stopped_runs_are_bounds_and_failures_of_one_configuration_count_twice_at_most() -> None:
    runs = [a_run(1, 32, 100), a_run(2, 128, 300, status=RunStatus.STOPPED)]
    runs += [a_run(number, 64, 5, status=RunStatus.OOM_KILLED) for number in range(3, 8)]
    evidence = evidence_of(BATCHES, runs)
    assert evidence is not None
    assert (evidence.log_time.bound_rows.tolist(), evidence.log_time.bound.tolist()) == ([2], [pytest.approx(np.log(300))])
    assert evidence.failed.tolist() == [0, 2, 0]
    assert evidence.passed.tolist() == [1, 0, 0]


def test_power_is_energy_by_time() -> None:
    evidence = evidence_of(BATCHES, [a_run(1, 32, 100, energy_joules=20_000.0), a_run(2, 64, 50)])
    assert evidence is not None
    assert evidence.log_power.mean == pytest.approx([np.log(200)])


def test_the_newest_runs_of_each_hardware_count() -> None:
    jobs = by_hardware([a_run(number, 32, 100, "a100" if number % 2 else "t4") for number in range(2 * RUNS_REMEMBERED + 4)])
    assert [(len(job), job[-1].identity.hardware) for job in jobs] == [(RUNS_REMEMBERED, "t4"), (RUNS_REMEMBERED, "a100")]
