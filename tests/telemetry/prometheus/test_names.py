"""The names of metrics and labels: defaults, overrides, and what is refused before it could reach a query."""

from __future__ import annotations

import pytest

from jpo.errors import UsageError
from jpo.telemetry.outcome import Own
from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.names import LABELS, METRICS, Names


def test_a_role_has_its_default_names_until_a_site_renames_it():
    assert Names().metric("container_cpu_seconds_total") == "container_cpu_usage_seconds_total"
    assert Names().alternatives("gpu_utilisation_percent")[0] == "DCGM_FI_DEV_GPU_UTIL"
    renamed = Names.of({"gpu_utilisation_percent": "busy"}, {"pod": "k8s_pod"})
    assert renamed.alternatives("gpu_utilisation_percent") == ("busy",)
    assert renamed.labelled("pod") == ("k8s_pod",)


def test_places_go_together_as_scraped_with_and_without_honor_labels():
    assert Names().pod_labels() == (
        ("namespace", "pod", "container"),
        ("exported_namespace", "exported_pod", "exported_container"),
    )
    assert Names.of({}, {"pod": "p", "namespace": "n", "container": "c"}).pod_labels() == (("n", "p", "c"),)


def test_the_exported_pod_is_the_workloads():
    labels = {"pod": "dcgm-exporter", "exported_pod": "train-1", "Hostname": "n1", "other": "x"}
    assert Names().roles(labels) == {"pod": "train-1", "node": "n1"}
    assert Names.of({}, {"pod": "k8s_pod"}).roles({"pod": "x", "k8s_pod": "y"}) == {"pod": "y"}


@pytest.mark.parametrize(
    ("metrics", "labels", "nearest"),
    [
        ({"gpu_util_percent": "x"}, {}, "gpu_utilisation_percent"),
        ({"jpo_sample_total": "x"}, {}, "jpo_samples_total"),
        ({}, {"pods": "x"}, "pod"),
        ({"": "x"}, {}, "jpo_run_info"),
        ({"x\n" * 999: "x"}, {}, "jpo_run_info"),
    ],
)
def test_an_unknown_role_is_refused_with_the_nearest(metrics, labels, nearest):
    with pytest.raises(UsageError, match=f"the nearest is {nearest};") as caught:
        Names.of(metrics, labels)
    assert caught.value.code == "JPO-E302"
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["", "a b", "a{", 'x"} or vector(1) or y{a="', "a-b", "1a", "ä", "a\n"])
def test_what_cannot_be_a_name_never_reaches_a_query(name):
    for metrics, labels in (({"jpo_epoch": name}, {}), ({}, {"pod": name})):
        with pytest.raises(UsageError) as caught:
            Names.of(metrics, labels)
        assert caught.value.code == "JPO-E302"
        assert str(caught.value).isprintable()


def test_colons_belong_to_metrics_only():
    assert Names.of({"recorded_cpu_cores": "a:b"}, {}).metric("recorded_cpu_cores") == "a:b"
    with pytest.raises(UsageError):
        Names.of({}, {"pod": "a:b"})


def test_an_empty_container_is_refused():
    with pytest.raises(UsageError, match="container"):
        Names.of({}, {}, " ")


def test_every_default_is_a_name_itself():
    for role, names in METRICS.items():
        for name in names:
            assert Names.of({role: name}, {}).metric(role) == name
    for role, names in LABELS.items():
        for name in names:
            assert Names.of({}, {role: name}).label(role) == name


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("app.kubernetes.io/name", "label_app_kubernetes_io_name"),
        ("jpo-batch-size", "label_jpo_batch_size"),
        ("example.com/batchSize", "label_example_com_batch_size"),
        ("label_jpo_dataset_conflict1", "label_jpo_dataset_conflict1"),
        ("annotation_batch", "annotation_batch"),
    ],
)
def test_labels_of_pods_are_named_as_kubernetes_or_as_prometheus_has_them(key, name):
    assert Names.of({}, {}, None, {"dataset": key}).pod_label("dataset") == name
    assert Names().pod_label("learning_rate") == "label_jpo_learning_rate"


@pytest.mark.parametrize("labels", [{"dateset": "x"}, {"dataset": ""}, {"dataset": "label_größe"}])
def test_labels_of_pods_that_cannot_be_are_refused(labels):
    with pytest.raises(UsageError) as caught:
        Names.of({}, {}, None, labels)
    assert (caught.value.place, caught.value.code) == ("[prometheus.pod_labels]", "JPO-E302")


def test_the_names_of_frameworks_are_labels_of_a_runs_configuration():
    labels = {"run_id": "a", "per_device_train_batch_size": "8", "accumulate_grad_batches": "2", "nnodes": "2"}
    assert Names().roles(labels) == {
        "run_id": "a",
        "batch_size_per_device": "8",
        "gradient_accumulation_steps": "2",
        "nodes": "2",
    }
    assert "per_device_train_batch_size" in queries.descriptions(Names(), "", "[1h]")["info"]


def test_a_label_may_be_called_what_config_ini_calls_the_parameter():
    names = Names(own=Own(spelt={"learning_rate": ("lr",)}))
    assert names.roles({"lr": "0.1"}) == {"learning_rate": "0.1"}
    assert names.roles({"lr": "0.1", "learning_rate": "0.2"}) == {"learning_rate": "0.2"}
    assert "lr, learning_rate" in queries.descriptions(names, "", "[1h]")["info"]
