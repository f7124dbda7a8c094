import math

import numpy as np
import pytest

from jpo.agent.acquisition import CLIP
from jpo.agent.reward import OVERSPENT
from jpo.learning.job import DOMAINS, earlier_jobs, execute, new_job
from jpo.records import NAMED_PREFERENCES
from jpo.simulate.installations import Installation, draw_installation


def drawn(seed, domain=None, **options):
    return new_job(np.random.default_rng(seed), domain, **options)


@pytest.mark.parametrize("domain", DOMAINS)
def test_todays_configuration_works_and_no_other_is_out_of_the_beliefs_sight(domain):
    for seed in range(5):
        job = drawn(seed, domain)
        assert not job.truth.fails[0, job.candidates.current]
        assert -CLIP <= job.best(0) <= 0


def test_the_domain_sets_explore_and_scenario_and_the_preference_may_be_given():
    assert (drawn(0, "safe").boldness.explore, drawn(0, "on").boldness.explore) == ("safe", "on")
    assert drawn(0, "horizon").script.horizon_known
    assert drawn(0, "safe", preference=NAMED_PREFERENCES["cost"]).script.preferences[0] == NAMED_PREFERENCES["cost"]


def test_a_failed_run_costs_two_runs_of_the_incumbent():
    job = next(job for job in map(drawn, range(99), ["safe"] * 99) if job.truth.fails.any())
    now, failing = job.candidates.current, int(np.flatnonzero(job.truth.fails[0])[0])
    execute(job, now, now)
    execute(job, failing, now)
    assert job.costs[1] == pytest.approx(2 * math.exp(-job.best(1)))
    assert not job.runs[1].ended_well


def test_no_run_costs_more_than_twenty_of_the_incumbent():
    job = drawn(0, "safe")
    now = job.candidates.current
    job.truth.log_time[0, now - 1] = 9.0
    execute(job, now, now)
    execute(job, now - 1, now)
    assert job.against_keeping == [pytest.approx(math.exp(CLIP))]


def test_the_run_that_breaks_the_budget_is_charged_for_what_is_beyond_it():
    job = drawn(2, "budget")
    now = job.candidates.current
    for _ in range(job.script.runs):
        execute(job, now, now)
    beyond = [vector[5] for vector in job.rewards]
    over = sum(job.spent[1:]) - job.script.budget
    assert sum(beyond) == pytest.approx(max(0.0, over))
    assert job.costs[-1] == pytest.approx((job.spent[-1] + OVERSPENT * beyond[-1]) * math.exp(-job.best(job.script.runs - 1)))


def test_a_copy_has_the_same_luck_and_does_not_touch_the_job():
    job = drawn(3, "safe")
    now = job.candidates.current
    execute(job, now, now)
    one, other = job.copy(), job.copy()
    for each in (one, other):
        for row in (0, now, 1):
            execute(each, row, now)
    assert one.costs == other.costs
    assert [run.outcome for run in one.runs] == [run.outcome for run in other.runs]
    assert (len(job.runs), len(job.rows), len(job.costs), len(job.rewards), len(job.against_keeping)) == (1, 1, 1, 1, 0)
    execute(job, 0, now)
    assert job.costs[1] == one.costs[1], "the luck to come was not used up by the copies"


def test_luck_is_that_of_the_run_whatever_was_chosen_before():
    one, other = drawn(3, "safe"), drawn(3, "safe")
    now = one.candidates.current
    for rows, job in (((now, 0, now), one), ((now, 1, now), other)):
        for row in rows:
            execute(job, row, now)
    assert one.runs[2].outcome == other.runs[2].outcome


BATCH_LIMIT = Installation("batch-limit", room=0.5)


def test_jobs_of_an_installation_show_what_the_next_has_to_expect():
    """A batch per GPU more than half a doubling above today's does not fit: earlier jobs failed there."""
    rng = np.random.default_rng(0)
    residuals = earlier_jobs(BATCH_LIMIT, 20, rng)
    assert residuals.failed.mean() > residuals.p_fail.mean() + 0.1
    jobs = [new_job(rng, "safe", installation=BATCH_LIMIT, residuals=residuals) for _ in range(20)]
    excess = np.concatenate([job.installation.excess for job in jobs])
    assert jobs[0].installation.jobs == len(set(residuals.job.tolist()))
    fine = np.concatenate([job.draws.fails.mean(axis=0) < 0.1 for job in jobs])  # as simulated jobs have it
    fails = np.concatenate([job.truth.fails[0] for job in jobs])
    assert excess[fine & fails].mean() > excess[fine & ~fails].mean() + 0.2


def test_the_bent_belief_is_nearer_to_the_truth_of_the_installation():
    rng = np.random.default_rng(1)
    residuals = earlier_jobs(BATCH_LIMIT, 30, rng)
    errors = []
    for _ in range(20):
        job = new_job(rng, "safe", installation=BATCH_LIMIT, residuals=residuals)
        errors.append([np.abs(draws.fails.mean(axis=0) - job.truth.fails[0]).mean() for draws in (job.draws, job.draws_here)])
    assert np.mean(errors, axis=0)[1] < 0.8 * np.mean(errors, axis=0)[0]


def test_a_first_job_knows_nothing_of_its_installation():
    assert drawn(0).installation is None
    assert earlier_jobs(BATCH_LIMIT, 0, np.random.default_rng(0)) is None


def test_jobs_like_the_residuals_differ_from_the_simulator_as_those_did():
    """Practice for an installation: jobs that fail where its own did, however seldom simulated ones do."""
    rng = np.random.default_rng(2)
    residuals = earlier_jobs(BATCH_LIMIT, 30, rng)
    like, unlike = (
        np.mean([new_job(rng, "safe", residuals=residuals, like_residuals=yes).truth.fails.mean() for _ in range(30)])
        for yes in (True, False)
    )
    assert like > unlike + 0.1


def test_an_installation_as_simulated_leaves_the_truth_alone():
    draw_installation(np.random.default_rng(0), "none")
    one, other = drawn(5, "safe"), drawn(5, "safe", installation=Installation("none"))
    assert np.array_equal(one.truth.log_time, other.truth.log_time)
