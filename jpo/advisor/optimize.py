"""A whole search in one call: ask, run, tell, until the runs are over; then the best by all of them together."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jpo.advisor.advisor import Advisor
from jpo.advisor.inputs import whole_number
from jpo.advisor.space import Configuration, Space
from jpo.errors import UsageError
from jpo.records import Outcome, Preference, Range


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Result of a search: the best configuration by all runs together, and the advisor that knows them (`to_dataframe()`)."""

    parameters: dict[str, object]
    advisor: Advisor


def optimize(
    function: Callable[[dict[str, object]], float | Outcome],
    space: Space,
    n: int,
    *,
    start: Configuration | None = None,
    preference: str | Mapping[str, float] | Preference | None = None,
    seed: int = 0,
    clock: Callable[[], float] = time.perf_counter,
) -> SearchResult:
    """Search for the best configuration of `n` runs of a function.

        best = jpo.optimize(train, {"learning_rate": Range(1e-4, 1e-1, log=True), "layers": [2, 3, 4]}, 30).parameters

    Args:
        function: trains with a configuration and returns the validation loss, a number above 0 (smaller is better), or an
            `Outcome`. A loss that is infinite or NaN is a failed run. What it raises ends the search.
        start: first configuration; None: the middle of each range, and the first of each list.
        preference: as of `Advisor`; None: the loss alone counts.
        clock: seconds that a run took, where it returns a loss.

    Raises UsageError: JPO-E720, a space, start or number of runs that cannot be used, or a loss that is no number above 0.
    """
    runs = whole_number("n", n, at_least=1)
    weights = {"loss": 1.0} if preference is None else preference
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
    steps = {name: choices.steps() if isinstance(choices, Range) else choices[:1] for name, choices in space.items()}
    return {name: each[len(each) // 2] for name, each in steps.items()}


def _outcome(answer: object, seconds: float) -> Outcome:
    """Outcome of a run that returned its loss, after so many seconds."""
    try:
        loss = float(answer)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        loss = 0.0
    if loss <= 0:
        remedy = "return a loss above 0, since losses are compared by their ratio (an accuracy a as 1 - a), or an Outcome"
        raise UsageError("function", f"returned {answer!r:.80}", remedy, code="JPO-E720")
    seconds = max(seconds, 1e-9)
    return Outcome(seconds, val_loss=loss) if math.isfinite(loss) else Outcome(seconds, converged=False)
