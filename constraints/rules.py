"""Rules of the guard, functions of one signature that yield what a proposal violates. A rule judges the proposal alone; check.py
decides whether a value that does not change may stay as it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from constraints.limit import Limit
from constraints.limits import Limits
from constraints.names import LARGEST_WHOLE, WHOLE
from constraints.sla import SLA
from constraints.verdict import Violation, number

HEADROOM = 0.1
"""Share of a card's memory that an estimate leaves free: allocators fragment, and estimates err."""

ROUNDING = 1e-9
"""Relative difference that counts as floating-point rounding."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known besides the values; None, or left out: unknown, and the rules that need it find nothing.

    Attributes:
        gpu_memory_gib_now: the most memory of one card that a run with today's values used.
        usd_per_hour_next: price of the proposal's resources by a catalogue, which the guard does not read.
        next: the forecast for the proposal, by quantities of SLA.
        now: what is expected of today's values, likewise.
    """

    gpu_memory_gib_now: float | None = None
    usd_per_hour_next: float | None = None
    next: Mapping[str, float] = field(default_factory=dict)
    now: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if unknown := {*self.next, *self.now} - {target.quantity for target in SLA.values()}:
            raise ValueError(f"{min(unknown)} is not a quantity that a target of [sla] can limit")
        forecasts = {f"{name}_{when}": value for when in ("next", "now") for name, value in getattr(self, when).items()}
        for name in ("gpu_memory_gib_now", "usd_per_hour_next", *forecasts):
            value = forecasts[name] if name in forecasts else getattr(self, name)
            least = -math.inf if name.startswith("val_loss_") else 0
            if value is not None and not (math.isfinite(value) and value >= least):
                kind = "finite number of at least 0" if least == 0 else "finite number"
                raise ValueError(f"{name} = {value} is not a {kind}; leave out what is not known")


Values = Mapping[str, float]
Rule = Callable[[Values, Values, Limits, Facts], Iterator[Violation]]


def known_parameter(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """Every parameter of the proposal has a limit and a value today."""
    for name in sorted(set(current) ^ set(proposed)):
        where = "today's values" if name in proposed else "the proposal"
        yield Violation(name, number(proposed.get(name, math.nan)), "both", "known_parameter", f"{name} is missing in {where}")
    for name in sorted(set(proposed) - set(limits.parameters)):
        yield Violation(name, number(proposed[name]), "no value", "known_parameter", f"{name} is a parameter without limits")


def finite_number(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """All values are finite."""
    for name, value in (*proposed.items(), *current.items()):
        if not math.isfinite(value):
            yield _broken(name, value, "a finite number", "finite_number", "is not a finite number")


def whole_number(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """Whole-number parameters have whole values."""
    for name, _, value, limit in _each(current, proposed, limits):
        if (name in WHOLE or limit.whole) and (value % 1 != 0 or abs(value) > LARGEST_WHOLE):
            yield _broken(name, value, "a whole number", "whole_number", "is not a whole number")


def at_least_min(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """No value is below its minimum."""
    for name, _, value, limit in _each(current, proposed, limits):
        if _above(limit.low, value):
            low = number(limit.low)
            yield _broken(name, value, f">= {low}", "at_least_min", f"is below {low}, the smallest value allowed")


def at_most_max(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """No value is above its maximum."""
    for name, _, value, limit in _each(current, proposed, limits):
        if _above(value, limit.high):
            high = number(limit.high)
            yield _broken(name, value, f"<= {high}", "at_most_max", f"is above {high}, the largest value allowed")


def one_of_choices(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """A value with choices is one of them."""
    for name, _, value, limit in _each(current, proposed, limits):
        if limit.choices is not None and not any(_same(value, choice) for choice in limit.choices):
            choices = ", ".join(map(number, limit.choices))
            yield _broken(name, value, choices, "one_of_choices", f"is none of the choices {choices}")


def power_of_two(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """A value with step = "pow2" is a power of two."""
    for name, _, value, limit in _each(current, proposed, limits):
        if limit.power_of_two and math.frexp(value)[0] != 0.5:
            yield _broken(name, value, "a power of two", "power_of_two", "is not a power of two")


def multiple_of(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """A value with multiple_of is a multiple of it."""
    for name, _, value, limit in _each(current, proposed, limits):
        if limit.multiple_of is not None and abs(math.remainder(value, limit.multiple_of)) > ROUNDING * abs(value):
            unit = number(limit.multiple_of)
            yield _broken(name, value, f"multiples of {unit}", "multiple_of", f"is not a multiple of {unit}")


def largest_change(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """No value moves further than one step from today's."""
    for name, now, value, limit in _each(current, proposed, limits):
        lowest, highest = limit.reach(now, quota=limits.quota.of(name))
        if limit.max_change is not None and (_above(lowest, value) or _above(value, highest)):
            factor, allowed = number(limit.max_change), f"{number(lowest)} to {number(highest)}"
            message = f"is too far from today's {number(now)}: one step is at most a factor of {factor}, so {allowed}"
            yield _broken(name, value, allowed, "largest_change", message)


def not_held(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """Held values stay."""
    for name, now, value, limit in _each(current, proposed, limits):
        if limit.held is not None and value != now:
            yield _broken(name, value, number(now), "not_held", f"must stay {number(now)}: it is {limit.held}")


def batch_divisible_by_gpus(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """The batch can be divided evenly among the GPUs, and each share among the accumulation steps."""
    batch, gpus = _batch_and_gpus(proposed)
    steps = _steps(proposed)
    if math.isfinite(batch) and gpus * steps > 1 and batch % (gpus * steps):
        allowed = f"multiples of {number(gpus * steps)}"
        in_steps = f" in {number(steps)} accumulation steps" if steps > 1 else ""
        message = f"cannot be divided evenly among gpus = {number(gpus)}{in_steps}"
        yield _broken("batch_size", batch, allowed, "batch_divisible_by_gpus", message, ("batch_size", "gpus"))


def batch_per_gpu(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """The batch per GPU: fewer GPUs with the same batch load each of them more, which counts as a step of the batch size too."""
    (batch_now, gpus_now), (batch, gpus) = _batch_and_gpus(current), _batch_and_gpus(proposed)
    factor = limits.parameters["batch_size"].max_change if "batch_size" in limits.parameters else None
    if factor is None or gpus == gpus_now or not batch_now > 0 or not _above(batch / gpus, factor * batch_now / gpus_now):
        return
    most = number(math.floor(factor * batch_now / gpus_now) * gpus)
    message = (
        f"on gpus = {number(gpus)} is {number(batch / gpus / _steps(proposed))} samples per GPU, more than "
        f"{number(factor)} times today's {number(batch_now / gpus_now / _steps(current))}; at most {most} can be tried there"
    )
    yield _broken("batch_size", batch, f"<= {most}", "batch_per_gpu", message, ("batch_size", "gpus"))


def gpu_memory_within_card(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """The estimated need fits into the memory of each GPU."""
    need = gpu_memory_gib(current, proposed, limits, facts)
    if limits.card.memory_gib is None or need is None:
        return
    usable = limits.card.memory_gib * (1 - HEADROOM)
    if _above(need, usable):
        batch, gpus = _batch_and_gpus(proposed)
        message = (
            f"on gpus = {number(gpus)} is estimated to need {need:.3g} GiB on each; "
            f"a card of {number(limits.card.memory_gib)} GiB has {usable:.3g} to use ({HEADROOM:.0%} stay free)"
        )
        involved = ("batch_size", "gpus", "num_layers")
        yield _broken("batch_size", batch, f"<= {usable:.3g} GiB per GPU", "gpu_memory_within_card", message, involved)


def within_quota(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """No resource exceeds its quota."""
    for name, _, value, _ in _each(current, proposed, limits):
        if _above(value, limits.quota.of(name)):
            quota, most = limits.quota, number(limits.quota.of(name))
            limit = f"the {most} that {quota.owners[name]} has" if name in quota.owners else f"the quota of {most}"
            yield _broken(name, value, f"<= {most}", "within_quota", f"is above {limit}")


def price_within_quota(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
    """The price per hour is within the quota."""
    price = facts.usd_per_hour_next if limits.prices.catalogue else price_usd_per_hour(proposed, limits)
    if price is not None and _above(price, limits.quota.usd_per_hour):
        most = f"{limits.quota.usd_per_hour:.4g} USD per hour"
        involved = ("gpus", "cpus", "memory_gib")
        message = f"the resources cost {price:.4g} USD per hour; the quota is {most}"
        yield Violation("price", f"{price:.4g} USD per hour", f"<= {most}", "price_within_quota", message, involved)


def keeps(*names: str) -> Rule:
    """The rule that the forecast keeps these targets of [sla]."""

    def kept(current: Values, proposed: Values, limits: Limits, facts: Facts) -> Iterator[Violation]:
        for name in names:
            if name in limits.sla:
                yield from _missed(name, proposed, limits.sla[name], facts)

    return kept


OF_MODEL = tuple(name for name, target in SLA.items() if target.no_worse)
SLA_RULES = (*(keeps(name) for name in SLA if name not in OF_MODEL), keeps(*OF_MODEL))
"""One of each target, but of all that bound the quality of the model."""
RULES: tuple[Rule, ...] = (
    *(known_parameter, finite_number, whole_number, at_least_min, at_most_max, one_of_choices, power_of_two, multiple_of),
    *(largest_change, not_held, batch_divisible_by_gpus, batch_per_gpu, gpu_memory_within_card),
    *(within_quota, price_within_quota),
    *SLA_RULES,
)


def gpu_memory_gib(current: Values, proposed: Values, limits: Limits, facts: Facts) -> float | None:
    """An upper estimate of the memory that the proposal needs on each card; None if nothing is known about it.

    With [card]: fixed + per sample x batch per GPU, plus what today's run was measured to use above that estimate. Without:
    today's measurement, taken as proportional to the batch per GPU where that grows. Both taken as proportional to added layers.
    """
    (batch_now, gpus_now), (batch, gpus) = _batch_and_gpus(current), _batch_and_gpus(proposed)
    batch_now, batch = batch_now / _steps(current), batch / _steps(proposed)  # what is on the cards at one time
    card, measured = limits.card, facts.gpu_memory_gib_now
    if proposed.get("gpus") == 0 or not (math.isfinite(batch / gpus) and batch_now > 0):
        return None
    layers = max(1.0, proposed.get("num_layers", 1.0) / max(current.get("num_layers", 1.0), 1.0))
    if card.fixed_gib is not None and card.gib_per_sample is not None:
        unexplained = (measured or 0.0) - card.fixed_gib - card.gib_per_sample * batch_now / gpus_now
        return (card.fixed_gib + card.gib_per_sample * batch / gpus + max(0.0, unexplained)) * layers
    return None if measured is None else measured * max(1.0, (batch / gpus) / (batch_now / gpus_now)) * layers


def price_usd_per_hour(values: Values, limits: Limits) -> float:
    """Price of a configuration's resources by single prices, in USD per hour."""
    prices = limits.prices
    return (
        values.get("gpus", 0.0) * prices.usd_per_gpu_hour
        + values.get("cpus", 0.0) * prices.usd_per_cpu_hour
        + values.get("memory_gib", 0.0) * prices.usd_per_gib_hour
    )


def _missed(name: str, proposed: Values, limit: float, facts: Facts) -> Iterator[Violation]:
    """The violation of an SLA target that the forecast misses, and today's values do not miss as well. It involves all values."""
    target, at_least = SLA[name], name.endswith("_min")
    expected, now = facts.next.get(target.quantity), facts.now.get(target.quantity)
    if expected is None or not (_above(limit, expected) if at_least else _above(expected, limit)):
        return
    if target.no_worse and now is not None and (now < limit if at_least else now > limit) and target.no_worse(now, expected):
        return
    what, verb, unit = target.words
    wanted, allowed = _distinct(expected, limit, unit)
    message = f"the run is expected to {verb} {wanted}; [sla] {name} is {allowed}"
    yield Violation(what, wanted, f"{'>=' if at_least else '<='} {allowed}", target.rule, message, tuple(proposed))


def _distinct(expected: float, limit: float, unit: str) -> tuple[str, str]:
    """Two different numbers with enough digits to show the difference; seconds from an hour on in hours."""
    scale, unit = (3600, "h") if unit == "s" and limit >= 3600 else (1, unit)
    for digits in (4, 10):
        wanted, allowed = (f"{number(float(f'{value / scale:.{digits}g}'))} {unit}".strip() for value in (expected, limit))
        if wanted != allowed:
            break
    return wanted, allowed


def _each(current: Values, proposed: Values, limits: Limits) -> Iterator[tuple[str, float, float, Limit]]:
    """(name, value now, value proposed, limit) of every parameter that can be compared."""
    for name, value in proposed.items():
        if name in current and name in limits.parameters and math.isfinite(value):
            yield name, current[name], value, limits.parameters[name]


def _batch_and_gpus(values: Values) -> tuple[float, float]:
    """Batch size (NaN if unknown) and the number of devices that share it: at least 1, for a job without GPUs runs on a CPU."""
    gpus = values.get("gpus", 1.0)
    return values.get("batch_size", math.nan), max(gpus, 1.0) if math.isfinite(gpus) else math.nan


def _steps(values: Values) -> float:
    """Passes in which a GPU takes its share of the batch, at least 1."""
    steps = values.get("gradient_accumulation_steps", 1.0)
    return max(steps, 1.0) if math.isfinite(steps) else math.nan


def _broken(name: str, value: float, allowed: str, rule: str, message: str, involves: tuple[str, ...] = ()) -> Violation:
    return Violation(name, number(value), allowed, rule, f"{name} = {number(value)} {message}", involves)


def _same(a: float, b: float) -> bool:
    """Equal but for the rounding of a product."""
    return math.isclose(a, b, rel_tol=ROUNDING)


def _above(a: float, b: float) -> bool:
    return a > b and not _same(a, b)
