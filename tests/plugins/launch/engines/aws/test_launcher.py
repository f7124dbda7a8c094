"""AWS keeps the contract of launchers, on moto with machines that do what their user data says; and what AWS alone does."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("boto3")
pytest.importorskip("moto")

from amazon import BUCKET, DROPPED, OFFERS, PROFILE, REGION, Amazon, Machines, as_usual
from launches import Bench, Contract

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.aws.launcher import AwsLauncher
from jpo.plugins.launch.engines.aws.settings import AwsTable
from jpo.plugins.launch.job import JobState, LaunchJob, Needs
from jpo.plugins.launch.ledger import Entry, read
from jpo.plugins.launch.lifecycle import ask_status, start
from jpo.records import RunStatus

WRITES = (
    "import os, pathlib, time; print('hello', flush=True); log = pathlib.Path(os.environ['JPO_RUNLOG_DIR'])"
    " / (os.environ['JPO_RUN_ID'] + '.csv'); log.write_text('# run_id=' + os.environ['JPO_RUN_ID'] + '\\n')"
)
COMMANDS = {
    "succeeds": (sys.executable, "-c", WRITES),
    "fails": (sys.executable, "-c", "raise SystemExit(3)"),
    "lasts": (sys.executable, "-c", "import time; print('on', flush=True); time.sleep(100)"),
}
ONE_GPU = Needs(gpus=1, gpu_type="a10g")


@pytest.fixture
def amazon(door: Amazon, monkeypatch: pytest.MonkeyPatch) -> Amazon:
    for name in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in door.environment.items():
        monkeypatch.setenv(name, value)
    door.fault = as_usual
    door.quotas.clear()
    door.asked.clear()
    return door


@pytest.fixture
def place(image: str) -> AwsTable:
    return AwsTable(region=REGION, image=image, bucket=f"{BUCKET}/nightly", instance_profile=PROFILE)


@pytest.fixture
def machines(amazon: Amazon, clients: dict[str, Any], tmp_path: Path) -> Iterator[Machines]:
    environment = {**amazon.environment, "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:9", "PATH": "/usr/bin:/bin"}
    known = [one["InstanceId"] for found in clients["ec2"].describe_instances()["Reservations"] for one in found["Instances"]]
    machines = Machines(clients["ec2"], tmp_path / "machines", environment, done=set(known))
    yield machines
    machines.switch_off()


@pytest.fixture
def bench(place: AwsTable, machines: Machines, tmp_path: Path) -> Bench:
    def sleep(_seconds: float) -> None:
        machines.turn()
        time.sleep(0.1)

    return Bench(lambda: AwsLauncher([place], OFFERS, time.time), COMMANDS, tmp_path / "launches", tmp_path, time.time, sleep)


class TestAws(Contract):
    """All of the contract."""


def instances(clients: dict[str, Any], run_id: str) -> list[dict[str, Any]]:
    found = clients["ec2"].describe_instances(Filters=[{"Name": "tag:jpo:run-id", "Values": [run_id]}])["Reservations"]
    return [one for reservation in found for one in reservation["Instances"]]


def refused(bench: Bench, job: LaunchJob, place: AwsTable | None = None) -> LaunchError:
    launcher = AwsLauncher([place], OFFERS, time.time) if place else bench.launcher()
    with pytest.raises(LaunchError) as caught:
        start(job, launcher, bench.ledger, now=bench.clock())
    text = str(caught.value)
    assert "\n" not in text
    assert "AKIAIOSFODNN7EXAMPLE" not in text
    assert "K7MDENG" not in text
    return caught.value


def started(amazon: Amazon) -> list[str]:
    return [asked.removeprefix("RunInstances ") for asked in amazon.asked if asked.startswith("RunInstances ")]


def test_the_cheapest_that_fits_is_asked_for_as_spot_first(bench: Bench, amazon: Amazon, clients: dict[str, Any]) -> None:
    entry = bench.start(bench.job("lasts", needs=ONE_GPU))
    assert started(amazon) == ["g5.xlarge spot"]
    (instance,) = instances(clients, entry.job.run_id)
    assert instance["InstanceType"] == "g5.xlarge"
    bench.launcher().cancel(str(entry.engine_id))


def test_it_is_encrypted_ends_itself_and_asks_for_tokens(
    bench: Bench, amazon: Amazon, clients: dict[str, Any], machines: Machines
) -> None:
    entry = bench.start(bench.job("lasts"))
    ((asked, _, instance_id),) = [made for made in amazon.tokens.values() if made[2] == str(entry.engine_id).split("/")[1]]
    assert asked["InstanceInitiatedShutdownBehavior"] == "terminate"
    assert asked["MetadataOptions.HttpTokens"] == "required"
    assert asked["BlockDeviceMapping.1.Ebs.Encrypted"] == "true"
    assert "KeyName" not in asked
    assert instance_id == str(entry.engine_id).split("/")[1]
    bench.launcher().cancel(str(entry.engine_id))


def test_without_capacity_the_next_type_then_on_demand_is_taken_and_said(
    bench: Bench, amazon: Amazon, clients: dict[str, Any]
) -> None:
    codes = {"g5.xlarge": "InsufficientInstanceCapacity", "g5.2xlarge": "MaxSpotInstanceCountExceeded"}
    amazon.fault = lambda action, kind, spot: (codes[kind], "no", 400) if action == "RunInstances" and spot else None
    entry = bench.start(bench.job("lasts", needs=ONE_GPU))
    assert started(amazon) == ["g5.xlarge spot", "g5.2xlarge spot", "g5.xlarge on-demand"]
    status = bench.launcher().status(str(entry.engine_id))
    assert "g5.xlarge on-demand" in status.place
    assert "g5.xlarge spot us-east-1 InsufficientInstanceCapacity" in status.reason
    assert len(instances(clients, entry.job.run_id)) == 1
    bench.launcher().cancel(str(entry.engine_id))


@pytest.mark.parametrize("code", ["VcpuLimitExceeded", "Unsupported", "InsufficientInstanceCapacity"])
def test_nothing_to_be_had_names_each_refusal_and_starts_later(bench: Bench, amazon: Amazon, code: str) -> None:
    amazon.fault = lambda action, _kind, _spot: (code, "not now", 400) if action == "RunInstances" else None
    job = bench.job("lasts", needs=ONE_GPU)
    error = refused(bench, job)
    assert error.code == "JPO-E768"
    assert f"g5.2xlarge on-demand us-east-1 {code}" in str(error)
    amazon.fault = as_usual
    amazon.asked.clear()
    entry = bench.start(job)
    assert started(amazon) == ["g5.xlarge spot"]
    bench.launcher().cancel(str(entry.engine_id))


def test_an_answer_that_is_lost_starts_one_instance(bench: Bench, amazon: Amazon, clients: dict[str, Any]) -> None:
    amazon.fault = lambda action, _kind, _spot: DROPPED if action == "RunInstances" else None
    job = bench.job("lasts", needs=ONE_GPU)
    assert refused(bench, job).code == "JPO-E754"
    (instance,) = instances(clients, job.run_id)
    amazon.fault = as_usual
    entry = bench.start(job)
    assert instance["InstanceId"] in str(entry.engine_id)
    assert len(instances(clients, job.run_id)) == 1
    bench.launcher().cancel(str(entry.engine_id))


def test_a_lost_answer_holds_where_ec2_does_not_list_the_instance_yet(
    bench: Bench, amazon: Amazon, clients: dict[str, Any]
) -> None:
    """Second type, lost; then the first has capacity again, and the instance has no tags yet: still one."""
    amazon.fault = lambda action, kind, _spot: (
        None if action != "RunInstances" else ("InsufficientInstanceCapacity", "no", 500) if kind == "g5.xlarge" else DROPPED
    )
    job = bench.job("lasts", needs=ONE_GPU)
    assert refused(bench, job).code == "JPO-E754"
    (instance,) = instances(clients, job.run_id)
    clients["ec2"].delete_tags(Resources=[instance["InstanceId"]], Tags=[{"Key": "jpo:job"}])
    amazon.fault = as_usual
    entry = bench.start(job)
    assert instance["InstanceId"] in str(entry.engine_id)
    assert len(instances(clients, job.run_id)) == 1
    bench.launcher().cancel(str(entry.engine_id))


def test_settings_that_changed_after_a_lost_answer_find_the_instance(
    bench: Bench, amazon: Amazon, clients: dict[str, Any], place: AwsTable
) -> None:
    amazon.fault = lambda action, _kind, _spot: DROPPED if action == "RunInstances" else None
    job = bench.job("lasts")
    assert refused(bench, job).code == "JPO-E754"
    (instance,) = instances(clients, job.run_id)
    clients["ec2"].delete_tags(Resources=[instance["InstanceId"]], Tags=[{"Key": "jpo:job"}])
    amazon.fault = as_usual
    changed = AwsLauncher([place.model_copy(update={"folder": "/opt/training"})], OFFERS, time.time)
    assert instance["InstanceId"] in str(start(job, changed, bench.ledger, now=bench.clock()).engine_id)
    assert len(instances(clients, job.run_id)) == 1
    changed.cancel(f"{REGION}/{instance['InstanceId']}/{BUCKET}/x")


def test_throttling_is_asked_again_and_not_refused(bench: Bench, amazon: Amazon) -> None:
    times = iter([("RequestLimitExceeded", "Request limit exceeded.", 503)])
    amazon.fault = lambda action, _kind, _spot: next(times, None) if action == "RunInstances" else None
    entry = bench.start(bench.job("lasts"))
    bench.launcher().cancel(str(entry.engine_id))
    amazon.fault = lambda action, _kind, _spot: ("RequestLimitExceeded", "Request limit exceeded.", 503)
    error = refused(bench, bench.job("lasts"))
    assert error.code == "JPO-E754"
    assert "RequestLimitExceeded" in str(error)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("RequestExpired", "Request has expired."),
        ("ExpiredToken", "The security token included in the request is expired"),
        ("SignatureDoesNotMatch", "canonical string:\nx-amz-security-token:IQoJb3JpZ2luX2VjEK7MDENG"),
        ("UnauthorizedOperation", "You are not authorized. Encoded authorization failure message: K7MDENG9ajbb0Wq" + 20 * "aB3"),
        ("AuthFailure", "AWS was not able to validate the provided access credentials AKIAIOSFODNN7EXAMPLE"),
    ],
)
def test_credentials_that_are_not_accepted_are_said_without_them(bench: Bench, amazon: Amazon, code: str, message: str) -> None:
    amazon.fault = lambda *_asked: (code, message, 403)
    error = refused(bench, bench.job("lasts"))
    assert error.code == "JPO-E766"
    assert code in str(error)


def test_without_credentials_it_says_so(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert refused(bench, bench.job("lasts")).code == "JPO-E766"


@pytest.mark.parametrize(
    "changes",
    [
        {"image": "ami-00000000000000000"},
        {"image": "resolve:ssm:/no/such/parameter"},
        {"subnet": "subnet-00000000"},
        {"security_groups": ("sg-00000000",)},
        {"bucket": "no-such-bucket"},
        {"instance_profile": "nobody"},
    ],
    ids=lambda changes: next(iter(changes.items())),
)
def test_what_does_not_exist_is_refused_before_the_start(
    bench: Bench, amazon: Amazon, place: AwsTable, changes: dict[str, Any]
) -> None:
    job = bench.job("lasts")
    assert refused(bench, job, place.model_copy(update=changes)).code == "JPO-E769"
    assert started(amazon) == []
    assert read(bench.ledger, job.run_id) is None


def test_settings_that_are_missing_are_named() -> None:
    with pytest.raises(LaunchError, match="lacks image, bucket") as caught:
        AwsLauncher([AwsTable(region=REGION, instance_profile=PROFILE)], OFFERS, time.time)
    assert caught.value.code == "JPO-E767"


def test_quotas_refuse_what_they_do_not_hold_and_are_unknown_otherwise(bench: Bench, amazon: Amazon) -> None:
    assert bench.launcher().room(ONE_GPU).gpus == 1
    amazon.quotas |= {"L-DB2E81BA": 0, "L-3819A6DF": 0}
    error = refused(bench, bench.job("lasts", needs=ONE_GPU))
    assert error.code == "JPO-E755"
    assert "quota of G and VT instances, spot: 0 vCPUs" in str(error)
    room = bench.launcher().room(ONE_GPU)
    assert room.gpus == 0
    assert "0 vCPUs" in room.note


def test_types_of_another_processor_than_the_image_are_passed_over(bench: Bench, amazon: Amazon) -> None:
    """g5g is the cheapest with a GPU, and an ARM machine."""
    entry = bench.start(bench.job("lasts", needs=Needs(gpus=1)))
    assert started(amazon) == ["g5.xlarge spot"]
    bench.launcher().cancel(str(entry.engine_id))


def test_several_nodes_are_refused(bench: Bench) -> None:
    assert refused(bench, bench.job("lasts", needs=Needs(nodes=2))).code == "JPO-E755"


def ended(bench: Bench, clients: dict[str, Any], machines: Machines) -> Entry:
    """A run whose instance was terminated by others before it could say anything."""
    machines.boots = False
    entry = bench.start(bench.job("lasts"))
    clients["ec2"].terminate_instances(InstanceIds=[str(entry.engine_id).split("/")[1]])
    return bench.finish(entry)


def test_an_instance_that_others_terminate_is_accounted_for(bench: Bench, clients: dict[str, Any], machines: Machines) -> None:
    end = ended(bench, clients, machines).end
    assert end is not None
    assert end.ended_as is RunStatus.STOPPED
    assert "Client.UserInitiatedShutdown" in end.reason
    assert end.ended_at is not None


def test_an_instance_beyond_its_life_is_terminated_when_somebody_looks(
    bench: Bench, clients: dict[str, Any], machines: Machines, place: AwsTable
) -> None:
    machines.boots = False
    entry = bench.start(bench.job("lasts", longest_seconds=60.0))
    late = AwsLauncher([place], OFFERS, lambda: time.time() + 3600)
    assert ask_status(entry, late, bench.ledger).state is JobState.RUNNING
    (instance,) = instances(clients, entry.job.run_id)
    assert instance["State"]["Name"] == "terminated"


def test_a_run_that_is_over_leaves_no_instance_behind(bench: Bench, clients: dict[str, Any], machines: Machines) -> None:
    """Its record says that it has ended, but the machine did not switch itself off."""
    machines.boots = False
    entry = bench.start(bench.job("lasts"))
    _, _, bucket, key = str(entry.engine_id).split("/", 3)
    clients["s3"].put_object(Bucket=bucket, Key=f"{key}/end.json", Body=b'{"exit_code": 0, "ended_as": "succeeded"}')
    clients["s3"].put_object(Bucket=bucket, Key=f"{key}/runs/../../x.csv", Body=b"")
    assert bench.finish(entry).end is not None
    (instance,) = instances(clients, entry.job.run_id)
    assert instance["State"]["Name"] == "terminated"
    assert [*(bench.ledger / entry.job.run_id / "runs").iterdir()] == []


def test_a_run_whose_record_is_damaged_is_accounted_for_as_lost_and_its_instance_ended(
    bench: Bench, clients: dict[str, Any], machines: Machines
) -> None:
    machines.boots = False
    entry = bench.start(bench.job("lasts"))
    _, _, bucket, key = str(entry.engine_id).split("/", 3)
    clients["s3"].put_object(Bucket=bucket, Key=f"{key}/end.json", Body=b"[1]")
    end = bench.finish(entry).end
    assert end is not None
    assert (end.state, "does not say how the run ended" in end.reason) == (JobState.UNKNOWN, True)
    (instance,) = instances(clients, entry.job.run_id)
    assert instance["State"]["Name"] == "terminated"


def test_the_same_id_in_another_project_is_another_run(bench: Bench, clients: dict[str, Any], tmp_path: Path) -> None:
    job = bench.job("lasts")
    other = replace(job, folder=tmp_path / "other")
    one = bench.start(job)
    two = start(other, bench.launcher(), tmp_path / "others", now=bench.clock())
    assert one.engine_id != two.engine_id
    for entry in (one, two):
        bench.launcher().cancel(str(entry.engine_id))


def test_collecting_while_it_runs_ends_nothing(bench: Bench, clients: dict[str, Any], machines: Machines) -> None:
    machines.boots = False
    entry = bench.start(bench.job("lasts"))
    _, _, bucket, key = str(entry.engine_id).split("/", 3)
    clients["s3"].put_object(Bucket=bucket, Key=f"{key}/output.log", Body=b"so far")
    bench.launcher().collect(str(entry.engine_id), bench.ledger / entry.job.run_id)
    assert (bench.ledger / entry.job.run_id / "output.log").read_bytes() == b"so far"
    (instance,) = instances(clients, entry.job.run_id)
    assert instance["State"]["Name"] == "running"
    bench.launcher().cancel(str(entry.engine_id))


def test_the_log_of_a_run_comes_home_while_it_goes_on(
    bench: Bench, clients: dict[str, Any], machines: Machines, place: AwsTable
) -> None:
    machines.boots = False
    entry = bench.start(bench.job("lasts"))
    _, _, bucket, key = str(entry.engine_id).split("/", 3)
    log = bench.ledger / entry.job.run_id / "runs" / "x.csv"
    now = [time.time()]
    launcher = AwsLauncher([place], OFFERS, lambda: now[0], bench.ledger)
    for text, seconds, there in (("one", 0.0, "one"), ("two", 5.0, "one"), ("two", 60.0, "two")):
        clients["s3"].put_object(Bucket=bucket, Key=f"{key}/runs/x.csv", Body=text.encode())
        now[0] += seconds
        assert ask_status(entry, launcher, bench.ledger).state is JobState.RUNNING
        assert log.read_text() == there
    launcher.cancel(str(entry.engine_id))


def test_the_plan_of_a_dry_run_has_the_order_with_prices_and_the_longest_life(bench: Bench, amazon: Amazon) -> None:
    amazon.quotas["L-3819A6DF"] = 4
    launcher = bench.launcher()
    assert isinstance(launcher, AwsLauncher)
    plan = launcher.plan(bench.job("lasts", needs=ONE_GPU, longest_seconds=3600.0))
    assert plan["instances"] == [
        {"type": "g5.xlarge", "market": "spot", "where": "us-east-1", "usd_per_hour": 0.45},
        {"type": "g5.xlarge", "market": "on-demand", "where": "us-east-1", "usd_per_hour": 1.006},
        {"type": "g5.2xlarge", "market": "on-demand", "where": "us-east-1", "usd_per_hour": 1.212},
    ]
    assert plan["not_allowed"] == ["quota of G and VT instances, spot: 4 vCPUs"]
    assert plan["longest_life_seconds"] == 4500.0
    assert str(plan["files"]).startswith("s3://ml-runs/nightly/")
    assert started(amazon) == []


def test_prices_that_changed_after_a_lost_answer_start_no_second_instance(
    bench: Bench, amazon: Amazon, clients: dict[str, Any], place: AwsTable
) -> None:
    amazon.fault = lambda action, _kind, _spot: DROPPED if action == "RunInstances" else None
    job = bench.job("lasts", needs=ONE_GPU)
    assert refused(bench, job).code == "JPO-E754"
    (instance,) = instances(clients, job.run_id)
    clients["ec2"].delete_tags(Resources=[instance["InstanceId"]], Tags=[{"Key": "jpo:job"}])
    amazon.fault = as_usual
    dearer = tuple(replace(one, usd_per_hour_spot=0.9) if one.instance == "g5.xlarge" else one for one in OFFERS)
    entry = start(job, AwsLauncher([place], dearer, time.time), bench.ledger, now=bench.clock())
    assert instance["InstanceId"] in str(entry.engine_id)
    assert len(instances(clients, job.run_id)) == 1
    bench.launcher().cancel(str(entry.engine_id))
