"""A whole search in one call: ask, run, tell, until the runs are over; then the best by all of them together."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jpo.advisor.advisor import Advisor
from jpo.advisor.inputs import whole_number
from jpo.advisor.space import Configuration, Space
from jpo.errors import UsageError
from jpo.records import Outcome, Preference, Range

LOSS = "loss"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Result of a search.

    Attributes:
        parameters: the best configuration by all runs together, which need not be that of the smallest single loss.
        advisor: knows all runs (`runs`, `to_dataframe()`); may be asked and told further.
    """

    parameters: dict[str, object]
    advisor: Advisor


def optimize(
    function: Callable[[dict[str, object]], float | Outcome],
    space: Space,
    n: int,
    *,
    start: Configuration | None = None,
    preference: str | Mapping[str, float] | Preference = LOSS,
    seed: int = 0,
    clock: Callable[[], float] = time.perf_counter,
) -> SearchResult:
    """Search for the best configuration of `n` runs of a function.

        best = jpo.optimize(train, {"learning_rate": Range(1e-4, 1e-1, log=True), "layers": [2, 3, 4]}, 30).parameters

    Args:
        function: trains with a configuration and returns the validation loss, a number above 0 (smaller is better), or an
            `Outcome`. A loss that is infinite or NaN is a failed run. What it raises ends the search.
        start: first configuration; None: the middle of each range, and the first of each list.
        preference: as of `Advisor`; "loss" (the default): the loss alone counts.
        clock: seconds that a run took, where it returns a loss.

    Raises UsageError: JPO-E720, a space, start or number of runs that cannot be used, or a loss that is no number above 0.
    """
    runs = whole_number("n", n, at_least=1)
    weights = {LOSS: 1.0} if preference == LOSS else preference
    advisor = Advisor(space, start or _middle(space), weights, seed=seed, goal="search", horizon_runs=runs)
    for _ in range(runs):
        asked = advisor.ask().parameters
        began = clock()
        answer = function(dict(asked))
        advisor.tell(asked, answer if isinstance(answer, Outcome) else _outcome(answer, clock() - began))
    return SearchResult(advisor.incumbent, advisor)


def _middle(space: Space) -> Configuration:
    """The middle of each range, and the first of each list; of listed configurations the first."""
    if not isinstance(space, Mapping):
        return space[0]
    middles = {name: (steps := choices.steps())[len(steps) // 2] for name, choices in space.items() if isinstance(choices, Range)}
    return {name: middles[name] if isinstance(choices, Range) else choices[0] for name, choices in space.items()}


def _outcome(answer: object, seconds: float) -> Outcome:
    """Outcome of a run that returned its loss, after so many seconds."""
    try:
        loss = float(answer)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise _unusable(answer) from error
    if not math.isfinite(loss):
        return Outcome(duration_seconds=max(seconds, 1e-9), converged=False)
    if loss <= 0:
        raise _unusable(answer)
    return Outcome(duration_seconds=max(seconds, 1e-9), val_loss=loss)


def _unusable(answer: object) -> UsageError:
    remedy = "return a loss above 0, since losses are compared by their ratio (an accuracy a as 1 - a), or an Outcome"
    return UsageError("function", f"returned {answer!r:.80}", remedy, code="JPO-E720")
