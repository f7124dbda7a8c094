"""Usage of pods, by the names that a server has for them."""

from __future__ import annotations

from jpo.errors import TelemetryError
from jpo.telemetry.prometheus.answers import AnswerRow
from jpo.telemetry.prometheus.cluster import Labelling, Pod, PodUsage, labellings, of, roles_in_order, usage, usage_queries
from jpo.telemetry.prometheus.names import METRICS, Names

POD = Pod("ml", "a")
LABELS = ("namespace", "pod", "container")


def test_without_pods_nothing_is_asked(scope_on):
    scope = scope_on(metrics=["container_memory_working_set_bytes"])
    assert labellings(scope, set()) == ()
    assert scope.client.asked == []


def test_pods_are_matched_literally_and_many_by_what_they_have_in_common(scope_on):
    few, *_ = labellings(scope_on(metrics=["x"]), {POD})
    assert few.chosen == 'namespace=~"ml",pod=~"a"'
    many, *_ = labellings(scope_on(metrics=["x"]), {Pod("ml", f"train.{i}") for i in range(100)})
    assert many.chosen == r'namespace=~"ml",pod=~"train\\..*"'


def test_where_the_index_is_closed_all_names_are_tried(scope_on):
    scope = scope_on()

    def closed(*_: object) -> tuple[str, ...]:
        raise TelemetryError("server", "no entry", code="JPO-E101")

    scope.client.label_values = closed
    assert set(METRICS["gpu_memory_mib"]) < labellings(scope, {POD})[0].metrics


def test_only_what_the_server_has_is_asked(scope_on):
    labelling = Labelling(LABELS, 'pod=~"a"', frozenset({"container_memory_working_set_bytes"}))
    asked = usage_queries(scope_on(), (labelling,))
    assert {key.split()[0] for key in asked} == {"memory_sum", "memory_count", "memory_p95", "memory_highest"}
    assert 'pod=~"a",container!="",container!="POD"' in next(iter(asked.values()))


def test_usage_is_in_jpos_units_and_the_first_exporter_counts():
    of_gpus = AnswerRow({"namespace": "ml", "pod": "a"}, ((0.0, 50.0),))
    of_container = AnswerRow({**of_gpus.labels, "container": "t"}, of_gpus.points)
    rows = [(key, of_gpus) for key in ("gpu_sum 0.01 DCGM 0", "gpu_sum 1.0 other 0", "gpu_count 1.0 DCGM 0")]
    rows.append(("cpu_seconds 1 cpu 0", of_container))
    assert usage(rows) == {POD: PodUsage({"t": {"cpu_seconds": 50.0}}, {"gpu_sum": 0.5, "gpu_count": 50.0})}


def test_counts_have_no_unit(scope_on):
    asked = usage_queries(scope_on(), (Labelling(LABELS, 'pod=~"a"', frozenset({"DCGM_FI_DEV_GPU_UTIL"})),))
    assert list(asked) == [
        "gpu_sum 0.01 DCGM_FI_DEV_GPU_UTIL 0",
        "gpu_count 1.0 DCGM_FI_DEV_GPU_UTIL 0",
        "gpus 1.0 DCGM_FI_DEV_GPU_UTIL 0",
    ]


def test_a_pod_without_a_namespace_is_found_by_its_name_if_only_one_has_it():
    assert of({POD: 1}, Pod("", "a")) == 1
    assert of({POD: 1, Pod("x", "a"): 2}, Pod("", "a")) is None
    assert of({POD: 1}, Pod("x", "a")) is None


def test_what_a_site_named_comes_first(scope_on):
    roles = {"gpu_memory_bytes": 1.0, "gpu_memory_mib": 2.0**20}
    assert roles_in_order(scope_on(), roles)[0][0] == "gpu_memory_bytes"
    site = scope_on(names=Names.of({"gpu_memory_mib": "vram"}, {}))
    assert roles_in_order(site, roles)[0][0] == "gpu_memory_mib"
