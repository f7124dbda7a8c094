from __future__ import annotations

import numpy as np

from jpo.optimizer.candidates import collect
from jpo.optimizer.installation import belief_here, residuals_of_runs, residuals_of_workloads
from jpo.records import Identity, RunStatus
from tests.optimizer.test_advise import a_run, request


def failing(name: str) -> list:
    """A job whose larger batches failed, the reference after a first run that failed."""
    runs = [a_run(0, 5.0, status=RunStatus.FAILED), a_run(1, 100.0), a_run(2, 90.0, batch_size=32.0)]
    runs += [a_run(3 + at, 5.0, status=RunStatus.OOM_KILLED, batch_size=batch) for at, batch in enumerate((64.0, 128.0))]
    return [run.__class__(run.run_id, Identity(name, "m", "f"), *[getattr(run, n) for n in run.__slots__[2:]]) for run in runs]


def test_the_first_run_that_ended_well_is_what_a_job_is_measured_against() -> None:
    told = residuals_of_runs(failing("a"))
    assert told is not None
    assert told.workloads == ("a/m/f",)
    assert told.failed.tolist() == [0, 1, 1]
    assert residuals_of_runs(failing("a")[:1]) is None
    assert residuals_of_runs([a_run(1, 100.0), a_run(2, 101.0)]) is None


def test_workloads_are_told_apart() -> None:
    both = residuals_of_workloads([*failing("a"), *failing("b")])
    assert both is not None
    assert (both.workloads, np.bincount(both.job).tolist()) == (("a/m/f", "b/m/f"), [3, 3])
    assert residuals_of_workloads([]) is None


def test_where_earlier_jobs_failed_the_next_is_believed_to_fail_and_not_where_it_runs() -> None:
    runs = [a_run(1, 100.0), a_run(2, 101.0)]
    candidates = collect(request(), runs)
    residuals = residuals_of_workloads([run for name in "abcdef" for run in failing(name)])
    assert residuals is not None
    believed = belief_here(candidates, runs, residuals)
    columns = dict(zip(candidates.names, candidates.values.T, strict=True))
    large = columns["batch_size"] >= 64
    today = candidates.current
    assert believed.p_fail[large].mean() > 0.5
    assert believed.p_fail[today] < 0.05
    assert np.array_equal(believed.p_fail, belief_here(candidates, runs, residuals).p_fail)
