"""Prices of the project: what [prices] of jpo.toml says an hour of each resource costs, and the currency of its reports."""

from __future__ import annotations

from collections.abc import Iterator

from jpo.cost import Instance, Prices, read_catalogue
from jpo.cost.catalogue import SHIPPED, select
from jpo.cost.price import price_of_type
from jpo.cost.price_list import KEYS, Catalogue, Priced
from jpo.project.load import LoadedSettings
from jpo.records import Currency


def prices_of(settings: LoadedSettings) -> Prices:
    """The prices that [prices] names.

    Raises:
        UsageError: JPO-E801 or JPO-E802, a GPU type, region or catalogue that does not exist.
    """
    table, place = settings.values.prices, f"{settings.place} [prices]"
    per_gpu = table.usd_per_gpu_hour
    if table.usd_per_gpu_hour_of and table.gpu_type is not None:
        per_gpu = price_of_type(table.usd_per_gpu_hour_of, table.gpu_type, place=place)
    instances: tuple[Instance, ...] = ()
    if table.catalogue is not None:
        instances = select(catalogue_of(settings), region=table.region, gpu_type=table.gpu_type, place=place)
    return Prices(
        usd_per_gpu_hour=per_gpu,
        usd_per_cpu_hour=table.usd_per_cpu_hour,
        usd_per_gib_hour=table.usd_per_gib_hour,
        usd_per_kwh=table.usd_per_kwh,
        instances=instances,
        spot=table.spot,
        spot_share=table.spot_share,
    )


def catalogue_of(settings: LoadedSettings) -> tuple[Instance, ...]:
    """All instances of the catalogue that [prices] names: one that came with JPO, else a file next to jpo.toml."""
    name = settings.values.prices.catalogue
    return () if name is None else read_catalogue(SHIPPED.get(name) or settings.root / name)


def catalogue_shown(settings: LoadedSettings, prices: Prices, gpu_type: str | None) -> Catalogue:
    """The instances in force, or all with GPUs of a type; those of JPO's own catalogue where [prices] names none.

    Raises:
        UsageError: JPO-E801, a GPU type that does not exist.
    """
    table, instances = settings.values.prices, prices.instances
    if gpu_type:
        every = catalogue_of(settings) or read_catalogue(SHIPPED["aws"])
        instances = tuple(each for each in select(every, region=table.region, gpu_type=gpu_type, place="--gpu-type") if each.gpus)
    name = table.catalogue or ("aws" if gpu_type else None)  # who asks for a type wants to see instances
    return Catalogue(name, table.catalogue is not None, instances)


def named_prices(settings: LoadedSettings) -> Iterator[Priced]:
    """The prices in jpo.toml, each with its origin."""
    table = settings.values.prices
    for name in (*KEYS.values(), "usd_per_kwh"):
        if (usd := getattr(table, name)) is not None:
            yield Priced(name, usd, settings.origins[f"prices.{name}"])
    for gpu, usd in table.usd_per_gpu_hour_of.items():
        chosen = table.gpu_type is not None and gpu.strip().lower() == table.gpu_type.strip().lower()
        yield Priced("usd_per_gpu_hour_of", usd, settings.origins[f"prices.usd_per_gpu_hour_of.{gpu}"], gpu, chosen)


def currency_of(settings: LoadedSettings) -> Currency:
    """The currency in which reports show amounts."""
    table = settings.values.prices
    return Currency(table.currency, table.per_usd or 1.0)


def gpu_type_of(settings: LoadedSettings) -> str | None:
    """Which GPUs the job runs on, where the user has said so."""
    return settings.values.prices.gpu_type
