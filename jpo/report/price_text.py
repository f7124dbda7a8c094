"""What resources cost, for people and as JSON: prices with their origin, today's hourly price, a catalogue's instances."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass

from rich.table import Table
from rich.text import Text

from jpo.records import USD, Currency
from jpo.report.page import blank_page, text_of
from jpo.wording.numbers import UNKNOWN, money, plain
from jpo.wording.printable import printable

PER = {"usd_per_gpu_hour": "GPU hour", "usd_per_cpu_hour": "CPU hour", "usd_per_gib_hour": "GiB hour", "usd_per_kwh": "kWh"}


@dataclass(frozen=True, slots=True)
class Priced:
    """A price that is in force.

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
    """What an hour of today's configuration costs; None: unknown. `instance`: which one would be rented."""

    usd_per_hour: float | None
    instance: str | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """An instance of the catalogue; `usd_per_hour_spot` None: unknown."""

    instance: str
    gpu_type: str
    gpus: int
    gpu_memory_gib: float
    vcpus: float
    memory_gib: float
    region: str
    usd_per_hour: float
    usd_per_hour_spot: float | None
    date: str


@dataclass(frozen=True, slots=True)
class PriceReport:
    """All that `jpo prices show` says.

    Attributes:
        workload: who is meant by "today"; None without a config.ini.
        today: values of what is paid for, by parameter name.
        on_demand, spot: of today's configuration; `spot` also where on-demand prices are in force.
        in_force: "on demand" or "spot".
        catalogue: its name; None without one. It may be shown without being in force.
        sources: where its prices were read, and when.
        notes: (reason code, sentence).
    """

    prices: Sequence[Priced]
    workload: str | None
    today: Mapping[str, float]
    on_demand: Hourly
    spot: Hourly
    in_force: str
    catalogue: str | None
    catalogue_in_force: bool
    sources: Sequence[str]
    instances: Sequence[Listed]
    notes: Sequence[tuple[str, str]]
    currency: Currency = USD


def as_json(report: PriceReport) -> str:
    """One document; what is unknown is null, amounts are USD."""
    document = {
        "schema_version": 1,
        "currency": {"code": report.currency.code, "per_usd": report.currency.per_usd},
        "prices": [asdict(one) for one in report.prices],
        "catalogue": report.catalogue,
        "catalogue_in_force": report.catalogue_in_force,
        "sources": list(report.sources),
        "today": {
            "workload": report.workload,
            "parameters": dict(report.today),
            "in_force": report.in_force,
            "on_demand": asdict(report.on_demand),
            "spot": asdict(report.spot),
        },
        "instances": [asdict(one) for one in report.instances],
        "notes": [{"code": code, "text": text} for code, text in report.notes],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def as_text(report: PriceReport, *, width: int, colour: bool) -> str:
    """Prices, today's hour, notes, instances; `width` columns wide."""
    console = blank_page(width, colour=colour)
    if report.prices:
        console.print(prices_table(report), "")
    if report.catalogue:
        head = f"catalogue {report.catalogue}{'' if report.catalogue_in_force else ', which is not in force'}"
        console.print(Text(printable(head), style="bold"), *sources_of(report), "", sep="\n")
    if report.workload:
        console.print(today_table(report), "")
    for code, sentence in report.notes:
        console.print(Text(printable(f"{sentence} [{code}]")), "", soft_wrap=True)
    if report.instances:
        console.print(instances_table(report))
    return text_of(console).rstrip("\n") + "\n"


def prices_table(report: PriceReport) -> Table:
    """What is named, and where."""
    table = plain_table("price", "", "set in")
    for one in report.prices:
        per = PER.get(one.name) or f"GPU hour, {one.gpu_type}"
        origin = one.origin if one.in_force else f"{one.origin}, not in force"
        table.add_row(*cells(per, money(one.usd, report.currency), origin))
    return table


def sources_of(report: PriceReport) -> list[Text]:
    """Where the catalogue's prices were read, and when."""
    return [Text(printable(f"  {source}"), style="dim") for source in report.sources]


def today_table(report: PriceReport) -> Table:
    """What an hour of today's configuration costs."""
    values = ", ".join(f"{name} = {plain(value)}" for name, value in report.today.items()) or "nothing that has a price"
    table = plain_table(printable(f"an hour of {report.workload}"), "", "")
    table.add_row(*cells(f"  with {values}", "", ""))
    for kind, hourly in (("on demand", report.on_demand), ("spot", report.spot)):
        told = UNKNOWN if hourly.usd_per_hour is None else money(hourly.usd_per_hour, report.currency)
        counts = "in force" if kind == report.in_force else ""
        table.add_row(*cells(f"  {kind}", told, ", ".join(filter(None, (hourly.instance, counts)))))
    return table


def instances_table(report: PriceReport) -> Table:
    """The catalogue's instances; prices of an hour with four digits."""
    per_hour = f"{report.currency.code}/h"
    table = plain_table(
        "instance", "GPUs", "each", "vCPU", "GiB", per_hour, f"spot {per_hour}", "region", "as of", right=(1, 3, 4, 5, 6)
    )
    for one in report.instances:
        gpus = (str(one.gpus), f"{one.gpu_type} {plain(one.gpu_memory_gib)} GiB" if one.gpus else "")
        usd = (one.usd_per_hour, one.usd_per_hour_spot)
        prices = [UNKNOWN if price is None else plain(price * report.currency.per_usd) for price in usd]
        table.add_row(*cells(one.instance, *gpus, plain(one.vcpus), plain(one.memory_gib), *prices, one.region, one.date))
    return table


def cells(*texts: str) -> list[Text]:
    """Texts of files and settings as a table may have them."""
    return [Text(printable(text)) for text in texts]


def plain_table(*heads: str, right: Collection[int] = (1,)) -> Table:
    """A table without lines, some columns justified right; what a terminal is too narrow for is wrapped."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for number, head in enumerate(heads):
        table.add_column(Text(head), justify="right" if number in right else "left", overflow="fold")
    return table
