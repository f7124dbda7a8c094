"""Where values are proposed: what the runner says, and the pipelines that propose nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest
from code_hosts import TOKEN, CodeHost

from jpo.errors import CodeHostError, JpoError, UsageError
from jpo.plugins.ci.code_host.repository import Repository, encoded, repository_of, strange

COMMIT = "0123456789" * 4
KINDS: tuple[Literal["gitlab", "github"], ...] = ("gitlab", "github")


def environment(kind: Literal["gitlab", "github"], root: Path) -> dict[str, str]:
    with CodeHost(kind) as host:
        return host.nightly(root, COMMIT)


@pytest.mark.parametrize("kind", KINDS)
def test_a_nightly_pipeline_proposes_to_its_branch(kind: Literal["gitlab", "github"], tmp_path: Path) -> None:
    found = repository_of(environment(kind, tmp_path))
    assert isinstance(found, Repository)
    assert (found.access.host, found.target, found.commit, found.access.token) == (kind, "main", COMMIT, TOKEN)
    assert found.access.project == {"gitlab": "42", "github": "team/job"}[kind]
    assert found.path_of(tmp_path / "train" / "config.ini") == "train/config.ini"
    assert TOKEN not in repr(found)
    with pytest.raises(UsageError, match="outside of the checkout"):
        found.path_of(tmp_path / ".." / "config.ini")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("gitlab", {"CI_COMMIT_BRANCH": "feature"}),
        ("gitlab", {"CI_COMMIT_BRANCH": "", "CI_MERGE_REQUEST_IID": "5"}),
        ("gitlab", {"CI_DEFAULT_BRANCH": ""}),
        ("github", {"GITHUB_REF": "refs/pull/5/merge", "GITHUB_EVENT_NAME": "pull_request"}),
        ("github", {"GITHUB_REF": "refs/tags/main"}),
        ("github", {"GITHUB_REF": "refs/heads/feature", "GITHUB_EVENT_NAME": "push"}),
    ],
)
def test_no_other_pipeline_proposes_anything(kind: Literal["gitlab", "github"], said: dict[str, str], tmp_path: Path) -> None:
    environ = {**environment(kind, tmp_path), **said}
    (tmp_path / "event.json").write_text(json.dumps({"repository": {"default_branch": "main"}}))
    assert "default branch" in str(repository_of(environ))
    assert isinstance(repository_of(environ), str)


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_token_of_its_own_the_line_says_which(kind: Literal["gitlab", "github"], tmp_path: Path) -> None:
    environ = {**environment(kind, tmp_path), "JPO_COMMENT_TOKEN": TOKEN}
    environ.pop("GITHUB_TOKEN", None)
    environ.pop("JPO_PERSIST_TOKEN", None)
    with pytest.raises(CodeHostError, match="JPO_PERSIST_TOKEN") as caught:
        repository_of(environ)
    assert caught.value.code == "JPO-E901"
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    found = repository_of({**environ, "JPO_PERSIST_TOKEN_FILE": str(tmp_path / "token")})
    assert isinstance(found, Repository)
    assert found.access.token == TOKEN


@pytest.mark.parametrize(
    ("kind", "name", "text", "code"),
    [
        ("gitlab", "CI_PROJECT_ID", "../1", "JPO-E907"),
        ("github", "GITHUB_REPOSITORY", "a/../b", "JPO-E907"),
        ("gitlab", "CI_COMMIT_SHA", "main", "JPO-E907"),
        ("github", "GITHUB_WORKSPACE", "", "JPO-E907"),
        ("gitlab", "CI_API_V4_URL", "http://a:b@c/", "JPO-E907"),
        ("gitlab", "CI_API_V4_URL", "http://gitlab.example.com/api/v4", "JPO-E323"),
    ],
)
def test_a_runner_that_says_something_else_is_not_believed(
    kind: Literal["gitlab", "github"], name: str, text: str, code: str, tmp_path: Path
) -> None:
    with pytest.raises(JpoError) as caught:
        repository_of({**environment(kind, tmp_path), name: text})
    assert (caught.value.code, "\n" in str(caught.value)) == (code, False)


def test_elsewhere_it_is_an_error_and_names_are_one_part_of_an_address() -> None:
    with pytest.raises(UsageError, match="--dry-run"):
        repository_of({})
    assert encoded("jpo/a.b") == "jpo%2Fa.b"
    assert strange("x").code == "JPO-E906"


@pytest.mark.parametrize("kind", KINDS)
def test_it_says_which_token_would_travel_unencrypted(kind: Literal["gitlab", "github"], tmp_path: Path) -> None:
    variable = "CI_API_V4_URL" if kind == "gitlab" else "GITHUB_API_URL"
    with pytest.raises(UsageError, match="the token of JPO_PERSIST_TOKEN"):
        repository_of(environment(kind, tmp_path) | {variable: "http://host.example.com/api"})
