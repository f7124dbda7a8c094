"""One replay by hand: who is charged what, when a run is stopped, and that luck is the same for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from jpo.plugins.lab.replay.play import ReplayProblem, drawn_repetitions, expected, play
from jpo.plugins.lab.replay.traces import Execution, Trace
from jpo.records import Outcome

Ladder = Callable[..., Trace]


class Scripted:
    """Chooses by a script, and keeps what it hears."""

    def __init__(self, choices: Sequence[int]) -> None:
        self.choices = list(choices)
        self.heard: list[tuple[int, Outcome, float]] = []

    def ask(self) -> int:
        return self.choices.pop(0)

    def tell(self, choice: int, outcome: Outcome, charge: float) -> None:
        self.heard.append((choice, outcome, charge))


def test_every_run_is_charged_relative_to_the_best_and_the_first_is_the_default(ladder: Ladder) -> None:
    script = Scripted([1, 0])
    replay = play(ladder(10.0, 5.0), lambda _: script, "time", runs=3, seed=0)
    assert replay.choices.tolist() == [0, 1, 0]
    assert replay.charges.tolist() == [2.0, 1.0, 2.0]
    assert replay.delivered.all()
    assert not replay.stopped.any()


def test_a_run_is_stopped_and_paid_for_at_twice_the_cheapest(ladder: Ladder) -> None:
    script = Scripted([1, 2])
    replay = play(ladder(10.0, 5.0, 40.0), lambda _: script, "time", runs=3, seed=0)
    assert replay.charges.tolist() == [2.0, 1.0, 2.0]
    assert replay.stopped.tolist() == [False, False, True]
    _, outcome, charge = script.heard[2]
    assert outcome == Outcome(duration_seconds=10.0, cost_usd=10.0, converged=False, stopped=True)
    assert charge == 10.0


def test_a_run_that_never_converges_is_paid_for_and_reported_as_not_converged(ladder: Ladder) -> None:
    script = Scripted([1])
    replay = play(ladder(10.0, -4.0), lambda _: script, "time", runs=2, seed=0)
    assert replay.charges.tolist() == [1.0, 0.4]
    assert replay.delivered.tolist() == [True, False]
    _, outcome, charge = script.heard[1]
    assert (outcome.duration_seconds, outcome.converged, outcome.stopped) == (4.0, False, False)
    assert charge == 20.0


def test_before_anything_was_delivered_nothing_is_stopped(ladder: Ladder) -> None:
    script = Scripted([0, 1, 1])
    replay = play(ladder(-30.0, 5.0), lambda _: script, "time", runs=4, seed=0)
    assert replay.charges.tolist() == [6.0, 6.0, 1.0, 1.0]
    assert [charge for _, _, charge in script.heard] == [30.0, 30.0, 5.0, 5.0]


def test_balanced_is_the_geometric_mean_and_a_stop_cuts_time_and_cost_alike() -> None:
    runs = ((Execution(100.0, 4.0, True),), (Execution(400.0, 16.0, True),))
    trace = Trace("toy", ({"batch_size": 1.0}, {"batch_size": 2.0}), runs, 0, "J")
    script = Scripted([1])
    replay = play(trace, lambda _: script, "balanced", runs=2, seed=0)
    assert replay.charges.tolist() == [1.0, 2.0]  # sqrt(400) = 20, then 80 stopped at 40
    outcome = script.heard[1][1]
    assert (outcome.duration_seconds, outcome.energy_joules, outcome.cost_usd) == (200.0, 8.0, None)


def test_the_expected_cost_is_per_delivered_model() -> None:
    half = (Execution(10.0, 1.0, True), Execution(30.0, 3.0, False))
    trace = Trace("toy", ({"b": 1.0}, {"b": 2.0}), (half, (Execution(5.0, 5.0, False),)), 0, "USD")
    assert expected(trace, "time").tolist() == [40.0, math.inf]
    assert expected(trace, "balanced").tolist()[0] == pytest.approx(math.sqrt(10) + math.sqrt(90))


def test_the_same_seed_gives_every_policy_the_same_luck() -> None:
    several = tuple(Execution(float(s), 1.0, True) for s in range(100, 120))
    trace = Trace("toy", ({"b": 1.0}, {"b": 2.0}), (several, several), 0, "USD")
    early = play(trace, lambda _: Scripted([1, 1, 0, 0]), "time", runs=5, seed=3).charges
    late = play(trace, lambda _: Scripted([0, 0, 1, 1]), "time", runs=5, seed=3).charges
    assert early[[1, 2]].tolist() == late[[3, 4]].tolist()
    assert early[[0, 3, 4]].tolist() == late[[0, 1, 2]].tolist()
    assert early.tolist() != play(trace, lambda _: Scripted([1, 1, 0, 0]), "time", runs=5, seed=4).charges.tolist()


def test_the_luck_of_a_configuration_is_not_that_of_its_neighbour() -> None:
    several = tuple(Execution(float(s), 1.0, True) for s in range(1, 21))
    drawn = drawn_repetitions(Trace("toy", ({"b": 1.0}, {"b": 2.0}), (several, several), 0, "USD"), runs=50, seed=0)
    assert drawn.shape == (2, 50)
    assert (drawn[0] != drawn[1]).any()
    assert set(np.unique(drawn)) <= set(range(20))


def test_a_policy_gets_the_problem_and_nothing_of_the_outcomes(ladder: Ladder) -> None:
    problems: list[ReplayProblem] = []

    def make(problem: ReplayProblem) -> Scripted:
        problems.append(problem)
        return Scripted([0])

    play(ladder(10.0, 5.0, default=1), make, "cost", runs=2, seed=8)
    assert problems == [ReplayProblem(({"batch_size": 1.0}, {"batch_size": 2.0}), 1, "cost", 8)]
