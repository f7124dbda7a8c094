"""Sources of finished runs: a real Prometheus, VictoriaMetrics and CSV logs. No secret is shown."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
import requests
from answering import Handler, refuses, served, tells
from commands.doctor.diagnosis import SECRET, configure, diagnosis

if TYPE_CHECKING:
    from user_project import Project


@pytest.fixture(scope="module")
def server(start_prometheus: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A real Prometheus that a run of digits/cnn/pytorch reported to, in a pod that cAdvisor measured."""
    folder = tmp_path_factory.mktemp("doctor")
    then = time.time() - 600
    run = 'run_id="r1",dataset="digits",model="cnn",framework="pytorch",pod="p1",namespace="ml"'
    series = (f"jpo_run_info{{{run}}}", 'container_cpu_usage_seconds_total{pod="p1"}', 'container_mem_ws{pod="p1"}')
    (folder / "lines.om").write_text("".join(f"{one} 1 {then:.3f}\n" for one in series) + "# EOF\n")
    backfill = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", folder / "lines.om", folder / "data"]
    subprocess.run(backfill, check=True, capture_output=True, timeout=60)
    return start_prometheus(folder)


def keeps_queries_out(handler: Handler) -> None:
    """Describes itself without credentials, and refuses every query."""
    refused = refuses(401, "unauthorized", f"no {handler.headers}")
    (tells({"version": "2.42.0"}) if "/status/" in handler.path else refused)(handler)


def test_the_label_that_differs_is_named(empty: Project, server: str) -> None:
    empty.config.write_text(empty.config.read_text().replace("pytorch", "torch"))
    code, found = diagnosis(empty, "config.ini", "--prometheus-url", server)
    assert (code, found["workload"]["code"]) == (0, "JPO-W142")
    assert found["workload"]["finding"] == "dataset and model match, framework 'torch' does not: known is 'pytorch'"


def test_what_prometheus_holds_is_listed_item_by_item(empty: Project, server: str) -> None:
    configure(empty, f'[prometheus]\nurl = "{server}"\n[prometheus.metrics]\ncontainer_memory_bytes = "container_mem_ws"\n')
    code, found = diagnosis(empty)
    assert (code, found["server"]["finding"].split(";")[0]) == (0, f"{server} answers")
    assert found["workload"]["finding"] == "1 run of 'digits/cnn/pytorch' in the last 90 days"
    assert found["memory"]["finding"] == "from container_mem_ws"
    assert found["pods"]["finding"] == "the runs report their pods"
    assert diagnosis(empty, "--since", "73000d")[1]["retention"]["code"] == "JPO-W143"


def test_victoria_metrics_is_examined_by_the_same_probes(
    empty: Project, start_victoria: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    url, then = start_victoria(tmp_path_factory.mktemp("doctor")), int((time.time() - 600) * 1000)
    lines = f'jpo_run_info{{run_id="r1",dataset="digits",model="cnn",framework="pytorch"}} 1 {then}\n'
    requests.post(f"{url}/api/v1/import/prometheus", lines, timeout=10)
    requests.get(f"{url}/internal/force_flush", timeout=10)
    code, found = diagnosis(empty, "--prometheus-url", url)
    assert (code, found["server"]["finding"].split(";")[0]) == (0, f"{url} answers")
    assert found["workload"]["finding"] == "1 run of 'digits/cnn/pytorch' in the last 90 days"
    assert [found[name]["status"] for name in ("clock", "retention", "CPU")] == ["ok", "unknown", "warning"]
    empty.config.write_text(empty.config.read_text().replace("pytorch", "torch"))
    assert diagnosis(empty, "--prometheus-url", url)[1]["workload"]["code"] == "JPO-W142"


def test_a_token_that_a_pipe_gives_once_is_enough(empty: Project, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    empty.config.write_text(empty.config.read_text().replace("pytorch", "torch"))
    for command in (["doctor"], ["suggest", "--dry-run"]):
        reading, writing = os.pipe()
        os.write(writing, SECRET.encode())
        os.close(writing)
        monkeypatch.setenv("PROMETHEUS_URL", server)
        monkeypatch.setenv("JPO_PROMETHEUS__AUTH__TOKEN_FILE", f"/dev/fd/{reading}")
        configure(empty, '[prometheus]\nauth = { type = "bearer" }\n')
        answer = empty.jpo(*command, "-o", "json")
        os.close(reading)
        assert (answer.code, "JPO-W142" in answer.out) == (0, True), answer


def test_offline_asks_no_server(empty: Project) -> None:
    code, found = diagnosis(empty, "--offline", "--prometheus-url", "http://127.0.0.1:9")
    assert (code, found["server"]["status"], found["server"]["finding"]) == (0, "unknown", "not asked: --offline")


def test_impossible_names_are_reported_offline_too(empty: Project) -> None:
    configure(empty, '[prometheus]\nurl = "http://p"\n[prometheus.metrics]\ngpu_temperature = "x"\n')
    code, found = diagnosis(empty, "--offline")
    assert (code, found["access"]["code"]) == (2, "JPO-E302")


def test_a_wrong_password_is_a_problem_and_shown_nowhere(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(keeps_queries_out) as gate:
        monkeypatch.setenv("JPO_PROMETHEUS__AUTH__PASSWORD", SECRET)
        monkeypatch.setenv("JPO_PROMETHEUS__HEADERS__X_SCOPE", SECRET)
        monkeypatch.setenv("PROMETHEUS_URL", gate.url)
        configure(empty, '[prometheus]\nauth = { type = "basic", username = "jpo" }\n')
        code, found = diagnosis(empty)
        texts = [empty.jpo("doctor"), empty.jpo("doctor", "-o", "json")]
    assert (code, found["server"]["code"]) == (4, "JPO-E101")
    assert SECRET not in "".join(one.out + one.err for one in texts)


@pytest.mark.parametrize(
    ("table", "finding"),
    [
        ('url = "http://prometheus.example:9"\nauth = {type = "bearer", token_file = "token"}', "a bearer token over http://"),
        ('url = "https://prometheus.example"\ninsecure = true', "any certificate is trusted"),
    ],
)
def test_credentials_in_the_open_are_a_warning(empty: Project, table: str, finding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPO_SECRETS_TO", "http://prometheus.example:9")
    (empty.folder / "token").write_text(SECRET)
    configure(empty, f"[prometheus]\n{table}\n")
    access = diagnosis(empty, "--offline")[1]["access"]
    assert access["code"] == "JPO-W147"
    assert finding in access["finding"]


def test_no_source_of_runs_at_all_is_a_warning(empty: Project) -> None:
    configure(empty, "")
    source = diagnosis(empty)[1]["source"]
    assert source["code"] == "JPO-W148"
    assert '`with RunLog(dataset="digits", model="cnn", framework="pytorch", parameters={...}' in source["next_step"]


def test_logs_that_are_missing_or_cannot_be_read_are_named(empty: Project) -> None:
    configure(empty, '[csv]\nlogs = ["runs/*.csv"]\n')
    assert diagnosis(empty)[1]["logs"]["finding"] == "runs/*.csv matches no file"
    empty.log(1, 16, 100.0)
    (empty.folder / "runs" / "bad.csv").write_text("hello\n")
    logs = diagnosis(empty)[1]["logs"]
    assert logs["code"] == "JPO-W148"
    assert "2 files, 1 finished run, 1 of this workload; 1 cannot be read: " in logs["finding"]


def test_logs_of_other_workloads_alone_and_runs_that_all_failed_are_warnings(empty: Project) -> None:
    configure(empty, '[csv]\nlogs = ["runs/*.csv"]\n')
    empty.log(1, 16, 100.0)
    log = empty.folder / "runs" / "run-1.csv"
    well = log.read_text()
    assert diagnosis(empty)[1]["logs"]["status"] == "ok"
    log.write_text(re.sub(r"# model=\S+", "# model=another", well))
    logs = diagnosis(empty)[1]["logs"]
    assert (logs["status"], logs["code"]) == ("warning", "JPO-W142")
    assert re.search(r"1 finished run, 0 of this workload, but of \S+/another/\S+$", logs["finding"])
    log.write_text(well.replace("status=succeeded", "status=failed"))
    logs = diagnosis(empty)[1]["logs"]
    assert (logs["status"], logs["code"]) == ("warning", "JPO-W148")
    assert logs["finding"].endswith("1 of this workload, and none ended well")


def test_logs_in_milliseconds_or_that_end_before_they_start_are_named(empty: Project) -> None:
    configure(empty, '[csv]\nlogs = ["runs/*.csv"]\n')
    empty.log(1, 16, 100.0)
    empty.log(2, 16, -100.0)
    for number in (3, 4):
        empty.log(number, 16, 1e5, start=1.7e12 + 1e6 * number)
    checks = json.loads(empty.jpo("doctor", "-o", "json").out)["checks"]
    doubts = {check["code"]: check["finding"] for check in checks if check["name"] == "in the logs"}
    assert doubts.keys() >= {"JPO-W123", "JPO-W126"}
    assert "run-2.csv: it ends before it starts" in doubts["JPO-W123"]
    assert doubts["JPO-W126"].startswith("2 runs with times in another unit than seconds, the first: ")


def test_suggest_names_the_cause_of_an_empty_answer_in_one_line(empty: Project, server: str) -> None:
    empty.config.write_text(empty.config.read_text().replace("pytorch", "torch"))
    answer = empty.jpo("suggest", "config.ini", "--dry-run", "-o", "json", "--prometheus-url", server)
    told = json.loads(answer.out)
    assert "JPO-W142" in told["reason_codes"]
    (note,) = told["evidence"]["notes"]
    assert "framework 'torch' does not: known is 'pytorch'" in note
    assert "\n" not in note
