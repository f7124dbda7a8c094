"""A small comparison of two policies on two noisy workloads."""

from __future__ import annotations

from jpo.plugins.lab.replay.contest import Contest
from jpo.plugins.lab.replay.policies import POLICIES
from jpo.plugins.lab.replay.traces import Execution, Trace


def noisy(name: str, *seconds: float) -> Trace:
    several = tuple(tuple(Execution(s * f, s * f, True) for f in (0.9, 1.0, 1.1)) for s in seconds)
    return Trace(name, tuple({"batch_size": 2.0**i} for i in range(len(seconds))), several, 0, "USD")


def small_contest() -> Contest:
    makes = {name: POLICIES[name] for name in ("random", "hillclimb")}
    return Contest((noisy("one", 9.0, 6.0, 3.0), noisy("two", 4.0, 5.0)), makes, ("time", "balanced"), (2, 4), seeds=range(7))
