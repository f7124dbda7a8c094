from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from jpo.plugins.launch.engines.aws.attempts import Tried
from jpo.plugins.launch.engines.aws.offers import Attempt
from jpo.plugins.launch.engines.aws.request import home_of, request_of
from jpo.plugins.launch.engines.aws.settings import AwsTable
from jpo.plugins.launch.job import LaunchJob
from jpo.records import Identity

PLACE = AwsTable(
    region="eu-central-1",
    image="resolve:ssm:/images/training",
    bucket="ml-runs/nightly/",
    instance_profile="training",
    subnet="subnet-1",
    security_groups=("sg-1",),
)
DISKS = [
    {"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 100, "SnapshotId": "snap-1"}},
    {"DeviceName": "sdb", "VirtualName": "ephemeral0"},
]
IMAGE = {"ImageId": "ami-1", "BlockDeviceMappings": DISKS}
JOB = LaunchJob("run-1", Identity("d", "m", "f"), ("python", "train.py"), Path("/srv/job"))


SPOT, NOTHING = Attempt("g5.xlarge", spot=True, where="us-east-1"), Tried()


def request(attempt: Attempt = SPOT, tried: Tried = NOTHING, job: LaunchJob = JOB) -> dict[str, Any]:
    return request_of(job, b"", attempt, tried, PLACE, IMAGE)


def test_it_ends_with_its_work_and_its_disks_are_encrypted() -> None:
    asked = request()
    assert asked["InstanceInitiatedShutdownBehavior"] == "terminate"
    assert asked["MetadataOptions"]["HttpTokens"] == "required"
    encrypted = {"VolumeSize": 100, "Encrypted": True, "DeleteOnTermination": True}
    assert asked["BlockDeviceMappings"] == [{"DeviceName": "/dev/sda1", "Ebs": encrypted}]
    assert asked["InstanceMarketOptions"]["SpotOptions"]["SpotInstanceType"] == "one-time"
    assert (asked["ImageId"], asked["SubnetId"], asked["SecurityGroupIds"]) == ("ami-1", "subnet-1", ["sg-1"])
    assert asked["IamInstanceProfile"] == {"Name": "training"}
    assert "KeyName" not in asked


def test_the_same_attempt_is_the_same_request_and_another_has_another_token() -> None:
    first, refused = Tried(), Tried(("g5.xlarge spot us-east-1 Unsupported",))
    assert request(tried=first) == request(tried=Tried(("g5.xlarge spot us-east-1",)))
    assert request(tried=first)["ClientToken"] != request(tried=refused)["ClientToken"]
    assert len(request()["ClientToken"]) == 64


def test_files_of_one_id_in_two_projects_are_apart() -> None:
    home = home_of(JOB, PLACE)
    assert (home.bucket, home.region) == ("ml-runs", "eu-central-1")
    assert home.key.startswith("nightly/run-1-")
    assert home != home_of(replace(JOB, folder=Path("/srv/other")), PLACE)
    assert home == home_of(replace(JOB, environment={"A": "1"}), PLACE)
    assert home.run_id == "run-1"


def test_what_was_refused_is_on_the_tag_as_far_as_it_fits() -> None:
    tried = Tried(tuple(f"g5.{size}xlarge spot us-east-1 InsufficientInstanceCapacity" for size in range(20)))
    (instance, *others) = request(tried=tried)["TagSpecifications"]
    tags = {one["Key"]: one["Value"] for one in instance["Tags"]}
    assert tags["jpo:run-id"] == "run-1"
    assert tags["jpo:refused"].startswith("g5.0xlarge spot us-east-1 InsufficientInstanceCapacity, ")
    assert len(tags["jpo:refused"]) == 256
    assert [other["ResourceType"] for other in others] == ["volume", "spot-instances-request"]
    assert len(request(Attempt("g5.xlarge", spot=False, where="us-east-1"))["TagSpecifications"]) == 2
