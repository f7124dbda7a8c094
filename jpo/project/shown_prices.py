"""Price list of the project, for `jpo prices show` alone: prices in jpo.toml with their origin, and instances to choose from."""

from collections.abc import Iterator

from jpo.cost import Prices, read_catalogue
from jpo.cost.catalogue import SHIPPED, select, with_gpu_type
from jpo.cost.price_list import KEYS, Catalogue, Priced
from jpo.project.load import LoadedSettings
from jpo.project.prices import catalogue_of


def catalogue_shown(settings: LoadedSettings, prices: Prices, gpu_type: str | None) -> Catalogue:
    """The instances in force, or all with GPUs of a type (UsageError JPO-E801: it does not exist); where [prices] names no
    catalogue, those of JPO's own."""
    table, instances = settings.values.prices, prices.instances
    if gpu_type and instances and table.catalogue is None:
        instances = tuple(each for each in with_gpu_type(instances, gpu_type, place="--gpu-type") if each.gpus)
    elif gpu_type:
        every = catalogue_of(settings) or read_catalogue(SHIPPED["aws"])
        instances = tuple(each for each in select(every, region=table.region, gpu_type=gpu_type, place="--gpu-type") if each.gpus)
    name = table.catalogue or ("aws" if gpu_type or instances else None)  # who asks for a type wants to see instances
    return Catalogue(name, bool(prices.instances), instances)


def named_prices(settings: LoadedSettings) -> Iterator[Priced]:
    """The prices in jpo.toml, each with its origin."""
    table = settings.values.prices
    for name in (*KEYS.values(), "usd_per_kwh"):
        if (usd := getattr(table, name)) is not None:
            yield Priced(name, usd, str(settings.origins[f"prices.{name}"]))
    for gpu, usd in table.usd_per_gpu_hour_of.items():
        chosen = table.gpu_type is not None and gpu.strip().lower() == table.gpu_type.strip().lower()
        yield Priced("usd_per_gpu_hour_of", usd, str(settings.origins[f"prices.usd_per_gpu_hour_of.{gpu}"]), gpu, chosen)
