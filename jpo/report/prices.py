"""Prices: those in force with their origin, an hour of today's configuration, the instances of a catalogue."""

from collections.abc import Iterator
from dataclasses import asdict

from jpo.cost.catalogue import OF_SPOT, Instance
from jpo.cost.price_list import Catalogue, PriceList
from jpo.records import uncoded
from jpo.report.document import Block, Column, Document, Row, Section, Span, Table
from jpo.wording import numbers

PER = {"usd_per_gpu_hour": "GPU hour", "usd_per_cpu_hour": "CPU hour", "usd_per_gib_hour": "GiB hour", "usd_per_kwh": "kWh"}


def document(prices: PriceList) -> Document:
    hour = Section(f"An hour of {prices.workload}", tuple(an_hour(prices)))
    notes = uncoded(note.cited for note in prices.notes)
    catalogue = listed(prices.catalogue) if prices.catalogue.name else ""
    return Document("Prices", (named(prices), hour, *notes, catalogue), currency=prices.currency)


def named(prices: PriceList) -> Table:
    rows: list[Row] = []
    for price in prices.prices:
        set_in = price.origin + ("" if price.in_force else ", not in force")
        rows.append((PER.get(price.name) or f"GPU hour, {price.gpu_type}", price.usd, set_in))
    return Table((Column("price of a"), Column("", "figure", "cost_usd"), Column("set in", "key")), tuple(rows), "prices")


def an_hour(prices: PriceList) -> Iterator[Block]:
    if not prices.workload:
        return
    yield "with " + (", ".join(f"{name} = {numbers.plain(value)}" for name, value in prices.today.items()) or "nothing priced")
    rows = (
        (way, hourly.usd_per_hour, hourly.instance or "", "in force" if way == prices.in_force else "")
        for way, hourly in (("on demand", prices.on_demand), ("spot", prices.spot))
    )
    yield Table((Column(""), Column("", "figure", "usd_per_hour"), Column("", "key"), Column("")), tuple(rows), "hour")


def listed(catalogue: Catalogue) -> Section:
    columns = (
        *(Column("instance", "key"), Column("GPUs", "figure"), Column("each"), Column("vCPU", "figure")),
        *(Column("memory", "figure", "memory_gib"), Column("price", "figure", "usd_per_hour")),
        *(Column("spot", "figure", "usd_per_hour"), Column("region"), Column("as of")),
    )
    rows: list[Row] = []
    for offer in catalogue.instances:
        gpu = f"{offer.gpu_type} {numbers.gib(offer.gpu_memory_gib)}" if offer.gpus else ""
        price = (offer.usd_per_hour, offer.usd_per_hour_spot, offer.zone or offer.region, str(offer.date))
        rows.append((offer.instance, offer.gpus, gpu, offer.vcpus, offer.memory_gib, *price))
    title = f"Catalogue {catalogue.name}{'' if catalogue.in_force else ', which is not in force'}"
    return Section(title, (*(Span(source, "dim") for source in catalogue.sources), Table(columns, tuple(rows), "instances")))


def as_json(prices: PriceList) -> dict[str, object]:
    """The published document; what is unknown is None, amounts are USD."""
    return {
        "schema_version": 1,
        "currency": {"code": prices.currency.code, "per_usd": prices.currency.per_usd},
        "prices": [asdict(price) for price in prices.prices],
        "catalogue": prices.catalogue.name,
        "catalogue_in_force": prices.catalogue.in_force,
        "sources": prices.catalogue.sources,
        "today": {
            "workload": prices.workload,
            "parameters": dict(prices.today),
            "in_force": prices.in_force,
            "on_demand": asdict(prices.on_demand),
            "spot": asdict(prices.spot),
        },
        "instances": [_instance(instance) for instance in prices.catalogue.instances],
        "notes": [{"code": note.code, "text": note.text} for note in prices.notes],
    }


def _instance(instance: Instance) -> dict[str, object]:
    shown = (f for f in asdict(instance).items() if f[0] not in ("family", "source"))
    values = {name: value for name, value in shown if value not in (None, "") or name not in OF_SPOT}
    return {**values, "date": instance.date.isoformat()}
