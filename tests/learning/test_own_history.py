"""Forks from the states of recorded runs: truths that the runs do not rule out, in their units, the same with one seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")

from jpo.agent.policy import SCORE, shipped_policy
from jpo.agent.sac.fork_replay import MOST
from jpo.history import open_store
from jpo.learning import own_history
from jpo.learning.continual import Round, catch_up
from jpo.learning.experience import Experience, experiences
from jpo.learning.forks import practise_here
from jpo.learning.job import earlier_jobs
from jpo.learning.own_history import OwnHistory, begun_job, forks_of
from jpo.learning.practice import by_belief_rule, decision_point
from jpo.learning.serving import AGENT
from jpo.records import Identity, Known
from jpo.simulate.installations import Installation
from tests.asked import changed
from tests.learning.test_experience import REQUEST, RUNS

POLICY = shipped_policy()
SLOW = earlier_jobs(Installation("batch-limit", room=0.5), 8, np.random.default_rng(0))


def newest(**wanted: object) -> Experience:
    """The experience of the last recorded run."""
    *_, last = experiences(RUNS, changed(REQUEST, **wanted), seed=0, first=0)
    assert last is not None
    return last


def a_job(experience: Experience, seed: int = 0, residuals=None):
    jobs = (begun_job(experience, residuals, np.random.default_rng([seed, attempt])) for attempt in range(20))
    return next(job for job in jobs if job)


def test_a_job_begins_with_the_recorded_runs_and_goes_on_in_their_units() -> None:
    experience = newest()
    job = a_job(experience)
    assert job.runs == RUNS[:3]
    assert [job.candidates.parameters(row)["batch_size"] for row in job.rows] == [16, 16, 64]
    assert job.candidates.log_rate[job.candidates.current] == 0
    point = decision_point(job)
    assert 20 < point.problem.belief.duration_seconds < 200, "what ran last took 50 s, not 1"
    own_history.fork_at(point, by_belief_rule, np.random.default_rng(0))
    assert len(job.runs) == 3, "a fork leaves the state as it was"


def test_truths_agree_with_what_the_runs_measured_and_differ_elsewhere() -> None:
    experience = newest()
    jobs = [a_job(experience, seed) for seed in range(12)]
    took = np.array([job.truth.log_time[0, job.rows[2]] for job in jobs])  # a batch of 64 took half as long as the reference
    assert abs(np.median(took) - np.log(0.5)) < 0.25
    assert not any(job.truth.fails[0, job.rows[2]] for job in jobs), "it ended well on record"
    untried = [row for row in range(len(jobs[0].candidates.values)) if row not in jobs[0].rows]
    assert np.ptp([job.truth.log_time[0, untried] for job in jobs], axis=0).max() > np.ptp(took)


def test_forks_show_the_state_that_was_decided_with_the_rules_choice_first() -> None:
    experience = newest(explore="on")
    forks = forks_of(experience, None, POLICY, np.random.default_rng(0))
    assert 1 <= len(forks) <= own_history.FORKS_PER_RUN
    for fork in forks:
        assert 2 <= len(fork.saved) == len(fork.features) <= MOST
        assert fork.saved[0] == 0
        assert fork.features[:, SCORE].argmin() == 0
    seen = experience.transition.seen
    rows = [tuple(row) for row in seen.features]
    assert all(tuple(row) in rows for row in forks[0].features), "features of service, not of practice"


@pytest.mark.parametrize("residuals", [None, SLOW])
def test_one_seed_gives_the_same_forks(residuals) -> None:
    experience = newest()
    one, other = (forks_of(experience, residuals, POLICY, np.random.default_rng(5)) for _ in range(2))
    assert [fork.saved.tolist() for fork in one] == [fork.saved.tolist() for fork in other]


def test_truths_are_as_the_other_jobs_of_the_installation_turned_out() -> None:
    experience = newest()

    def fails(residuals) -> float:
        return float(np.mean([a_job(experience, seed, residuals).truth.fails.mean() for seed in range(90)]))

    assert fails(SLOW) > fails(None)


def test_the_end_is_known_in_practice_where_the_user_told_it() -> None:
    assert not a_job(newest()).script.horizon_known
    job = a_job(newest(horizon_runs=10))
    assert job.script.horizon_known
    assert job.script.runs == 10
    assert decision_point(job).problem.context.runs_left == 6


def test_the_budget_goes_on_where_it_was() -> None:
    experience = newest()
    spent = replace(experience, problem=changed(experience.problem, budget_left=-0.5))
    assert decision_point(a_job(spent)).problem.leeway.budget_left == pytest.approx(-0.5)


@pytest.mark.slow
def test_practice_next_to_a_run_is_a_simulated_job_and_forks_of_its_own_state() -> None:
    history = OwnHistory([newest(), None], None)
    transitions = history.transitions()
    next(transitions)
    practice = history.practise(POLICY, np.random.default_rng(0))
    simulated = practise_here(None, POLICY, np.random.default_rng(0))
    assert len(practice.transitions) == len(simulated.transitions)
    assert 0 < history.forks == len(practice.forks) - len(simulated.forks)
    assert next(transitions) is None, "a run that teaches nothing has no state to practise from"


def test_learning_says_on_record_how_many_forks_it_played() -> None:
    with open_store("sqlite://") as store:
        learnt = catch_up(store, Identity("d", "m", "f"), Known(tuple(RUNS)), REQUEST, Round(0, 1.0, seconds=60.0))
        (event,) = (record for record in store.audit_records() if record.kind == "learnt")
        assert store.load_agent(AGENT)
    assert event.data["forks"] == learnt.forks > 0
