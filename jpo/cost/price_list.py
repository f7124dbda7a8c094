"""Price list: the prices in force and where they come from, an hour of today's configuration, instances that could be rented."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from jpo.cost.catalogue import Instance
from jpo.cost.price import Prices, cheapest, usd_per_hour
from jpo.records import RESOURCES, USD, Currency, Note, Workload

KEYS = dict(zip(RESOURCES, ("usd_per_gpu_hour", "usd_per_cpu_hour", "usd_per_gib_hour"), strict=True))
"""Parameter -> the key of [prices] that prices it."""
OLD_DAYS = 365
"""Clouds change their prices about once a year; older ones are called old."""


@dataclass(frozen=True, slots=True)
class Priced:
    """A price of [prices].

    Attributes:
        name: as jpo.toml has it, e.g. "usd_per_gpu_hour".
        origin: where it was set.
        gpu_type: of "usd_per_gpu_hour_of"; empty otherwise.
        in_force: False for a type that is not the chosen one.
    """

    name: str
    usd: float
    origin: str
    gpu_type: str = ""
    in_force: bool = True


@dataclass(frozen=True, slots=True)
class Hourly:
    """Cost of an hour of today's configuration; None: unknown. `instance`: which one would be rented."""

    usd_per_hour: float | None
    instance: str | None = None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Instances of a catalogue; they may be shown without being in force. `name`: None where there is no catalogue."""

    name: str | None
    in_force: bool
    instances: tuple[Instance, ...]

    @property
    def sources(self) -> list[str]:
        """Where the prices were read, and when."""
        dates: dict[str, list[date]] = {}
        for instance in self.instances:
            dates.setdefault(instance.source, []).append(instance.date)
        return [f"{source}: {' to '.join(sorted({str(min(read)), str(max(read))}))}" for source, read in dates.items()]


@dataclass(frozen=True, slots=True)
class PriceList:
    """All that `jpo prices show` says.

    Attributes:
        workload: who is meant by "today"; None without a config.ini.
        today: values of what is paid for, by parameter name.
        on_demand, spot: of today's configuration; `spot` also where on-demand prices are in force.
        in_force: "on demand" or "spot".
        notes: what must be known to read the prices right.
    """

    prices: tuple[Priced, ...]
    workload: str | None
    today: Mapping[str, float]
    on_demand: Hourly
    spot: Hourly
    in_force: str
    catalogue: Catalogue
    notes: tuple[Note, ...]
    currency: Currency = USD


def price_list(
    named: Sequence[Priced], prices: Prices, catalogue: Catalogue, workload: Workload | None, currency: Currency, *, today: date
) -> PriceList:
    """The prices with what an hour of the workload costs, and what must be known to read them."""
    paid = {name: workload.current[name] for name in RESOURCES if workload and name in workload.current}
    return PriceList(
        prices=tuple(named),
        workload=str(workload.identity) if workload else None,
        today=paid,
        on_demand=hourly(paid, replace(prices, spot=False)),
        spot=hourly(paid, replace(prices, spot=True)),
        in_force="spot" if prices.spot else "on demand",
        catalogue=catalogue,
        notes=tuple(notes(workload, paid, prices, catalogue.instances, today)),
        currency=currency,
    )


def hourly(paid: Mapping[str, float], prices: Prices) -> Hourly:
    """An hour of a configuration."""
    rented = cheapest(paid, prices)
    return Hourly(usd_per_hour(paid, prices), rented.instance if rented else None)


def notes(
    workload: Workload | None, paid: Mapping[str, float], prices: Prices, listed: Sequence[Instance], today: date
) -> Iterator[Note]:
    """What must be known to read the prices right."""
    if not prices.instances and not prices.by_parameter():
        remedy = f'write [prices] {", ".join(KEYS.values())}, or catalogue = "aws"'
        yield Note("JPO-W803", f"No price is known, so the cost of runs is unknown: {remedy}")
    elif workload and usd_per_hour(paid, prices) is None:
        why = unpriced(paid, prices)
        yield Note(why.code, f"The cost of {workload.identity} is unknown: {why.text}")
    types = {each.gpu_type for each in prices.instances if each.gpus}
    if paid.get("gpus", 0.0) > 0 and len(types) > 1:
        remedy = f"write [prices] gpu_type, one of {', '.join(sorted(types))}"
        yield Note("JPO-W805", f"The cheapest GPU counts, whichever it is: {remedy}")
    if prices.usd_per_kwh is not None:
        yield Note("JPO-W802", "An hour is priced here without energy; it comes on top as far as runs have measured it")
    oldest = min((each.date for each in listed), default=today)
    if (today - oldest).days > OLD_DAYS:
        sentence = f"Prices of the catalogue were read on {oldest}, more than a year ago: `jpo prices refresh` reads today's"
        yield Note("JPO-W801", sentence)


def unpriced(paid: Mapping[str, float], prices: Prices) -> Note:
    """Why, and what to do about it, where an hour of a configuration has no price though some prices are known."""
    used = [name for name in RESOURCES if paid.get(name, 0.0) > 0]
    if not used:
        return Note("JPO-W803", "config.ini names no GPUs, CPUs or memory that it uses")
    if usd_per_hour(paid, replace(prices, spot=False)) is not None:
        remedy = "write [prices] spot_share, or read a catalogue with `jpo prices refresh`"
        return Note("JPO-W803", f"no spot price of it is known; {remedy}")
    if prices.instances:
        return Note("JPO-W804", "no instance of the catalogue has what it asks for")
    lacking = [KEYS[name] for name in used if name not in prices.by_parameter()]
    return Note("JPO-W803", f"what it uses has no price; write [prices] {lacking[0] if 'gpus' in used else ' or '.join(lacking)}")
