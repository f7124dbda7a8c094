"""Question to `jpo predict`: configurations that a job could have; whether the limits allow them is said of each row."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jpo.errors import UsageError
from jpo.files.reading import number
from jpo.optimizer.candidates import with_followers
from jpo.optimizer.request import Request
from jpo.records import LARGEST_VALUE, PARAMETERS, SMALLEST_VALUE, TOTAL_OF, WHOLE, Parameters, Word, Workload

MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class Question:
    """Question of the command line; see `jpo predict --help`.

    Raises UsageError: JPO-E823, a share of the data that cannot be, or of no trial.
    """

    chosen: Mapping[str, float] = field(default_factory=dict)
    varied: Mapping[str, str] = field(default_factory=dict)
    spot: bool = False
    trials: Sequence[Path] = ()
    fraction: float | None = None
    deadline_seconds: float | None = None
    max_cost: str | None = None

    def __post_init__(self) -> None:
        if self.fraction is None:
            return
        if not 0 < self.fraction <= 1:
            raise UsageError("--fraction", f"{self.fraction:g} is not a share of the data", "write e.g. 0.1", code="JPO-E823")
        if not self.trials:
            raise UsageError("--fraction", "is a share of trials, and none is named", "add --trials LOG", code="JPO-E823")


def asked_for(question: Question, workload: Workload, request: Request) -> list[Parameters]:
    """Configurations asked for: today's, then one for each combination of --set and --vary, with what follows from them."""
    today = workload.current
    chosen = {name: possible("--set", name, value, workload) for name, value in question.chosen.items()}
    varied = {name: several(name, text, workload) for name, text in question.varied.items()}
    totals = [TOTAL_OF.get(name, name) for name in (*chosen, *varied)]
    both = [name for name in totals if totals.count(name) > 1]
    if both:
        raise UsageError("--vary", f"{min(both)} is set by --set, too", "name it once", code="JPO-E823")
    if math.prod(map(len, varied.values())) > MOST_ROWS:
        finding = f"makes {math.prod(map(len, varied.values()))} rows, more than {MOST_ROWS}"
        raise UsageError("--vary", finding, "vary fewer values at once", code="JPO-E823")
    combinations = [dict(zip(varied, values, strict=True)) for values in itertools.product(*varied.values())]
    asked = (workload.terms.in_all_of(today, {**chosen, **values}) for values in combinations if chosen or values)
    rows = [today, *(with_followers(request, values) for values in asked)]
    return list({tuple(sorted(row.items())): row for row in rows}.values())


def several(name: str, text: str, workload: Workload) -> list[float]:
    """Values of --vary, each once."""
    worded = isinstance(workload.current.get(name), Word)
    try:
        values = [Word(word.strip()) if worded else number(word.strip()) for word in text.split(",")]
    except ValueError as error:
        finding = f"{name} = {text!r:.80} is not a list of numbers"
        raise UsageError("--vary", finding, f"write e.g. --vary {name}=1,2,4", code="JPO-E823") from error
    return list(dict.fromkeys(possible("--vary", name, value, workload) for value in values))


def possible(option: str, name: str, value: float, workload: Workload) -> float:
    """Value that a training job could have; whether the limits allow it is another question."""
    total = TOTAL_OF.get(name, name)
    if total not in workload.current:
        finding = f"{workload.path} has no parameter {name}"
        raise UsageError(option, finding, f"it has {', '.join(workload.current)}", code="JPO-E823")
    if total in PARAMETERS:
        kind, example = "whole number above 0" if total in WHOLE else "number above 0", 32.0
        in_range = SMALLEST_VALUE <= value <= LARGEST_VALUE or (value == 0 and total == "gpus")
        fits = in_range and (total not in WHOLE or value.is_integer())
    else:  # of the team's own: a value of its kind
        parameter = workload.parameter(name)
        word, example = isinstance(parameter.value, Word), parameter.value
        kind = "word" if word else "whole number" if parameter.whole else "number"
        fits = isinstance(value, Word) == word and (not parameter.whole or value.is_integer())
    if not fits:
        raise UsageError(option, f"{name} = {value:g} is not a {kind}", f"write e.g. {name}={example:g}", code="JPO-E823")
    return value


def can_be_scaled(workload: Workload) -> None:
    """Trials are carried over to today's values, which must be those of a training job."""
    if "epochs" not in workload.current:
        finding = "has no epochs, so how long a full run is compared with a trial is unknown"
        raise UsageError(str(workload.path), finding, "name their key in [parameters] epochs", code="JPO-E822")
    for name, value in workload.current.items():
        possible(str(workload.path), name, value, workload)
