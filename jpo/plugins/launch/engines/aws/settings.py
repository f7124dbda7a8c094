"""[launch.aws]: where instances start, on which image, and which are on offer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field

from jpo.cost import Instance, read_catalogue
from jpo.cost.catalogue import SHIPPED, select
from jpo.errors import UsageError
from jpo.plugins.launch.engines import Surroundings
from jpo.plugins.launch.engines.base_table import EngineTable, Name

FILE = "aws_prices.csv"
REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""Variables by which AWS' own tools know the region."""


T = TypeVar("T")
OfRegions = Name | dict[str, Name]
"""One for all regions, or one for each: "ami-1", {"us-east-1": "ami-1", "eu-central-1": "ami-2"}."""


class AwsTable(EngineTable):
    """Instances of AWS: the machine image that holds the training code, and where they start. `spot` falls back to on demand.

    `region`: one, or a list, of which the cheapest instance is taken; image, subnet and security groups may then be tables with
    one for each. `bucket` gets output and run logs: a name, and a prefix perhaps ("ml-runs/nightly"). `folder`: of the code on
    the image.
    """

    region: Name | tuple[Name, ...] | None = None
    image: OfRegions | None = None  # its id, or `resolve:ssm:NAME`
    bucket: Name | None = None
    folder: Annotated[str, Field(pattern=r"^/[^\x00-\x1f]*$", max_length=1000)] | None = None  # None: where it is here
    subnet: OfRegions | None = None
    security_groups: tuple[Name, ...] | dict[str, tuple[Name, ...]] = ()
    instance_profile: Name | None = None  # its rights are those of the run
    families: tuple[Name, ...] = ()
    spot: bool = True


def in_regions(table: AwsTable, here: Surroundings) -> tuple[AwsTable, ...]:
    """The table for each region: its own, else that of [prices], else of AWS' own variables; one without where none is named."""
    named = (table.region, here.region, *(here.environ.get(name) for name in REGIONS))
    found = next((region for region in named if region), None)
    regions = [None] if found is None else [found] if isinstance(found, str) else list(dict.fromkeys(found))
    return tuple(_in_region(table, region) for region in regions)


def _in_region(table: AwsTable, region: str | None) -> AwsTable:
    def regional(value: T | Mapping[str, T], otherwise: T) -> T:
        return value.get(region or "", otherwise) if isinstance(value, Mapping) else value

    own = {"image": regional(table.image, None), "subnet": regional(table.subnet, None), "region": region}
    return table.model_copy(update={**own, "security_groups": regional(table.security_groups, ())})


def offers_of(places: Sequence[AwsTable], here: Surroundings) -> tuple[Instance, ...]:
    """The instances on offer in some regions: of the catalogue that [prices] names, else of the prices that were read last of
    each region (market.py), else of those that came with JPO.

    Raises UsageError: JPO-E801, there are none of a region; JPO-E802, a catalogue cannot be used.
    """
    of_prices, found = here.catalogue(), list[Instance]()
    read = () if of_prices else read_last(here)
    for place in places:
        region = None if place.region is None else str(place.region)
        own = read if any(instance.region == region for instance in read) else None
        instances = of_prices or own or read_catalogue(SHIPPED["aws"])
        there = select(instances, region=region, gpu_type=None, place=f"{here.place} [launch.aws]")
        found += [instance for instance in there if not place.families or instance.family in place.families]
    return tuple(found)


def read_last(here: Surroundings) -> tuple[Instance, ...]:
    """The prices that were read last; none where there is no file of them, or a damaged one, which the next reading replaces."""
    try:
        return read_catalogue(file_of(here))
    except UsageError:
        return ()


def file_of(here: Surroundings) -> Path:
    """Where prices that were read are kept in a project."""
    return here.ledger.parent / FILE
