"""What other jobs of a store showed makes simulated jobs likelier, as far as these jobs are alike."""

from __future__ import annotations

import numpy as np
import pytest

from jpo.forecast import earlier_jobs
from jpo.forecast.earlier_jobs import mixture, moves_of
from jpo.optimizer.prior import prior_of
from jpo.records import Candidates, Identity, Outcome, Run, RunStatus

GRID = np.array([[32.0, 1, 8], [32, 1, 4], [32, 1, 16], [64, 1, 8], [32, 2, 8], [64, 2, 16]])
HERE = Candidates(("batch_size", "gpus", "cpus"), GRID, 0, np.ones(6, dtype=np.bool_), np.zeros(6))


def a_run(number: int, seconds: float, name: str = "other", status: RunStatus = RunStatus.SUCCEEDED, **moved: float) -> Run:
    parameters = {"batch_size": 128.0, "gpus": 1.0, "cpus": 4.0, **moved}
    return Run(f"{name}{number}", Identity(name, "m", "f"), parameters, status, None, float(number), Outcome(seconds), "csv")


def dear_with_fewer_cpus(name: str) -> list[Run]:
    return [a_run(0, 1000, name), a_run(1, 1900, name, cpus=2.0)]


def test_the_next_job_is_like_one_of_those_before_or_as_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two jobs, and the simulator counts as two: each half."""
    monkeypatch.setattr(earlier_jobs, "CONCENTRATIONS", (2.0,))
    assert mixture(np.array([[1.0, 0.0], [1.0, 0.0]])) == pytest.approx([0.75, 0.25])
    assert mixture(np.array([[1.0, 0.0], [0.0, 1.0]])) == pytest.approx([0.5, 0.5])


def test_jobs_that_are_alike_count_more_than_jobs_that_are_not() -> None:
    alike = np.repeat([[0.7, 0.1, 0.1, 0.1]], 6, axis=0)
    unlike = alike.copy()
    unlike[3:] = [0.1, 0.1, 0.1, 0.7]
    assert mixture(alike)[0] > 0.55
    shares = [1 - 4 * mixture(weights)[1] for weights in (alike, unlike)]  # of what no job showed
    assert shares[0] > shares[1]


def test_moves_are_made_from_todays_values_gpus_in_number() -> None:
    runs = [
        a_run(0, 1000),
        a_run(1, 1900, cpus=2.0),
        a_run(2, 900, gpus=2.0),
        a_run(3, 1, batch_size=256.0, status=RunStatus.OOM_KILLED),
    ]
    ((values, there),) = moves_of(runs, HERE, {})
    assert values.tolist() == [[32, 1, 8], [64, 1, 8], [32, 2, 8], [32, 1, 4]], "the newest first"
    assert [run.parameters["cpus"] for run in there] == [8, 4, 8, 8]


@pytest.mark.parametrize(
    "runs",
    [
        [a_run(0, 1000), a_run(1, 1000)],  # nothing moved
        [a_run(0, 1000), a_run(1, 1900, cpus=0.5)],  # farther than anything here
        [a_run(0, 1000), a_run(1, 1900, cpus=2.0, momentum=0.9)],  # something else, too, which is no column here
        [a_run(0, 1000, gpus=8.0), a_run(1, 1900, gpus=8.0, cpus=2.0)],  # more GPUs than there are here
        [a_run(0, 1000, status=RunStatus.FAILED), a_run(1, 1, cpus=2.0, status=RunStatus.FAILED)],  # nothing to compare with
    ],
)
def test_what_cannot_be_made_here_says_nothing(runs: list[Run]) -> None:
    assert moves_of(runs, HERE, {}) == []


def test_one_trial_of_another_job_moves_the_forecast_before_the_first_run_and_several_more() -> None:
    """ln of the duration with half of the CPUs, in the mean of the simulated jobs."""
    slower = [
        float(prior_of(HERE, 0, [run for name in jobs for run in dear_with_fewer_cpus(name)]).draws.log_time[:, 1].mean())
        for jobs in ("", "a", "abcdefgh")
    ]
    assert slower[0] < slower[1] < slower[2]
    assert slower[2] > 0.35
