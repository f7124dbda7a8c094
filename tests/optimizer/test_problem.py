from __future__ import annotations

import pytest

from jpo.agent.rows import row_of
from jpo.optimizer.advise import advise, problem_despite_sla
from jpo.optimizer.candidates import collect
from jpo.optimizer.problem import problem_of, reference_row
from jpo.optimizer.surrogate import surrogate_of
from jpo.records import Known, Preference
from tests.optimizer.test_advise import FASTER, NOW, a_run, request


def test_the_values_that_the_agent_found_are_looked_up_among_the_candidates() -> None:
    candidates = collect(request(), FASTER)
    then, gone = {**NOW, "batch_size": 64.0}, {**NOW, "batch_size": 8.5}
    assert reference_row(candidates, ()) == candidates.current
    assert reference_row(candidates, [(a_run(5, 50.0), then)]) == row_of(candidates, then)
    assert reference_row(candidates, [(a_run(5, 50.0), gone)]) is None


def test_what_exploring_cost_its_reference_and_the_last_runs_are_in_the_problem() -> None:
    dear = a_run(5, 150.0, cpus=4.0)
    timely = request(preference=Preference(1.0, 0.0, 0.0))
    surrogate = surrogate_of(timely, [*FASTER, dear], seed=0)
    known = Known((*FASTER, dear), followed_up=((dear, NOW),))
    problem = problem_of(surrogate.candidates, surrogate.belief, timely, known, interval_factor=1.5)
    assert problem.budget_left == pytest.approx(1 - 0.5, abs=0.01)
    assert (problem.reference, problem.interval_factor, problem.explore) == (surrogate.candidates.current, 1.5, "safe")
    assert problem.context.age is not None
    assert problem.context.age[surrogate.row({**NOW, "cpus": 4.0})] == 0


def test_the_advice_holds_the_problem_that_was_decided_and_none_where_the_user_decided() -> None:
    known = Known(tuple(FASTER))
    assert advise(request(), known, None, seed=0).problem is not None
    assert advise(request(chosen={"cpus": 3.0}), known, None, seed=0).problem is None


def test_where_nothing_keeps_the_sla_all_candidates_are_in_the_problem() -> None:
    strict = request(targets={"time_max": 0.001})
    surrogate = surrogate_of(strict, FASTER, seed=0)
    assert problem_despite_sla(surrogate, strict, Known(tuple(FASTER))).candidates is surrogate.candidates
