"""`jpo prices show|refresh`: what resources cost and where that is known from; AWS' prices of today into a catalogue file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from jpo.cost import Instance, Prices, read_catalogue, usd_per_hour
from jpo.cost.aws import SPOT_DAYS, read_offers
from jpo.cost.catalogue import COLUMNS, SHIPPED, as_csv, select
from jpo.cost.price import RESOURCES, cheapest
from jpo.errors import UsageError
from jpo.files import whole
from jpo.project.load import LoadedSettings
from jpo.project.prices import catalogue_of, currency_of, prices_of
from jpo.project.settings import seconds
from jpo.project.workload import read_workload
from jpo.records import Workload
from jpo.report.price_text import Hourly, Listed, Priced, PriceReport, as_json, as_text
from jpo.wording.printable import printable

MOST_SECONDS = 3600.0
LONGEST_HEAD = 1000
KEYS = dict(zip(RESOURCES, ("usd_per_gpu_hour", "usd_per_cpu_hour", "usd_per_gib_hour"), strict=True))
"""Parameter -> the key of [prices] that prices it."""
OLD_DAYS = 365
"""Clouds change their prices about once a year; older ones are told as such."""


def show(config: Path, settings: LoadedSettings, *, gpu_type: str | None, form: str, now: float, width: int, colour: bool) -> str:
    """The prices in force, today's hourly price, and the catalogue's instances, as `text` or `json`.

    Without a config.ini it tells the prices alone; without a catalogue in [prices] JPO's own if a GPU type is asked for.

    Raises:
        UsageError: JPO-E801, an unknown GPU type or region; JPO-E802, the catalogue cannot be read.
    """
    alone = config == settings.root / settings.values.workload.config and not config.exists()
    workload = None if alone else read_workload(config, settings, now=now)
    prices = prices_of(settings)
    report = report_of(workload, prices, settings, gpu_type=gpu_type, today=datetime.fromtimestamp(now, UTC).date())
    return as_json(report) if form == "json" else as_text(report, width=width, colour=colour)


def report_of(
    workload: Workload | None, prices: Prices, settings: LoadedSettings, *, gpu_type: str | None, today: date
) -> PriceReport:
    """Everything that `jpo prices show` says."""
    table = settings.values.prices
    paid = {name: workload.current[name] for name in RESOURCES if workload and name in workload.current}
    name = table.catalogue or ("aws" if gpu_type else None)  # who asks for a type wants to see instances
    listed = prices.instances
    if gpu_type:
        every = catalogue_of(settings) or read_catalogue(SHIPPED["aws"])
        listed = tuple(one for one in select(every, region=table.region, gpu_type=gpu_type, place="--gpu-type") if one.gpus)
    return PriceReport(
        prices=list(named(settings)),
        workload=str(workload.identity) if workload else None,
        today=paid,
        on_demand=hourly(paid, replace(prices, spot=False)),
        spot=hourly(paid, replace(prices, spot=True)),
        in_force="spot" if table.spot else "on demand",
        catalogue=name,
        catalogue_in_force=table.catalogue is not None,
        sources=sources(listed),
        instances=[row(one) for one in listed],
        notes=list(notes(workload, paid, prices, listed, today)),
        currency=currency_of(settings),
    )


def named(settings: LoadedSettings) -> Iterator[Priced]:
    """The prices in jpo.toml, each with its origin."""
    table = settings.values.prices
    for name in (*KEYS.values(), "usd_per_kwh"):
        if (usd := getattr(table, name)) is not None:
            yield Priced(name, usd, settings.origins[f"prices.{name}"])
    for gpu, usd in table.usd_per_gpu_hour_of.items():
        chosen = table.gpu_type is not None and gpu.strip().lower() == table.gpu_type.strip().lower()
        yield Priced("usd_per_gpu_hour_of", usd, settings.origins[f"prices.usd_per_gpu_hour_of.{gpu}"], gpu, chosen)


def hourly(paid: Mapping[str, float], prices: Prices) -> Hourly:
    """An hour of a configuration."""
    one = cheapest(paid, prices)
    return Hourly(usd_per_hour(paid, prices), one.instance if one else None)


def sources(instances: Sequence[Instance]) -> list[str]:
    """Where the prices of a catalogue were read, and when."""
    dates: dict[str, list[date]] = {}
    for one in instances:
        dates.setdefault(one.source, []).append(one.date)
    return [f"{source}: {' to '.join(sorted({str(min(read)), str(max(read))}))}" for source, read in dates.items()]


def row(one: Instance) -> Listed:
    """An instance as it is listed."""
    size = (one.gpu_type, one.gpus, one.gpu_memory_gib, one.vcpus, one.memory_gib)
    return Listed(one.instance, *size, one.region, one.usd_per_hour, one.usd_per_hour_spot, one.date.isoformat())


def notes(
    workload: Workload | None, paid: Mapping[str, float], prices: Prices, listed: Sequence[Instance], today: date
) -> Iterator[tuple[str, str]]:
    """(reason code, sentence) of what must be known to read the prices right."""
    if not prices.instances and not prices.by_parameter():
        remedy = f'write [prices] {", ".join(KEYS.values())}, or catalogue = "aws"'
        yield "JPO-W803", f"No price is known, so the cost of runs is unknown: {remedy}"
    elif workload and usd_per_hour(paid, prices) is None:
        code, why = unpriced(paid, prices)
        yield code, f"The cost of {workload.identity} is unknown: {why}"
    types = {one.gpu_type for one in prices.instances if one.gpus}
    if paid.get("gpus", 0.0) > 0 and len(types) > 1:
        yield "JPO-W805", f"The cheapest GPU counts, whichever it is: write [prices] gpu_type, one of {', '.join(sorted(types))}"
    if prices.usd_per_kwh is not None:
        yield "JPO-W802", "An hour is priced here without energy; it comes on top as far as runs have measured it"
    oldest = min((one.date for one in listed), default=today)
    if (today - oldest).days > OLD_DAYS:
        yield (
            "JPO-W801",
            f"Prices of the catalogue were read on {oldest}, more than a year ago: `jpo prices refresh` reads today's",
        )


def unpriced(paid: Mapping[str, float], prices: Prices) -> tuple[str, str]:
    """(reason code, why, and what to do about it) where an hour of a configuration has no price though some prices are known."""
    used = [name for name in RESOURCES if paid.get(name, 0.0) > 0]
    if not used:
        return "JPO-W803", "config.ini names no GPUs, CPUs or memory that it uses"
    if usd_per_hour(paid, replace(prices, spot=False)) is not None:
        return (
            "JPO-W803",
            "no spot price of it is known; write [prices] spot_share, or read a catalogue with `jpo prices refresh`",
        )
    if prices.instances:
        return "JPO-W804", "no instance of the catalogue holds what it asks for"
    lacking = [KEYS[name] for name in used if name not in prices.by_parameter()]
    return "JPO-W803", f"what it uses has no price; write [prices] {lacking[0] if 'gpus' in used else ' or '.join(lacking)}"


def refresh(file: Path, *, region: str, families: Sequence[str], timeout: str, now: float) -> str:
    """Write AWS' instances with their prices of today to a catalogue file, whole or not at all; says what it holds.

    Raises:
        UsageError: JPO-E808, the file is something else, or a family is none; JPO-E307, it cannot be written.
        UsageError, TelemetryError: as `read_offers`.
    """
    wanted = [family.strip() for family in families if family.strip()]
    odd = [family for family in wanted if not re.fullmatch(r"[a-z0-9-]+", family)]
    if odd or not wanted:
        finding = f"{odd[0]!r:.40} is no family of instances" if odd else "names no family"
        raise UsageError("--families", finding, "write e.g. --families g5,p4d", code="JPO-E808")
    refuse_other_files(file)
    offers = read_offers(region, wanted, seconds=limit_of(timeout), now=now)
    with whole(file) as new:
        new.write(as_csv(offers.instances).encode())
    spot = sum(one.usd_per_hour_spot is not None for one in offers.instances)
    lines = [f"{file}: {len(offers.instances)} instances of {region}, {spot} with a spot price (median of {SPOT_DAYS:g} days)"]
    if offers.unpriced:
        lines.append(f"left out, no price on demand: {', '.join(offers.unpriced)}")
    return "\n".join(printable(line) for line in lines) + "\n"


def limit_of(timeout: str) -> float:
    """Seconds of a duration above 0."""
    try:
        limit = float(str(seconds(timeout)))
    except ValueError as error:
        raise UsageError("--timeout", str(error), code="JPO-E808") from error
    if not 0 < limit <= MOST_SECONDS:
        raise UsageError("--timeout", f"{timeout!r:.40} is no time to wait", "write e.g. 60s, at most 1h", code="JPO-E808")
    return limit


def refuse_other_files(file: Path) -> None:
    """A file that is no catalogue is not replaced by one."""
    if not file.exists():
        return
    begins = ""
    if file.is_file():  # a pipe or a device might never end
        try:
            with file.open(encoding="utf-8-sig", errors="replace") as there:
                begins = there.readline(LONGEST_HEAD)
        except OSError as error:
            raise UsageError(str(file), f"cannot be read ({error.strerror})", "name another file", code="JPO-E808") from error
    if sorted(name.strip() for name in begins.split(",")) != sorted(COLUMNS):
        raise UsageError(str(file), "exists and is no catalogue", "name another file, or remove it", code="JPO-E808")
