"""Nearest values that obey every rule, so that a rejection can say what would be allowed."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

from constraints.limits import Limits
from constraints.names import LARGEST_WHOLE, WHOLE
from constraints.verdict import Violation

Ask = Callable[[Mapping[str, float]], Sequence[Violation]]

BATCH = frozenset({"batch_size", "batch_size_per_device"})
GROWS_WITH_BATCH = frozenset({"batch_per_gpu", "gpu_memory_within_card"})
"""Rules that a batch size breaks because it is too large, never because it is too small."""


def nearest(current: Mapping[str, float], proposed: Mapping[str, float], limits: Limits, ask: Ask) -> dict[str, float] | None:
    """The proposal with each value that breaks a rule moved to the nearest one that its own limits allow, the batch size also
    to a multiple of the GPUs.

    Args:
        ask: the violations of a set of values.

    Returns:
        None if a value has no nearest one, or if rules between parameters (price, budget) are broken even so.
    """
    comparable = set(current) == set(proposed) <= set(limits.parameters)
    if not comparable or not all(map(math.isfinite, (*current.values(), *proposed.values()))):
        return None
    values = dict(proposed)
    for name in [v.parameter for v in ask(proposed) if v.involves == (v.parameter,) and v.parameter not in BATCH]:
        if name not in proposed or limits.parameters[name].worded:  # of the GPUs of a node, and of words, none is the nearest
            return None
        allowed = _allowed(name, current[name], proposed[name], limits)
        values[name] = _closest(allowed, proposed[name], current[name])
    if not all(map(math.isfinite, values.values())):
        return None
    if any(not BATCH.isdisjoint(v.involves) for v in ask(values)):  # last: it depends on the GPUs
        shares = max(values.get("gpus", 1.0), 1.0) * (limits.counting.accumulation_steps or 1.0)
        allowed = _allowed("batch_size", current["batch_size"], proposed["batch_size"], limits, gpus=shares)
        values["batch_size"] = _closest(allowed, proposed["batch_size"], current["batch_size"])
        if _too_large(values, ask):
            fit = allowed[: bisect_left(allowed, True, key=lambda batch: _too_large({**values, "batch_size": batch}, ask))]
            values["batch_size"] = _closest(fit, proposed["batch_size"], current["batch_size"])
    return None if ask(values) else values


def _allowed(name: str, now: float, wanted: float, limits: Limits, *, gpus: float = 1.0) -> Sequence[float]:
    """Values, ascending, that the parameter's own limits and the quota allow; of fractions only those around the wanted one."""
    limit = limits.parameters[name]
    quota = limits.quota.of(name)
    lowest, highest = limit.reach(now, quota=quota)
    low, high = max(limit.low, lowest), min(limit.high, highest, quota)
    unit = limit.multiple_of or (1.0 if name in WHOLE or limit.whole else None)
    if limit.held is not None:
        return (now,)
    if limit.choices is not None or limit.power_of_two:
        values = limit.choices or tuple(2.0**k for k in range(-10, 54))
        return tuple(v for v in values if low <= v <= high and not (unit and v % unit) and not v % max(gpus, 1.0))
    if low > high:
        return ()
    if name in WHOLE:
        step = math.lcm(int(unit or 1), max(int(gpus), 1))
        return range(step * math.ceil(max(low, 0) / step), int(min(high, LARGEST_WHOLE)) + 1, step)
    clamped = min(max(wanted, low), high, LARGEST_WHOLE * (unit or math.inf))
    around = (clamped,) if unit is None else (unit * math.floor(clamped / unit), unit * math.ceil(clamped / unit))
    return tuple(v for v in around if low <= v <= high)


def _too_large(values: Mapping[str, float], ask: Ask) -> bool:
    return any(v.rule in GROWS_WITH_BATCH for v in ask(values))


def _closest(allowed: Sequence[float], wanted: float, now: float) -> float:
    """The allowed value nearest to the wanted one, of two equally near the one nearer to today's; NaN if none is allowed."""
    at = bisect_left(allowed, wanted)
    return float(min(allowed[max(at - 1, 0) : at + 1], key=lambda v: (abs(v - wanted), abs(v - now)), default=math.nan))
