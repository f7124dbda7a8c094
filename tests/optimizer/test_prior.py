from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from jpo.forecast import earlier_jobs
from jpo.optimizer import prior
from jpo.optimizer.prior import FEW, PARTICLES, believe, prior_of, with_siblings
from jpo.records import Candidates, Identity, Outcome, Run, RunStatus
from jpo.simulate import draw_jobs


def candidates(**columns: list[float]) -> Candidates:
    grid = np.array(list(itertools.product(*columns.values())), dtype=np.float64)
    return Candidates(tuple(columns), grid, 0, np.ones(len(grid), dtype=np.bool_), np.zeros(len(grid)))


BATCHES = candidates(batch_size=[2.0**i for i in range(4, 10)])
TABULAR = candidates(batch_size=[16, 32, 64, 128], learning_rate=[0.001, 0.01, 0.1], num_layers=[1, 2, 4], epochs=[10, 20, 40])


def a_run(number: int, seconds: float, name: str = "other", status: RunStatus = RunStatus.SUCCEEDED, **parameters: float) -> Run:
    outcome = Outcome(duration_seconds=seconds, val_loss=None)
    return Run(str(number), Identity(name, "m", "f"), parameters, status, None, float(number), outcome, "csv")


def job(name: str, power: float) -> list[Run]:
    return [a_run(i, 1000 * 2.0 ** (power * i), name, batch_size=2.0**i) for i in range(4, 10)]


def test_the_same_seed_gives_the_same_prior_and_another_one_another() -> None:
    first, again, other = (prior_of(TABULAR, seed) for seed in (0, 0, 1))
    assert (first.draws.log_time == again.draws.log_time).all()
    assert (first.draws.log_time != other.draws.log_time).any()
    assert first.recalled is not None
    assert again.recalled is not None
    assert (first.recalled.draws.log_loss == again.recalled.draws.log_loss).all()


def test_a_large_space_is_weighed_with_fewer_jobs() -> None:
    assert len(prior_of(BATCHES, 0).draws.log_time) == PARTICLES
    large = candidates(batch_size=list(range(1, 51)), gpus=list(range(1, 51)))
    assert len(prior_of(large, 0).draws.log_time) == FEW


def test_what_was_shipped_is_recalled_where_it_fits_and_left_out_on_demand() -> None:
    assert prior_of(TABULAR, 0).recalled is not None
    assert prior_of(TABULAR, 0, shipped=False).recalled is None
    assert prior_of(BATCHES, 0).recalled is None


def test_other_workloads_teach_what_is_expected_before_the_first_run() -> None:
    """They get slower with the batch; simulated jobs get faster."""
    alone, taught = (believe(prior_of(BATCHES, 0, others), BATCHES, []) for others in ((), [*job("a", 0.4), *job("b", 0.5)]))
    assert alone.weights @ alone.log_time[:, -1] < 0
    assert taught.weights @ taught.log_time[:, -1] > 1


def test_finished_jobs_have_a_say_in_what_is_simulated() -> None:
    taught = prior_of(BATCHES, 0, [*job("a", 0.4), *job("b", 0.5)]).draws
    assert taught.log_time[:, -1].mean() > prior_of(BATCHES, 0).draws.log_time[:, -1].mean() + 0.02


def test_only_so_many_other_workloads_have_a_say(monkeypatch: pytest.MonkeyPatch) -> None:
    others = [run for i in range(30) for run in job(f"job {i}", 0.3)]
    monkeypatch.setattr(earlier_jobs, "MOST_OTHERS", 2)
    few, last = prior_of(BATCHES, 0, others).draws, prior_of(BATCHES, 0, others[-12:]).draws
    assert (few.log_time == last.log_time).all()


def test_a_job_that_varied_something_else_has_no_say() -> None:
    others = [a_run(i, 100, batch_size=32.0 * 2 ** (i % 3), momentum=i / 10) for i in range(9)]
    assert (prior_of(BATCHES, 0, others).draws.log_time == prior_of(BATCHES, 0).draws.log_time).all()


@pytest.mark.parametrize(
    "others",
    [
        [a_run(i, 10, batch_size=32) for i in range(9)],
        [a_run(i, 10, batch_size=2.0**i, status=RunStatus.FAILED) for i in range(9)],
        [a_run(i, 0, batch_size=2.0**i) for i in range(9)],
        [a_run(i, 1e-300 if i % 2 else 1e300, batch_size=x) for i, x in enumerate((0, -5, 1e308, 1e-308, 7))],
        [a_run(i, 10, gpus=float(i)) for i in range(9)],
    ],
)
def test_strange_histories_of_others_leave_a_finite_prior(others: list[Run]) -> None:
    found = prior_of(BATCHES, 0, others)
    belief = believe(found, BATCHES, [a_run(0, 100, batch_size=16)])
    assert np.isfinite(belief.log_time).all()
    assert belief.weights.sum() == pytest.approx(1)


def test_a_prior_that_misleads_is_found_out_within_a_few_runs() -> None:
    """Simulated jobs are of another kind than the shipped surfaces: the odds of the latter, median of 15 jobs, after n runs."""
    found = prior_of(TABULAR, 0)
    odds = np.array([_odds_of_recalled(found, seed) for seed in range(15)])
    assert found.recalled is not None
    assert found.recalled.trust > 0.4
    assert np.median(odds, axis=0)[0] > 0.4  # one run says nothing about a surface
    assert np.median(odds, axis=0)[1] < 0.2
    assert (odds[:, 1] < 0.5).mean() > 0.75


def _odds_of_recalled(found: prior.Prior, seed: int) -> list[float]:
    """After one and after six runs of a simulated job, today's first."""
    rng = np.random.default_rng(seed)
    truth = draw_jobs(TABULAR, 1, rng)
    rows = [TABULAR.current, *rng.choice(np.flatnonzero(~truth.fails[0]), 5)]
    runs = [a_run(i, 100 * float(np.exp(truth.log_time[0, row])), **TABULAR.parameters(int(row))) for i, row in enumerate(rows)]
    beliefs = [believe(found, TABULAR, runs[:known]) for known in (1, 6)]
    return [float(belief.weights[len(found.draws.fails) :].sum()) for belief in beliefs]


def test_siblings_are_believed_up_to_a_misfit_and_recalled_surfaces_too() -> None:
    there = [replace(run, identity=replace(run.identity, hardware="a100")) for run in job("this", -0.5)]
    begun = prior_of(BATCHES, 0)
    taught = with_siblings(begun, BATCHES, there, 0)
    measured = 5 * -0.5 * np.log(2)
    near = [(abs(one.draws.log_time[:, -1] - measured) < 0.3).mean() for one in (begun, taught)]
    assert near[1] > near[0] + 0.2
    assert near[1] < 0.8, "what they leave open"
    assert with_siblings(begun, BATCHES, [], 0) is begun
    again = with_siblings(begun, BATCHES, there, 0)
    assert (again.draws.log_time == taught.draws.log_time).all()


def test_surfaces_of_other_workloads_are_trusted_as_they_explain_siblings_but_never_wholly() -> None:
    begun = prior_of(TABULAR, 0)
    there = [a_run(n, 100 * 3.0**n, batch_size=16.0 * 2**n, learning_rate=0.001, num_layers=1, epochs=10) for n in range(4)]
    taught = with_siblings(begun, TABULAR, there, 0)
    assert begun.recalled is not None
    assert taught.recalled is not None
    assert 0.05 <= taught.recalled.trust < begun.recalled.trust
