"""Probes against real servers whose answer is empty for a known reason."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from answering import now, sends, served, tells

from jpo.http.endpoint import Endpoint
from jpo.records import Identity
from jpo.telemetry.diagnosis.examine import examine
from jpo.telemetry.diagnosis.inquiry import Inquiry
from jpo.telemetry.diagnosis.probes import seconds_kept, why_empty, workload
from jpo.telemetry.prometheus.client import Client
from jpo.telemetry.prometheus.names import Names

DAY = 86400.0
LONG = "ü☂" * 2000
LINES = {
    'jpo_run_info{run_id="a1",dataset="digits",model="cnn",framework="pytorch",gpus="2"}': 1,
    'jpo_run_info{run_id="a2",dataset="digits",model="cnn",framework="pytorch",gpus="2",pod="a2-pod"}': 1,
    'jpo_run_info{run_id="b1",dataset="digits",model="cnn",framework="tensorflow",gpus="0"}': 1,
    'jpo_run_info{run_id="c1",dataset="digits",model="mlp",framework="jax",gpus="1"}': 1,
    f'jpo_run_info{{run_id="d1",dataset="{LONG}",model="cnn",framework="pytorch"}}': 1,
    'container_cpu_usage_seconds_total{pod="a2-pod"}': 7,
    'k8s_container_mem_ws{pod="a2-pod"}': 2**30,
    'container_memory_rss{pod="a2-pod"}': 2**30,
    "process_resident_memory_bytes": 2**20,
}


def serve(start_prometheus, folder: Path, lines: dict[str, float]) -> Endpoint:
    """A Prometheus which scraped these series a quarter of an hour ago."""
    then = time.time() - 900
    text = "".join(f"{series} {value} {then + 15 * i:.3f}\n" for series, value in lines.items() for i in range(3))
    (folder / "lines.om").write_text(f"{text}# EOF\n", encoding="utf-8")
    backfill = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", folder / "lines.om", folder / "data"]
    subprocess.run(backfill, check=True, capture_output=True, timeout=60)
    return Endpoint(start_prometheus(folder), timeout_seconds=30)


@pytest.fixture(scope="module")
def source(start_prometheus, tmp_path_factory) -> Endpoint:
    return serve(start_prometheus, tmp_path_factory.mktemp("probes"), LINES)


@pytest.fixture(scope="module")
def renamed(start_prometheus, tmp_path_factory) -> Endpoint:
    lines = {'ml_jpo_run_info{set="digits",model="cnn",framework="pytorch",run_id="a"}': 1, "jpo_runs": 1, "jpo_run_status": 1}
    return serve(start_prometheus, tmp_path_factory.mktemp("renamed"), lines)


@pytest.fixture(scope="module")
def empty(start_prometheus, tmp_path_factory) -> Endpoint:
    return Endpoint(start_prometheus(tmp_path_factory.mktemp("empty")), timeout_seconds=30)


def cause(source, dataset="digits", model="cnn", framework="pytorch", *, names=None, later=0.0, days=90.0):
    until = time.time() + later
    identity = Identity(dataset, model, framework)
    return why_empty(source, identity, since=until - days * DAY, until=until, names=names or Names())


def all_found(source, model="cnn", framework="pytorch", *, later=0.0, days=90.0):
    until = time.time() + later
    return examine(source, Identity("digits", model, framework), since=until - days * DAY, until=until, names=Names())


def test_a_workload_that_reports_has_no_run_that_is_over(source):
    found = cause(source)
    assert found.text == "2 runs of 'digits/cnn/pytorch' in the last 90 days, none of them over and whole"
    assert (found.remedy, found.code) == ("wait for the end of one", "JPO-I141")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"framework": "torch"}, "dataset and model match, framework 'torch' does not: known are 'pytorch', 'tensorflow'"),
        ({"model": "CN"}, "dataset matches, model 'CN' does not: known are 'cnn', 'mlp'"),
        ({"model": "mlp"}, "dataset and model match, framework 'pytorch' does not: known is 'jax'"),
        ({"dataset": "Digit"}, f"dataset 'Digit' does not match: known are 'digits', '{LONG[:48]}…'"),
    ],
)
def test_the_label_that_differs_is_named_with_its_known_values_nearest_first(source, given, text):
    found = cause(source, **given)
    assert (found.code, found.text) == ("JPO-W142", text)


@pytest.mark.parametrize("value", ['x"} or vector(1) #', "back\\", "line\nbreak", LONG + "x", "'", "{}", "\x00\u202e"])
def test_hostile_values_are_only_values(source, value):
    found = cause(source, framework=value)
    assert found.code == "JPO-W142"
    line = f"{found.text}; {found.remedy}"
    assert line.isprintable()
    assert len(line) < 400


def test_a_renamed_metric_is_found_and_the_line_for_jpo_toml_cures_it(renamed):
    found = cause(renamed)
    assert found.text.endswith("similar names: ml_jpo_run_info, jpo_runs")
    assert 'jpo_run_info = "ml_jpo_run_info" under [prometheus.metrics]' in found.remedy
    names = Names.of({"jpo_run_info": "ml_jpo_run_info"}, {"dataset": "set"})
    assert cause(renamed, names=names).code == "JPO-I141"
    assert cause(renamed, model="mlp", names=names).code == "JPO-W142"


def test_a_label_that_no_run_has_is_distinguished_from_a_value_that_differs(renamed):
    found = cause(renamed, names=Names.of({"jpo_run_info": "ml_jpo_run_info"}, {}))
    assert found.text == "runs are reported without a label dataset"


def test_an_empty_server_says_so(empty):
    found = cause(empty)
    assert (found.code, found.text) == ("JPO-W141", "the server has no data of the last 90 days")


def test_clocks_that_differ_are_named_after_what_is_likelier(empty, source):
    assert cause(empty, later=-600).code == "JPO-W141"
    assert cause(source, later=3600).code == "JPO-W140"
    clock = all_found(empty, later=-600)["clock"]
    assert (clock.code, clock.text) == ("JPO-W140", "the server's clock is 10m ahead of ours")
    assert all_found(empty, later=7200)["clock"].text == "the server's clock is 2h behind ours"


def test_time_that_passed_since_the_look_began_is_no_difference_of_clocks(empty):
    with Client(empty) as client:
        inquiry = Inquiry(client, None, 0.0, time.time(), Names())
        time.sleep(1)
        assert abs(inquiry.clock_offset_seconds) < 0.7


def test_a_label_that_differs_is_the_cause_regardless_of_the_clock(source):
    assert cause(source, framework="torch", later=3600).code == "JPO-W142"


def test_a_retention_shorter_than_the_window_is_named_after_what_is_likelier(empty, source):
    assert cause(source, days=200 * 365.0).code == "JPO-I141"
    assert cause(empty, days=200 * 365.0).code == "JPO-W141"
    found = all_found(empty, days=200 * 365.0)["retention"]
    assert (found.code, found.text) == ("JPO-W143", "the server keeps 36500 days, and JPO reads the last 73000 days")


def test_what_is_measured_is_named_and_what_was_renamed_is_found(source):
    found = all_found(source)
    assert found["workload"].text == "2 runs of 'digits/cnn/pytorch' in the last 90 days"
    assert (found["CPU"].status, found["CPU"].text) == ("ok", "from container_cpu_usage_seconds_total")
    assert found["memory"].text.endswith(
        "no metric container_memory_working_set_bytes in the last 90 days; similar names: k8s_container_mem_ws"
    )
    assert 'container_memory_bytes = "k8s_container_mem_ws"' in found["memory"].remedy
    assert [found[name].code for name in ("GPU", "energy", "pods", "pod state")] == ["JPO-W145", "JPO-W145", None, "JPO-W145"]


def test_gpus_need_not_be_measured_where_no_run_has_any(source):
    found = all_found(source, framework="tensorflow")
    assert {found[name].status for name in ("GPU", "GPU memory", "energy")} == {"ok"}


def test_runs_that_do_not_tell_their_pod_cannot_be_joined(source):
    assert all_found(source, model="mlp", framework="jax")["pods"].code == "JPO-W146"


def test_the_probes_of_an_empty_answer_take_five_requests(source):
    now = time.time()
    with Client(source) as client:
        inquiry = Inquiry(client, Identity("digits", "cnn", "torch"), now - 90 * DAY, now, Names())
        assert workload(inquiry).code == "JPO-W142"
        assert client.session.requests == 5


def test_a_server_that_is_down_is_the_only_finding_and_is_asked_once():
    down = Endpoint("http://127.0.0.1:9", timeout_seconds=5)
    assert cause(down) is None
    found = all_found(down)
    assert [(name, one.status, one.code) for name, one in found.items()] == [("server", "problem", "JPO-E102")]


def narrow(handler):
    """A proxy that lets queries through, with a warning, and keeps everything else to itself."""
    told = tells(now(time.time()), warnings=["store-2 is down"])
    (told if "/query" in handler.path else sends(b"<html>", 403, "text/html"))(handler)


def hanging(handler):
    if "/query" not in handler.path:
        handler.server.over.wait(10)
    narrow(handler)


def test_what_a_server_does_not_tell_is_unknown_and_a_partial_answer_is_said():
    with served(narrow) as server:
        found = all_found(Endpoint(server.url))
        assert cause(Endpoint(server.url)) is None
    assert [found[name].status for name in ("server", "clock", "retention", "reports", "CPU")] == ["ok", "ok", *["unknown"] * 3]
    assert (found["reports"].code, found["completeness"].code) == ("JPO-E101", "JPO-E113")
    assert found["completeness"].text.endswith("store-2 is down")


def test_all_probes_together_keep_to_one_deadline():
    with served(hanging) as server:
        began = time.monotonic()
        found = all_found(Endpoint(server.url, timeout_seconds=3.0))
        assert time.monotonic() - began < 4.5
    assert [found[name].status for name in ("server", "clock", "reports")] == ["ok", "ok", "unknown"]
    assert found["reports"].code == "JPO-E103"


@pytest.mark.parametrize(
    ("told", "days"),
    [("15d", 15), ("100y", 36500), ("1w12h", 7.5), ("15d or 512MiB", 15), ("512MiB", None), ("", None), ("∞", None)],
)
def test_prometheus_words_for_its_retention_are_understood(told, days):
    assert seconds_kept(told) == (None if days is None else days * DAY)
