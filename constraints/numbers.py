"""Numbers as jpo.toml or an environment may give them."""

from __future__ import annotations

import math

from constraints.quoted import quoted


def number_of(
    value: object, place: str, *, low: float = -math.inf, above: float = -math.inf, high: float = math.inf
) -> float | None:
    """A finite number in `low`..`high` and more than `above`, from a number or its text; None stays None."""
    if value is None:
        return None
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{place}: {quoted(value)} is not a number; write one without quotes")
    if number < low or number <= above:
        bound = f"above {above:g}" if above > low else f"of at least {low:g}"
        raise ValueError(f"{place}: {quoted(value)} is too small; write a number {bound}")
    if number > high:
        raise ValueError(f"{place}: {quoted(value)} is too large; write a number of at most {high:g}")
    return number
