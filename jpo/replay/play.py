"""One replay: a policy chooses, the recording answers, every run is paid for.

Run 1 is always the default. A run is stopped once it has cost twice the cheapest run that has delivered so far, and is charged
what it had cost by then. All policies meet the same luck: in one seed, the n-th execution of a configuration is the same
repetition for all of them (common random numbers: Law, "Simulation Modeling and Analysis", 11.2): differences are the policies'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from jpo.records import Outcome
from jpo.replay.traces import Execution, Trace

if TYPE_CHECKING:
    from jpo.records import Bools, Floats, Ints

Objective = Literal["time", "cost", "balanced"]
OBJECTIVES: Mapping[Objective, Callable[[Execution], float]] = {
    "time": lambda one: one.duration_seconds,
    "cost": lambda one: one.cost,
    "balanced": lambda one: math.sqrt(one.duration_seconds * one.cost),
}
STOP_AT = 2.0
"""A run is stopped at this multiple of the cheapest run that has delivered: beta of Zeus, NSDI 2023, section 4.4."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What a policy is told before the first run.

    Attributes:
        configurations: what it may choose, all with the same knobs; a choice is a position in here.
        default: the choice of the first run, which is not the policy's.
        objective: what is charged.
        seed: all the randomness that a policy may use.
    """

    configurations: tuple[Mapping[str, float], ...]
    default: int
    objective: Objective
    seed: int


class Policy(Protocol):
    """Something that chooses the next configuration of a recurring job."""

    def ask(self) -> int:
        """The next choice."""

    def tell(self, choice: int, outcome: Outcome, charge: float) -> None:
        """What came of a run, in the order of the runs.

        Args:
            outcome: duration up to the end or the stop, energy in joules or a cost in USD (a GPU hour counts 1 USD),
                whether it converged, whether it was stopped.
            charge: the objective's value of it. A run that delivers nothing is told as at least twice the cheapest that did: a
                failure that was over quickly is no bargain.
        """


Make = Callable[[Problem], Policy]
"""How a policy comes to be: all that makes two policies differ."""


@dataclass(frozen=True, eq=False, slots=True)
class Replay:
    """What the runs of one replay came to. All shape (N,), in the order of the runs.

    Attributes:
        choices: what was run.
        charges: what each run cost, in multiples of the oracle's expected cost.
        delivered: it reached its target.
        stopped: it was ended for its cost.
    """

    choices: Ints
    charges: Floats
    delivered: Bools
    stopped: Bools


def expected(trace: Trace, objective: Objective) -> Floats:
    """Expected cost per delivered model of each configuration, shape (K,); infinite where none was ever delivered."""
    bill = np.array([sum(map(OBJECTIVES[objective], several)) for several in trace.executions])
    delivered = np.array([sum(one.converged for one in several) for several in trace.executions])
    return np.where(delivered > 0, bill / np.maximum(delivered, 1), np.inf)


def play(trace: Trace, make: Make, objective: Objective, *, runs: int, seed: int) -> Replay:
    """Run a recorded job `runs` times as a policy says."""
    policy = make(Problem(trace.configurations, trace.default, objective, seed))
    repetitions = luck(trace, runs=runs, seed=seed)
    oracle = float(expected(trace, objective).min())
    times_run = [0] * len(trace.configurations)
    cheapest = math.inf
    played: list[tuple[int, float, bool, bool]] = []
    while len(played) < runs:
        choice = policy.ask() if played else trace.default
        execution = trace.executions[choice][repetitions[choice, times_run[choice]]]
        times_run[choice] += 1
        full = OBJECTIVES[objective](execution)
        charge = min(full, STOP_AT * cheapest)
        stopped = charge < full
        delivered = execution.converged and not stopped
        if delivered:
            cheapest = min(cheapest, charge)
        worth = charge if delivered or math.isinf(cheapest) else max(charge, STOP_AT * cheapest)
        policy.tell(choice, _outcome(execution, trace, share=charge / full), worth)
        played.append((choice, charge / oracle, delivered, stopped))
    choices, charges, delivereds, stops = zip(*played, strict=True)
    return Replay(np.array(choices), np.array(charges), np.array(delivereds), np.array(stops))


def luck(trace: Trace, *, runs: int, seed: int) -> Ints:
    """Which repetition the n-th execution of each configuration is, shape (K, runs): drawn with replacement."""
    streams = [np.random.default_rng([seed, 1 + row]) for row in range(len(trace.executions))]  # [seed, 0] equals [seed]
    drawn = [rng.integers(len(several), size=runs) for rng, several in zip(streams, trace.executions, strict=True)]
    return np.stack(drawn)


def _outcome(execution: Execution, trace: Trace, *, share: float) -> Outcome:
    """What telemetry would bring of a run that went on for this share of its recorded length."""
    joules = trace.cost_unit == "J"
    return Outcome(
        duration_seconds=share * execution.duration_seconds,
        energy_joules=share * execution.cost if joules else None,
        cost_usd=None if joules else share * execution.cost,
        converged=execution.converged and share == 1,
        stopped=share < 1,
    )
