"""What probes query."""

from __future__ import annotations

from dataclasses import replace


def test_the_index_of_names_is_asked_once(inquiry_on):
    inquiry = inquiry_on(__name__=["jpo_run_info"])
    assert inquiry.existing("jpo_run_info", "pod_phase") == ["jpo_run_info"] == inquiry.existing("jpo_run_info")
    assert inquiry.client.asked == [("__name__", None)]


def test_the_workloads_reports_are_selected_by_its_identity(inquiry_on):
    inquiry = inquiry_on()
    assert inquiry.workload_selector == 'jpo_run_info{dataset="digits",model="cnn",framework="pytorch"}'
    assert replace(inquiry, identity=None).workload_selector == "jpo_run_info{}"


def test_a_similar_metric_is_shown_with_the_line_for_jpo_toml(inquiry_on):
    finding = inquiry_on(__name__=["k8s_container_mem_ws", "up"]).renamed("container_memory_bytes")
    assert finding.text == "no metric container_memory_working_set_bytes in the last 90 days; similar names: k8s_container_mem_ws"
    assert finding.remedy == 'if that is it, write container_memory_bytes = "k8s_container_mem_ws" under [prometheus.metrics]'


def test_a_metric_that_plays_another_role_is_not_the_missing_one(inquiry_on):
    assert inquiry_on(__name__=["jpo_val_loss"]).renamed("jpo_train_loss") is None
