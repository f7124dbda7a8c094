"""The pipeline's file: is there one, does its cache keep the history, does the guard look again; and where tokens go."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from code_hosts import TOKEN, code_host

from jpo.commands.doctor.case import Case
from jpo.plugins.ci.doctor import pipeline_file, tokens
from jpo.project.load import load

if TYPE_CHECKING:
    from jpo.report.doctor import Line

ROOT = Path(__file__).parents[3]
GITLAB = (ROOT / "pipelines" / "gitlab" / ".gitlab-ci.yml").read_text().replace(" config.ini", " train/config.ini")
GITLAB = GITLAB.replace("registry.example.com", "registry.of.ours").replace("sha256:" + "0" * 64, "sha256:" + "1f" * 32)
GITHUB = (ROOT / "pipelines" / "github" / "example-workflow.yml").read_text().replace(" config.ini", " train/config.ini")
GITHUB = GITHUB.replace("your-organisation", "ours").replace("0" * 40, "1f" * 20)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    (tmp_path / ".git").mkdir()
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "config.ini").touch()
    monkeypatch.chdir(tmp_path)
    given = Path("train/config.ini")
    return Case(given, lambda: load(given, None, {}, {}), {}, now=0.0, offline=True)


def lines(case: Case, files: dict[str, str]) -> list[Line]:
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    return list(pipeline_file(case))


@pytest.mark.parametrize(("name", "text"), [(".gitlab-ci.yml", GITLAB), (".github/workflows/train.yaml", GITHUB)])
def test_the_templates_keep_the_history_of_a_config_ini_in_a_folder(here: Case, name: str, text: str) -> None:
    found = lines(here, {name: text})
    assert [(line.name, line.status) for line in found] == [("pipeline file", "ok"), ("cache", "ok")]
    assert f"{name} keeps .jpo" in found[1].finding


@pytest.mark.parametrize(("name", "text"), [(".gitlab-ci.yml", GITLAB), (".github/workflows/train.yml", GITHUB)])
def test_a_cache_of_another_place_is_a_warning_with_the_right_one(here: Case, name: str, text: str) -> None:
    (Path("train") / "jpo.toml").touch()
    found = lines(here, {name: text})[1]
    assert (found.status, found.code) == ("warning", "JPO-W156")
    assert found.finding.startswith(f"{name} keeps .jpo, but the history is in train/.jpo")
    assert "write train/.jpo there" in found.next_step


def test_a_history_on_a_server_needs_no_cache(here: Case) -> None:
    server = GITHUB.replace("path: .jpo", "path: other")  # store-url is from a secret
    assert lines(here, {".github/workflows/a.yml": server})[1].finding.endswith("on a server")
    without = server.replace("store-url: ${{ secrets.JPO_STORE_URL }}", "").replace("JPO_STORE_URL", "")
    assert lines(here, {".github/workflows/a.yml": without})[1].code == "JPO-W156"


def test_the_components_own_default_and_a_folder_above_do(here: Case) -> None:
    assert lines(here, {".gitlab-ci.yml": GITLAB.replace("      history: .jpo\n", "")})[1].status == "ok"
    Path("train/jpo.toml").touch()
    script = "a:\n  cache:\n    paths:\n      - train/\n  script: [python -m jpo suggest, python -m constraints a b]\n"
    assert [line.status for line in lines(replace(here, now=1.0), {".gitlab-ci.yml": script})] == ["ok", "ok"]


def test_a_script_without_the_guard_is_a_warning(here: Case) -> None:
    found = lines(here, {".gitlab-ci.yml": "a:\n  script:\n    - jpo suggest config.ini\n"})
    assert [(line.status, line.code) for line in found] == [("warning", "JPO-W157"), ("warning", "JPO-W156")]


@pytest.mark.parametrize(
    ("name", "text", "gone", "line"),
    [
        (".gitlab-ci.yml", GITLAB, "      - runs/\n", "artifacts: {when: always, expire_in: 30 days, paths: [runs/]}"),
        (".github/workflows/train.yml", GITHUB, "path: runs\n", "with: {name: run-log, path: runs}, and the job `record`"),
    ],
)
def test_a_pipeline_of_ours_that_hands_no_run_log_on_is_a_warning_with_the_line(
    here: Case, name: str, text: str, gone: str, line: str
) -> None:
    found = lines(here, {name: text.replace(gone, "\n")})[-1]
    assert (found.name, found.status, found.code) == ("run logs", "warning", "JPO-W156")
    assert line in found.next_step
    launched = text.replace(gone, "\n").replace("python train.py", "jpo run")
    assert lines(here, {name: launched})[-1].name == "cache"
    asked = Case(
        here.given, lambda: load(here.given, None, {"PROMETHEUS_URL": "http://localhost:9090"}, {}), {}, now=0.0, offline=True
    )
    assert lines(asked, {name: text.replace(gone, "\n")})[-1].name == "cache"


@pytest.mark.parametrize(
    ("name", "text", "own", "placeholder"),
    [
        (".gitlab-ci.yml", GITLAB, "sha256:" + "1f" * 32, "sha256:" + "0" * 64),
        (".gitlab-ci.yml", GITLAB, "registry.of.ours/", "registry.example.com/"),
        (".github/workflows/train.yml", GITHUB, "@" + "1f" * 20, "@" + "0" * 40),
        (".github/workflows/train.yml", GITHUB, "ours/", "your-organisation/"),
    ],
)
def test_what_nobody_has_filled_in_yet_is_a_warning(here: Case, name: str, text: str, own: str, placeholder: str) -> None:
    found = lines(here, {name: text.replace(own, placeholder)})[0]
    assert (found.status, found.code) == ("warning", "JPO-W158")
    assert placeholder in found.finding


@pytest.mark.parametrize(("name", "text"), [(".gitlab-ci.yml", GITLAB), (".github/workflows/train.yml", GITHUB)])
def test_a_pipeline_of_another_job_is_named_unless_another_file_runs_this_one(here: Case, name: str, text: str) -> None:
    (found,) = lines(here, {name: text.replace("train/config.ini", "eval/config.ini")})
    assert (found.status, found.code) == ("warning", "JPO-W159")
    assert found.finding == f"none runs JPO for train/config.ini: {name} runs JPO for eval/config.ini"
    ours = lines(here, {".github/workflows/zz.yml": GITHUB})
    assert [(line.status, "zz.yml" in line.finding) for line in ours] == [("ok", True), ("ok", True)]


def test_files_that_run_no_jpo_and_comments_that_name_it_are_none(here: Case) -> None:
    (found,) = lines(
        here, {".gitlab-ci.yml": "# jpo suggest\na: {script: [make jpo]}\n", ".github/workflows/b.yml": "on: push\n"}
    )
    assert (found.status, found.next_step) == ("ok", "`jpo init --ci gitlab or --ci github` makes one")


def test_what_cannot_be_read_is_passed_over(here: Case) -> None:
    Path(".gitlab-ci.yml").mkdir()
    assert lines(here, {})[0].status == "ok"


@pytest.mark.parametrize("kind", ["gitlab", "github"])
def test_tokens_are_looked_at_where_they_are_set_and_shown_nowhere(here: Case, tmp_path: Path, kind: str) -> None:
    assert list(tokens(here)) == []
    with code_host(kind) as host:  # type: ignore[arg-type]
        environ = {**host.nightly(tmp_path, "0" * 40), "JPO_PERSIST_TOKEN": TOKEN}
        found = list(tokens(replace(here, environ=environ)))
        assert host.asked == []
    assert any("values are proposed to main of http://127.0.0.1" in line.finding for line in found)
    assert {line.status for line in found} == {"ok"}
    assert TOKEN not in str(found)
    broken = {**environ, "JPO_PERSIST_TOKEN": f"{TOKEN} x"}
    last = list(tokens(replace(here, environ=broken)))[-1]
    assert (last.status, last.code, TOKEN in str(last)) == ("warning", "JPO-E901", False)
    by_hand = list(tokens(replace(here, environ={"JPO_COMMENT_TOKEN": TOKEN})))
    assert [line.status for line in by_hand] == ["ok"]


def test_an_address_with_a_password_is_shown_without_it(here: Case) -> None:
    variables = {"GITLAB_CI": "true", "CI_API_V4_URL": "https://ci:hunter2@gitlab.example.com/api/v4?private_token=hunter2"}
    ours = {"CI_PROJECT_ID": "1", "CI_MERGE_REQUEST_IID": "3", "JPO_COMMENT_TOKEN": TOKEN}
    (line,) = tokens(replace(here, environ={**variables, **ours}))
    assert "CI_API_V4_URL: 'https://gitlab.example.com/api/v4' is not what a runner says there" in line.finding
    assert "hunter2" not in str(line)
