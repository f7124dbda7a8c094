"""How a run goes, from Jobs and pods as API servers show them."""

from __future__ import annotations

from typing import Any

import pytest

from jpo.plugins.launch.engines.kubernetes.status import IMAGE_TIMEOUT_SECONDS, finished, status_of
from jpo.plugins.launch.job import JobState
from jpo.records import RunStatus

START, NOW = "2027-01-15T08:00:00Z", 1_800_000_000.0
END = "2027-01-15T09:00:00Z"
NO_TIME = NOW + IMAGE_TIMEOUT_SECONDS - 1
LATER = NOW + IMAGE_TIMEOUT_SECONDS + 1


def job(kind: str = "", **condition: Any) -> dict[str, Any]:
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": END, **condition}] if kind else []
    return {"metadata": {"uid": "1"}, "spec": {}, "status": {"startTime": START, "conditions": conditions}}


def pod(state: dict[str, Any] | None = None, *, index: int = 0, phase: str = "Running", **status: Any) -> dict[str, Any]:
    containers = [{"name": "trainer", "state": state}] if state else []
    containers.insert(0, {"name": "istio-proxy", "state": {"terminated": {"exitCode": 9}}})
    return {
        "metadata": {
            "name": f"p-{index}",
            "creationTimestamp": START,
            "annotations": {"batch.kubernetes.io/job-completion-index": str(index)},
        },
        "spec": {
            "nodeName": f"node-{index}",
            "containers": [{"name": "trainer", "resources": {"limits": {"memory": "4Gi"}}}],
        },
        "status": {"phase": phase, "containerStatuses": containers, **status},
    }


def ended(code: int = 0, at: str = END, **more: Any) -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "startedAt": START, "finishedAt": at, **more}}


FAILED = job("Failed", reason="BackoffLimitExceeded", message="Job has reached the specified backoff limit")


def test_a_run_that_succeeded() -> None:
    status = status_of(job("Complete"), [pod(ended())], now=NOW)
    assert (status.state, status.ended_as, status.exit_code) == (JobState.ENDED, RunStatus.SUCCEEDED, 0)
    assert (status.started_at, status.ended_at) == (NOW, NOW + 3600)
    assert status.place == "node-0"


def test_a_job_whose_pods_are_gone_has_its_own_times() -> None:
    status = status_of(job("Complete"), [], now=NOW)
    assert (status.started_at, status.ended_at) == (NOW, NOW + 3600)


def test_an_exit_code_is_the_first_pods_to_fail() -> None:
    pods = [
        pod(ended(1), index=0, phase="Failed"),
        pod(ended(7, "2027-01-15T08:30:00Z", reason="Error"), index=1, phase="Failed"),
    ]
    status = status_of(FAILED, pods, now=NOW)
    assert (status.ended_as, status.exit_code) == (RunStatus.FAILED, 7)
    assert "exit code 7" in status.reason
    assert status.place == "node-0, node-1"


def test_out_of_memory_names_the_limit() -> None:
    status = status_of(FAILED, [pod(ended(137, reason="OOMKilled"), phase="Failed")], now=NOW)
    assert (status.ended_as, status.exit_code) == (RunStatus.OOM_KILLED, None)
    assert "4Gi" in status.reason


def test_one_pod_of_several_out_of_memory_is_the_cause_whoever_falls_first() -> None:
    pods = [pod(ended(1, "2027-01-15T08:30:00Z"), phase="Failed"), pod(ended(137, reason="OOMKilled"), index=1, phase="Failed")]
    assert status_of(FAILED, pods, now=NOW).ended_as is RunStatus.OOM_KILLED


@pytest.mark.parametrize(
    ("status", "ended_as"),
    [
        ({"reason": "Evicted", "message": "The node was low on resource: memory."}, RunStatus.STOPPED),
        (
            {"reason": "Evicted", "message": "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi."},
            RunStatus.FAILED,
        ),
        ({"reason": "NodeLost", "message": "Node node-0 which was running pod p-0 is unresponsive"}, RunStatus.STOPPED),
        ({"reason": "Terminated", "message": "Pod was terminated in response to imminent node shutdown."}, RunStatus.STOPPED),
        (
            {"reason": "DeadlineExceeded", "message": "Pod was active on the node longer than the specified deadline"},
            RunStatus.STOPPED,
        ),
        (
            {
                "conditions": [
                    {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "by a pod"}
                ]
            },
            RunStatus.STOPPED,
        ),
    ],
)
def test_what_ended_it_from_outside_is_told_in_the_clusters_words(status: dict[str, Any], ended_as: RunStatus) -> None:
    found = status_of(FAILED, [pod(ended(137), phase="Failed", **status)], now=NOW)
    assert found.ended_as is ended_as
    said = status.get("message") or "by a pod"
    assert said in found.reason


def test_a_pod_that_somebody_deleted_was_stopped() -> None:
    assert status_of(FAILED, [], now=NOW).ended_as is RunStatus.STOPPED
    deleted = pod(ended(143), phase="Failed")
    deleted["metadata"]["deletionTimestamp"] = END
    status = status_of(FAILED, [deleted], now=NOW)
    assert (status.ended_as, status.reason) == (RunStatus.STOPPED, "its pod was deleted")


def test_a_deadline_of_the_job() -> None:
    status = status_of(
        job("Failed", reason="DeadlineExceeded", message="Job was active longer than specified deadline"), [], now=NOW
    )
    assert status.ended_as is RunStatus.STOPPED


@pytest.mark.parametrize("reason", ["ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError", "CreateContainerError"])
def test_what_cannot_start_is_waited_for_a_while_and_then_failed(reason: str) -> None:
    stuck = [pod({"waiting": {"reason": reason, "message": 'Back-off pulling image "x:1"'}}, phase="Pending")]
    assert status_of(job(), stuck, now=NO_TIME).state is JobState.WAITING
    assert status_of(job(), stuck, now=None).state is JobState.WAITING
    status = status_of(job(), stuck, now=LATER)
    assert (status.state, status.ended_as) == (JobState.ENDED, RunStatus.FAILED)
    assert status.reason == f'{reason}: Back-off pulling image "x:1"'
    assert status.started_at is None


@pytest.mark.parametrize("reason", ["InvalidImageName", "ErrImageNeverPull"])
def test_what_no_waiting_mends_is_failed_at_once(reason: str) -> None:
    assert status_of(job(), [pod({"waiting": {"reason": reason}}, phase="Pending")], now=NOW).ended_as is RunStatus.FAILED


def test_the_time_counts_from_the_node_not_from_the_queue() -> None:
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": END}
    stuck = pod({"waiting": {"reason": "ImagePullBackOff"}}, phase="Pending", conditions=[scheduled])
    assert status_of(job(), [stuck], now=NOW + 3600 + 60).state is JobState.WAITING


def test_an_image_of_root_names_the_setting() -> None:
    message = "container has runAsNonRoot and image will run as root"
    stuck = pod({"waiting": {"reason": "CreateContainerConfigError", "message": message}}, phase="Pending")
    assert "[launch.kubernetes] user" in status_of(job(), [stuck], now=LATER).reason


def test_a_pod_without_a_node_waits_in_the_schedulers_words_however_long() -> None:
    message = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
    held = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    status = status_of(job(), [pod(phase="Pending", conditions=[held])], now=LATER + 1e6)
    assert (status.state, status.reason) == (JobState.WAITING, f"Unschedulable: {message}")


def test_a_suspended_job_waits() -> None:
    suspended = job("Suspended", message="Job suspended")
    suspended["spec"]["suspend"] = True
    assert status_of(suspended, [], now=NOW) == status_of(suspended, [], now=LATER)
    assert status_of(suspended, [], now=NOW).reason == "Job suspended"


def test_a_job_that_gets_no_pods_says_why() -> None:
    quota = {"reason": "FailedCreate", "message": "Error creating: exceeded quota: team", "firstTimestamp": START}
    policy = {
        "reason": "FailedCreate",
        "message": 'Error creating: violates PodSecurity "restricted:latest"',
        "firstTimestamp": START,
    }
    waiting = status_of(job(), [], now=LATER, events=[quota])
    assert (waiting.state, waiting.reason) == (JobState.WAITING, "Error creating: exceeded quota: team")
    assert status_of(job(), [], now=NO_TIME, events=[policy]).state is JobState.WAITING
    refused = status_of(job(), [], now=LATER, events=[policy])
    assert refused.ended_as is RunStatus.FAILED
    assert "PodSecurity" in refused.reason


def test_a_pod_that_goes_between_two_questions_was_not_denied() -> None:
    """The Job is asked for first and counts a pod; what was denied long ago is still among its events."""
    denied = {"reason": "FailedCreate", "message": "webhook is not ready", "firstTimestamp": START}
    for counted in ({"active": 1}, {"terminating": 1}, {"failed": 1}):
        assert status_of(job() | {"status": counted}, [], now=LATER, events=[denied]).state is JobState.WAITING
    assert status_of(job() | {"status": {"active": 0}}, [], now=LATER, events=[denied]).state is JobState.ENDED


def test_a_run_that_goes_on() -> None:
    running = pod({"running": {"startedAt": START}})
    status = status_of(job(), [running, pod(phase="Pending", index=1)], now=NOW)
    assert (status.state, status.started_at) == (JobState.RUNNING, NOW)
    lost = pod({"running": {"startedAt": START}}, reason="NodeLost", message="Node node-0 is unresponsive")
    assert "NodeLost" in status_of(job(), [lost], now=NOW).reason


def test_a_resize_that_waits_is_told() -> None:
    pending = {
        "type": "PodResizePending",
        "status": "True",
        "reason": "Infeasible",
        "message": "Node didn't have enough capacity: cpu",
    }
    status = status_of(job(), [pod({"running": {"startedAt": START}}, conditions=[pending])], now=NOW)
    assert "Infeasible: Node didn't have enough capacity: cpu" in status.reason


def test_what_is_on_its_way_to_the_end_is_not_over() -> None:
    for kind in ("SuccessCriteriaMet", "FailureTarget"):
        assert not finished(job(kind))
        assert status_of(job(kind), [pod(ended(), phase="Succeeded")], now=NOW).state is JobState.RUNNING


def test_a_job_that_is_being_deleted_runs_until_its_pods_are_gone() -> None:
    going = job()
    going["metadata"]["deletionTimestamp"] = END
    assert status_of(going, [pod({"running": {"startedAt": START}})], now=NOW).state is JobState.RUNNING
