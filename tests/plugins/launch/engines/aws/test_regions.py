"""Several regions: the cheapest instance of all is taken; where it has no capacity, the next one, wherever that is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("boto3")
pytest.importorskip("moto")

from amazon import BUCKET, DROPPED, OFFERS, PROFILE, REGION, Amazon, amazon_before, as_usual
from launches import DIGITS
from price_list import forget_all, moto_server

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.aws.attempts import write
from jpo.plugins.launch.engines.aws.launcher import AwsLauncher
from jpo.plugins.launch.engines.aws.offers import Attempt
from jpo.plugins.launch.engines.aws.settings import AwsTable
from jpo.plugins.launch.job import LaunchJob, Needs
from jpo.plugins.launch.ledger import Entry
from jpo.plugins.launch.lifecycle import cancel, noted, start

FAR = "eu-central-1"


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    with moto_server() as address:
        yield address


@pytest.fixture
def amazon(moto: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Amazon]:
    forget_all(moto)
    with amazon_before(moto) as server:
        for name in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture
def places(amazon: Amazon) -> list[AwsTable]:
    import boto3

    images = {}
    for region in (REGION, FAR):
        ec2 = boto3.client("ec2", region_name=region)
        images[region] = ec2.describe_images(Filters=[{"Name": "architecture", "Values": ["x86_64"]}])["Images"][0]["ImageId"]
    boto3.client("s3", region_name=REGION).create_bucket(Bucket=BUCKET)
    boto3.client("iam", region_name=REGION).create_instance_profile(InstanceProfileName=PROFILE)
    table = AwsTable(bucket=BUCKET, instance_profile=PROFILE)
    return [table.model_copy(update={"region": region, "image": image}) for region, image in images.items()]


def launcher(places: list[AwsTable]) -> AwsLauncher:
    """A g5.xlarge is cheaper far away, in one zone."""
    far = [replace(offer, region=FAR, zone=f"{FAR}b", usd_per_hour_spot=0.3) for offer in OFFERS if offer.instance == "g5.xlarge"]
    regions = {place.region for place in places}
    return AwsLauncher(places, [offer for offer in (*OFFERS, *far) if offer.region in regions], time.time)


def running(places: list[AwsTable]) -> list[str]:
    import boto3

    clients = [boto3.client("ec2", region_name=str(place.region)) for place in places]
    found = [one for ec2 in clients for each in ec2.describe_instances()["Reservations"] for one in each["Instances"]]
    return [one["Placement"]["AvailabilityZone"] for one in found if one["State"]["Name"] == "running"]


@pytest.fixture
def job(tmp_path: Path) -> LaunchJob:
    return LaunchJob("run-1", DIGITS, ("python", "train.py"), tmp_path, needs=Needs(gpus=1, gpu_type="a10g"))


def started(job: LaunchJob, places: list[AwsTable], ledger: Path) -> Entry:
    return start(job, launcher(places), ledger, now=time.time())


def test_the_cheapest_of_all_regions_is_started_in_its_zone_and_ended_there(
    amazon: Amazon, places: list[AwsTable], job: LaunchJob, tmp_path: Path
) -> None:
    entry = started(job, places, tmp_path / "launches")
    assert running(places) == [f"{FAR}b"]
    assert str(entry.engine_id).startswith(f"{FAR}/i-")
    assert noted(replace(entry, engine_id=None), launcher(places), tmp_path / "launches") == entry
    assert cancel(entry, launcher(places), tmp_path / "launches", sleep=lambda _: None)
    assert running(places) == []


def test_without_capacity_in_one_region_another_is_asked(
    amazon: Amazon, places: list[AwsTable], job: LaunchJob, tmp_path: Path
) -> None:
    codes = iter([("InsufficientInstanceCapacity", "no", 500)] * 3)  # as often as boto3 asks
    amazon.fault = lambda action, _kind, _spot: next(codes, None) if action == "RunInstances" else None
    entry = started(job, places, tmp_path / "launches")
    assert str(entry.engine_id).startswith(f"{REGION}/i-")
    status = launcher(places).status(str(entry.engine_id))
    assert f"g5.xlarge spot {FAR}b InsufficientInstanceCapacity" in status.reason


def test_an_answer_that_is_lost_is_asked_for_again_where_it_was_lost(
    amazon: Amazon, places: list[AwsTable], job: LaunchJob, tmp_path: Path
) -> None:
    amazon.fault = lambda action, _kind, _spot: DROPPED if action == "RunInstances" else None
    with pytest.raises(LaunchError):
        started(job, places, tmp_path / "launches")
    amazon.fault = as_usual
    assert str(started(job, places, tmp_path / "launches").engine_id).startswith(f"{FAR}/i-")
    assert len(running(places)) == 1


def test_a_region_that_was_taken_out_of_the_settings_starts_no_second_instance(
    amazon: Amazon, places: list[AwsTable], job: LaunchJob, tmp_path: Path
) -> None:
    folder = tmp_path / "launches" / job.run_id
    folder.mkdir(parents=True)
    write(folder, (f"g5.xlarge spot {FAR}b",))
    with pytest.raises(LaunchError, match=f"may have an instance in {FAR}"):
        started(job, places[:1], tmp_path / "launches")
    assert running(places) == []


def test_a_region_that_lacks_an_image_is_named(places: list[AwsTable]) -> None:
    with pytest.raises(LaunchError, match=f"lacks image for {FAR}"):
        launcher([places[0], places[1].model_copy(update={"image": None})])


@pytest.mark.parametrize(("zone", "region"), [("us-east-1b", "us-east-1"), ("us-gov-west-1", "us-gov-west-1"), ("x", "x")])
def test_a_zone_tells_its_region(zone: str, region: str) -> None:
    assert Attempt("g5.xlarge", spot=True, where=zone).region == region
    assert Attempt("g5.xlarge", spot=True, where="us-east-1-bos-1a").region == "us-east-1"
