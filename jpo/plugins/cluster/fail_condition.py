"""A fail condition: a sentence about an evaluation that a pipeline fails on, as `--fail-if` has it.

saf+easy worse than fcfs+easy by 5%
saf+easy worse than fcfs+easy by 0% in avg_wait_seconds
saf+easy avg_wait_seconds above 7200
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from jpo.errors import NothingAdmissible, UsageError
from jpo.plugins.cluster.grid import Evaluation

FIGURES = (
    *("avg_bounded_slowdown", "avg_wait_seconds", "p95_wait_seconds", "max_wait_seconds", "avg_turnaround_seconds"),
    *("makespan_seconds", "utilisation", "energy_joules", "cost_usd"),
)
"""What a condition can be about; the first unless it says so."""
LARGER_IS_BETTER = ("utilisation",)
RULE = r"([\w+-]+)"
WORSE = re.compile(rf"{RULE}\s+worse\s+than\s+{RULE}(?:\s+by\s+([0-9]+(?:\.[0-9]+)?)\s*%)?(?:\s+in\s+(\w+))?")
ABOVE = re.compile(rf"{RULE}\s+(\w+)\s+(above|below)\s+([0-9]+(?:\.[0-9]+)?)")


@dataclass(frozen=True, slots=True)
class FailCondition:
    """What must not be true.

    Attributes:
        rule: the name of the rule that it is about.
        figure: of FIGURES.
        reference: the rule that it is compared with; None: `limit` is a value of the figure.
        limit: by how much it may be worse as a ratio (0.05), or the value.
        above: whether larger values are what fails.
    """

    text: str
    rule: str
    figure: str
    reference: str | None
    limit: float
    above: bool

    def check(self, evaluations: Sequence[Evaluation]) -> None:
        """Raise NothingAdmissible, JPO-E746, where it is true; UsageError, JPO-E744, where its figure is unknown."""
        if finding := self._finding(evaluations):
            raise NothingAdmissible("--fail-if", f"{self.text!r} is true: {finding}", code="JPO-E746")

    def _finding(self, evaluations: Sequence[Evaluation]) -> str | None:
        """What was found where the condition is true; None where it is not. Figures are means over workloads and seeds."""
        value = mean_figure(evaluations, self.rule, self.figure)
        if self.reference is None:
            true = value > self.limit if self.above else value < self.limit
            return f"{self.figure} of {self.rule} is {value:.6g}" if true else None
        other = mean_figure(evaluations, self.reference, self.figure)
        better, worse = (value, other) if not self.above else (other, value)
        if worse <= better * (1 + self.limit):
            return None
        change = f"{100 * (worse / better - 1):.3g}%" if better > 0 else "infinitely"
        return f"{self.figure} of {self.rule} is {value:.6g}, of {self.reference} {other:.6g}: {change} worse"


def mean_figure(evaluations: Sequence[Evaluation], rule: str, figure: str) -> float:
    """The mean of a figure over all evaluations under a rule, of which there is at least one."""
    values = [found.figures.get(figure) for found in evaluations if found.rule.name == rule]
    known = [float(value) for value in values if value is not None]
    if len(known) < len(values):
        remedy = "give a --platform whose processors have watts, for energy, and nodes a price, for cost"
        raise UsageError("--fail-if", f"{figure} of {rule} is unknown", remedy, code="JPO-E744")
    return math.fsum(known) / len(known)


def parsed(text: str, rules: Sequence[str]) -> FailCondition:
    """The condition of a sentence; `rules`: the names of those that are evaluated.

    Raises UsageError: JPO-E744, it is none, or names a rule that is not evaluated or a figure that there is not.
    """
    sentence = text.strip()
    if found := WORSE.fullmatch(sentence):
        figure = found[4] or FIGURES[0]
        share = float(found[3] or 0) / 100
        condition = FailCondition(sentence, found[1], figure, found[2], share, figure not in LARGER_IS_BETTER)
    elif found := ABOVE.fullmatch(sentence):
        condition = FailCondition(sentence, found[1], found[2], None, float(found[4]), found[3] == "above")
    else:
        remedy = 'write e.g. "saf+easy worse than fcfs+easy by 5%" or "saf+easy avg_wait_seconds above 7200"'
        raise UsageError("--fail-if", f"{text!r:.80} is not a claim", remedy, code="JPO-E744")
    for rule in (condition.rule, condition.reference):
        if rule is not None and rule not in rules:
            raise UsageError("--fail-if", f"{rule!r:.80} is not evaluated", f"name one of {', '.join(rules)}", code="JPO-E744")
    if condition.figure not in FIGURES:
        known = f"name one of {', '.join(FIGURES)}"
        raise UsageError("--fail-if", f"{condition.figure!r:.80} is not a figure", known, code="JPO-E744")
    return condition
