"""What earlier jobs of the installation say: only what they missed in common, and nothing where they say nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jpo.agent.residuals import prior_moments
from jpo.optimizer.candidates import collect
from jpo.optimizer.installation import belief_here, lesson, residuals_of_runs, residuals_of_workloads, with_earlier_jobs
from jpo.optimizer.problem import problem_of
from jpo.optimizer.surrogate import surrogate_of
from jpo.records import Identity, Known, Residuals, Run, RunStatus
from tests.optimizer.test_advise import FASTER, NOW, a_run, request


def slow_when_large(name: str) -> list[Run]:
    """A job of this installation: every doubling of the batch made it slower, and with four of them it failed."""
    took = {16.0: 100.0, 32.0: 180.0, 64.0: 330.0}
    ended = [a_run(at, seconds, batch_size=batch) for at, (batch, seconds) in enumerate(took.items())]
    failed = a_run(len(took), 5.0, batch_size=256.0, status=RunStatus.OOM_KILLED)
    return [replace(run, identity=Identity(name, "m", "f"), run_id=f"{name} {run.run_id}") for run in (*ended, failed)]


@pytest.fixture(scope="module")
def residuals() -> Residuals:
    found = residuals_of_workloads([run for at in range(8) for run in slow_when_large(f"job {at}")])
    assert found is not None
    return found


def test_residuals_are_against_the_first_run_that_ended_well_and_each_configuration_counts_once() -> None:
    crashed = replace(slow_when_large("one")[3], run_id="first")
    found = residuals_of_runs([crashed, *slow_when_large("one"), *slow_when_large("one")])
    assert found is not None
    assert found.workloads == ("one/m/f",)
    assert len(found.job) == 3
    assert sorted(found.failed.tolist()) == [0, 0, 1]
    assert np.isnan(found.log_time[found.failed == 1]).all()
    assert (found.log_time[found.failed == 0] > 0).all(), "slower than simulated jobs"


def test_a_parameter_that_a_run_does_not_report_is_as_in_the_reference() -> None:
    runs = slow_when_large("one")
    silent = [runs[0], *(replace(run, parameters={"batch_size": run.parameters["batch_size"]}) for run in runs[1:])]
    for name in ("log_time", "points", "failed"):
        mine, theirs = (getattr(residuals_of_runs(each), name) for each in (silent, runs))
        np.testing.assert_array_equal(mine, theirs)


def test_runs_of_one_configuration_or_none_that_ended_well_say_nothing() -> None:
    assert residuals_of_runs([]) is None
    assert residuals_of_runs([a_run(1, 100.0), a_run(2, 101.0)]) is None
    assert residuals_of_runs(slow_when_large("one")[3:]) is None
    assert residuals_of_workloads([a_run(1, 100.0)]) is None


def test_jobs_of_several_workloads_stay_apart() -> None:
    both = residuals_of_workloads([*slow_when_large("one"), *slow_when_large("two")])
    assert both is not None
    assert both.workloads == ("one/m/f", "two/m/f")
    assert np.bincount(both.job).tolist() == [3, 3]


def test_the_belief_here_goes_where_earlier_jobs_went_and_stays_as_it_is_at_the_reference(residuals: Residuals) -> None:
    asked = request(free=("batch_size",))
    runs = [a_run(1, 100.0)]
    surrogate = surrogate_of(asked, Known(tuple(runs)), seed=0)
    here = belief_here(surrogate.candidates, runs, residuals)
    today, large = surrogate.row(NOW), surrogate.row({**NOW, "batch_size": 64.0})
    (slow, _), (usual, _) = prior_moments(here), prior_moments(surrogate.belief)
    assert slow[large] - slow[today] > usual[large] - usual[today]
    assert here.p_fail[today] < 0.05
    unlike = belief_here(surrogate.candidates, runs, replace(residuals, failed=np.zeros_like(residuals.failed)))
    farthest = surrogate.row({**NOW, "batch_size": surrogate.candidates.values[:, 0].max()})
    assert here.p_fail[farthest] > unlike.p_fail[farthest]


def test_the_problem_names_how_many_jobs_it_has_learnt_from_and_its_own_rule_stays(residuals: Residuals) -> None:
    asked = request()
    surrogate = surrogate_of(asked, Known(tuple(FASTER)), seed=0)
    problem = problem_of(surrogate.candidates, surrogate.belief, asked, Known(tuple(FASTER)))
    taught = with_earlier_jobs(problem, FASTER, residuals)
    earlier = taught.context.earlier
    assert problem.context.earlier is None
    assert earlier is not None
    assert earlier.jobs == 8
    assert earlier.acquisition.horizon == problem.context.horizon
    assert earlier.p_fails.shape == (len(surrogate.candidates.values),)
    np.testing.assert_array_equal(taught.acquisition.score, problem.acquisition.score)


def failing(name: str) -> list[Run]:
    """A job whose larger batches failed."""
    ended = [a_run(0, 100.0), a_run(1, 90.0, batch_size=32.0)]
    failed = [a_run(2 + at, 5.0, status=RunStatus.OOM_KILLED, batch_size=batch) for at, batch in enumerate((64.0, 128.0))]
    return [replace(run, identity=Identity(name, "m", "f")) for run in (*ended, *failed)]


def test_where_earlier_jobs_failed_the_next_is_believed_to_fail_and_not_where_it_runs() -> None:
    runs = [a_run(1, 100.0), a_run(2, 101.0)]
    candidates = collect(request(), runs)
    residuals = residuals_of_workloads([run for name in "abcdef" for run in failing(name)])
    assert residuals is not None
    believed = belief_here(candidates, runs, residuals)
    large = dict(zip(candidates.names, candidates.values.T, strict=True))["batch_size"] >= 64
    assert believed.p_fail[large].mean() > 0.5
    assert believed.p_fail[candidates.current] < 0.05
    assert np.array_equal(believed.p_fail, belief_here(candidates, runs, residuals).p_fail)


def test_what_several_other_jobs_paid_for_a_move_is_said_until_this_one_has_made_it() -> None:
    others = [run for name in "abc" for run in slow_when_large(name)]
    here = [a_run(0, 50.0, batch_size=16.0)]
    note = lesson(others, here)
    assert note is not None
    assert (note.code, note.text) == ("JPO-I675", "on 3 other jobs here larger batches took 230% longer")
    assert lesson(others, [*here, a_run(1, 60.0, batch_size=32.0)]) is None
    assert lesson(slow_when_large("a"), here) is None, "one job says nothing of the others"
    failing = [run for name in "ab" for run in (slow_when_large(name)[0], slow_when_large(name)[3])]
    assert "on 2 other jobs here larger batches failed" in str(lesson(failing, here))
