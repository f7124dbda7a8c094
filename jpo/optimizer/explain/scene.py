"""Scene of a decision: what the decider knew, and the questions that can be asked of it."""

from dataclasses import dataclass, replace

import constraints
from constraints import Facts, Limits, Verdict
from jpo.agent.acquisition import AcquisitionValues
from jpo.agent.candidate_rows import rows_of
from jpo.agent.policy import Policy
from jpo.agent.problem import Problem
from jpo.cost import usd_per_hour
from jpo.optimizer.advise import Advice
from jpo.optimizer.candidates import with_followers
from jpo.optimizer.request import Request
from jpo.optimizer.surrogate import Surrogate
from jpo.records import Belief, Candidates, Known, Parameters


@dataclass(frozen=True, eq=False, slots=True)
class DecisionScene:
    """Scene of a decision: what was known, wanted and allowed at that moment.

    Attributes:
        surrogate, known: that of the advice, and what it was given.
        limits, facts: what the guard decides by.
        policy: the agent that was asked; None where the belief rule was.
        problem: what was decided; its candidates are without those that are expected to break the SLA.
    """

    advice: Advice
    surrogate: Surrogate
    request: Request
    known: Known
    limits: Limits
    facts: Facts
    policy: Policy | None
    problem: Problem

    @property
    def belief(self) -> Belief:
        return self.problem.belief

    @property
    def candidates(self) -> Candidates:
        return self.problem.candidates

    @property
    def acquisition(self) -> AcquisitionValues:
        return self.problem.acquisition

    @property
    def choice(self) -> int:
        """Row of what is suggested."""
        return self.advice.decision.choice


def neighbours(scene: DecisionScene, name: str) -> dict[str, int]:
    """Neighbours of the choice: the rows that differ in one parameter alone, and in what follows it: at its next
    "larger" and "smaller" value, where they are."""
    if name not in scene.request.allowed.free:
        return {}
    here, column = scene.candidates.parameters(scene.choice), scene.candidates.values[:, scene.candidates.names.index(name)]
    beyond: dict[str, list[int]] = {"larger": [], "smaller": []}
    for value in (value for value in dict.fromkeys(column.tolist()) if value != here[name]):
        rows = rows_of(scene.candidates, moved(scene, {**here, name: value}))
        beyond["larger" if value > here[name] else "smaller"].extend(map(int, rows))
    return {side: min(rows, key=lambda row: abs(column[row] - here[name])) for side, rows in beyond.items() if rows}


def moved(scene: DecisionScene, values: Parameters) -> dict[str, float]:
    """Configuration in which what follows others is set as they demand."""
    steered = {name: value for name, value in values.items() if name not in scene.request.allowed.follow}
    return with_followers(scene.request, steered)


def guarded(scene: DecisionScene, values: Parameters) -> Verdict:
    """Verdict of the guard on a configuration, without forecasts: those are weighed by the preference and by [sla]."""
    facts = replace(scene.facts, usd_per_hour_next=usd_per_hour(values, scene.request.prices))
    return constraints.check(scene.advice.current, values, scene.limits, facts)
