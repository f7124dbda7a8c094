from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from jpo.plugins.launch.engines.aws.ended import status_of
from jpo.plugins.launch.job import JobState
from jpo.records import RunStatus

PLACE = "s3://ml-runs/run-1"


def instance(state: str, code: str = "", message: str = "", **more: object) -> dict[str, Any]:
    began = datetime(2026, 11, 23, 1, 0, tzinfo=UTC)
    known = {"InstanceId": "i-1", "InstanceType": "g5.xlarge", "State": {"Name": state}, "LaunchTime": began}
    return {**known, "StateReason": {"Code": code, "Message": message}, **more}


@pytest.mark.parametrize(
    ("state", "expected"),
    [("pending", JobState.WAITING), ("running", JobState.RUNNING), ("shutting-down", JobState.RUNNING)],
)
def test_a_run_goes_on_with_its_instance(state: str, expected: JobState) -> None:
    assert status_of(instance(state), None, PLACE).state is expected


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"),
        ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"),
        ("Server.InternalError", "Server.InternalError: Internal error on launch"),
    ],
)
def test_what_others_ended_was_stopped_and_says_by_what(code: str, message: str) -> None:
    status = status_of(instance("terminated", code, message), None, PLACE)
    assert status.ended_as is RunStatus.STOPPED
    assert status.reason == message


@pytest.mark.parametrize(
    "message",
    [
        "Client.InstanceInitiatedShutdown: Instance initiated shutdown",
        "Client.InvalidSnapshot.NotFound: The specified snapshot was not found",
        "",
    ],
)
def test_what_ended_without_a_record_failed_and_says_where_to_look(message: str) -> None:
    status = status_of(instance("terminated", message.partition(":")[0], message), None, PLACE)
    assert status.ended_as is RunStatus.FAILED
    assert message in status.reason
    assert "docs/plugins/launch.md" in status.reason


@pytest.mark.parametrize("code", ["Server.InsufficientInstanceCapacity", "Client.VolumeLimitExceeded", "Client.InternalError"])
def test_an_instance_that_ends_at_once_never_began_its_run(code: str) -> None:
    status = status_of(instance("terminated", code, f"{code}: no room after all"), None, PLACE)
    assert (status.state, status.started_at) == (JobState.ENDED, None)
    assert "no room after all" in status.reason


def test_of_a_record_that_cannot_be_read_nobody_knows_how_the_run_ended() -> None:
    status = status_of(instance("running"), "is not JSON", PLACE)
    assert (status.state, status.reason) == (
        JobState.UNKNOWN,
        "s3://ml-runs/run-1/end.json does not say how the run ended: is not JSON",
    )


def test_the_end_is_when_its_state_changed() -> None:
    moment = {"StateTransitionReason": "User initiated (2026-11-23 01:30:00 GMT)"}
    status = status_of(instance("terminated", "Client.UserInitiatedShutdown", **moment), None, PLACE)
    assert status.started_at is not None
    assert status.ended_at == status.started_at + 1800


def test_the_record_counts_whatever_the_instance_does() -> None:
    end: dict[str, object] = {
        "exit_code": 3,
        "ended_as": "failed",
        "started_at": 1.0,
        "ended_at": 2.5,
        "cpu_seconds": 1.5,
        "reason": "a\nb",
    }
    end["memory_gib"] = 0.25
    for machine in (None, instance("running"), instance("terminated", "Server.SpotInstanceTermination")):
        status = status_of(machine, end, PLACE)
        assert (status.exit_code, status.ended_as, status.ended_at) == (3, RunStatus.FAILED, 2.5)
        assert (status.cpu_seconds, status.memory_gib, status.reason) == (1.5, 0.25, "a b")
    assert status_of(None, {**end, "reason": ""}, PLACE).reason == "exit code 3"


@pytest.mark.parametrize("end", [{}, {"ended_as": "splendid", "exit_code": "0"}, {"started_at": float("nan"), "ended_at": -1}])
def test_a_record_of_nonsense_is_a_failure(end: dict[str, object]) -> None:
    status = status_of(None, end, PLACE)
    assert (status.state, status.ended_as) == (JobState.ENDED, RunStatus.FAILED)
    assert (status.exit_code, status.started_at, status.ended_at) == (None, None, None)


def test_without_instance_and_record_nobody_knows() -> None:
    assert status_of(None, None, PLACE).state is JobState.UNKNOWN


def test_what_was_refused_before_is_said() -> None:
    tags = [{"Key": "jpo:refused", "Value": "g5.xlarge spot InsufficientInstanceCapacity"}]
    spot = {"InstanceLifecycle": "spot", "Placement": {"AvailabilityZone": "eu-central-1a"}, "Tags": tags}
    status = status_of(instance("running", **spot), None, PLACE)
    assert status.place == "i-1 g5.xlarge spot eu-central-1a"
    assert "g5.xlarge spot InsufficientInstanceCapacity" in status.reason
