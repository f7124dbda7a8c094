from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from jpo.agent.reward import regret_reward
from jpo.agent.sac.replay_buffer import Transition
from jpo.agent.state import WITHOUT_PHASES, WITHOUT_QUEUE, observe
from jpo.learning.experience import experiences, known_after
from jpo.optimizer.advise import advise
from jpo.optimizer.request import Request
from jpo.records import KUBERNETES, Identity, Outcome, PhaseNeeds, Preference, Run, RunStatus
from tests.asked import a_request, changed

NOW = {"batch_size": 16.0, "cpus": 2.0}
REQUEST = a_request(
    NOW, free=("batch_size", "cpus"), admissible=lambda _today, _proposed: True, preference=Preference(1.0, 0.0, 0.0)
)


def a_run(number: int, seconds: float, status: RunStatus = RunStatus.SUCCEEDED, **values: float) -> Run:
    return Run(
        f"r{number}",
        Identity("d", "m", "f"),
        {**NOW, **values},
        status,
        None,
        float(number),
        Outcome(duration_seconds=seconds),
        "csv",
    )


RUNS = [
    a_run(0, 9.0, RunStatus.FAILED),
    a_run(1, 100.0),
    a_run(2, 50.0, batch_size=64.0),
    a_run(3, 7.0, RunStatus.FAILED, batch_size=256.0),
]


def transitions(runs: Sequence[Run], request: Request, **options: Any) -> Iterator[Transition | None]:
    return (each and each.transition for each in experiences(runs, request, **options))


def test_each_later_run_is_a_transition_with_the_action_that_was_executed() -> None:
    second, failed = transitions(RUNS, REQUEST, seed=0, first=0)
    assert second is not None
    assert failed is not None
    assert second.reward[0] == pytest.approx(math.log(0.5))
    assert second.best == pytest.approx(math.log(0.5))
    assert failed.reward[4] == 1
    assert np.isclose(failed.reward[0], math.log(0.5) + math.log(2)), "twice the best run before it"


def test_learning_goes_on_where_it_stopped() -> None:
    assert len(list(transitions(RUNS, REQUEST, seed=0, first=1))) == 1
    assert list(transitions(RUNS, REQUEST, seed=0, first=2)) == []


def test_a_run_that_says_nothing_under_the_preference_teaches_nothing() -> None:
    efficient = a_request(NOW, free=("batch_size",), admissible=lambda _a, _b: True, preference=Preference(0.0, 0.0, 1.0))
    assert list(transitions(RUNS[:3], efficient, seed=0, first=0)) == [None]


def test_a_run_that_broke_the_sla_carries_by_how_much_and_the_others_nothing() -> None:
    targeted = changed(REQUEST, targets={"time_max": 40.0})
    plain, penalised = (next(transitions(RUNS, request, seed=0, first=0)) for request in (REQUEST, targeted))
    assert plain is not None
    assert penalised is not None
    assert plain.reward[5] == 0
    assert penalised.reward[5] == pytest.approx(math.log(50 / 40))
    assert penalised.reward[:5] == pytest.approx(plain.reward[:5], nan_ok=True)
    assert regret_reward(penalised.reward, REQUEST.wanted.preference, penalised.best) < regret_reward(
        plain.reward, REQUEST.wanted.preference, plain.best
    )


def test_targets_that_are_kept_change_nothing() -> None:
    kept = changed(REQUEST, targets={"time_max": 1000.0, "gpu_util_min": 0.5})
    for one, other in zip(transitions(RUNS, REQUEST, seed=0, first=0), transitions(RUNS, kept, seed=0, first=0), strict=True):
        assert one is not None
        assert other is not None
        assert one.reward == pytest.approx(other.reward, nan_ok=True)


def test_a_failed_run_is_penalised_for_the_targets_that_it_had_broken_by_then() -> None:
    late = a_run(3, 80.0, RunStatus.FAILED, batch_size=256.0)
    *_, failed = transitions([*RUNS[:3], late], changed(REQUEST, targets={"time_max": 40.0}), seed=0, first=0)
    assert failed is not None
    assert (failed.reward[4], failed.reward[5]) == (1, pytest.approx(math.log(2)))


def test_what_is_learnt_from_is_the_state_that_was_decided_in() -> None:
    """Budget, reference, calibration and context as they were before the last run; other runs of the agent's were dear."""
    steps = [(16.0, 100.0), (16.0, 101.0), (64.0, 150.0), (16.0, 99.0), (32.0, 60.0), (32.0, 61.0), (32.0, 90.0), (32.0, 55.0)]
    runs = [a_run(at, seconds, batch_size=batch) for at, (batch, seconds) in enumerate(steps)]
    followers = [(runs[2], NOW), (runs[3], None), (runs[4], NOW)]
    request = changed(REQUEST, current={**NOW, "batch_size": 32.0}, choices={"batch_size": [16, 32, 64], "cpus": [2]}, budget=1.0)
    earlier = known_after(runs[:-1], followers)
    problem = advise(request, earlier, None, seed=0).problem
    assert problem is not None
    assert (problem.leeway.budget_left, problem.comparison.reference) == (pytest.approx(0.5 + 0.4, abs=0.05), 1)
    decided = observe(problem, problem.allowed)
    *_, last = transitions(runs, request, seed=0, first=0, followers=followers)
    assert last is not None
    assert last.seen.rows.tolist() == decided.rows.tolist()
    assert (last.seen.allowed == decided.allowed).all()
    assert last.seen.features == pytest.approx(decided.features, abs=1e-5)


def test_suggestions_after_a_run_do_not_change_what_was_known_before_it() -> None:
    followers = [(RUNS[2], NOW), (RUNS[3], NOW)]
    assert known_after(RUNS[:3], followers).followed_up == ((RUNS[2], NOW),)
    assert known_after(RUNS[:2], followers).followed_up == ()


def test_where_nothing_is_expected_to_keep_the_sla_what_was_run_all_the_same_is_learnt() -> None:
    out_of_reach = changed(REQUEST, targets={"time_max": 0.001})
    assert None not in list(transitions(RUNS, out_of_reach, seed=0, first=0))


def test_a_pod_of_another_model_says_nothing_since_nobody_sees_how_good_it_is() -> None:
    pods = [replace(run, source=KUBERNETES) for run in (RUNS[1], a_run(2, 50.0, batch_size=64.0), a_run(3, 80.0, cpus=4.0))]
    other_model, other_hardware = transitions(pods, changed(REQUEST, quality_floor=0.02), seed=0, first=0)
    assert other_model is None
    assert other_hardware is not None
    assert other_hardware.reward[0] == pytest.approx(math.log(0.8))
    assert other_hardware.best == pytest.approx(math.log(0.8)), "it is held against nothing that may be a worse model"
    assert next(transitions(pods, changed(REQUEST, quality_floor=None), seed=0, first=0)) is not None, "a person allowed it"


def test_a_transition_holds_what_was_known_of_phases_at_its_time() -> None:
    needs = PhaseNeeds(runs=1, phases=3, cpus=0.5, memory_gib=1.0, peak_to_mean=2.0, drifted=0.25, stay_share=0.2)
    plain, seen = (
        [one for one in transitions(RUNS, REQUEST, seed=0, first=0, needs_after=after) if one]
        for after in ({}, {"r2": needs, "r3": needs})
    )
    assert not any(one.seen.features[:, WITHOUT_PHASES:].any() for one in plain)
    assert not seen[0].seen.features[:, WITHOUT_PHASES:].any(), "nothing was measured before the second run"
    assert seen[0].following.features[0, WITHOUT_PHASES:WITHOUT_QUEUE].tolist() == pytest.approx(
        [math.log(3), 1, math.log(0.2), 1, math.log(2), 1, 0.25, 1]
    )
    assert (seen[1].seen.features[:, :WITHOUT_PHASES] == plain[1].seen.features[:, :WITHOUT_PHASES]).all()
