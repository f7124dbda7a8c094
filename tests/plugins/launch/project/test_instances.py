from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import LaunchError, UsageError
from jpo.plugins.launch.project.engines import launcher_of
from jpo.plugins.launch.project.instances import offers_of, place_of, region_of
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


def test_offers_are_those_of_region_and_families(tmp_path: Path) -> None:
    (offer,) = offers_of(settings(tmp_path, FULL), {})
    assert (offer.instance_type, offer.usd_per_hour, offer.usd_per_hour_spot) == ("g5.xlarge", 1.258, 0.5)
    assert offer.gpu_types == {"a10g", "a10g-24gb"}


def test_where_instances_start_stands_in_its_table(tmp_path: Path) -> None:
    place = place_of(settings(tmp_path, FULL), {})
    assert (place.region, place.image, place.bucket, place.folder) == (
        "eu-central-1",
        "ami-1",
        "ml-runs/nightly",
        "/opt/training",
    )


def test_the_region_may_be_that_of_prices_or_of_aws_own_variables(tmp_path: Path) -> None:
    assert (
        region_of(settings(tmp_path, '[prices]\ncatalogue = "aws"\nregion = "us-east-1"\n'), {"AWS_REGION": "eu-west-1"})
        == "us-east-1"
    )
    assert region_of(settings(tmp_path, ""), {"AWS_DEFAULT_REGION": "eu-west-1"}) == "eu-west-1"
    assert region_of(settings(tmp_path, ""), {}) is None


def test_without_a_catalogue_the_one_of_jpo_counts(tmp_path: Path) -> None:
    assert len(offers_of(settings(tmp_path, ""), {"AWS_REGION": "us-east-1"})) > 10


def test_a_region_that_has_no_prices_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="eu-west-9"):
        offers_of(settings(tmp_path, ""), {"AWS_REGION": "eu-west-9"})


def test_the_launcher_is_made_of_them(tmp_path: Path) -> None:
    assert launcher_of(settings(tmp_path, FULL), "aws", environ={}).name == "aws"
    with pytest.raises(LaunchError, match="lacks image, bucket, instance_profile"):
        launcher_of(settings(tmp_path, '[launch.aws]\nregion = "us-east-1"\n'), "aws", environ={})
