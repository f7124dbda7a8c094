"""Counterfactuals of a decision: another preference or boldness, a limit less, a run that takes longer, and where that leads."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import lru_cache

import numpy as np

from jpo.agent.budget import Explore
from jpo.agent.candidate_rows import least, name_of
from jpo.agent.preference import NEARLY_NOTHING
from jpo.errors import NothingAdmissible
from jpo.optimizer.advise import BASELINE, choose, set_back
from jpo.optimizer.explain.scene import DecisionScene, guarded, moved, neighbours
from jpo.optimizer.problem import exploration_runs_left, problem_of
from jpo.optimizer.request import Request
from jpo.optimizer.sla import trade_vetoes, within_sla
from jpo.records import NAMED_PREFERENCES, TRAINED, WHOLE, Belief, Word
from jpo.wording.numbers import duration

EXPLORE: tuple[Explore, ...] = ("off", "safe", "on")
LIKELY = 0.9999
"""Share of the belief that the simulated jobs hold which are asked again; the others were never seen to change a choice."""
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
"""Rule of the guard -> what the user wrote for it. Rules about the form of a number (whole, power of two) hold nothing back."""
OVERRULED = ("user", "waiting", "rollback")
"""Who decides without weighing the candidates."""


def capped_by(scene: DecisionScene) -> dict[str, tuple[str, float]]:
    """Limits that held values back: changed parameter -> (the limits, the next value, refused by the guard for those alone).

    Only where the last rung up to the choice was expected to pay off: nothing is said of a step that nobody wanted.
    """
    today, chosen = scene.candidates.parameters(scene.candidates.current), scene.candidates.parameters(scene.choice)
    capped: dict[str, tuple[str, float]] = {}
    for name in scene.request.allowed.free:
        steered = name in scene.request.allowed.follow or name in scene.advice.by_hand or isinstance(chosen[name], Word)
        side = "smaller" if chosen[name] > today[name] else "larger"
        if chosen[name] == today[name] or steered or (before := neighbours(scene, name).get(side)) is None:
            continue
        if scene.acquisition.mean[scene.choice] < scene.acquisition.mean[before] - NEARLY_NOTHING:
            beyond = _beyond(name, scene.candidates.parameters(before)[name], chosen[name], scene.request)
            limits = _limits_against(scene, {**chosen, name: beyond}, name)
            capped |= {name: (limits, beyond)} if limits else {}
    return capped


def _limits_against(scene: DecisionScene, values: Mapping[str, float], name: str) -> str:
    """What the user wrote that keeps a parameter from this value, others following; "" where something else does, or nothing."""
    violations = guarded(scene, moved(scene, values)).violations
    if not all(violation.rule in HELD_BY for violation in violations):
        return ""
    of = {each.rule: "" if name in each.involves else f" of {each.parameter}" for each in violations}
    return " and ".join(dict.fromkeys(HELD_BY[rule] + whose for rule, whose in of.items()))


def _beyond(name: str, before: float, here: float, request: Request) -> float:
    """The next value in this direction: the user's next choice, else as far again."""
    further = [value for value in request.allowed.choices.get(name, ()) if value != here and (value > here) == (here > before)]
    if further:
        return min(further, key=lambda value: abs(value - here))
    next_one = 2 * here - before if name == "num_layers" or before <= 0 else here * here / before
    return float(round(next_one)) if name in WHOLE else next_one


def counterfactuals(scene: DecisionScene) -> Iterator[str]:
    """Counterfactual choices under another preference or boldness, where they differ: the same decider is asked again."""
    decided_by, request = scene.advice.decision.decided_by, scene.request
    if decided_by in TRAINED and scene.policy is None:
        return
    if decided_by in OVERRULED:
        alone = "without the rollback" if scene.advice.undo else "left to itself"
        row = chosen_with(scene, request)
        outcome = "find no configuration that meets [sla]" if row is None else f"choose {name_of(scene.candidates, row)}"
        yield f"{alone}, JPO would {outcome}"
        return
    if BASELINE in scene.advice.decision.codes:
        row = chosen_with(scene, request)
        if row not in (None, scene.choice):
            yield f"without baseline_runs the choice would be {name_of(scene.candidates, row)}"
        return
    asked = {
        f"the preference {name}": request.preferring(preference)
        for name, preference in NAMED_PREFERENCES.items()
        if preference != request.wanted.preference and scene.surrogate.knows(preference)
    }
    others = (explore for explore in EXPLORE if explore != request.boldness.explore)
    asked |= {f"explore = {e}": replace(request, boldness=replace(request.boldness, explore=e)) for e in others}
    for condition, other in asked.items():
        row = chosen_with(scene, other)
        if row not in (None, scene.choice):
            yield f"with {condition} the choice would be {name_of(scene.candidates, row)}"


def chosen_with(scene: DecisionScene, request: Request) -> int | None:
    """Row that `advise` chooses on this request, without a word of the user; None where nothing may be used."""
    known, surrogate = scene.known, scene.surrogate
    try:
        candidates = within_sla(surrogate, request)
        if request.wanted.preference == scene.request.wanted.preference:
            left = exploration_runs_left(request, known.runs)
            leeway = replace(scene.problem.leeway, exploration_runs_left=left)
            problem = replace(scene.problem, boldness=request.boldness, leeway=leeway)
        else:
            likely = without_the_unlikely(scene.belief)
            problem = problem_of(candidates, likely, request, known, surrogate.calibration)
            problem = replace(problem, holds=(*problem.holds, *trade_vetoes(surrogate, request)))
        if known.last and not scene.advice.undo and (undone := set_back(surrogate, problem, request, known.last)):
            return undone.choice
        return choose(problem, request, scene.policy, len(known.runs)).choice
    except NothingAdmissible:
        return None


@lru_cache(maxsize=1)  # each preference asks for the same
def without_the_unlikely(belief: Belief) -> Belief:
    """The belief without the simulated jobs which no longer count: after some runs that is half of them."""
    order = np.argsort(belief.weights)[::-1]
    kept = np.sort(order[: int(np.searchsorted(np.cumsum(belief.weights[order]), LIKELY)) + 1])
    per_job = [f.name for f in fields(belief) if getattr(getattr(belief, f.name), "ndim", 0) == 2]
    weights = belief.weights[kept] / belief.weights[kept].sum()
    return replace(belief, weights=weights, **{name: getattr(belief, name)[kept] for name in per_job})


def break_even(scene: DecisionScene) -> Iterator[str]:
    """Break-even duration, where the comparison with today's values turns: of the choice, or of what comes second to keeping.

    Time, and with it cost, are what is compared; loss and utilisation stay as they are expected.
    """
    row, now, preference = scene.choice, scene.candidates.current, scene.request.wanted.preference
    if row == now:
        others = scene.candidates.admissible & (np.arange(len(scene.acquisition.score)) != now)
        if not others.any():
            return
        row = least(scene.acquisition.score, others)
    expected, weight = scene.surrogate.forecast(row).duration_seconds, preference.time + preference.paid
    if expected is None or weight <= 0:
        return
    gain = float(scene.acquisition.mean[now] - scene.acquisition.mean[row])
    most = expected.mean * math.exp(min(gain / weight, 50.0))
    condition = f"{name_of(scene.candidates, row)} is better than today's values while a run takes less than"
    yield f"{condition} {duration(most)} ({duration(expected.mean)} expected)"
