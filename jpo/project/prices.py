"""Prices of the project: what [prices] of jpo.toml says an hour of each resource costs, and the currency of its reports."""

from dataclasses import replace

from constraints.amounts import usd
from jpo import plugin
from jpo.cost import Instance, Prices, read_catalogue
from jpo.cost.catalogue import SHIPPED, select
from jpo.cost.price import price_of_type
from jpo.errors import UsageError
from jpo.project.load import LoadedSettings
from jpo.records import Currency, Note

FRESH_SECONDS = 86400.0
"""How long prices that were read count as today's: spot prices change a few times a day."""


def prices_of(settings: LoadedSettings) -> Prices:
    """The prices that [prices] names, else those of what [launch] rents.

    Raises UsageError JPO-E801 or E802: a GPU type, region or catalogue of [prices] does not exist.
    """
    table, place = settings.values.prices, f"{settings.place} [prices]"
    if market := market_of(settings):
        return replace(market[0], usd_per_kwh=table.usd_per_kwh, kg_co2_per_kwh=table.kg_co2_per_kwh)
    per_gpu = table.usd_per_gpu_hour
    if table.usd_per_gpu_hour_of and table.gpu_type is not None:
        per_gpu = price_of_type(table.usd_per_gpu_hour_of, table.gpu_type, place=place)
    instances: tuple[Instance, ...] = ()
    if table.catalogue is not None:
        instances = select(catalogue_of(settings), region=table.region, gpu_type=table.gpu_type, place=place)
    of_resources = (per_gpu, table.usd_per_cpu_hour, table.usd_per_gib_hour, table.usd_per_kwh)
    return Prices(*of_resources, instances, table.spot, table.spot_share, kg_co2_per_kwh=table.kg_co2_per_kwh)


def market_of(settings: LoadedSettings, *, fresh_seconds: float | None = None) -> tuple[Prices, tuple[Note, ...]] | None:
    """Prices of the instances on which runs would start, and what must be said of them; None: nobody rents any, or [prices] says
    what an hour costs. `fresh_seconds`: prices that are older are read anew; None: nobody is asked."""
    if settings.values.prices.catalogue is not None or settings.values.prices.single:
        return None
    named = (each for each in plugin.plugins() if "market" in each.offers and each.settings.keys() & settings.tables.keys())
    return next((found for each in named if (found := plugin.load(each.offers["market"])(settings, fresh_seconds))), None)


def catalogue_of(settings: LoadedSettings) -> tuple[Instance, ...]:
    """All instances of the catalogue that [prices] names: one that came with JPO, else a file next to jpo.toml."""
    name = settings.values.prices.catalogue
    return () if name is None else read_catalogue(SHIPPED.get(name) or settings.root / name)


def currency_of(settings: LoadedSettings) -> Currency:
    """The currency in which reports show amounts."""
    table = settings.values.prices
    return Currency(table.currency, table.per_usd or 1.0)


def usd_of_text(text: str, currency: Currency, *, option: str) -> float:
    """The USD of an amount that [sla] could have: "20", "20 USD", "20EUR" where EUR is the currency of [prices].

    Raises UsageError JPO-E803: it is no amount above 0, or of a currency without a rate.
    """
    try:
        return usd(text, {"currency": currency.code, "per_usd": currency.per_usd}, option) or 0.0
    except ValueError as error:
        finding, _, remedy = str(error).removeprefix(f"{option}: ").rpartition("; ")
        raise UsageError(option, finding, remedy, code="JPO-E803") from error
