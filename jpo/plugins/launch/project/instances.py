"""Instances that a run may be started on: [launch.aws] says where, the catalogue of [prices] which, and at what price."""

from __future__ import annotations

from collections.abc import Mapping

from jpo.cost import Instance, read_catalogue
from jpo.cost.catalogue import SHIPPED, select
from jpo.plugins.launch.engines.aws.offers import Offer
from jpo.plugins.launch.engines.aws.request import AwsPlace
from jpo.plugins.launch.settings import launch_table
from jpo.project.load import LoadedSettings
from jpo.project.prices import catalogue_of

REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
"""Variables by which AWS' own tools know the region."""


def region_of(settings: LoadedSettings, environ: Mapping[str, str]) -> str | None:
    """The region: of [launch.aws], else of [prices], else of AWS' own variables."""
    named = (
        launch_table(settings).aws.region,
        settings.values.prices.region,
        *(environ.get(name) for name in REGIONS),
    )
    return next((region for region in named if region), None)


def place_of(settings: LoadedSettings, environ: Mapping[str, str]) -> AwsPlace:
    """Where instances start."""
    table = launch_table(settings).aws
    return AwsPlace(
        region=region_of(settings, environ),
        image=table.image,
        bucket=table.bucket,
        instance_profile=table.instance_profile,
        subnet=table.subnet,
        security_groups=table.security_groups,
        spot=table.spot,
        folder=table.folder,
    )


def offers_of(settings: LoadedSettings, environ: Mapping[str, str]) -> tuple[Offer, ...]:
    """The instances on offer: of the catalogue that [prices] names, else of the one that came with JPO.

    Raises:
        UsageError: JPO-E801, the catalogue does not have the region; JPO-E802, it cannot be used.
    """
    catalogue = catalogue_of(settings) or read_catalogue(SHIPPED["aws"])
    region, families = region_of(settings, environ), launch_table(settings).aws.families
    in_region = select(catalogue, region=region, gpu_type=None, place=f"{settings.place} [launch.aws]")
    return tuple(offer(instance) for instance in in_region if not families or instance.family in families)


def offer(instance: Instance) -> Offer:
    """An instance of the catalogue as it is asked for."""
    return Offer(
        instance.instance,
        instance.gpus,
        frozenset({instance.gpu_type, instance.gpu_label}) if instance.gpus else frozenset(),
        instance.vcpus,
        instance.memory_gib,
        instance.usd_per_hour,
        instance.usd_per_hour_spot,
    )
