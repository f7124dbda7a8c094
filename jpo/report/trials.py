"""Trials: what each cost and taught, and what all of them cost against what was saved with what they taught."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jpo.records import Suggestion
from jpo.wording import numbers


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds that the runs of a suggestion took beyond what their models would have taken; below 0: they saved time.

    Attributes:
        before: as they were before JPO's first change.
        keeping: as was expected of the values that the suggestion replaced; None: nothing was.
        runs, models: how many runs these are, and how many of them ended well.
    """

    before: float
    keeping: float | None
    runs: int
    models: int


def taught(made: Suggestion, spent: Spent | None) -> str:
    """What a trial taught and cost, against what was expected of keeping: "+8% time per model: cost 9m 12s"; else empty."""
    now = made.now.duration_seconds
    if made.decision.kind != "trial" or not spent or spent.keeping is None or not now:
        return ""
    change = f"{numbers.change(1 + spent.keeping / (now.mean * spent.models))} time per model" if spent.models else "no model"
    return f"{change}: {cost_or_saved(spent.keeping)}"


def return_on_trials(spent: Iterable[tuple[Suggestion, Spent | None]]) -> str:
    """What all trials cost beyond keeping, and what was saved with what they taught: the latter less the former is what was saved
    in all. Empty without a trial."""
    every = [(made.decision.kind, found) for made, found in spent if found]
    trials = [(found.runs, found.keeping) for kind, found in every if kind == "trial" and found.keeping is not None]
    if not trials:
        return ""
    cost = sum(seconds for _, seconds in trials)
    learnt = sum(found.before for _, found in every) - cost
    runs = numbers.counted(sum(count for count, _ in trials), "run")
    return f"{runs} of trials {cost_or_saved(cost)} against keeping; what was learnt {cost_or_saved(learnt)} against before JPO."


def cost_or_saved(seconds: float) -> str:
    return f"{'cost' if seconds > 0 else 'saved'} {numbers.duration(abs(seconds))}"
