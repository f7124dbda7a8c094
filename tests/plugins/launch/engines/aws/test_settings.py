from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from jpo.cost import Instance
from jpo.errors import LaunchError, UsageError
from jpo.plugins.launch.engines.aws.settings import AwsTable, in_regions, offers_of
from jpo.plugins.launch.project.engines import launcher_of, surroundings_of
from jpo.plugins.launch.settings import table_of
from jpo.project.load import LoadedSettings, load

CATALOGUE = """instance,family,gpu_type,gpus,gpu_memory_gib,vcpus,memory_gib,region,usd_per_hour,usd_per_hour_spot,date,source
g5.xlarge,g5,a10g,1,24,4,16,eu-central-1,1.258,0.5,2026-11-01,test
m5.xlarge,m5,,0,0,4,16,eu-central-1,0.23,,2026-11-01,test
g5.xlarge,g5,a10g,1,24,4,16,us-east-1,1.006,,2026-11-01,test
"""
FULL = """
[launch.aws]
region = "eu-central-1"
image = "ami-1"
bucket = "ml-runs/nightly"
instance_profile = "training"
families = ["g5"]
folder = "/opt/training"
[prices]
catalogue = "prices.csv"
region = "us-east-1"
"""


def settings(folder: Path, text: str) -> LoadedSettings:
    (folder / "config.ini").touch()
    (folder / "prices.csv").write_text(CATALOGUE)
    (folder / "jpo.toml").write_text(text)
    return load(folder / "config.ini", None, {}, {})


def place_of(settings: LoadedSettings, environ: Mapping[str, str]) -> AwsTable:
    table = table_of(settings, "aws")
    assert isinstance(table, AwsTable)
    (place,) = in_regions(table, surroundings_of(settings, environ))
    return place


def offered(settings: LoadedSettings, environ: Mapping[str, str]) -> tuple[Instance, ...]:
    return offers_of([place_of(settings, environ)], surroundings_of(settings, environ))


def test_offers_are_those_of_region_and_families(tmp_path: Path) -> None:
    (offer,) = offered(settings(tmp_path, FULL), {})
    assert (offer.instance, offer.usd_per_hour, offer.usd_per_hour_spot) == ("g5.xlarge", 1.258, 0.5)
    assert (offer.gpu_type, offer.gpu_label) == ("a10g", "a10g-24gb")


def test_where_instances_start_stands_in_its_table(tmp_path: Path) -> None:
    place = place_of(settings(tmp_path, FULL), {})
    found = (place.region, place.image, place.bucket, place.folder)
    assert found == ("eu-central-1", "ami-1", "ml-runs/nightly", "/opt/training")


def test_the_region_may_be_that_of_prices_or_of_aws_own_variables(tmp_path: Path) -> None:
    of_prices = settings(tmp_path, '[prices]\ncatalogue = "aws"\nregion = "us-east-1"\n')
    assert place_of(of_prices, {"AWS_REGION": "eu-west-1"}).region == "us-east-1"
    assert place_of(settings(tmp_path, ""), {"AWS_DEFAULT_REGION": "eu-west-1"}).region == "eu-west-1"
    assert place_of(settings(tmp_path, ""), {}).region is None


def test_a_table_of_several_regions_is_one_for_each(tmp_path: Path) -> None:
    text = """[launch.aws]
region = ["eu-central-1", "us-east-1"]
image = { eu-central-1 = "ami-1", us-east-1 = "ami-2" }
subnet = { us-east-1 = "subnet-2" }
security_groups = ["sg-1"]
"""
    there = settings(tmp_path, text)
    table = table_of(there, "aws")
    assert isinstance(table, AwsTable)
    found = [(one.region, one.image, one.subnet, one.security_groups) for one in in_regions(table, surroundings_of(there, {}))]
    assert found == [("eu-central-1", "ami-1", None, ("sg-1",)), ("us-east-1", "ami-2", "subnet-2", ("sg-1",))]


def test_without_a_catalogue_the_one_of_jpo_counts(tmp_path: Path) -> None:
    assert len(offered(settings(tmp_path, ""), {"AWS_REGION": "us-east-1"})) > 10


def test_a_region_that_has_no_prices_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="eu-west-9"):
        offered(settings(tmp_path, ""), {"AWS_REGION": "eu-west-9"})


def test_the_launcher_is_made_of_them(tmp_path: Path) -> None:
    assert launcher_of(settings(tmp_path, FULL), "aws", environ={}).name == "aws"
    with pytest.raises(LaunchError, match="lacks image, bucket, instance_profile"):
        launcher_of(settings(tmp_path, '[launch.aws]\nregion = "us-east-1"\n'), "aws", environ={})
