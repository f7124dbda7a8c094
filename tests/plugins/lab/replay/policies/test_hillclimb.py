from __future__ import annotations

from collections.abc import Callable
from itertools import product

from jpo.plugins.lab.replay.play import play
from jpo.plugins.lab.replay.policies import POLICIES
from jpo.plugins.lab.replay.traces import Execution, Trace

Ladder = Callable[..., Trace]


def test_the_hill_climb_goes_on_in_the_direction_that_helped_and_then_stays(ladder: Ladder) -> None:
    choices = play(ladder(40.0, 30.0, 20.0, 10.0, 15.0), POLICIES["hillclimb"], "time", runs=8, seed=0).choices
    assert choices.tolist() == [0, 1, 2, 3, 4, 3, 3, 3]


def test_the_hill_climb_keeps_to_the_knob_that_helped() -> None:
    grid = tuple({"batch_size": b, "gpus": g} for b, g in product((1.0, 2.0, 4.0, 8.0), repeat=2))
    trace = Trace(
        "both help", grid, tuple((Execution(100 / sum(configuration.values()), 1.0, True),) for configuration in grid), 0, "USD"
    )
    for seed in range(6):
        ran = [grid[row] for row in play(trace, POLICIES["hillclimb"], "time", runs=8, seed=seed).choices]
        first = next(name for name in ("batch_size", "gpus") if ran[1][name] == 2)
        assert [configuration[first] for configuration in ran[:4]] == [1, 2, 4, 8]


def test_the_hill_climb_turns_back_where_it_gets_worse(ladder: Ladder) -> None:
    choices = play(ladder(9.0, 10.0, 11.0, default=1), POLICIES["hillclimb"], "time", runs=6, seed=0).choices.tolist()
    assert sorted(choices[1:3]) in ([0, 0], [0, 2])
    assert choices[3:] == [0, 0, 0]
