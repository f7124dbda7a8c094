"""The moment of the decision, put together again: what the decider knew, and the questions that can be asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import constraints
from constraints import Facts, Limits, Verdict
from jpo.agent.acquisition import AcquisitionValues, acquisition_values
from jpo.agent.budget import relative_costs
from jpo.agent.decide import budget_left, may_try
from jpo.agent.policy import Policy
from jpo.agent.rows import row_of_run
from jpo.cost import usd_per_hour
from jpo.errors import NothingAdmissible
from jpo.optimizer.advise import Advice, row_found
from jpo.optimizer.candidates import with_followers
from jpo.optimizer.request import Request
from jpo.optimizer.sla import within_sla
from jpo.optimizer.surrogate import Surrogate
from jpo.records import Belief, Candidates, Parameters, Run, same

if TYPE_CHECKING:
    from jpo.records import Bools


@dataclass(frozen=True, eq=False, slots=True)
class Scene:
    """The moment of the decision.

    Attributes:
        candidates: those of `ahead`, without what is expected to break the SLA.
        choice: row of what is suggested.
        found: row of the values before the agent's first change, see `decide`.
        left: how many runs of today's configuration exploring may still cost.
    """

    advice: Advice
    ahead: Surrogate
    request: Request
    limits: Limits
    facts: Facts
    followed_up: Sequence[tuple[Run, Parameters]]
    policy: Policy | None
    candidates: Candidates
    choice: int
    found: int | None
    left: float
    promise: AcquisitionValues

    @property
    def belief(self) -> Belief:
        return self.ahead.belief


def scene_of(
    advice: Advice,
    ahead: Surrogate,
    request: Request,
    limits: Limits,
    followed_up: Sequence[tuple[Run, Parameters]],
    *,
    facts: Facts,
    policy: Policy | None,
) -> Scene:
    """The moment as `advise` and `decide` saw it; the arguments as `account_of` takes them."""
    try:
        candidates = within_sla(ahead, request)
    except NothingAdmissible:  # set by hand, or undone
        candidates = ahead.candidates
    found, rates = row_found(candidates, followed_up), candidates.log_rate
    recent = relative_costs(followed_up, ahead.runs, request.preference, lambda run: float(rates[row_of_run(candidates, run)]))
    promise = acquisition_values(ahead.belief, candidates, request.preference, interval_factor=ahead.interval_factor, found=found)
    choice, left = advice.decision.choice, budget_left(recent)
    return Scene(advice, ahead, request, limits, facts, followed_up, policy, candidates, choice, found, left, promise)


def beside(scene: Scene, name: str) -> dict[str, int]:
    """The rows that differ from the choice in one parameter alone, and in what follows it: at its next "larger" and "smaller"
    value, where they are."""
    if name not in scene.request.free:
        return {}
    here, column = scene.candidates.parameters(scene.choice), scene.candidates.values[:, scene.candidates.names.index(name)]
    beyond: dict[str, list[int]] = {"larger": [], "smaller": []}
    for row, value in enumerate(column):
        if value != here[name] and same(scene.candidates.parameters(row), moved(scene, {**here, name: float(value)})):
            beyond["larger" if value > here[name] else "smaller"].append(row)
    return {side: min(rows, key=lambda row: abs(column[row] - here[name])) for side, rows in beyond.items() if rows}


def moved(scene: Scene, values: Parameters) -> dict[str, float]:
    """A configuration, what follows others set as they demand."""
    steered = {name: value for name, value in values.items() if name not in scene.request.follow}
    return with_followers(scene.request, steered)


def guarded(scene: Scene, values: Parameters) -> Verdict:
    """The guard's word on a configuration, without forecasts: those are weighed by the preference and by [sla]."""
    facts = replace(scene.facts, usd_per_hour_next=usd_per_hour(values, scene.request.prices))
    return constraints.check(scene.advice.current, values, scene.limits, facts)


def may_be_tried(scene: Scene) -> Bools:
    """The rows that may be run next, see `may_try`."""
    return may_try(
        scene.promise,
        scene.belief,
        scene.candidates,
        scene.request.preference,
        explore=scene.request.explore,
        confidence=scene.request.confidence,
        left=max(scene.left, 0.0),
        interval_factor=scene.ahead.interval_factor,
        found=scene.found,
    )


def named(scene: Scene, row: int) -> str:
    """What differs from today: "batch_size 128, gpus 2"."""
    now, there = (scene.candidates.parameters(one) for one in (scene.candidates.current, row))
    return ", ".join(f"{name} {value:g}" for name, value in there.items() if value != now[name]) or "today's configuration"
