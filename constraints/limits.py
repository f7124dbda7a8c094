"""Limits: the built-in ones, and what jpo.toml says instead. Anything that cannot be understood is an error: a mistyped limit
must not become a missing one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from constraints.counting import Counting
from constraints.limit import Limit
from constraints.names import WHOLE
from constraints.numbers import number_of as _number
from constraints.own import own_limit
from constraints.quoted import quoted
from constraints.sla import sla_limits
from constraints.unknown import refuse_unknown_sections, table_of

DEFAULTS: Mapping[str, Limit] = {
    # Largest steps: a suggestion that turns out wrong costs one run, and that is proportional to epochs, GPUs, CPUs and
    # memory; batch size and learning rate risk that the run diverges or does not fit. So: a decade of learning rate (room for the
    # linear rule at batch size x 4), factor 4 of what is bought, factor 2 of what multiplies a run's length or changes the model.
    "batch_size": Limit(low=1, max_change=4),
    "learning_rate": Limit(low=1e-8, high=100, max_change=10),  # fine-tuning by preferences: 5e-7; LARS on 32k samples: 29
    "num_layers": Limit(low=1, max_change=2),
    "epochs": Limit(low=1, max_change=2),
    "gpus": Limit(low=0, max_change=4),
    "cpus": Limit(low=1, max_change=4),
    "memory_gib": Limit(low=0.5, max_change=4),  # a process that has imported a training framework holds about half a GiB
    "batch_size_per_device": Limit(low=1, max_change=4),
    "gradient_accumulation_steps": Limit(low=1, held="not for JPO to change"),
    "gpus_per_node": Limit(low=0, max_change=4),
    "nodes": Limit(low=1, held="not for JPO to change"),
}


@dataclass(frozen=True, slots=True)
class Quota:
    """The most that one run may request; `owners` says of which resources there is no more, and where: "this machine"."""

    gpus: float = math.inf
    cpus: float = math.inf
    memory_gib: float = math.inf
    usd_per_hour: float = math.inf
    owners: Mapping[str, str] = field(default_factory=dict)

    def of(self, name: str) -> float:
        """The most of one parameter."""
        return {"gpus": self.gpus, "cpus": self.cpus, "memory_gib": self.memory_gib}.get(name, math.inf)

    def within(self, there: Mapping[str, float], owner: str = "this machine") -> Quota:
        """The quota limited to what somebody has; resources of which that is unknown stay as they are."""
        less = {name: most for name, most in there.items() if most < self.of(name)}
        return replace(self, **less, owners={**self.owners, **dict.fromkeys(less, owner)})


@dataclass(frozen=True, slots=True)
class Card:
    """Memory of one GPU, and the model's need: without any sample, and for each sample of the batch on one GPU."""

    memory_gib: float | None = None
    fixed_gib: float | None = None
    gib_per_sample: float | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of resources; those without a price count as free. The guard reads no catalogue: jpo tells it the price."""

    usd_per_gpu_hour: float = 0.0
    usd_per_cpu_hour: float = 0.0
    usd_per_gib_hour: float = 0.0
    catalogue: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """All limits of one workload; `counting` says in which terms its file has batch and GPUs.

    `sla`: by the names of its targets, which are compared with the forecast for a proposal."""

    parameters: Mapping[str, Limit] = field(default_factory=lambda: dict(DEFAULTS))
    counting: Counting = field(default_factory=Counting)
    quota: Quota = Quota()
    card: Card = Card()
    prices: Prices = Prices()
    sla: Mapping[str, float] = field(default_factory=dict)

    def holding(self, names: Iterable[str], why: str = "pinned in config.ini") -> Limits:
        """The same limits with the values of these parameters held as they are; an earlier reason stays."""
        held = {name: replace(self.parameters[name], held=self.parameters[name].held or why) for name in names}
        return replace(self, parameters={**self.parameters, **held})


def limits_from(tables: Mapping[str, object]) -> Limits:
    """Limits from jpo.toml's tables [parameters], [quota], [card], [prices] and [sla]; with the built-in ones as defaults.

    Numbers may be given as text, because values from the environment are.

    Raises:
        ValueError: an unknown name, a wrong type or an impossible limit; one line, `[table] key: finding; remedy`.
    """
    refuse_unknown_sections(tables)
    given = table_of(tables, "parameters")
    known = {name: _limit(name, given) if given.get(name) is not None else DEFAULTS[name] for name in DEFAULTS}
    limits = Limits(
        parameters={**known, **{name: own_limit(name, given) for name in given if name not in known}},
        quota=_quota(tables),
        card=Card(**_numbers(tables, "card", Card)),
        prices=_prices(tables),
        sla=sla_limits(tables),
    )
    if limits.quota.usd_per_hour < math.inf and limits.prices == Prices():
        raise ValueError("[quota] usd_per_hour: no price is known; write [prices]")
    return limits


def _quota(tables: Mapping[str, object]) -> Quota:
    """The quota of [quota]. jpo inspects `this_machine`; the second look may run on another one."""
    given = table_of(tables, "quota", ("gpus", "cpus", "memory_gib", "usd_per_hour", "this_machine"))
    if (here := given.get("this_machine")) not in (None, True, False, "true", "false"):
        raise ValueError(f"[quota] this_machine: {quoted(here)} is neither true nor false; write this_machine = true")

    def most(key: str) -> float:
        value = _number(given.get(key), f"[quota] {key}", low=0)
        return math.inf if value is None else value

    return Quota(most("gpus"), most("cpus"), most("memory_gib"), most("usd_per_hour"))


PRICES = (
    *("usd_per_gpu_hour", "usd_per_cpu_hour", "usd_per_gib_hour", "usd_per_kwh", "gpu_type", "usd_per_gpu_hour_of"),
    *("catalogue", "region", "spot", "spot_share", "currency", "per_usd", "kg_co2_per_kwh"),
)


def _prices(tables: Mapping[str, object]) -> Prices:
    """The prices of [prices]: those of single resources; of the GPU type where several are named; times `spot_share` on spot."""
    given = table_of(tables, "prices", PRICES)
    of_types = table_of(given, "usd_per_gpu_hour_of", place="[prices] usd_per_gpu_hour_of")
    by_type = {name.strip().lower(): price for name, price in of_types.items()}
    kind = str(given.get("gpu_type", "")).strip().lower()
    if by_type and kind not in by_type:
        raise ValueError(f"[prices] gpu_type: {quoted(kind)} has no price in usd_per_gpu_hour_of; known are {', '.join(by_type)}")
    if (spot := given.get("spot")) not in (None, True, False, "true", "false"):
        raise ValueError(f"[prices] spot: {quoted(spot)} is neither true nor false; write spot = true")
    share = _number(given.get("spot_share"), "[prices] spot_share", above=0)
    if share is not None and share > 1:
        raise ValueError(f"[prices] spot_share: {share:g} is above 1; write the spot price as a share of the others, e.g. 0.4")
    scale = share if share is not None and spot in (True, "true") else 1.0

    def price(key: str, value: object) -> float:
        return (_number(value, f"[prices] {key}", low=0) or 0.0) * scale

    for name in ("usd_per_kwh", "kg_co2_per_kwh"):  # not part of an hour's price; mistyped they are errors all the same
        price(name, given.get(name))
    return Prices(
        usd_per_gpu_hour=price("usd_per_gpu_hour", by_type[kind] if by_type else given.get("usd_per_gpu_hour")),
        usd_per_cpu_hour=price("usd_per_cpu_hour", given.get("usd_per_cpu_hour")),
        usd_per_gib_hour=price("usd_per_gib_hour", given.get("usd_per_gib_hour")),
        catalogue=given.get("catalogue") is not None,
    )


def _limit(name: str, parameters: Mapping[str, object]) -> Limit:
    """The limit of one parameter: its line of [parameters] over the built-in limit."""
    place = f"[parameters] {name}"
    known = ("key", "min", "max", "choices", "step", "multiple_of", "max_change", "freeze", "scale", "follow")
    given = table_of(parameters, name, known, place=place)
    step, freeze, key = given.get("step"), given.get("freeze"), given.get("key")
    if step not in (None, "pow2"):
        raise ValueError(f'{place} step: {quoted(step)} is not known; write step = "pow2" or leave it out')
    if freeze not in (None, True, False, "true", "false"):
        raise ValueError(f"{place} freeze: {quoted(freeze)} is neither true nor false; write freeze = true")
    if key is not None and not (isinstance(key, str) and re.fullmatch(r".+\..+", key)):
        raise ValueError(f'{place} key: {quoted(key)} is not section.option; write e.g. key = "training.{name}"')
    choices = _choices(given.get("choices"), f"{place} choices")
    multiple_of = _number(given.get("multiple_of"), f"{place} multiple_of", above=0)
    for what, numbers in (("choices", choices or ()), ("multiple_of", () if multiple_of is None else (multiple_of,))):
        if name in WHOLE and any(n % 1 for n in numbers):
            raise ValueError(f"{place} {what}: {name} is a whole number; write whole numbers only")
    low, high = _number(given.get("min"), f"{place} min", low=0), _number(given.get("max"), f"{place} max", low=0)
    default = _fitting(DEFAULTS[name], low, high, choices)
    limit = Limit(
        low=default.low if low is None else low,
        high=default.high if high is None else high,
        choices=choices,
        power_of_two=step == "pow2",
        multiple_of=multiple_of,
        max_change=_number(given.get("max_change"), f"{place} max_change", above=1) or default.max_change,
        held="frozen in jpo.toml" if freeze in (True, "true") else default.held,
        key=key,
    )
    if limit.low > limit.high:
        raise ValueError(f"{place}: min = {limit.low:g} is above max = {limit.high:g}; swap them")
    if choices and not any(limit.low <= choice <= limit.high for choice in choices):
        raise ValueError(f"{place} choices: none is within {limit.low:g} to {limit.high:g}; change choices, min or max")
    return limit


def _fitting(default: Limit, low: float | None, high: float | None, choices: tuple[float, ...] | None) -> Limit:
    """The built-in limit, widened where it would contradict the given ones: those are meant, it is only a precaution."""
    if choices:
        jumps = (b / a for a, b in pairwise(choices) if a > 0)
        return Limit(max_change=max(default.max_change or 1.0, *jumps, 1.0))  # the neighbouring choice is always within reach
    return replace(default, low=min(default.low, math.inf if high is None else high), high=max(default.high, low or 0.0))


def _choices(value: object, place: str) -> tuple[float, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"{place}: {quoted(value)} is not a list of numbers; write e.g. choices = [1, 2, 4]")
    return tuple(sorted({n for item in value if (n := _number(item, place)) is not None}))


def _numbers(tables: Mapping[str, object], name: str, record: type[Card]) -> dict[str, float]:
    """The fields of a record that a table gives, each a number of at least 0."""
    fields = tuple(record.__dataclass_fields__)
    numbers = {key: _number(value, f"[{name}] {key}", low=0) for key, value in table_of(tables, name, fields).items()}
    return {key: value for key, value in numbers.items() if value is not None}
