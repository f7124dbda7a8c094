from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from jpo.agent.candidate_rows import row_of
from jpo.agent.safety.distances import NEAR_A_MISS
from jpo.agent.safety.promise import Promise
from jpo.optimizer.advise import advise, problem_despite_sla, problem_within_sla
from jpo.optimizer.candidates import collect
from jpo.optimizer.problem import context_of, loss_first, problem_of, reference_row, tries
from jpo.optimizer.surrogate import surrogate_of
from jpo.records import Calibration, Candidates, Known, Outcome, Preference, Run, RunStatus
from tests.asked import changed
from tests.optimizer.test_advise import FASTER, NOW, a_run, request


def test_the_values_that_the_agent_found_are_looked_up_among_the_candidates() -> None:
    candidates = collect(request(), FASTER)
    then, gone = {**NOW, "batch_size": 64.0}, {**NOW, "batch_size": 8.5}
    assert reference_row(candidates, ()) == candidates.current
    assert reference_row(candidates, [(a_run(5, 50.0), then)]) == row_of(candidates, then)
    assert reference_row(candidates, [(a_run(5, 50.0), gone)]) is None


def test_what_exploring_cost_its_reference_and_the_last_runs_are_in_the_problem() -> None:
    dear = a_run(5, 150.0, cpus=4.0)
    timely = request(preference=Preference(1.0, 0.0, 0.0), budget=1.0)
    surrogate = surrogate_of(timely, Known((*FASTER, dear)), seed=0)
    known = Known((*FASTER, dear), followed_up=((dear, NOW),))
    problem = problem_of(surrogate.candidates, surrogate.belief, timely, known, Calibration(1.5))
    assert problem.leeway.budget_left == pytest.approx(1 - 0.5, abs=0.01)
    assert (problem.comparison.reference, problem.comparison.calibration.interval_factor, problem.boldness.explore) == (
        surrogate.candidates.current,
        1.5,
        "safe",
    )
    assert problem.context.watch.age is not None
    assert problem.context.watch.age[surrogate.row({**NOW, "cpus": 4.0})] == 0


def test_what_the_user_said_of_the_runs_to_come_is_in_the_problem() -> None:
    asked = request(horizon_runs=10, exploration_runs=3, budget=2.0)
    runs = [*FASTER, a_run(5, 150.0, cpus=4.0)]
    surrogate = surrogate_of(asked, Known(tuple(runs)), seed=0)
    problem = problem_of(surrogate.candidates, surrogate.belief, asked, Known(tuple(runs)))
    assert problem.context.runs_left == 10 - len(runs) - 1
    assert problem.context.scenarios == ("horizon",)
    assert problem.acquisition.horizon == problem.context.horizon
    assert problem.leeway.exploration_runs_left == 3 - tries(runs, asked.allowed.free)
    assert (problem.boldness.budget, problem.leeway.budget_left) == (2.0, 2.0)
    beyond = context_of(surrogate.candidates, surrogate.belief, runs, len(runs))
    assert (beyond.runs_left, beyond.scenarios) == (None, ())


def test_equal_runs_at_the_beginning_are_one_reference() -> None:
    runs = [a_run(day, 100.0) for day in range(5)]
    surrogate = surrogate_of(request(), Known(tuple(runs)), seed=0)
    done = [context_of(surrogate.candidates, surrogate.belief, runs[:n]).runs_done for n in range(6)]
    assert done == [0, 1, 1, 1, 1, 1]
    tried = [*runs, a_run(5, 90.0, cpus=4.0), a_run(6, 100.0)]
    assert context_of(surrogate.candidates, surrogate.belief, tried).runs_done == 3


def test_a_try_is_another_configuration_than_the_first_however_it_ended() -> None:
    runs = [a_run(0, 100.0), a_run(1, 90.0, cpus=4.0), a_run(2, 90.0, cpus=4.0), a_run(3, 100.0), a_run(4, 1.0, cpus=8.0)]
    assert [tries(runs[:n], ["cpus"]) for n in range(6)] == [0, 0, 1, 1, 1, 2]
    assert tries(runs, ["batch_size"]) == 0


def test_the_advice_holds_the_problem_that_was_decided_and_none_where_the_user_decided() -> None:
    known = Known(tuple(FASTER))
    assert advise(request(), known, None, seed=0).problem is not None
    assert advise(request(chosen={"cpus": 3.0}), known, None, seed=0).problem is None


def test_where_nothing_keeps_the_sla_all_candidates_are_in_the_problem() -> None:
    strict = request(targets={"time_max": 0.001})
    surrogate = surrogate_of(strict, Known(tuple(FASTER)), seed=0)
    assert problem_despite_sla(surrogate, strict, Known(tuple(FASTER))).candidates is surrogate.candidates


def with_losses(losses: dict[float, float]) -> list[Run]:
    """Two runs at each learning rate, with its validation loss."""
    each = [(rate, loss) for rate, loss in losses.items() for _ in range(2)]
    runs = [a_run(at, 100.0, learning_rate=rate) for at, (rate, _) in enumerate(each)]
    done = (Outcome(duration_seconds=100.0, val_loss=loss) for _, loss in each)
    return [replace(run, outcome=outcome) for run, outcome in zip(runs, done, strict=True)]


def test_a_promised_loss_that_today_breaks_is_lowered_before_anything_else() -> None:
    runs = with_losses({0.02: 0.3, 0.01: 0.5})
    asked = request(targets={"val_loss_max": 0.2}, free=("learning_rate",))
    surrogate = surrogate_of(asked, Known(tuple(runs)), seed=0)
    problem = problem_within_sla(surrogate, asked, Known(tuple(runs)))
    loss = surrogate.expected("val_loss")
    assert loss is not None
    assert not problem.candidates.admissible[problem.candidates.current]
    assert (loss[problem.candidates.admissible] < 0.5).all()


def test_the_quality_floor_is_the_jobs_own_where_it_has_a_target() -> None:
    runs = with_losses({0.02: 0.9, 0.01: 0.5})
    asked = request(quality_floor=0.02)
    surrogate = surrogate_of(asked, Known(tuple(runs)), seed=0)
    worse = surrogate.row({**NOW, "learning_rate": 0.02})
    assert not problem_within_sla(surrogate, asked, Known(tuple(runs))).candidates.admissible[worse]
    reached = tuple(replace(run, outcome=replace(run.outcome, converged=True)) for run in runs)
    problem = problem_within_sla(surrogate, asked, Known(reached))
    assert problem.comparison.quality_floor is None
    assert problem.candidates.admissible[worse]


def test_in_a_pipeline_one_bad_trial_does_not_use_up_the_budget() -> None:
    dear = a_run(5, 600.0, cpus=4.0)
    known = Known((*FASTER, dear), followed_up=((dear, NOW),))
    surrogate = surrogate_of(request(), known, seed=0)
    once, nightly = (
        problem_of(surrogate.candidates, surrogate.belief, request(budget=2.0, nightly=each), known) for each in (False, True)
    )
    assert (once.leeway.budget_left < 0, nightly.leeway.budget_left) == (True, 1.0)


def test_trials_are_counted_in_a_job_of_every_night_alone() -> None:
    known = Known(FASTER, trials=3)
    surrogate = surrogate_of(request(), known, seed=0)
    once, nightly = (
        problem_of(surrogate.candidates, surrogate.belief, request(trials=0.1, nightly=each), known).leeway
        for each in (False, True)
    )
    assert (once.trials_earned, nightly.trials_earned, nightly.trials_made) == (math.inf, 5, 3)


def test_a_promised_loss_is_chased_up_and_down_but_not_below_the_least_confidence() -> None:
    runs = with_losses({0.01: 0.5, 0.02: 0.4})
    asked = request(targets={"val_loss_max": 0.05}, free=("learning_rate",))
    surrogate = surrogate_of(asked, Known(tuple(runs)), seed=0)
    problem, beyond = (
        problem_within_sla(surrogate, changed(asked, min_confidence=least, nightly=True, trials=0.0), Known(tuple(runs)))
        for least in (0.7, 0.999)
    )
    assert beyond.allowed.tolist() == (np.arange(len(beyond.allowed)) == beyond.candidates.current).tolist()
    rates = problem.candidates.values[problem.allowed, problem.candidates.names.index("learning_rate")]
    assert (rates > 0.01).all()
    assert (problem.comparison.p_better[problem.allowed] >= 0.7).all()


def test_a_promise_that_no_tried_model_comes_near_is_said_to_be_out_of_reach() -> None:
    runs = with_losses({0.02: 0.5, 0.005: 0.5, 0.01: 0.5})
    asked = request(targets={"val_loss_max": 0.05}, free=("learning_rate",), min_confidence=0.7)
    decision = advise(asked, Known(tuple(runs)), None, seed=0).decision
    assert "JPO-W639" in decision.codes
    assert "seems out of reach: the best of 3 models that were tried reached 0.4999" in decision.reasons[0].text


def test_trials_that_were_asked_for_keep_away_from_a_miss_single_ones_need_not() -> None:
    stopped = replace(a_run(5, 400.0, batch_size=128.0), status=RunStatus.STOPPED)
    runs = [*FASTER, stopped]

    def held_for(**asked: object) -> set[str]:
        wanted = request(explore="on", **asked)
        surrogate = surrogate_of(wanted, Known(tuple(runs)), seed=0)
        problem = problem_of(surrogate.candidates, surrogate.belief, wanted, Known(tuple(runs)))
        return {hold.code for hold in problem.holds if hold.rows.any()}

    assert NEAR_A_MISS in held_for(exploration_runs=9)
    assert NEAR_A_MISS not in held_for()


@pytest.mark.parametrize(
    ("first", "no_worse", "left"),
    [
        ([0, 1, 0], [1, 1, 1], [False, True, False]),
        ([1, 0, 0], [0, 0, 1], [False, False, True]),  # the one that lowers it breaks another target
        ([0, 0, 0], [1, 0, 0], [False, True, True]),  # today's does, and all others raise the loss
    ],
)
def test_a_promised_loss_comes_first_among_what_other_targets_leave_and_never_leaves_nothing(
    first: list[int], no_worse: list[int], left: list[bool]
) -> None:
    three = Candidates(("batch_size",), np.array([[1.0], [2.0], [4.0]]), 0, np.array([False, True, True]), np.zeros(3))
    promise = SimpleNamespace(
        first=lambda _: np.array(first, bool), no_worse=np.array(no_worse, bool), lowering=np.zeros(3, bool)
    )
    assert loss_first(three, cast("Promise", promise), 0.7).admissible.tolist() == left
