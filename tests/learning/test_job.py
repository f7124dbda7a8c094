import math

import numpy as np
import pytest

from jpo.agent.acquisition import CLIP
from jpo.agent.reward import OVERSPENT
from jpo.learning.job import DOMAINS, execute, new_job
from jpo.records import NAMED_PREFERENCES


def drawn(seed, domain=None, **options):
    return new_job(np.random.default_rng(seed), domain, **options)


@pytest.mark.parametrize("domain", DOMAINS)
def test_todays_configuration_works_and_no_other_is_out_of_the_beliefs_sight(domain):
    for seed in range(5):
        job = drawn(seed, domain)
        assert not job.truth.fails[0, job.candidates.current]
        assert -CLIP <= job.best(0) <= 0


def test_the_domain_sets_explore_and_scenario_and_the_preference_may_be_given():
    assert (drawn(0, "safe").explore, drawn(0, "on").explore) == ("safe", "on")
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
    beyond = [execute(job, now, now)[5] for _ in range(job.script.runs)]
    over = sum(job.spent[1:]) - job.script.budget
    assert sum(beyond) == pytest.approx(max(0.0, over))
    assert job.costs[-1] == pytest.approx((job.spent[-1] + OVERSPENT * beyond[-1]) * math.exp(-job.best(job.script.runs - 1)))
