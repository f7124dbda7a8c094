"""One replay: a policy chooses, the recording answers, every run is paid for.

Run 1 always has the default. A run is stopped once it has cost twice the cheapest run that has delivered so far, and is charged
its cost up to then. All policies have common random numbers: with one seed, the n-th execution of a configuration is the same
repetition for all of them (Law, "Simulation Modeling and Analysis", 11.2), so that differences are those of the policies.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from jpo.plugins.lab.replay.traces import Execution, Trace
from jpo.records import Bools, Floats, Ints, Outcome

Objective = Literal["time", "cost", "balanced"]
OBJECTIVES: Mapping[Objective, Callable[[Execution], float]] = {
    "time": lambda execution: execution.duration_seconds,
    "cost": lambda execution: execution.cost,
    "balanced": lambda execution: math.sqrt(execution.duration_seconds * execution.cost),
}
STOP_AT = 2.0
"""A run is stopped at this multiple of the cheapest run that has delivered: beta of Zeus, NSDI 2023, section 4.4."""


@dataclass(frozen=True, slots=True)
class ReplayProblem:
    """The problem that a policy gets before the first run.

    Attributes:
        configurations: all that can be chosen, with the same knobs; a choice is a position in here.
        default: the choice of the first run, which the policy does not make.
        objective: the quantity that is charged.
        seed: of all the randomness that a policy may use.
    """

    configurations: tuple[Mapping[str, float], ...]
    default: int
    objective: Objective
    seed: int


class ReplayPolicy(Protocol):
    """A policy that chooses the next configuration of a recurring job."""

    def ask(self) -> int:
        """The next choice."""

    def tell(self, choice: int, outcome: Outcome, charge: float) -> None:
        """The outcome of a run, in the order of the runs, and its value under the objective.

        Of the outcome are known: duration up to the end or the stop, energy in joules or a cost in USD (a GPU hour counts 1 USD),
        whether it converged, whether it was stopped. A run that delivers nothing is charged at least twice the cheapest that
        did: a quick failure is no bargain.
        """


PolicyFactory = Callable[[ReplayProblem], ReplayPolicy]


@dataclass(frozen=True, eq=False, slots=True)
class Replay:
    """The runs of one replay, all shape (N,), in the order of the runs.

    Attributes:
        choices: the configurations that were run.
        charges: cost of each run, in multiples of the oracle's expected cost.
        delivered: whether it reached its target.
        stopped: whether it was stopped because of its cost.
    """

    choices: Ints
    charges: Floats
    delivered: Bools
    stopped: Bools


def expected(trace: Trace, objective: Objective) -> Floats:
    """Expected cost per delivered model of each configuration, shape (K,); infinite where none was ever delivered."""
    bill = np.array([sum(map(OBJECTIVES[objective], several)) for several in trace.executions])
    delivered = np.array([sum(execution.converged for execution in several) for several in trace.executions])
    return np.where(delivered > 0, bill / np.maximum(delivered, 1), np.inf)


def play(trace: Trace, factory: PolicyFactory, objective: Objective, *, runs: int, seed: int) -> Replay:
    """A replay: a recorded job run `runs` times as a policy chooses."""
    policy = factory(ReplayProblem(trace.configurations, trace.default, objective, seed))
    repetitions = drawn_repetitions(trace, runs=runs, seed=seed)
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


def drawn_repetitions(trace: Trace, *, runs: int, seed: int) -> Ints:
    """The repetition that the n-th execution of each configuration is, drawn with replacement; shape (K, runs)."""
    streams = [np.random.default_rng([seed, 1 + row]) for row in range(len(trace.executions))]  # [seed, 0] equals [seed]
    drawn = [rng.integers(len(several), size=runs) for rng, several in zip(streams, trace.executions, strict=True)]
    return np.stack(drawn)


def _outcome(execution: Execution, trace: Trace, *, share: float) -> Outcome:
    """The outcome that telemetry would report of a run after this share of its recorded length."""
    joules = trace.cost_unit == "J"
    return Outcome(
        duration_seconds=share * execution.duration_seconds,
        energy_joules=share * execution.cost if joules else None,
        cost_usd=None if joules else share * execution.cost,
        converged=execution.converged and share == 1,
        stopped=share < 1,
    )
