"""Verdict of the guard with its violations, which name the value, the rule and what would be allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule.

    Attributes:
        parameter: the parameter (or key of the file) that broke it.
        wanted: the value that was proposed, as text.
        allowed: what the rule allows, as text.
        rule: the rule's name, e.g. "at_most_max".
        message: one sentence for people.
        involves: the parameters between which the rule decides; (parameter,) when left empty. A rule none of whose parameters
            changes cannot be broken by a proposal: check() makes it a notice.
    """

    parameter: str
    wanted: str
    allowed: str
    rule: str
    message: str
    involves: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "involves", self.involves or (self.parameter,))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The guard's answer to one proposal.

    Attributes:
        approved: the proposal obeys every rule exactly as it is.
        parameters: the proposal if approved; else the nearest values found that obey every rule (a forecast for the proposal
            does not hold for them); None if none were found.
        violations: what the proposal breaks; empty if approved. notices: limits that today's values already break and the
        proposal leaves as they are: no reason to reject, but worth knowing. rules: how many rules were applied.
    """

    approved: bool
    parameters: Mapping[str, float] | None
    violations: tuple[Violation, ...]
    notices: tuple[Violation, ...]
    rules: int


def number(value: float) -> str:
    """A number as people write it: 128, 0.0003; exact enough to show what the rules distinguish. A word as it is."""
    if (word := getattr(value, "word", None)) is not None:
        return str(word)
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else f"{value:.10g}"
