"""Each call of a launch on AWS goes wrong in each way: one instance was started, none runs in the end, the end is on record."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("boto3")
pytest.importorskip("moto")

import botocore.retries.standard
from amazon import BUCKET, OFFERS, PROFILE, REGION, Amazon
from faulty_amazon import WAYS, Wrong, path_to
from faulty_amazon import Path as Route
from launches import DIGITS

from jpo.errors import LaunchError
from jpo.http.aws import session
from jpo.plugins.launch.engines.aws import answers
from jpo.plugins.launch.engines.aws.launcher import AwsLauncher
from jpo.plugins.launch.engines.aws.settings import AwsTable
from jpo.plugins.launch.job import LaunchJob, Needs
from jpo.plugins.launch.ledger import Entry, read
from jpo.plugins.launch.lifecycle import ask_status, cancel, noted, start
from jpo.records import RunStatus

TRIES = 5
"""How often a command is repeated at most: a fault holds for one call."""
numbers = itertools.count(1)


@pytest.fixture(scope="module")
def route(door: Amazon) -> Iterator[Route]:
    with path_to(door.url, door.moto) as route:
        yield route


@pytest.fixture
def place(door: Amazon, route: Route, image: str, monkeypatch: pytest.MonkeyPatch) -> AwsTable:
    """AWS at the end of the route; boto3 waits neither long for an answer nor between two attempts."""
    for name in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in door.environment.items():
        monkeypatch.setenv(name, value)
    for service in ("EC2", "S3", "SERVICE_QUOTAS"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", route.url)
    monkeypatch.setattr(answers, "session", partial(session, request_seconds=3.0))
    monkeypatch.setattr("jpo.plugins.launch.engines.aws.launcher.client", kept_client)
    monkeypatch.setattr(botocore.retries.standard.ExponentialBackoff, "delay_amount", lambda *_told: 0.0)
    door.quotas |= {"L-DB2E81BA": 64.0, "L-3819A6DF": 64.0}
    return AwsTable(region=REGION, image=image, bucket=f"{BUCKET}/nightly", instance_profile=PROFILE)


@cache
def kept_client(service: str, region: str) -> Any:
    """Clients of boto3 take a tenth of a second to make; they keep nothing of a run."""
    return answers.client(service, region)


class Told:
    """One story of a run, told by processes that come and go: each asks a launcher of its own."""

    def __init__(self, place: AwsTable, clients: dict[str, Any], folder: Path, name: str) -> None:
        self.place, self.clients, self.ledger = place, clients, folder / "launches"
        self.job = LaunchJob(name, DIGITS, ("python", "train.py"), folder, needs=Needs(gpus=1, gpu_type="a10g"))

    def launcher(self) -> AwsLauncher:
        return AwsLauncher([self.place], OFFERS, time.time, self.ledger)

    def repeated(self, command: Callable[[], Any]) -> Any:
        """The command as somebody repeats it who is told that nothing starts twice."""
        for _ in range(TRIES):
            try:
                return command()
            except LaunchError as error:
                if error.code not in ("JPO-E754", "JPO-E768"):
                    raise
        raise AssertionError("never gets through")

    def started(self) -> Entry:
        entry: Entry = self.repeated(lambda: start(self.job, self.launcher(), self.ledger, now=time.time()))
        assert entry.engine_id
        return entry

    def over(self, entry: Entry) -> bool:
        return bool(self.repeated(lambda: ask_status(entry, self.launcher(), self.ledger)).over)

    def instances(self) -> list[str]:
        """States of all that were ever started for the run."""
        tagged = [{"Name": "tag:jpo:run-id", "Values": [self.job.run_id]}]
        found = self.clients["ec2"].describe_instances(Filters=tagged)["Reservations"]
        return [str(one["State"]["Name"]) for each in found for one in each["Instances"]]

    def ends_by_itself(self, entry: Entry) -> None:
        _, _, bucket, key = str(entry.engine_id).split("/", 3)
        end = {"exit_code": 0, "ended_as": "succeeded", "reason": "", "started_at": 1.0, "ended_at": 2.0}
        for name, text in (("output.log", "hello"), ("runs/x.csv", "# run_id=x\n"), ("end.json", json.dumps(end))):
            self.clients["s3"].put_object(Bucket=bucket, Key=f"{key}/{name}", Body=text.encode())


def to_its_end(told: Told) -> RunStatus:
    """Started, seen running, ended by itself; its machine does not switch itself off."""
    entry = told.started()
    assert not told.over(entry), "it runs"
    told.ends_by_itself(entry)
    assert told.over(entry)
    folder = told.ledger / told.job.run_id
    assert (folder / "output.log").read_text() == "hello"
    assert (folder / "runs" / "x.csv").read_text() == "# run_id=x\n"
    return RunStatus.SUCCEEDED


def cancelled(told: Told) -> RunStatus:
    entry = told.started()
    assert told.repeated(lambda: cancel(entry, told.launcher(), told.ledger, sleep=lambda _: None))
    return RunStatus.STOPPED


def taken_back(told: Told) -> RunStatus:
    """AWS takes its spot instance back before it could say anything."""
    entry = told.started()
    told.clients["ec2"].terminate_instances(InstanceIds=[str(entry.engine_id).split("/")[1]])
    assert told.over(entry)
    return RunStatus.STOPPED


def interrupted(told: Told) -> RunStatus:
    """Whoever starts it is killed before it hears what AWS started; the next command finds the run, and ends it."""
    killed = told.launcher()
    submit = killed.submit

    def dies(*of_run: Any) -> str:
        submit(*of_run)
        raise KeyboardInterrupt

    killed.submit = dies  # type: ignore[method-assign]
    with pytest.raises((KeyboardInterrupt, LaunchError)):
        start(told.job, killed, told.ledger, now=time.time())
    entry = read(told.ledger, told.job.run_id) or told.started()
    entry = told.repeated(lambda: noted(entry, told.launcher(), told.ledger))
    entry = entry if entry.engine_id else told.started()
    assert told.repeated(lambda: cancel(entry, told.launcher(), told.ledger, sleep=lambda _: None))
    return RunStatus.STOPPED


STORIES = {story.__name__: story for story in (to_its_end, cancelled, taken_back, interrupted)}


def play(
    story: str, route: Route, place: AwsTable, clients: dict[str, Any], folder: Path, at: int | None, wrong: Wrong | None
) -> list[str]:
    """What was called in a story; it ends as promised."""
    folder.mkdir()
    told = Told(place, clients, folder, f"{story}-{next(numbers)}".replace("_", "-"))
    route.begin(at, wrong)
    expected = STORIES[story](told)
    calls = list(route.calls)
    route.begin(None, None)
    entry = read(told.ledger, told.job.run_id)
    assert entry
    assert entry.end
    assert entry.end.ended_as is expected, entry.end
    assert told.instances() == ["terminated"]
    return calls


@pytest.mark.parametrize("story", STORIES)
def test_each_call_that_goes_wrong_starts_nothing_twice_and_leaves_nothing_running(
    story: str, route: Route, place: AwsTable, clients: dict[str, Any], tmp_path: Path
) -> None:
    """Some of the faults, of each call one; all with EVERY_FAULT=1, which takes a quarter of an hour."""
    calls, broken = play(story, route, place, clients, tmp_path / "well", None, None), list[str]()
    for number, call in enumerate(calls):
        ways = [way for way, wrong in WAYS.items() if wrong.only in ("", call)]
        quick = [way for way in ways if not WAYS[way].silent]
        some = [quick[number % len(quick)], *(["silence after it was done"] if call == "RunInstances" else [])]
        for way in ways if os.environ.get("EVERY_FAULT") else some:
            try:
                play(story, route, place, clients, tmp_path / f"{number}-{way}", number, WAYS[way])
            except (AssertionError, Exception) as error:  # noqa: BLE001 - all that breaks is said
                broken.append(f"{number} {call}, {way}: {type(error).__name__}: {error}"[:400])
    assert broken == [], "\n".join(broken)


def test_the_count_of_faults_stands_in_the_document(
    route: Route, place: AwsTable, clients: dict[str, Any], tmp_path: Path
) -> None:
    counts = {}
    for story in STORIES:
        calls = play(story, route, place, clients, tmp_path / story, None, None)
        counts[story] = (len(calls), sum(wrong.only in ("", call) for call in calls for wrong in WAYS.values()))
    text = (Path(__file__).parents[5] / "docs/reliability.md").read_text()
    row = " | ".join(f"{calls} calls, {faults} faults" for calls, faults in counts.values())
    assert f"| {row} |" in text, row
