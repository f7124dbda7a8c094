"""One test per row of the table of exit codes (docs/codes.md): the code, one line on stderr, config.ini as documented."""

from __future__ import annotations

import http.server
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

import jpo.commands.suggest as story
from jpo.__main__ import run
from jpo.agent.policy import SHIPPED, load_policy

if TYPE_CHECKING:
    from user_project import Answer, Project


def one_line(answer: Answer) -> str:
    assert answer.out == ""
    assert answer.err.startswith("jpo: ")
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err
    return answer.err


def test_0_changed(project: Project) -> None:
    answer = project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    assert answer.code == 0
    assert "batch_size = 64      # from the tutorial\n" in project.config.read_text()


def test_0_kept_without_evidence(empty: Project) -> None:
    before = empty.config.read_bytes()
    answer = empty.jpo("suggest", "config.ini")
    assert (answer.code, empty.config.read_bytes()) == (0, before)
    assert "JPO needs one run with today's values as a reference" in " ".join(answer.out.split())


def test_0_telemetry_unreachable_without_strict(project: Project) -> None:
    answer = project.jpo("suggest", "config.ini", "--no-learn", "--prometheus-url", "http://127.0.0.1:9", "--timeout", "1s")
    assert answer.code == 0
    assert "History not refreshed from prometheus" in answer.out


def test_1_internal_error_names_a_log_and_shows_no_traceback(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = project.config.read_bytes()
    monkeypatch.setattr(story, "advise", lambda *_, **__: 1 / 0)
    answer = project.jpo("suggest", "config.ini", "--no-learn")
    assert (answer.code, project.config.read_bytes()) == (1, before)
    assert "jpo-" in one_line(answer)


def test_2_usage(project: Project) -> None:
    answer = project.jpo("suggest", "config.ini", "--explore", "wildly")
    assert answer.code == 2
    assert "'wildly' is not one of" in answer.err


def test_2_config_ini_invalid(project: Project) -> None:
    project.config.write_text(project.config.read_text().replace("= 16 ", "= auto "))
    answer = project.jpo("suggest", "config.ini")
    assert answer.code == 2
    assert "config.ini:7: batch_size = 'auto' is not a whole number" in one_line(answer)


def test_2_jpo_toml_invalid(project: Project) -> None:
    (project.folder / "jpo.toml").write_text("[agnet]\nexplore = 'on'\n")
    answer = project.jpo("suggest", "config.ini")
    assert answer.code == 2
    assert "jpo.toml:1: unknown section [agnet]; did you mean agent?" in one_line(answer)


def test_3_value_out_of_limits(project: Project) -> None:
    before = project.config.read_bytes()
    answer = project.jpo("suggest", "config.ini", "--no-learn", "--set", "learning_rate=5")
    assert (answer.code, project.config.read_bytes()) == (3, before)
    assert "learning_rate" in one_line(answer)


def test_3_sla_cannot_be_met(project: Project) -> None:
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('[sla]\ntime_max = "1s"\n')
    answer = project.jpo("suggest", "config.ini", "--no-learn")
    assert answer.code == 3
    assert "[sla] time_max" in one_line(answer)


def test_3_rejected_by_the_teams_checker(project: Project) -> None:
    before = project.config.read_bytes()
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('[check]\ncommand = ["sh", "-c", "echo too big for node 7; exit 1", "{config}"]\n')
    answer = project.jpo("suggest", "config.ini", "--no-learn")
    assert (answer.code, project.config.read_bytes()) == (3, before)
    assert "too big for node 7" in one_line(answer)


def test_4_telemetry_unreachable_with_strict(project: Project) -> None:
    before = project.config.read_bytes()
    answer = project.jpo("suggest", "config.ini", "--strict", "--prometheus-url", "http://127.0.0.1:9", "--timeout", "1s")
    assert (answer.code, project.config.read_bytes()) == (4, before)
    assert "http://127.0.0.1:9" in one_line(answer)


def test_5_store_corrupted(project: Project) -> None:
    before = project.config.read_bytes()
    (project.folder / ".jpo").mkdir()
    (project.folder / ".jpo/jpo.db").write_bytes(b"no database" * 1000)
    answer = project.jpo("suggest", "config.ini")
    assert (answer.code, project.config.read_bytes()) == (5, before)
    assert "jpo.db" in one_line(answer)


def test_5_audit_chain_broken(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--no-learn")
    with sqlite3.connect(project.folder / ".jpo/jpo.db") as database:
        for (trigger,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {trigger}")
        database.execute("UPDATE audit SET data = replace(data, 'succeeded', 'failed') WHERE number = 3")
    database.close()
    answer = project.jpo("audit", "verify")
    assert answer.code == 5
    assert "record 3 was changed" in one_line(answer)


def edited_meanwhile(project: Project, monkeypatch: pytest.MonkeyPatch, *edits: tuple[str, str]) -> None:
    """Somebody edits config.ini while the answer is made: the first edit the first time, and so on."""
    advise, coming = story.advise, iter(edits)

    def while_someone_edits(*arguments: object, **options: object) -> object:
        if edit := next(coming, None):
            project.config.write_text(project.config.read_text().replace(*edit))
        return advise(*arguments, **options)

    monkeypatch.setattr(story, "advise", while_someone_edits)


def test_6_changed_by_someone_else_meanwhile_and_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    edited_meanwhile(project, monkeypatch, ("cpus = 2", "cpus = 3"), ("cpus = 3", "cpus = 4"))
    answer = project.jpo("suggest", "config.ini", "--no-learn")
    assert answer.code == 6
    one_line(answer)
    assert "batch_size = 16" in project.config.read_text()
    assert project.jpo("audit", "show").out.count("conflict") >= 2


def test_6_changed_into_what_is_no_config_ini(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    edited_meanwhile(project, monkeypatch, ("[workload]", "workload"))
    answer = project.jpo("suggest", "config.ini", "--no-learn")
    assert (answer.code, "[JPO-E220]" in answer.err) == (6, True), "the conflict comes first"


def test_a_lost_race_is_run_once_more_from_what_the_other_one_wrote(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    edited_meanwhile(project, monkeypatch, ("epochs = 40", "epochs = 41"))
    answer = project.jpo("suggest", "config.ini", "--no-learn", "--set", "batch_size=64")
    assert (answer.code, answer.err) == (0, "")
    assert "config.ini was changed by someone else while the first answer was made" in " ".join(answer.out.split())
    assert "batch_size = 64 " in project.config.read_text()
    assert "epochs = 41" in project.config.read_text(), "their edit is kept"
    assert "conflict" in project.jpo("audit", "show").out, "and the first attempt is on record"
    assert project.jpo("audit", "verify").code == 0


def test_10_check_proposes_a_change_and_writes_nothing(project: Project) -> None:
    before = project.config.read_bytes()
    answer = project.jpo("suggest", "config.ini", "--check")
    assert (answer.code, project.config.read_bytes()) == (10, before)
    assert not (project.folder / ".jpo").exists()


def test_130_interrupted_while_the_commands_are_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Module:
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "jpo.cli.main", Module())  # type: ignore[arg-type]
    assert run(["history"]) == 130
    assert capsys.readouterr().err == "jpo: interrupted; every file is the old one or the new one, whole\n"


def test_130_interrupted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = project.config.read_bytes()

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(story, "advise", interrupted)
    answer = project.jpo("suggest", "config.ini", "--no-learn")
    assert (answer.code, project.config.read_bytes()) == (130, before)
    assert answer.err.strip() == "jpo: interrupted; every file is the old one or the new one, whole"


@pytest.fixture
def lying() -> Iterator[Callable[[str, str], str]]:
    """`lying(content_type, body) -> url`: a server that answers everything with 200 and this."""
    said = {"type": "", "body": ""}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", said["type"])
            self.end_headers()
            self.wfile.write(said["body"].encode())

        do_POST = do_GET  # noqa: N815 - the name http.server looks for

        def log_message(self, *_: object) -> None:
            pass

    def start(content_type: str, body: str) -> str:
        said.update(type=content_type, body=body)
        return f"http://127.0.0.1:{server.server_port}"

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield start
        server.shutdown()


def test_4_a_sign_in_page_is_not_prometheus(project: Project, lying: Callable[[str, str], str]) -> None:
    url = lying("text/html", "<html>Please sign in</html>")
    answer = project.jpo("suggest", "config.ini", "--no-learn", "--strict", "--prometheus-url", url)
    assert answer.code == 4
    assert "JPO-E104" in one_line(answer)


def test_4_a_partial_answer_is_not_recorded(project: Project, lying: Callable[[str, str], str]) -> None:
    partial = '{"status": "success", "data": {"resultType": "vector", "result": []}, "warnings": ["store 3 is down"]}'
    url = lying("application/json", partial)
    tolerant = project.jpo("suggest", "config.ini", "--no-learn", "--dry-run", "--prometheus-url", url)
    assert "answered in part: store 3 is down" in " ".join(tolerant.out.split())
    answer = project.jpo("suggest", "config.ini", "--no-learn", "--strict", "--prometheus-url", url)
    assert answer.code == 4
    assert "JPO-E113" in one_line(answer)


def test_5_truncated_weights_are_named(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = project.config.read_bytes()
    (project.folder / "cut.safetensors").write_bytes(SHIPPED.read_bytes()[:-100])
    monkeypatch.setattr("jpo.agent.policy.load_policy", lambda: load_policy(project.folder / "cut.safetensors"))
    answer = project.jpo("suggest", "config.ini", "--no-learn")
    assert (answer.code, project.config.read_bytes()) == (5, before)
    assert "JPO-E601" in one_line(answer)


@pytest.mark.parametrize("words", [["--jobs", "20"], ["--pretrain", "p.safetensors", "--rebuild"]])
def test_2_options_of_learn_that_do_not_go_together_are_named(project: Project, words: list[str]) -> None:
    answer = project.jpo("learn", *words)
    assert answer.code == 2
    assert "JPO-E308" in one_line(answer)


def test_2_a_result_of_simulate_never_replaces_config_ini(project: Project) -> None:
    answer = project.jpo("lab", "simulate", "--workloads", "1", "--runs", "1", "--output-file", str(project.config))
    assert answer.code == 2
    assert "is not a place for a result" in one_line(answer)
