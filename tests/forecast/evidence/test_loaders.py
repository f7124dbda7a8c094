"""Busy CPUs as evidence of whether loading data holds a job up."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.forecast.evidence.loaders import loaders_log_likelihood
from jpo.forecast.measurements import CandidateRun
from jpo.records import Candidates, Draws, Identity, Outcome, Run, RunStatus

VALUES = np.array([[2.0, 8.0], [2.0, 4.0], [0.0, 8.0]])
CANDIDATES = Candidates(("gpus", "cpus"), VALUES, 0, np.ones(3, dtype=np.bool_), np.zeros(3))
HELD_UP, IDLE, COMPUTES = 0.9, 0.05, np.nan


def draws(shares: list[float] | None) -> Draws:
    zeros = np.zeros((len(shares or [1.0]), 3))
    array = None if shares is None else np.array(shares)
    return Draws(zeros, zeros, zeros, zeros, zeros > 0, log_throughput=zeros, loader_share=array)


def at(row: int, busy: float | None) -> CandidateRun:
    outcome = Outcome(duration_seconds=10.0, cpu_utilisation=busy)
    return CandidateRun(row, Run("r", Identity("d", "m", "f"), {}, RunStatus.SUCCEEDED, None, 0.0, outcome, "csv"), 1.0)


def test_idle_cpus_make_it_unlikely_that_loading_holds_the_job_up_unless_it_waits_for_storage() -> None:
    held_up, idle = loaders_log_likelihood(draws([HELD_UP, IDLE]), CANDIDATES, [at(0, 0.1)])
    assert np.exp(held_up) == pytest.approx(0.15)
    assert idle == 0


def test_busy_cpus_say_nothing() -> None:
    held_up, idle = loaders_log_likelihood(draws([HELD_UP, IDLE]), CANDIDATES, [at(0, 0.95)])
    assert held_up == idle == 0


def test_half_of_the_cpus_are_needed_twice_as_much() -> None:
    enough, short = (loaders_log_likelihood(draws([0.45]), CANDIDATES, [at(row, 0.5)])[0] for row in (0, 1))
    assert enough == 0 > short


@pytest.mark.parametrize(
    ("shares", "run"), [(None, at(0, 0.1)), ([HELD_UP], at(0, None)), ([HELD_UP], at(2, 0.1)), ([COMPUTES], at(0, 0.1))]
)
def test_nothing_is_known_without_gpus_or_a_measurement(shares: list[float] | None, run: CandidateRun) -> None:
    assert not loaders_log_likelihood(draws(shares), CANDIDATES, [run]).any()
