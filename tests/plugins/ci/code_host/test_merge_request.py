"""Where the note goes, from what GitLab and GitHub say in the environment; and what in it is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jpo.errors import CodeHostError, JpoError, UsageError
from jpo.plugins.ci.code_host.merge_request import NOTE, HostAccess, MergeRequest, merge_request_of

GITLAB = {
    "GITLAB_CI": "true",
    "CI_API_V4_URL": "https://gitlab.example.com/api/v4",
    "CI_PROJECT_ID": "42",
    "CI_PROJECT_PATH": "team/job",
    "CI_PROJECT_URL": "https://gitlab.example.com/team/job",
    "CI_MERGE_REQUEST_IID": "5",
    "JPO_COMMENT_TOKEN": "glpat-x",
}
GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_API_URL": "https://api.github.com",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "team/job",
    "GITHUB_TOKEN": "ghs_x",
}


def of(environ: dict[str, str], number: int | None = None, **more: str) -> MergeRequest | None:
    return merge_request_of({**environ, **more}, number)


def of_event(tmp_path: Path, event: object, **more: str) -> MergeRequest | None:
    file = tmp_path / "event.json"
    file.write_text(event if isinstance(event, str) else json.dumps(event))
    return of(GITHUB, GITHUB_EVENT_PATH=str(file), **more)


def test_a_pipeline_of_a_merge_request_names_it() -> None:
    access = HostAccess(NOTE, "gitlab", GITLAB["CI_API_V4_URL"], "42", "glpat-x")
    assert of(GITLAB) == MergeRequest(access, 5, "https://gitlab.example.com/team/job/-/merge_requests/5")


def test_the_merge_request_of_a_fork_is_in_the_project_into_which_it_leads() -> None:
    parent = {"CI_MERGE_REQUEST_PROJECT_ID": "7", "CI_MERGE_REQUEST_PROJECT_URL": "https://gitlab.example.com/up/job"}
    found = of(GITLAB, **parent)
    assert found
    assert (found.access.project, found.web_url) == ("7", "https://gitlab.example.com/up/job/-/merge_requests/5")


def test_a_branch_pipeline_writes_to_the_first_open_one() -> None:
    found = of(GITLAB, CI_MERGE_REQUEST_IID="", CI_OPEN_MERGE_REQUESTS="up/job!9,team/job!4")
    assert found
    assert (found.access.project, found.number, found.web_url) == ("up%2Fjob", 9, "")


def test_a_pipeline_without_one_has_no_note_and_needs_no_token(tmp_path: Path) -> None:
    assert of(GITLAB, CI_MERGE_REQUEST_IID="", JPO_COMMENT_TOKEN="") is None
    assert of_event(tmp_path, {"ref": "refs/heads/main"}, GITHUB_TOKEN="") is None
    assert of(GITHUB, GITHUB_TOKEN="") is None


def test_a_pull_request_is_named_by_its_event(tmp_path: Path) -> None:
    found = of_event(tmp_path, {"action": "opened", "pull_request": {"number": 17}})
    access = HostAccess(NOTE, "github", "https://api.github.com", "team/job", "ghs_x")
    assert found == MergeRequest(access, 17, "https://github.com/team/job/pull/17")
    found = of_event(tmp_path, {"workflow_run": {"pull_requests": [{"number": 18}]}})
    assert found
    assert found.number == 18


@pytest.mark.parametrize("event", [{"pull_request": 3}, {"pull_request": {"number": "1/../x"}}, {"pull_request": {"number": -1}}])
def test_an_event_that_names_none_properly_names_none(tmp_path: Path, event: object) -> None:
    assert of_event(tmp_path, event) is None


@pytest.mark.parametrize("event", ["[]", "{", '{"pull_request": NaN}', "[" * 100_000])
def test_an_event_that_cannot_be_read_is_said(tmp_path: Path, event: str) -> None:
    with pytest.raises(CodeHostError, match="GITHUB_EVENT_PATH") as caught:
        of_event(tmp_path, event)
    assert caught.value.code == "JPO-E907"


def test_a_number_may_be_given() -> None:
    assert [str(of(environ, 23)) for environ in (GITLAB, GITHUB)] == ["!23", "#23"]


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({"CI_PROJECT_ID": "42/../../admin"}, "JPO-E907"),
        ({"CI_MERGE_REQUEST_IID": "5?x"}, "JPO-E907"),
        ({"CI_API_V4_URL": ""}, "JPO-E907"),
        ({"CI_API_V4_URL": "https://user:s3cret@gitlab.example.com"}, "JPO-E907"),
        ({"CI_API_V4_URL": "https://gitlab.example.com?x=1"}, "JPO-E907"),
        ({"CI_API_V4_URL": "file:///etc/passwd"}, "JPO-E907"),
        ({"CI_API_V4_URL": "http://gitlab.example.com/api/v4"}, "JPO-E323"),
        ({"JPO_COMMENT_TOKEN": ""}, "JPO-E901"),
        ({"JPO_COMMENT_TOKEN": "two words"}, "JPO-E901"),
        ({"JPO_COMMENT_TOKEN": "", "JPO_COMMENT_TOKEN_FILE": "/nonexistent"}, "JPO-E901"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_is_sent(variables: dict[str, str], code: str) -> None:
    with pytest.raises(JpoError) as caught:
        of(GITLAB, **variables)
    assert caught.value.code == code
    assert "two words" not in str(caught.value)


@pytest.mark.parametrize("repository", ["../..", "a/..", "a/b/c", "a", "", "a/b?c", "./a"])
def test_a_repository_is_an_owner_and_a_name(repository: str) -> None:
    with pytest.raises(CodeHostError, match="GITHUB_REPOSITORY"):
        of(GITHUB, 5, GITHUB_REPOSITORY=repository)
    assert of(GITHUB, 5, GITHUB_REPOSITORY="team/.github")


def test_unencrypted_only_where_the_runner_allows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPO_SECRETS_TO", "http://gitlab.example.com")
    assert of(GITLAB, CI_API_V4_URL="http://gitlab.example.com/api/v4")


def test_a_token_may_be_in_a_file_and_is_never_shown(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("glpat-of-the-file\n")
    found = of(GITLAB, JPO_COMMENT_TOKEN="", JPO_COMMENT_TOKEN_FILE=str(tmp_path / "token"))
    assert found
    assert (found.access.token, "glpat" in repr(found)) == ("glpat-of-the-file", False)


def test_elsewhere_there_is_none_to_write_to() -> None:
    with pytest.raises(UsageError, match="not a pipeline of GitLab or GitHub") as caught:
        of({"JENKINS_URL": "x"})
    assert caught.value.code == "JPO-E907"
