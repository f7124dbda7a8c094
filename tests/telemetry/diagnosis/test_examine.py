"""All probes of a server: what the cluster measures."""

from __future__ import annotations

import pytest

from jpo.telemetry.diagnosis.examine import joinable, measured, pod_state, rules

MEMORY = "container_memory_working_set_bytes"


@pytest.mark.parametrize("metric", ["jpo_cpu_seconds_total", "container_cpu_usage_seconds_total"])
def test_cpu_may_be_measured_by_the_job_or_by_the_cluster(inquiry_on, metric):
    finding = measured("CPU", inquiry_on(__name__=[metric]))
    assert (finding.status, finding.text) == ("ok", f"from {metric}")


def test_what_nothing_measures_is_left_out(inquiry_on):
    finding = measured("memory", inquiry_on(__name__=["up"]))
    assert (finding.code, finding.text.endswith("so it is left out")) == ("JPO-W145", True)


@pytest.mark.parametrize(
    ("labels", "status", "code"),
    [
        ({}, "unknown", None),
        ({"run_id": ["r"], "gpus": ["0"]}, "ok", None),
        ({"run_id": ["r"], "gpus": ["0", "2"]}, "warning", "JPO-W145"),
    ],
)
def test_gpus_need_measuring_only_where_a_run_has_them(inquiry_on, labels, status, code):
    finding = measured("energy", inquiry_on(__name__=["up"], **labels))
    assert (finding.status, finding.code) == (status, code)


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ({}, "nothing to join"),
        ({"run_id": ["r"], "exported_pod": ["p"]}, "the runs report their pods"),
        ({"run_id": ["r"]}, f"jpo_run_info has no label pod or exported_pod, so {MEMORY} belongs to no run"),
    ],
)
def test_pods_are_joined_by_a_label_of_the_runs(inquiry_on, labels, text):
    assert joinable(inquiry_on(__name__=[MEMORY], **labels)).text == text


def test_how_pods_ended_matters_only_where_there_are_pods(inquiry_on):
    assert pod_state(inquiry_on(__name__=["up"])).text == "no pods"
    assert pod_state(inquiry_on(__name__=["container_cpu_usage_seconds_total"])).code == "JPO-W145"
    assert pod_state(inquiry_on(__name__=["kube_pod_status_phase"])).text == "from kube_pod_status_phase"


def test_recording_rules_are_counted(inquiry_on):
    assert rules(inquiry_on(__name__=["jpo:a", "jpo:b", "jpo_run_info"])).text == "2 in use"
    assert rules(inquiry_on(__name__=["jpo_run_info"])).text == "none in use; they are optional"
