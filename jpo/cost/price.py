"""Prices of an hour of a configuration, and the cost of a run: in USD where the user named prices, on a relative scale otherwise.

Prices are those of single resources, or of a cloud's instances (catalogue.py); energy is added where it has a price and was
measured. What has no price is unknown (None), never 0; a price that is stated as 0 counts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jpo.cost.catalogue import Instance
from jpo.errors import UsageError, quoted
from jpo.records import RESOURCES, SAME, Run
from jpo.wording.numbers import JOULES_PER_KWH

_RELATIVE_WEIGHTS = {"gpus": 2.1, "cpus": 0.04, "memory_gib": 0.005}
"""Weights of a GPU, a CPU and a GiB when no price is known: those of the example jpo.toml, only to rank, never shown as USD."""
_IDLE_SHARE = 0.02
"""A configuration without GPUs whose CPUs have no price still occupies a machine: this share of one GPU."""
MOST_LOST = 0.9
"""Share of lost hours on spot instances beyond which costs are those of this one: ten times the price is dear enough."""


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of resources, energy and instances.

    Attributes:
        usd_per_gpu_hour, usd_per_cpu_hour, usd_per_gib_hour: of one GPU, CPU, GiB of memory. None: included in the others.
        usd_per_kwh: of electric energy, in addition; None: included.
        kg_co2_per_kwh: what making a kWh emits, in kg of CO2 equivalent; None: unknown.
        instances: those that can be rented; where there are any, a configuration has the price of the cheapest that holds it.
        spot: whether spot prices count: an instance's own, else `spot_share` of its on-demand price.
        spot_share: spot price / on-demand price, where that is assumed.
        spot_lost_share: share of the hours on spot instances that runs lost when these were taken back; None: unknown, and costs
            are without it.
    """

    usd_per_gpu_hour: float | None = None
    usd_per_cpu_hour: float | None = None
    usd_per_gib_hour: float | None = None
    usd_per_kwh: float | None = None
    instances: tuple[Instance, ...] = ()
    spot: bool = False
    spot_share: float | None = None
    spot_lost_share: float | None = None
    kg_co2_per_kwh: float | None = None

    def __post_init__(self) -> None:
        for name in ("usd_per_gpu_hour", "usd_per_cpu_hour", "usd_per_gib_hour", "usd_per_kwh", "kg_co2_per_kwh"):
            price = getattr(self, name)
            if price is not None and not (math.isfinite(price) and price >= 0):
                raise ValueError(f"{name} = {price} is not a price; it must be a number of at least 0")
        if self.spot_share is not None and not 0 < self.spot_share <= 1:
            raise ValueError(f"spot_share = {self.spot_share} is not a share; it must be above 0 and at most 1")

    def by_parameter(self) -> dict[str, float]:
        """The named prices, by the parameter that they multiply."""
        pairs = zip(RESOURCES, (self.usd_per_gpu_hour, self.usd_per_cpu_hour, self.usd_per_gib_hour), strict=True)
        return {name: price for name, price in pairs if price is not None}


NO_PRICES = Prices()
"""Where hours are ranked by the relative weights of their resources, which stand for their power, too."""


def usd_per_hour(parameters: Mapping[str, float], prices: Prices, *, power_watts: float | None = None) -> float | None:
    """Price of one hour of a configuration.

    `power_watts`: mean electric power of such a run, where it was measured; None: the price is without energy.

    Returns:
        None when it uses GPUs without a price, has no resource with a price, fits into no instance, or its spot price is unknown.
    """
    if prices.instances:
        instance = cheapest(parameters, prices)
        rented = None if instance is None else rent(instance, prices)
    else:
        rented = _resources(parameters, prices)
    energy = energy_usd(None if power_watts is None else power_watts * 3600, prices)
    return rented if rented is None or energy is None else rented + energy


def energy_usd(joules: float | None, prices: Prices) -> float | None:
    """Cost of energy; None where it was not measured, or has no price of its own."""
    return None if joules is None or prices.usd_per_kwh is None else joules / JOULES_PER_KWH * prices.usd_per_kwh


def co2_kg(joules: float | None, prices: Prices) -> float | None:
    """What making this energy emitted; None where one of the two is unknown."""
    return None if joules is None or prices.kg_co2_per_kwh is None else joules / JOULES_PER_KWH * prices.kg_co2_per_kwh


def cheapest(parameters: Mapping[str, float], prices: Prices) -> Instance | None:
    """The cheapest instance that holds a configuration; None where none does, or the prices of those that do are unknown."""
    needs = _needs(parameters)
    holding = (instance for instance in prices.instances if _instances_needed(needs, instance) == 1)
    priced = [(price, instance) for instance in holding if (price := rent(instance, prices)) is not None]
    return min(priced, key=lambda pair: pair[0])[1] if priced else None


def rent(instance: Instance, prices: Prices) -> float | None:
    """USD for an hour of one instance, on demand or spot; None: its spot price is unknown. Hours that are lost are paid, too."""
    if not prices.spot:
        return instance.usd_per_hour
    assumed = None if prices.spot_share is None else prices.spot_share * instance.usd_per_hour
    price = assumed if instance.usd_per_hour_spot is None else instance.usd_per_hour_spot
    return None if price is None else price / (1.0 - min(MOST_LOST, prices.spot_lost_share or 0.0))


def log_rate(parameters: Mapping[str, float], prices: Prices) -> float:
    """Natural log of a configuration's price per hour; only differences between configurations of one workload mean anything.

    `parameters`: all of them, fixed ones included: one CPU more matters less next to four GPUs. `prices`: when they do not
    cover the workload's resources, the weights 2.1 : 0.04 : 0.005 (GPU : CPU : GiB) count.

    Returns:
        Always finite; 0 for all when no resource has a price, or everything is free. Where a configuration fits into no instance,
        it counts as several of one kind that hold it together: it has no price, but must be ranked with those that have one.
    """
    if prices.instances:
        rate = _rank(parameters, prices)
        return math.log(rate) if rate > 0 else 0.0
    weights = {name: price for name, price in prices.by_parameter().items() if name in parameters}
    if not weights or (parameters.get("gpus", 0.0) > 0 and "gpus" not in weights):
        weights = {name: weight for name, weight in _RELATIVE_WEIGHTS.items() if name in parameters}
    least = _IDLE_SHARE * max(weights.values(), default=0.0)
    rate = sum(weight * parameters[name] for name, weight in weights.items())
    return math.log(rate if rate > 0 else least) if least > 0 else 0.0


def run_cost_usd(run: Run, prices: Prices) -> float | None:
    """Cost of a run: as measured, else its hours times the price of its parameters, plus its energy; None: unknown.

    Complete the run with the workload's usual values first: a GPU that it does not report counts as none.
    """
    if run.outcome.cost_usd is not None:
        return run.outcome.cost_usd
    rate, seconds = usd_per_hour(run.parameters, prices), run.outcome.duration_seconds
    if rate is None or seconds is None:
        return None
    total = seconds / 3600 * rate + (energy_usd(run.outcome.energy_joules, prices) or 0.0)
    return total if math.isfinite(total) else None  # an impossibly long time


def outcome_of(run: Run, quantity: str, prices: Prices) -> float | None:
    """What a run measured of a quantity, or of a metric of the user's own; None: nothing. The cost is `run_cost_usd`."""
    if quantity == "co2_kg":
        return co2_kg(run.outcome.energy_joules, prices)
    value: float | None = run_cost_usd(run, prices) if quantity == "cost_usd" else run.outcome.of(quantity)
    return value


def lacks_energy(run: Run, prices: Prices) -> bool:
    """Whether the cost of a run lacks its energy: it has a price, but was not measured."""
    return prices.usd_per_kwh is not None and run.outcome.cost_usd is None and run.outcome.energy_joules is None


def price_of_type(prices: Mapping[str, float], gpu_type: str, *, place: str) -> float:
    """The price of a GPU type, regardless of case; raises UsageError JPO-E801 naming the known types."""
    by_name = {name.strip().lower(): price for name, price in prices.items()}
    if gpu_type.strip().lower() not in by_name:
        finding = f"gpu_type {quoted(gpu_type)} has no price in usd_per_gpu_hour_of"
        raise UsageError(place, finding, f"known are {', '.join(by_name)}", code="JPO-E801")
    return by_name[gpu_type.strip().lower()]


def _resources(parameters: Mapping[str, float], prices: Prices) -> float | None:
    """Price of an hour by the prices of the resources."""
    priced = prices.by_parameter()
    share = prices.spot_share if prices.spot else 1.0
    if share is None or (parameters.get("gpus", 0.0) > 0 and "gpus" not in priced):
        return None
    parts = [price * parameters[name] for name, price in priced.items() if parameters.get(name, 0.0) > 0]
    return share * sum(parts) if parts else None


def _needs(parameters: Mapping[str, float]) -> tuple[float, ...]:
    """Requested GPUs, CPUs and GiB, less the rounding of units and texts."""
    return tuple(parameters.get(name, 0.0) * (1 - SAME) for name in RESOURCES)


def _instances_needed(needs: Sequence[float], instance: Instance) -> float:
    """Number of instances of a kind that meet the needs together: 0 without needs, infinite where no number of them does."""
    number = 0.0
    for need, has in zip(needs, (instance.gpus, instance.vcpus, instance.memory_gib), strict=True):
        if need > 0:
            number = max(number, -(-need // has) if has else math.inf)
    return number


def _rank(parameters: Mapping[str, float], prices: Prices) -> float:
    """The rate by which `log_rate` ranks: the price, else that of several instances, on demand where their spot price is unknown.

    A configuration that no number of instances holds (GPUs, and the catalogue has none) has only its relative weights.
    """
    instance, needs = cheapest(parameters, prices), _needs(parameters)
    many = [(instance, 1.0)] if instance else [(instance, _instances_needed(needs, instance)) for instance in prices.instances]
    paid_for = [(rent(instance, prices), instance, number) for instance, number in many if number < math.inf]
    rates = [number * (instance.usd_per_hour if price is None else price) for price, instance, number in paid_for]
    rate = min(rates) if rates else sum(weight * parameters.get(name, 0.0) for name, weight in _RELATIVE_WEIGHTS.items())
    paid = (instance.usd_per_hour for instance in prices.instances if instance.usd_per_hour)
    return rate or _IDLE_SHARE * min(paid, default=0.0)


OF_INSTANCE = ("region", "usd_per_hour", "usd_per_hour_spot", "zone", "usd_per_hour_spot_highest", "spot_above_share")
"""What is said of an instance as the catalogue has it."""


@dataclass(frozen=True, slots=True)
class Rented:
    """An instance, always rented as a whole.

    Attributes:
        type: as the cloud calls it, e.g. "g5.xlarge".
        usd_per_hour: on demand; usd_per_hour_spot: None where the catalogue has no spot price of it.
        spot: whether costs are computed with its spot price.
        zone, usd_per_hour_spot_highest, spot_above_share: as of `Instance`; spot_lost_share: as of `Prices`.
        priced_on: day of its price, ISO 8601; price_age_days: how long ago that was.
    """

    type: str
    region: str
    usd_per_hour: float
    usd_per_hour_spot: float | None
    spot: bool
    priced_on: str
    price_age_days: int
    zone: str = ""
    usd_per_hour_spot_highest: float | None = None
    spot_above_share: float | None = None
    spot_lost_share: float | None = None


def rented(parameters: Mapping[str, float], prices: Prices, *, now: float) -> Rented | None:
    """The instance for a configuration; None without a catalogue, where none holds it, or where its price is unknown."""
    found = cheapest(parameters, prices)
    if found is None:
        return None
    age = datetime.fromtimestamp(now, UTC).date() - found.date
    same: dict[str, Any] = {name: getattr(found, name) for name in OF_INSTANCE}
    priced_on, lost = found.date.isoformat(), prices.spot_lost_share
    days = max(0, age.days)
    return Rented(found.instance, **same, spot=prices.spot, priced_on=priced_on, price_age_days=days, spot_lost_share=lost)
