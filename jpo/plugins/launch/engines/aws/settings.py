"""[launch.aws]: where instances start, on which image, and which are on offer."""

from typing import Annotated

from pydantic import Field

from jpo.cost import Instance, read_catalogue
from jpo.cost.catalogue import SHIPPED, select
from jpo.plugins.launch.engines import Surroundings
from jpo.plugins.launch.engines.base_table import EngineTable, Name

REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""Variables by which AWS' own tools know the region."""


class AwsTable(EngineTable):
    """Instances of AWS: the machine image that holds the training code, and where they start. `spot` falls back to on demand.

    `bucket` gets output and run logs: a name, and a prefix perhaps ("ml-runs/nightly"). `folder`: of the code on the image.
    """

    region: Name | None = None
    image: Name | None = None  # its id, or `resolve:ssm:NAME`
    bucket: Name | None = None
    folder: Annotated[str, Field(pattern=r"^/[^\x00-\x1f]*$", max_length=1000)] | None = None  # None: where it is here
    subnet: Name | None = None
    security_groups: tuple[Name, ...] = ()
    instance_profile: Name | None = None  # its rights are those of the run
    families: tuple[Name, ...] = ()
    spot: bool = True


def in_region(table: AwsTable, here: Surroundings) -> AwsTable:
    """The table with a region: its own, else that of [prices], else of AWS' own variables; None where none of them names one."""
    named = (table.region, here.region, *(here.environ.get(name) for name in REGIONS))
    return table.model_copy(update={"region": next((region for region in named if region), None)})


def offers_of(table: AwsTable, here: Surroundings) -> tuple[Instance, ...]:
    """The instances on offer in a region: of the catalogue that [prices] names, else of the one that came with JPO.

    Raises UsageError: JPO-E801, the catalogue does not have the region; JPO-E802, it cannot be used.
    """
    catalogue = here.catalogue() or read_catalogue(SHIPPED["aws"])
    there = select(catalogue, region=table.region, gpu_type=None, place=f"{here.place} [launch.aws]")
    return tuple(instance for instance in there if not table.families or instance.family in table.families)
