"""Moto behind its door, and clients of what is behind it, for the tests of the AWS engine that launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from amazon import BUCKET, PROFILE, REGION, Amazon, amazon_before
from price_list import forget_all, moto_server


@pytest.fixture(scope="module")
def door() -> Iterator[Amazon]:
    with moto_server() as moto, amazon_before(moto) as server:
        yield server


@pytest.fixture(scope="module")
def clients(door: Amazon) -> dict[str, Any]:
    """EC2 (moto itself) and S3, with a bucket and an instance profile."""
    import boto3

    keys = {"aws_access_key_id": "AKIA", "aws_secret_access_key": "secret", "region_name": REGION}
    made = {name: boto3.client(name, endpoint_url=door.moto, **keys) for name in ("ec2", "s3", "iam")}
    _furnish(made)
    return made


@pytest.fixture
def begin_anew(door: Amazon, clients: dict[str, Any]) -> Callable[[], None]:
    """Moto forgets all that was; it gets slower with each instance that it has ever had."""

    def begun() -> None:
        forget_all(door.moto)
        _furnish(clients)

    return begun


def _furnish(clients: dict[str, Any]) -> None:
    clients["s3"].create_bucket(Bucket=BUCKET)
    clients["iam"].create_instance_profile(InstanceProfileName=PROFILE)


@pytest.fixture(scope="module")
def image(clients: dict[str, Any]) -> str:
    images = clients["ec2"].describe_images(Filters=[{"Name": "architecture", "Values": ["x86_64"]}])["Images"]
    return str(images[0]["ImageId"])
