from __future__ import annotations

from collections.abc import Callable

from jpo.plugins.lab.replay.play import play
from jpo.plugins.lab.replay.policies import POLICIES
from jpo.plugins.lab.replay.traces import Execution, Trace

Ladder = Callable[..., Trace]


def test_zeus_prunes_in_both_directions_twice_and_then_samples(ladder: Ladder) -> None:
    trace = ladder(90.0, 8.0, 10.0, 12.0, -30.0, 11.0, default=2)
    choices = play(trace, POLICIES["zeus"], "time", runs=12, seed=0).choices.tolist()
    assert choices[:5] == [2, 1, 0, 3, 4]  # down until 0 is stopped, up until 4 fails; 5 is never reached
    assert choices[5:8] == [1, 2, 3]  # once more, from the cheapest on
    assert choices[8:] == [1] * 4  # no variance: the cheapest


def test_zeus_samples_where_costs_vary() -> None:
    noisy = tuple(tuple(Execution(s * f, 1.0, True) for f in (0.8, 1.0, 1.2)) for s in (10.0, 10.1))
    trace = Trace("noisy", ({"batch_size": 1.0}, {"batch_size": 2.0}), noisy, 0, "USD")
    assert set(play(trace, POLICIES["zeus"], "time", runs=40, seed=2).choices[4:]) == {0, 1}
