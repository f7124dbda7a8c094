"""`jpo comment` as a pipeline runs it: one note, exit codes, and that a note is never a reason for a job to fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from code_hosts import TOKEN, CodeHost, code_host, refuses

if TYPE_CHECKING:
    from user_project import Project

SUGGEST = ("suggest", "config.ini", "--no-learn", "--explore", "off")
HOST_VARIABLES = ("GITLAB_CI", "GITHUB_ACTIONS", "JENKINS_URL", "CI", "GITHUB_TOKEN", "JPO_COMMENT_TOKEN")


@pytest.fixture(autouse=True)
def no_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in HOST_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=["gitlab", "github"])
def host(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    with code_host(request.param) as one:
        for name, value in one.environment(tmp_path).items():
            monkeypatch.setenv(name, value)
        yield one


def test_the_newest_suggestion_is_one_note_that_is_updated_in_place(project: Project, host: CodeHost) -> None:
    project.jpo(*SUGGEST)
    answer = project.jpo("comment")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"note on {'!' if host.kind == 'gitlab' else '#'}5 written: https://")
    (first,) = host.bodies()
    assert "| `training.batch_size` | 16 | **64** |" in first
    assert "[Report and log](<https://" in first
    assert project.jpo("comment").out.startswith(("note on !5 unchanged", "note on #5 unchanged"))
    project.jpo("suggest", "--no-learn", "--set", "batch_size=32")
    assert " updated" in project.jpo("comment").out
    (second,) = host.bodies()
    assert "**32**" in second
    assert second.split("\n")[0] == first.split("\n")[0]


def test_where_values_are_kept_and_nothing_is_to_be_warned_of_there_is_no_note(project: Project, host: CodeHost) -> None:
    project.jpo("suggest", "--no-learn", "--set", "batch_size=16", "--output-file", "s.json")  # today's
    kept = json.loads((project.folder / "s.json").read_text())["suggestion_id"]
    answer = project.jpo("comment", "--strict")
    assert (answer.code, answer.err, host.bodies()) == (0, "", [])
    assert answer.out.startswith("no note on ")
    project.jpo("suggest", "--no-learn", "--set", "batch_size=32")
    project.jpo("comment")
    assert " updated" in project.jpo("comment", kept).out  # what an earlier pipeline wrote does not stay
    assert "values kept as they are" in host.bodies()[0]


def test_an_older_one_by_its_id_and_one_of_a_file(project: Project, host: CodeHost) -> None:
    project.jpo(*SUGGEST, "--output-file", "s.json")
    older = json.loads((project.folder / "s.json").read_text())["suggestion_id"]
    project.jpo("suggest", "--no-learn", "--set", "batch_size=32", "--check", "--output-file", "checked.json")
    project.jpo("comment", older)
    assert older in host.bodies()[0]
    project.jpo("comment", "--from", "checked.json")
    assert "proposed, not written" in host.bodies()[0]
    both = project.jpo("comment", older, "--from", "s.json", "--strict")
    assert (both.code, "[JPO-E908]" in both.err) == (2, True)


def test_dry_run_asks_nobody_and_prints_what_would_be_posted(project: Project, host: CodeHost) -> None:
    project.jpo(*SUGGEST)
    shown = project.jpo("comment", "--dry-run", "--output-file", "note.md")
    assert (shown.code, host.asked) == (0, [])
    assert shown.out == (project.folder / "note.md").read_text()
    project.jpo("comment")
    assert host.bodies() == [shown.out]


def test_dry_run_needs_neither_pipeline_nor_token(project: Project) -> None:
    project.jpo(*SUGGEST)
    shown = project.jpo("comment", "--dry-run")
    assert (shown.code, shown.out.startswith("<!-- jpo:suggestion:")) == (0, True)
    elsewhere = project.jpo("comment")
    assert (elsewhere.code, elsewhere.out, elsewhere.err.count("\n")) == (2, "", 1)
    assert "this is not a pipeline of GitLab or GitHub" in elsewhere.err


def test_a_pipeline_without_a_merge_request_has_nothing_to_do(
    project: Project, host: CodeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.jpo(*SUGGEST)
    for name in ("CI_MERGE_REQUEST_IID", "GITHUB_EVENT_PATH"):
        monkeypatch.setenv(name, "")
    answer = project.jpo("comment", "--strict")
    assert (answer.code, answer.out, host.asked) == (
        0,
        "no merge request belongs to this pipeline: there is no note to write\n",
        [],
    )


@pytest.mark.parametrize(
    ("fault", "code"),
    [(401, "JPO-E901"), (403, "JPO-E902"), (404, "JPO-E903"), (409, "JPO-E904"), (422, "JPO-E904"), ("html", "JPO-E906")],
)
@pytest.mark.parametrize("strict", [False, True])
def test_a_refusal_is_one_line_and_fails_the_job_only_where_it_is_to(
    project: Project, host: CodeHost, fault: Any, code: str, strict: bool
) -> None:
    project.jpo(*SUGGEST)
    config = project.config.read_bytes()
    host.faults["POST"] = [refuses(200, html=True) if fault == "html" else refuses(fault)]
    answer = project.jpo("comment", *(["--strict"] if strict else []))
    assert (answer.code, answer.out, host.notes) == (4 if strict else 0, "", {})
    assert answer.err.count("\n") == 1
    assert answer.err.endswith(f"[{code}]\n")
    assert TOKEN not in answer.err
    assert project.config.read_bytes() == config


def test_without_a_token_nothing_is_sent_and_the_line_says_how_to_get_one(
    project: Project, host: CodeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.jpo(*SUGGEST)
    for name in ("JPO_COMMENT_TOKEN", "GITHUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    answer = project.jpo("comment", "--strict")
    assert (answer.code, host.asked, "[JPO-E901]" in answer.err) == (4, [], True)
    assert project.jpo("comment").code == 0


def test_without_a_suggestion_there_is_nothing_to_show(empty: Project, host: CodeHost) -> None:
    lenient, strict = empty.jpo("comment"), empty.jpo("comment", "--strict")
    assert (lenient.code, strict.code, host.asked) == (0, 2, [])
    assert "run `jpo suggest` first" in lenient.err


def test_a_result_that_cannot_be_kept_is_noticed_before_anything_is_posted(project: Project, host: CodeHost) -> None:
    project.jpo(*SUGGEST)
    answer = project.jpo("comment", "--output-file", "nowhere/note.md")
    assert (answer.code, host.asked, "[JPO-E307]" in answer.err) == (2, [], True)
