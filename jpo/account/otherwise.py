"""What would have led to another answer: another preference or boldness, a limit less, a run that takes longer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

import constraints
from jpo.account.scene import Scene, beside, may_be_tried, named
from jpo.advice import choose, situation_of
from jpo.agent.decide import by_policy, by_rule, known_best
from jpo.errors import NothingAdmissible
from jpo.outlook import Wishes
from jpo.records import NAMED_PREFERENCES, WHOLE, Belief, Preference
from jpo.report.numbers import duration

if TYPE_CHECKING:
    from jpo.agent.decide import Explore

EXPLORE: tuple[Explore, ...] = ("off", "safe", "on")
LIKELY = 0.9999
"""Share of the belief that the simulated jobs hold which are asked again; the others were never seen to change a choice."""
PAYS_OFF = 0.005
"""A step that is expected to gain less is none that anybody wanted further."""
HELD_BY = {
    "at_least_min": "min",
    "at_most_max": "max",
    "one_of_choices": "choices",
    "largest_change": "max_change",
    "batch_per_gpu": "max_change",
    "within_quota": "[quota]",
    "price_within_quota": "[quota] usd_per_hour",
    "gpu_memory_within_card": "[card] memory_gib",
}
"""The guard's rule -> what the user wrote for it. Rules about the form of a number (whole, power of two) hold nothing back."""


def capped_by(scene: Scene) -> dict[str, tuple[str, float]]:
    """Changed parameter -> (the limit at which it stands, the next value, which the guard refuses for that).

    Only where the last rung up to the choice was expected to pay off: nothing is said of a step that nobody wanted.
    """
    today, chosen = scene.candidates.parameters(scene.candidates.current), scene.candidates.parameters(scene.choice)
    found: dict[str, tuple[str, float]] = {}
    for name in scene.wishes.free:
        before = beside(scene, name).get("smaller" if chosen[name] > today[name] else "larger")
        if chosen[name] == today[name] or name in scene.wishes.follow or name in scene.advice.by_hand or before is None:
            continue
        if scene.promise.mean[scene.choice] < scene.promise.mean[before] - PAYS_OFF:
            beyond = _beyond(name, scene.candidates.parameters(before)[name], chosen[name], scene.wishes)
            verdict = constraints.check(today, {**chosen, name: beyond}, scene.limits, scene.facts)
            limit = next((HELD_BY[one.rule] for one in verdict.violations if one.rule in HELD_BY), None)
            found |= {name: (limit, beyond)} if limit else {}
    return found


def _beyond(name: str, before: float, here: float, wishes: Wishes) -> float:
    """The next value in this direction: the user's next choice, else as far again."""
    further = [value for value in wishes.choices.get(name, ()) if value != here and (value > here) == (here > before)]
    if further:
        return min(further, key=lambda value: abs(value - here))
    next_one = 2 * here - before if name == "num_layers" or before <= 0 else here * here / before
    return float(round(next_one)) if name in WHOLE else next_one


def otherwise(scene: Scene) -> Iterator[str]:
    """What another preference or boldness would have chosen, where it differs: the same decider is asked again."""
    decided_by, wishes = scene.advice.decision.decided_by, scene.wishes
    if decided_by == "sac" and scene.policy is None:
        return
    if decided_by in ("user", "waiting", "rollback"):
        yield f"left to itself, JPO would choose {named(scene, bolder(scene, wishes.explore))}"
        return
    asked = {
        f"the preference {name}": other_preference(scene, preference)
        for name, preference in NAMED_PREFERENCES.items()
        if preference != wishes.preference and (scene.belief.knows_utilisation or not preference.efficiency)
    }
    asked |= {f"explore = {explore}": bolder(scene, explore) for explore in EXPLORE if explore != wishes.explore}
    for condition, row in asked.items():
        if row not in (None, scene.choice):
            yield f"with {condition} the choice would be {named(scene, row)}"


def other_preference(scene: Scene, preference: Preference) -> int | None:
    """The row that is chosen under another preference; None where nothing may be used."""
    wishes, ahead = replace(scene.wishes, preference=preference), scene.ahead
    belief = without_the_unlikely(scene.belief)
    try:
        return choose(scene.candidates, belief, ahead.runs, wishes, scene.policy, scene.followed_up, ahead.widen).choice
    except NothingAdmissible:
        return None


def bolder(scene: Scene, explore: Explore) -> int:
    """The row that is chosen under another boldness: as `decide` goes on where the prospects are known."""
    if explore == "off" or scene.left < 0:
        return known_best(scene.promise, scene.belief, scene.candidates)
    allowed, policy = may_be_tried(scene, explore), scene.policy
    if policy is None or explore not in policy.released:
        return by_rule(scene.promise, allowed)
    situation = situation_of(scene.candidates, scene.belief, scene.ahead.runs)
    return by_policy(policy, scene.belief, scene.candidates, scene.wishes.preference, scene.promise, allowed, situation)


def without_the_unlikely(belief: Belief) -> Belief:
    """The belief without the simulated jobs which no longer count: after some runs that is half of them."""
    order = np.argsort(belief.weights)[::-1]
    kept = np.sort(order[: int(np.searchsorted(np.cumsum(belief.weights[order]), LIKELY)) + 1])
    per_job = [f.name for f in fields(belief) if getattr(getattr(belief, f.name), "ndim", 0) == 2]
    weights = belief.weights[kept] / belief.weights[kept].sum()
    return replace(belief, weights=weights, **{name: getattr(belief, name)[kept] for name in per_job})


def break_even(scene: Scene) -> Iterator[str]:
    """How long a run may take before the comparison with today's values turns: of the choice, or of what comes second to keeping.

    Time, and with it cost, are what is compared; loss and utilisation stay as they are expected.
    """
    row, now, preference = scene.choice, scene.candidates.current, scene.wishes.preference
    if row == now:
        others = scene.candidates.admissible & (np.arange(len(scene.promise.score)) != now)
        if not others.any():
            return
        row = int(np.argmin(np.where(others, scene.promise.score, np.inf)))
    expected, weight = scene.ahead.forecast(row).duration_seconds, preference.time + preference.cost
    if expected is None or weight <= 0:
        return
    gain = float(scene.promise.mean[now] - scene.promise.mean[row])
    most = expected.mean * math.exp(min(gain / weight, 50.0))
    told = f"{named(scene, row)} is better than today's values while a run takes less than"
    yield f"{told} {duration(most)} ({duration(expected.mean)} expected)"
