"""Labelled pods that cannot be seen, or are not this workload's."""

from __future__ import annotations

import pytest

from jpo.telemetry.diagnosis.pod_labels import labelled
from jpo.telemetry.diagnosis.probes import reporting, workload

KSM = ("kube_pod_status_phase", "kube_pod_labels")
OURS = {"label_jpo_dataset": ("Digits",), "label_jpo_model": ("cnn",), "label_jpo_framework": ("pytorch",)}


def test_pods_of_the_workload_are_counted(inquiry_on):
    finding = labelled(inquiry_on(__name__=KSM, pod=("a", "b"), **OURS))
    assert (finding.status, finding.text) == ("ok", "2 pods of 'digits/cnn/pytorch' in the last 90 days")


def test_where_jobs_are_found_by_their_labels_that_they_report_nothing_is_no_fault(inquiry_on):
    inquiry = inquiry_on(__name__=KSM, pod=("a", "b"), **OURS)
    found = [reporting(inquiry), workload(inquiry)]
    assert [finding.status for finding in found] == ["ok", "ok"]
    assert found[1].text == "2 pods of 'digits/cnn/pytorch' in the last 90 days, by their labels"
    assert len(inquiry.client.asked) == len(set(inquiry.client.asked)), "nothing is asked twice"


def test_what_is_no_matter_of_labels_has_no_line(inquiry_on):
    assert labelled(inquiry_on(__name__=("container_cpu_usage_seconds_total",))).text == ""
    assert labelled(inquiry_on(__name__=(*KSM, "jpo_run_info"))).text == "", "the jobs report by themselves"


def test_the_missing_flag_is_named(inquiry_on):
    finding = labelled(inquiry_on(__name__=KSM[:1]))
    assert (finding.status, finding.code) == ("warning", "JPO-W173")
    assert "--metric-labels-allowlist=pods=[jpo-dataset,jpo-model,jpo-framework,...]" in finding.remedy
    assert labelled(inquiry_on(__name__=KSM)).code == "JPO-W172"


@pytest.mark.parametrize(
    ("labels", "text", "remedy"),
    [
        (
            {**OURS, "label_jpo_model": ("rnn",)},
            "no pod is labelled model 'cnn'; known are 'rnn'",
            "label the job's pods jpo-model: cnn",
        ),
        (
            {"label_jpo_dataset_conflict1": ("digits",)},
            "pods have two labels that become label_jpo_dataset",
            'write dataset = "label_jpo_dataset_conflict1" under [prometheus.pod_labels]',
        ),
        (OURS, "but none carries all", "label them jpo-dataset: digits, jpo-model: cnn, jpo-framework: pytorch"),
    ],
)
def test_labels_that_do_not_fit_are_named_with_those_that_do(inquiry_on, labels, text, remedy):
    finding = labelled(inquiry_on(__name__=KSM, **labels))
    assert (finding.status, finding.code) == ("warning", "JPO-W172")
    assert text in finding.text
    assert remedy in finding.remedy
