"""Check of a proposal: every rule is applied, and the violations become one verdict."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping

from constraints.clamp import nearest
from constraints.limits import Limits
from constraints.rules import RULES, Facts
from constraints.verdict import Verdict, Violation

NOTHING_KNOWN = Facts()
LARGEST_FLOAT = sys.float_info.max


def check(current: Mapping[str, float], proposed: Mapping[str, float], limits: Limits, facts: Facts = NOTHING_KNOWN) -> Verdict:
    """The verdict on whether `proposed` may replace `current`.

    A value that stays as it is breaks nothing: a limit that it exceeds already today is a notice, not a violation. So keeping
    everything is always approved, and a team that tightens a limit sees which jobs exceed it without stopping their pipelines.

    Args:
        current: the values in config.ini today, in JPO's units.
        proposed: the values wanted, of the same parameters.
        limits: what is allowed.
        facts: what is known besides the values. Forecasts describe the proposal; where `parameters` differs from it they do not.

    Returns:
        `approved` only if the proposal obeys every rule exactly as it is.
    """
    current, proposed = _as_floats(current), _as_floats(proposed)
    violations, notices = _apply(current, proposed, limits, facts)
    parameters: Mapping[str, float] | None = dict(proposed)
    if violations:
        parameters = nearest(current, proposed, limits, lambda values: _apply(current, values, limits, facts)[0])
    return Verdict(not violations, parameters, violations, notices, len(RULES))


def approves(current: Mapping[str, float], proposed: Mapping[str, float], limits: Limits, facts: Facts = NOTHING_KNOWN) -> bool:
    """Whether `check` would approve; for hundreds of candidates, of which the first violation says enough."""
    return not any(of_change for _, of_change in _broken(_as_floats(current), _as_floats(proposed), limits, facts))


def _as_floats(values: Mapping[str, float]) -> dict[str, float]:
    """The values as floats, words as they are; NaN for what no float can hold."""
    return {
        name: (value if isinstance(value, float) else float(value)) if abs(value) <= LARGEST_FLOAT else math.nan
        for name, value in values.items()
    }


def _apply(
    current: Mapping[str, float], proposed: Mapping[str, float], limits: Limits, facts: Facts
) -> tuple[tuple[Violation, ...], tuple[Violation, ...]]:
    """(violations, notices) of all rules, in the order of RULES."""
    broken = list(_broken(current, proposed, limits, facts))
    violations, notices = ([violation for violation, of_change in broken if of_change is wanted] for wanted in (True, False))
    return tuple(violations), tuple(notices)


def _broken(
    current: Mapping[str, float], proposed: Mapping[str, float], limits: Limits, facts: Facts
) -> Iterator[tuple[Violation, bool]]:
    """What the rules find, in their order, and whether it involves a value that changes: a violation, else a notice.

    Values are looked at in both terms in which a file may have them.
    """
    current, proposed = limits.counting.spelt_out(current), limits.counting.spelt_out(proposed)
    changed = {name for name in {*current, *proposed} if current.get(name) != proposed.get(name)}
    for rule in RULES:
        for violation in rule(current, proposed, limits, facts):
            yield violation, not changed.isdisjoint(violation.involves)
