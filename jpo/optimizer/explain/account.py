"""The account of one advice: alternatives, what the agent saw, what held it back, what would have changed the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from constraints import Facts, Limits
from jpo.agent.policy import Policy
from jpo.optimizer.advise import Advice
from jpo.optimizer.explain.alternatives import alternatives
from jpo.optimizer.explain.counterfactuals import break_even, capped_by, otherwise
from jpo.optimizer.explain.scene import Scene, scene_of
from jpo.optimizer.request import Request
from jpo.records import Alternative, Parameters, Run


@dataclass(frozen=True, slots=True)
class Account:
    """What is put on record beside a suggestion; all of it empty before the first run that ended well.

    Attributes:
        alternatives: see `alternatives`.
        seen: see `seen`.
        would_change: a sentence for each thing that would have led to another answer.
        capped_by: changed parameter -> the limit at which its value stands, where a step further was expected to pay off.
    """

    alternatives: tuple[Alternative, ...] = ()
    seen: Mapping[str, float] = field(default_factory=dict)
    would_change: tuple[str, ...] = ()
    capped_by: Mapping[str, str] = field(default_factory=dict)


def account_of(
    advice: Advice,
    request: Request,
    limits: Limits,
    followed_up: Sequence[tuple[Run, Parameters]] = (),
    *,
    facts: Facts | None = None,
    policy: Policy | None = None,
) -> Account:
    """The account of an advice.

    Args:
        limits, facts: what the guard decides by.
        followed_up: what the advice was given.
        policy: the agent that was asked; None where the belief rule was. A choice of the agent is not asked again without it.
    """
    if advice.ahead is None or advice.ahead.belief.duration_seconds is None:
        return Account()
    scene = scene_of(advice, advice.ahead, request, limits, followed_up, facts=facts or Facts(), policy=policy)
    capped = capped_by(scene)
    lifted = (f"without {limit} a step of {name} to {beyond:.4g} could be tried" for name, (limit, beyond) in capped.items())
    changes = (*break_even(scene), *otherwise(scene), *lifted)
    return Account(alternatives(scene), seen(scene), changes, {name: limit for name, (limit, _) in capped.items()})


def seen(scene: Scene) -> dict[str, float]:
    """What the agent saw of its choice and of the workload: the numbers behind its features, as they are before scaling."""
    belief, promise, row, now = scene.belief, scene.promise, scene.choice, scene.candidates.current
    allowed = scene.candidates.admissible
    numbers = {
        "expected cost against today": promise.expected[row] / promise.expected[now],
        "expected cost against the best known": promise.expected[row],
        "chance that it fails": belief.p_fail[row],
        "chance of more than 10 % worse than today": promise.p_worse_today[row],
        "chance of better than the best known": promise.p_better[row],
        "chance of being the best of all": promise.p_optimum[row],
        "expected improvement of one run": promise.improvement[row],
        "expected gain of knowledge": promise.knowledge[row],
        "score of the belief rule": promise.score[row],
        "runs there that ended well": belief.runs[row],
        "runs there that failed": belief.failures[row],
        "finished runs": len(scene.ahead.runs),
        "admissible candidates": allowed.sum(),
        "share of them tried": (belief.tried & allowed).sum() / max(allowed.sum(), 1),
        "share of the simulated jobs that fits": belief.effective_share,
        "noise of a run (sd of ln)": belief.noise,
        "forecasts widened by": scene.ahead.interval_factor,
        "runs that exploring may still cost": scene.left,
    }
    return {name: float(value) for name, value in numbers.items() if math.isfinite(value)}
