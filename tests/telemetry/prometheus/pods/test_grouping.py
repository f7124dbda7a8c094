"""Which pods are one run, and how it ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jpo.records import RunStatus
from jpo.telemetry.prometheus.cluster import Pod
from jpo.telemetry.prometheus.pods.grouping import LabelledPod, runs_of, trainer
from jpo.telemetry.prometheus.pods.kube_state import PodLife
from jpo.telemetry.prometheus.pods.seen_pods import PodId


def pod(name="p", start=0.0, end=100.0, *, owner=("Job", "j"), phase="Succeeded", run_id=None, reason="", created=None):
    life = PodLife(created_at=created, phases={phase} if phase else set(), owner=owner)
    if reason:
        life.terminated["trainer"] = {reason}
    return LabelledPod(PodId(Pod("ml", name), name), life, {}, run_id, "trainer", start, end, end_seen=bool(phase or reason))


def test_attempts_of_a_job_are_one_run_if_the_next_was_made_soon_after_a_failed_one():
    waited = pod("b", 9000.0, 9100.0, created=130.0)
    (run,) = runs_of([pod("a", phase="Failed"), waited])
    assert (run.status, run.started_at, run.ended_at) == (RunStatus.SUCCEEDED, 0.0, 9100.0)
    assert len(list(runs_of([pod("a"), waited]))) == 2, "a job that succeeded is not tried again"
    assert len(list(runs_of([pod("a", phase="Failed"), pod("b", 9000.0, 9100.0, created=8000.0)]))) == 2


def test_a_run_goes_on_while_one_of_its_pods_does():
    (run,) = runs_of([pod("a"), pod("b", 1.0, None, phase=None)])
    assert run.ended_at is None


def test_workers_that_nobody_saw_to_end_do_not_hide_how_the_master_did():
    (run,) = runs_of([pod("master"), pod("worker", 1.0, 99.0, phase=None)])
    assert run.status is RunStatus.SUCCEEDED
    (run,) = runs_of([pod("master"), pod("worker", 1.0, 99.0, phase="Failed", reason="OOMKilled")])
    assert run.status is RunStatus.OOM_KILLED


def test_a_container_that_ran_out_of_memory_and_then_succeeded_was_started_again():
    (run,) = runs_of([pod(reason="OOMKilled")])
    assert run.status is RunStatus.SUCCEEDED
    (run,) = runs_of([pod(phase="Failed", reason="Completed")])
    assert run.status is RunStatus.SUCCEEDED, "a sidecar failed, not the trainer"


def test_a_job_of_one_name_in_two_namespaces_or_clusters_is_two_runs() -> None:
    here, there = pod("a"), pod("b")
    ours = replace(there, id=PodId(Pod("prod", "b"), "b"))
    assert {run.run_id for run in runs_of([here, ours])} == {"j@ml-19700101T000000", "j@prod-19700101T000000"}
    clusters = [replace(each, labels={"cluster": name}) for each, name in ((here, "east"), (there, "west"))]
    assert {run.run_id for run in runs_of(clusters)} == {"j@east/ml-19700101T000000", "j@west/ml-19700101T000000"}


def test_services_are_no_runs():
    assert list(runs_of([pod(owner=("ReplicaSet", "r")), pod(owner=("DaemonSet", "d"))])) == []


def test_pods_without_a_job_are_runs_of_their_own():
    assert [run.run_id for run in runs_of([pod("a", owner=("<none>", "")), pod("b", owner=("Workflow", "w"))])] == [
        "a@ml-19700101T000000",
        "b@ml-19700101T000000",
    ]


@pytest.mark.parametrize(
    ("requests", "busy", "named", "expected"),
    [
        ({}, {"trainer": 10.0, "proxy": 1.0}, None, "trainer"),
        ({"trainer": {"cpu": 1.0}, "proxy": {"cpu": 1.0}}, {"fetch-data": 99.0, "trainer": 10.0}, None, "trainer"),
        ({"trainer": {"nvidia_com_gpu": 1.0}, "proxy": {"cpu": 1.0}}, {"proxy": 99.0}, None, "trainer"),
        ({"a": {"nvidia_com_mig_1g_5gb": 1.0}, "b": {}}, {"b": 99.0}, None, "a"),
        ({"trainer": {}}, {}, "main", "main"),
        ({}, {}, None, None),
    ],
)
def test_the_trainer_is_named_or_has_the_gpus_or_is_the_busiest(requests, busy, named, expected):
    assert trainer(PodLife(requests=requests), busy, named) == expected
