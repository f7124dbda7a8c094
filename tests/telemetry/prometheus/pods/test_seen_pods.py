"""Which labelled pods are asked about."""

from __future__ import annotations

from dataclasses import replace

from jpo.telemetry.prometheus.cluster import Pod
from jpo.telemetry.prometheus.pods.seen_pods import OPEN, SEEN, PodId, asked, pods_of

OURS = {"label_jpo_dataset": "digits", "label_jpo_model": "cnn", "label_jpo_framework": "pytorch"}


def test_pods_that_completed_up_to_the_watermark_are_left_out_by_the_server(scope_on):
    assert "kube_pod_completion_time" not in asked(scope_on(), "[1d]")[SEEN], "at first contact there is none"
    assert "(kube_pod_completion_time offset 9500s <= 500.000)" in asked(scope_on(mark=500.0), "[1d]")[SEEN]


def test_nothing_is_asked_where_runs_are_looked_for_by_their_ids(scope_on):
    assert asked(replace(scope_on(), run_ids=("r",)), "[1d]") == {}


def test_rows_of_a_pair_of_servers_are_one_pod_and_those_of_other_workloads_none(scope_on):
    rows = [(SEEN, {**OURS, "namespace": "ml", "pod": "p", "uid": uid, "replica": replica}) for uid in "uv" for replica in "ab"]
    rows.append((SEEN, {**OURS, "label_jpo_model": "cnn2", "pod": "q"}))
    rows.append((OPEN, {**OURS, "pod": "r"}))
    assert set(pods_of(rows, scope_on(), (SEEN,))) == {PodId(Pod("ml", "p"), uid) for uid in "uv"}
