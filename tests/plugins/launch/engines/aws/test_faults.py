"""Each call of a launch on AWS goes wrong in each way: one instance was started, none runs in the end, the end is on record."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("boto3")
pytest.importorskip("moto")

import botocore.retries.standard
from amazon import BUCKET, OFFERS, PROFILE, REGION, Amazon
from faulty_amazon import WAYS, path_to_amazon
from faulty_path import Path as Route
from faulty_path import Wrong
from launches import DIGITS
from told_launches import LOG, PRINTED, STORIES, Told, all_that_breaks, row_of, tell

from jpo.plugins.launch.engines.aws import answers
from jpo.plugins.launch.engines.aws.launcher import AwsLauncher
from jpo.plugins.launch.engines.aws.settings import AwsTable
from jpo.plugins.launch.job import LaunchJob, Needs
from jpo.plugins.launch.ledger import Entry

numbers = itertools.count(1)


@pytest.fixture(scope="module")
def route(door: Amazon) -> Iterator[Route]:
    with path_to_amazon(door.url, door.moto) as route:
        yield route


@pytest.fixture
def place(door: Amazon, route: Route, image: str, monkeypatch: pytest.MonkeyPatch) -> AwsTable:
    """AWS at the end of the route; boto3 does not wait between two attempts."""
    for name in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in door.environment.items():
        monkeypatch.setenv(name, value)
    for service in ("EC2", "S3", "SERVICE_QUOTAS"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", route.url)
    monkeypatch.setattr("jpo.plugins.launch.engines.aws.launcher.client", kept_client)
    monkeypatch.setattr(botocore.retries.standard.ExponentialBackoff, "delay_amount", lambda *_told: 0.0)
    door.quotas |= {"L-DB2E81BA": 64.0, "L-3819A6DF": 64.0}
    return AwsTable(region=REGION, image=image, bucket=f"{BUCKET}/nightly", instance_profile=PROFILE)


@cache
def kept_client(service: str, region: str) -> Any:
    """Clients of boto3 take a tenth of a second to make; they keep nothing of a run."""
    return answers.client(service, region)


@dataclass
class Aws:
    """AWS as stories of a launch need it; its machine does not switch itself off."""

    place: AwsTable
    clients: Mapping[str, Any]
    ledger: Path
    passing = frozenset({"JPO-E754", "JPO-E768"})

    def launcher(self) -> AwsLauncher:
        return AwsLauncher([self.place], OFFERS, time.time, self.ledger)

    def clock(self) -> float:
        return time.time()

    def sleep(self, _seconds: float) -> None:
        """Moto waits for nothing."""

    def ends_by_itself(self, entry: Entry) -> None:
        _, _, bucket, key = str(entry.engine_id).split("/", 3)
        end = {"exit_code": 0, "ended_as": "succeeded", "reason": "", "started_at": 1.0, "ended_at": 2.0}
        for name, text in (("output.log", PRINTED), ("runs/x.csv", LOG), ("end.json", json.dumps(end))):
            self.clients["s3"].put_object(Bucket=bucket, Key=f"{key}/{name}", Body=text.encode())

    def is_taken_back(self, entry: Entry) -> None:
        self.clients["ec2"].terminate_instances(InstanceIds=[str(entry.engine_id).split("/")[1]])

    def wrong_at_the_end(self, job: LaunchJob) -> str:
        tagged = [{"Name": "tag:jpo:run-id", "Values": [job.run_id]}]
        found = self.clients["ec2"].describe_instances(Filters=tagged)["Reservations"]
        states = [str(one["State"]["Name"]) for each in found for one in each["Instances"]]
        return "" if states == ["terminated"] else f"instances: {states}"


@pytest.fixture
def tells(
    route: Route, place: AwsTable, clients: dict[str, Any], begin_anew: Callable[[], None], tmp_path: Path
) -> Callable[..., list[str]]:
    def told(story: str, at: int | None, wrong: Wrong | None) -> list[str]:
        if (number := next(numbers)) % 100 == 0:
            begin_anew()
        name = f"{story}-{number}".replace("_", "-")
        (folder := tmp_path / name).mkdir()
        job = LaunchJob(name, DIGITS, ("python", "train.py"), folder, needs=Needs(gpus=1, gpu_type="a10g"))
        return tell(STORIES[story], Told(Aws(place, clients, folder / "launches"), job, folder / "launches"), route, at, wrong)

    return told


@pytest.mark.parametrize("story", STORIES)
def test_each_call_that_goes_wrong_starts_nothing_twice_and_leaves_nothing_running(
    story: str, tells: Callable[..., list[str]]
) -> None:
    """Some of the faults, of each call one; all with EVERY_FAULT=1, which takes half an hour."""
    broken = all_that_breaks(partial(tells, story), WAYS, "RunInstances")
    assert broken == [], "\n".join(broken)


def test_the_count_of_faults_stands_in_the_document(tells: Callable[..., list[str]]) -> None:
    text = (Path(__file__).parents[5] / "docs/reliability.md").read_text()
    row = row_of([tells(story, None, None) for story in STORIES], WAYS)
    assert row in text, row
