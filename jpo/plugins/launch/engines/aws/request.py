"""Requests to EC2: one instance for one run, and where its files come home."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from jpo.plugins.launch.engines.aws.attempts import Tried
from jpo.plugins.launch.engines.aws.bucket import place_of
from jpo.plugins.launch.engines.aws.offers import Attempt
from jpo.plugins.launch.engines.aws.settings import AwsTable
from jpo.plugins.launch.engines.aws.user_data import Home, life_seconds, user_data
from jpo.plugins.launch.job import LaunchJob

OF_JOB, OF_PLACE, LIFE, REFUSED = "jpo:job", "jpo:files", "jpo:life-seconds", "jpo:refused"
"""Tags of instances, next to jpo:run-id."""
LONGEST_TAG = 256


def home_of(job: LaunchJob, place: AwsTable) -> Home:
    """Where the run's files go: told from runs of the same id in other projects by what makes it this job."""
    facts = (job.run_id, sorted(job.identity.labels.items()), job.command, str(job.folder))
    digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:10]
    name, _, prefix = str(place.bucket).partition("/")
    return Home(str(place.region), name, "/".join(word for word in (prefix.strip("/"), f"{job.run_id}-{digest}") if word))


def run_id_of(home: Home) -> str:
    """The id of the run whose files go there."""
    return home.key.rpartition("/")[2].rpartition("-")[0]


def request_of(
    job: LaunchJob, config: bytes, attempt: Attempt, tried: Tried, place: AwsTable, image: Mapping[str, Any]
) -> dict[str, Any]:
    """One instance, as RunInstances wants it, from an image as DescribeImages has it; the same for the same attempt of a job."""
    home = home_of(job, place)
    tags = {"Name": f"jpo {job.run_id}", "jpo:run-id": job.run_id, OF_JOB: home.key, OF_PLACE: place_of(home)}
    tags |= {LIFE: f"{life_seconds(job.longest_seconds):.0f}"}
    if tried.refused:
        tags[REFUSED] = ", ".join(tried.refused)[:LONGEST_TAG]
    tagged = [{"Key": name, "Value": value} for name, value in tags.items()]
    kinds = ("instance", "volume", *(("spot-instances-request",) if attempt.spot else ()))
    disks = [disk for disk in image.get("BlockDeviceMappings", []) if "Ebs" in disk]
    request: dict[str, Any] = {
        "ImageId": image["ImageId"],
        "InstanceType": attempt.instance_type,
        "MinCount": 1,
        "MaxCount": 1,
        "ClientToken": hashlib.sha256(f"{home.bucket}/{home.key}#{tried.number}".encode()).hexdigest(),
        "UserData": user_data(job, config, home, PurePosixPath(place.folder) if place.folder else None),
        "InstanceInitiatedShutdownBehavior": "terminate",
        "IamInstanceProfile": {"Name": place.instance_profile},
        "MetadataOptions": {"HttpTokens": "required", "HttpEndpoint": "enabled", "HttpPutResponseHopLimit": 1},
        "BlockDeviceMappings": [{"DeviceName": disk["DeviceName"], "Ebs": _encrypted(disk["Ebs"])} for disk in disks],
        "TagSpecifications": [{"ResourceType": kind, "Tags": tagged} for kind in kinds],
    }
    if attempt.spot:
        once = {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"}
        request["InstanceMarketOptions"] = {"MarketType": "spot", "SpotOptions": once}
    if place.subnet:
        request["SubnetId"] = place.subnet
    if place.security_groups:
        request["SecurityGroupIds"] = list(place.security_groups)
    return request


def _encrypted(disk: Mapping[str, Any]) -> dict[str, Any]:
    """A disk of the image, encrypted, and gone with its instance."""
    kept = {name: disk[name] for name in ("VolumeSize", "VolumeType") if name in disk}
    return {**kept, "Encrypted": True, "DeleteOnTermination": True}
