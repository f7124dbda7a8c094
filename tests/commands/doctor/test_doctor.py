"""`jpo doctor` on healthy and on broken surroundings: each thing on its own line, nothing written, no secret told."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests
from answering import Handler, refuses, served, tells

if TYPE_CHECKING:
    from conftest import Project

SECRET = "s3cret-of-the-test"


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
    """Tells of itself to everybody, and answers queries to nobody."""
    refused = refuses(401, "unauthorized", f"no {handler.headers}")
    (tells({"version": "2.42.0"}) if "/status/" in handler.path else refused)(handler)


def configure(project: Project, text: str) -> None:
    (project.folder / "jpo.toml").write_text(text)


def diagnosis(project: Project, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the checks by name (the last one of each)."""
    answer = project.jpo("doctor", "-o", "json", *arguments)
    document = json.loads(answer.out)
    assert (document["schema_version"], document["exit_code"]) == (1, answer.code)
    return answer.code, {check["name"]: check for check in document["checks"]}


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_healthy_surroundings_are_all_ok_and_nothing_is_written(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    before = everything_in(project.folder)
    code, found = diagnosis(project)
    assert everything_in(project.folder) == before
    assert (code, {check["status"] for check in found.values()}) == (0, {"ok"})
    assert found["logs"]["finding"] == "runs/*.csv: 7 files, 7 finished runs, 7 of this workload"
    assert "7 runs of digits/cnn/pytorch, the newest ended" in found["record"]["finding"]
    assert "9 records, chain intact, head " in found["audit log"]["finding"]


def test_before_the_first_run_no_store_is_made(empty: Project) -> None:
    code, found = diagnosis(empty)
    assert (code, found["place"]["status"]) == (0, "ok")
    assert not (empty.folder / ".jpo").exists()


def test_an_empty_store_stays_empty(empty: Project) -> None:
    (empty.folder / ".jpo").mkdir()
    (empty.folder / ".jpo" / "jpo.db").touch()
    before = everything_in(empty.folder)
    assert diagnosis(empty)[1]["record"]["finding"] == "opens; no run of digits/cnn/pytorch on record"
    assert everything_in(empty.folder) == before


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_report_fits_the_terminal_and_sums_up(empty: Project, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr("jpo.cli.output.width", lambda: width)
    lines = empty.jpo("doctor").out.split("\n")
    assert max(map(len, lines)) <= width
    assert lines[0] == "Installation"
    assert lines[-2] == "1 warning, 16 ok"


def test_the_label_that_differs_is_named(empty: Project, server: str) -> None:
    empty.config.write_text(empty.config.read_text().replace("pytorch", "torch"))
    code, found = diagnosis(empty, "config.ini", "--prometheus-url", server)
    assert (code, found["workload"]["code"]) == (0, "JPO-W142")
    assert found["workload"]["finding"] == "dataset and model match, framework 'torch' does not: known is 'pytorch'"


def test_what_prometheus_holds_is_told_thing_by_thing(empty: Project, server: str) -> None:
    configure(empty, f'[prometheus]\nurl = "{server}"\n[prometheus.metrics]\ncontainer_memory_bytes = "container_mem_ws"\n')
    code, found = diagnosis(empty)
    assert (code, found["server"]["finding"].split(";")[0]) == (0, f"{server} answers")
    assert found["workload"]["finding"] == "1 run of 'digits/cnn/pytorch' in the last 90 days"
    assert found["memory"]["finding"] == "from container_mem_ws"
    assert found["pods"]["finding"] == "the runs report their pods"
    assert diagnosis(empty, "--since", "73000d")[1]["retention"]["code"] == "JPO-W143"


def test_victoria_metrics_is_told_by_the_same_probes(
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


def test_a_token_that_a_pipe_gives_once_is_enough(empty: Project, server: str) -> None:
    empty.config.write_text(empty.config.read_text().replace("pytorch", "torch"))
    for command in (["doctor"], ["suggest", "--dry-run"]):
        reading, writing = os.pipe()
        os.write(writing, SECRET.encode())
        os.close(writing)
        configure(empty, f'[prometheus]\nurl = "{server}"\nauth = {{ type = "bearer", token_file = "/dev/fd/{reading}" }}\n')
        answer = empty.jpo(*command, "-o", "json")
        os.close(reading)
        assert (answer.code, "JPO-W142" in answer.out) == (0, True), answer


def test_offline_asks_no_server(empty: Project) -> None:
    code, found = diagnosis(empty, "--offline", "--prometheus-url", "http://127.0.0.1:9")
    assert (code, found["server"]["status"], found["server"]["finding"]) == (0, "unknown", "not asked: --offline")


def test_a_server_that_is_down_ends_with_4_after_all_other_checks(project: Project) -> None:
    project.jpo("observe")
    code, found = diagnosis(project, "--prometheus-url", "http://127.0.0.1:9")
    assert (code, found["server"]["status"], found["server"]["code"]) == (4, "problem", "JPO-E102")
    assert found["logs"]["status"] == found["audit log"]["status"] == "ok"


def test_names_that_cannot_be_are_told_offline_too(empty: Project) -> None:
    configure(empty, '[prometheus]\nurl = "http://p"\n[prometheus.metrics]\ngpu_temperature = "x"\n')
    code, found = diagnosis(empty, "--offline")
    assert (code, found["access"]["code"]) == (2, "JPO-E302")


def test_a_wrong_password_is_a_problem_and_told_nowhere(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(keeps_queries_out) as gate:
        monkeypatch.setenv("JPO_PROMETHEUS__AUTH__PASSWORD", SECRET)
        monkeypatch.setenv("JPO_PROMETHEUS__HEADERS__X_SCOPE", SECRET)
        configure(empty, f'[prometheus]\nurl = "{gate.url}"\nauth = {{ type = "basic", username = "jpo" }}\n')
        code, found = diagnosis(empty)
        texts = [empty.jpo("doctor"), empty.jpo("doctor", "-o", "json")]
    assert (code, found["server"]["code"]) == (4, "JPO-E101")
    assert SECRET not in "".join(one.out + one.err for one in texts)


def test_a_broken_jpo_toml_ends_with_2_and_is_told_once(project: Project) -> None:
    configure(project, "[parameters]\nbatch_sice = { min = 8 }\n")
    code, found = diagnosis(project)
    assert (code, found["settings"]["code"], found["settings"]["status"]) == (2, "JPO-E302", "problem")
    assert [name for name, one in found.items() if one["status"] == "problem"] == ["settings"]
    assert found["packages"]["status"] == "ok"
    assert found["csv logs"]["status"] == "unknown"


def test_a_config_ini_that_is_not_there_ends_with_2_and_the_store_is_still_looked_at(project: Project) -> None:
    project.jpo("observe")
    project.config.unlink()
    code, found = diagnosis(project)
    assert (code, found["config.ini"]["code"]) == (2, "JPO-E201")
    assert found["record"]["finding"].startswith("opens; 7 runs, the newest ended")


def test_a_value_beyond_its_limit_ends_with_3(empty: Project) -> None:
    empty.config.write_text(empty.config.read_text().replace("learning_rate = 0.01", "learning_rate = 0.5"))
    code, found = diagnosis(empty)
    assert (code, found["limits"]["code"]) == (3, "JPO-E403")


def test_a_store_that_is_none_ends_with_5(empty: Project) -> None:
    (empty.folder / ".jpo").mkdir()
    (empty.folder / ".jpo" / "jpo.db").write_text("not a database, but long enough to be looked at as one" * 100)
    code, found = diagnosis(empty)
    assert (code, found["record"]["code"]) == (5, "JPO-E502")


def test_a_store_that_cannot_be_made_ends_with_5(empty: Project) -> None:
    (empty.folder / ".jpo").write_text("a file where the folder should be")
    code, found = diagnosis(empty)
    assert (code, found["place"]["code"]) == (5, "JPO-E504")
    assert found["place"]["finding"].endswith(".jpo: is not a folder")
    assert empty.jpo("suggest").code == 5


def test_a_store_on_postgresql_is_looked_at_and_its_password_told_nowhere(
    project: Project, postgres: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPO_STORE__URL", postgres.new_database().replace("jpo@", f"jpo:{SECRET}@"))
    before = diagnosis(project)[1]["record"]["finding"]
    project.jpo("observe")
    code, found = diagnosis(project)
    assert (code, before) == (0, "opens; no run of digits/cnn/pytorch on record")
    assert found["place"]["finding"].startswith("postgresql://")
    assert found["record"]["finding"].startswith("opens; 7 runs of digits/cnn/pytorch")
    assert "chain intact" in found["audit log"]["finding"]
    assert SECRET not in str(found)


def test_a_store_server_that_is_down_ends_with_5(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPO_STORE__URL", f"postgresql://jpo:{SECRET}@127.0.0.1:9/jpo")
    monkeypatch.setenv("JPO_STORE__TIMEOUT", "1s")
    code, found = diagnosis(project)
    assert (code, found["record"]["status"]) == (5, "problem")
    assert SECRET not in str(found)


def test_a_changed_audit_record_ends_with_5_and_is_named(project: Project) -> None:
    project.jpo("observe")
    with closing(sqlite3.connect(project.folder / ".jpo" / "jpo.db")) as database:
        database.execute("DROP TRIGGER audit_is_never_changed")
        database.execute("UPDATE audit SET at = at + 1 WHERE number = 3")
        database.commit()
    code, found = diagnosis(project)
    assert (code, found["audit log"]["code"]) == (5, "JPO-E511")
    assert "record 3 was changed" in found["audit log"]["finding"]


def test_files_of_secrets_are_readable_by_us_and_not_by_everybody(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    token = empty.folder / "token"
    configure(empty, '[prometheus]\nauth = { type = "bearer", token_file = "token" }\n')
    assert diagnosis(empty)[1]["token_file"]["code"] == "JPO-E303"
    monkeypatch.setenv("JPO_PROMETHEUS__AUTH__TOKEN", SECRET)
    assert "token_file" not in diagnosis(empty)[1]
    monkeypatch.delenv("JPO_PROMETHEUS__AUTH__TOKEN")
    token.write_text(SECRET)
    token.chmod(0o644)
    assert diagnosis(empty)[1]["token_file"]["code"] == "JPO-W147"
    token.chmod(0o600)
    assert diagnosis(empty)[1]["token_file"]["status"] == "ok"
    token.unlink()
    os.mkfifo(token, 0o600)
    assert diagnosis(empty)[1]["token_file"]["status"] == "ok"


def test_a_key_in_the_file_of_its_certificate_is_a_secret_too(empty: Project) -> None:
    (empty.folder / "own.pem").touch(0o644)
    configure(empty, '[prometheus]\ncert_file = "own.pem"\n')
    assert diagnosis(empty)[1]["key_file"]["code"] == "JPO-W147"


def test_a_file_name_that_can_be_none_is_a_file_that_is_not_there(empty: Project) -> None:
    configure(empty, '[prometheus]\nauth = { type = "bearer", token_file = "a\\u0000b" }\n')
    code, found = diagnosis(empty)
    assert (code, found["token_file"]["code"]) == (2, "JPO-E303")


@pytest.mark.parametrize(
    ("table", "finding"),
    [
        ('url = "http://prometheus.example:9"\nauth = {type = "bearer", token_file = "token"}', "a bearer token over http://"),
        ('url = "https://prometheus.example"\ninsecure = true', "any certificate is trusted"),
    ],
)
def test_credentials_in_the_open_are_a_warning(empty: Project, table: str, finding: str) -> None:
    (empty.folder / "token").write_text(SECRET)
    configure(empty, f"[prometheus]\n{table}\n")
    access = diagnosis(empty, "--offline")[1]["access"]
    assert access["code"] == "JPO-W147"
    assert finding in access["finding"]


def test_no_source_of_runs_at_all_is_a_warning(empty: Project) -> None:
    configure(empty, "")
    assert diagnosis(empty)[1]["source"]["code"] == "JPO-W148"


def test_logs_that_are_missing_or_cannot_be_read_are_named(empty: Project) -> None:
    configure(empty, '[csv]\nlogs = ["runs/*.csv"]\n')
    assert diagnosis(empty)[1]["logs"]["finding"] == "runs/*.csv matches no file"
    empty.log(1, 16, 100.0)
    (empty.folder / "runs" / "bad.csv").write_text("hello\n")
    logs = diagnosis(empty)[1]["logs"]
    assert logs["code"] == "JPO-W148"
    assert "2 files, 1 finished run, 1 of this workload; 1 cannot be read: " in logs["finding"]


def test_a_store_in_a_pipeline_s_workspace_does_not_last(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITLAB_CI", "true")
    monkeypatch.setenv("CI_PROJECT_PATH", "acme/train")
    monkeypatch.setenv("CI_PROJECT_DIR", str(empty.folder))
    found = diagnosis(empty)[1]
    assert found["pipeline"]["finding"] == "gitlab: acme/train"
    assert found["lasting"]["next_step"] == "State lives in PostgreSQL or an object the team owns; CI caches are for trying out"
    monkeypatch.setenv("JPO_STORE__URL", f"sqlite:///{empty.folder.parent}/elsewhere/jpo.db")
    assert "lasting" not in diagnosis(empty)[1]


def test_without_torch_learning_says_how_to_get_it(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jpo.commands.doctor.installation.version_of", lambda package: None if package == "torch" else "1")
    learning = diagnosis(empty)[1]["learning"]
    assert (learning["status"], learning["code"]) == ("ok", "JPO-I140")
    assert 'pip install "jpo[learn]"' in learning["next_step"]


def test_names_from_files_cannot_steer_the_terminal(empty: Project) -> None:
    configure(empty, '[csv]\nlogs = ["\\u001b[31mgone[/bold]/*.csv"]\n')
    out = empty.jpo("doctor").out
    assert "\x1b" not in out
    assert "[31mgone[/bold]/*.csv matches no file" in out


def test_suggest_names_the_cause_of_an_empty_answer_in_one_line(empty: Project, server: str) -> None:
    empty.config.write_text(empty.config.read_text().replace("pytorch", "torch"))
    answer = empty.jpo("suggest", "config.ini", "--dry-run", "-o", "json", "--prometheus-url", server)
    told = json.loads(answer.out)
    assert "JPO-W142" in told["reason_codes"]
    (note,) = told["evidence"]["notes"]
    assert "framework 'torch' does not: known is 'pytorch'" in note
    assert "\n" not in note
