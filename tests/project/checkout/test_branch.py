"""Which branch a pipeline is on, from the environments that it gives, and what that means for exploring."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from jpo.project.checkout.branch import explore_here, kept_from_exploring, side_branch_of
from jpo.project.load import load

GITHUB, GITLAB = {"GITHUB_ACTIONS": "true"}, {"GITLAB_CI": "true", "CI_DEFAULT_BRANCH": "main"}
JENKINS = {"JENKINS_URL": "https://ci"}


@pytest.mark.parametrize(
    ("environ", "branch"),
    [
        ({}, ""),
        ({"CI": "true"}, ""),
        ({"CI_DEFAULT_BRANCH": "main", "CI_COMMIT_REF_NAME": "x"}, ""),  # somebody's shell, no pipeline
        ({**GITLAB, "CI_COMMIT_REF_NAME": "main"}, ""),
        ({**GITLAB, "CI_COMMIT_REF_NAME": "x"}, "x"),
        (
            {**GITLAB, "CI_COMMIT_REF_NAME": "x", "CI_MERGE_REQUEST_REF_PATH": "refs/merge-requests/7/x"},
            "refs/merge-requests/7/x",
        ),
        ({**GITLAB, "CI_COMMIT_REF_NAME": "main", "CI_COMMIT_TAG": "main"}, "refs/tags/main"),
        ({"GITLAB_CI": "true", "CI_COMMIT_REF_NAME": "x"}, ""),  # which one is the default is not known
        ({**JENKINS, "BRANCH_NAME": "x"}, "x"),
        ({**JENKINS, "BRANCH_NAME": "main", "BRANCH_IS_PRIMARY": "true"}, ""),
        ({**JENKINS, "GIT_BRANCH": "origin/x"}, ""),
        ({**GITHUB, "GITHUB_REF": "refs/heads/x"}, ""),  # no event
        ({**GITHUB, "GITHUB_REF": "refs/heads/x", "GITHUB_EVENT_PATH": "/no/such\0file"}, ""),
        ({**GITHUB, "GITHUB_REF": "refs/heads/main", "GITHUB_REF_NAME": "main", "GITHUB_EVENT_NAME": "schedule"}, ""),
        ({**GITLAB, "CI_COMMIT_REF_NAME": "x" * 999}, "x" * 200),
    ],
)
def test_a_branch_is_a_side_branch_where_the_pipeline_says_so(environ: Mapping[str, str], branch: str) -> None:
    assert side_branch_of(environ) == branch


@pytest.mark.parametrize(
    ("ref", "branch"),
    [
        ("refs/heads/trunk", ""),
        ("refs/heads/x", "x"),
        ("refs/pull/5/merge", "refs/pull/5/merge"),
        ("refs/tags/trunk", "refs/tags/trunk"),
    ],
)
def test_github_says_the_default_branch_in_the_file_of_the_event(tmp_path: Path, ref: str, branch: str) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"repository": {"default_branch": "trunk"}}))
    assert side_branch_of({**GITHUB, "GITHUB_REF": ref, "GITHUB_EVENT_PATH": str(event)}) == branch


@pytest.mark.parametrize("content", ["", "[]", "{", '{"repository": 1}', '{"repository": {"default_branch": 1}}', "\udcff"])
def test_an_event_that_says_nothing_is_no_error(tmp_path: Path, content: str) -> None:
    event = tmp_path / "event.json"
    event.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert side_branch_of({**GITHUB, "GITHUB_REF": "refs/heads/x", "GITHUB_EVENT_PATH": str(event)}) == ""


@pytest.mark.parametrize(
    ("toml", "environ", "flags", "bold"),
    [
        ("", {}, {}, "off"),
        ('[agent]\nexplore = "on"\n', {}, {}, "off"),
        ('[agent]\nexplore_branches = ["release/*"]\n', {}, {}, "off"),
        ('[agent]\nexplore_branches = ["lab", "feature/*"]\n', {}, {}, "safe"),
        ("", {"JPO_AGENT__EXPLORE": "on"}, {}, "on"),
        ("", {}, {"agent": {"explore": "safe"}}, "safe"),
    ],
)
def test_side_branches_try_something_new_only_where_they_are_told(
    tmp_path: Path, toml: str, environ: dict[str, str], flags: dict[str, object], bold: str
) -> None:
    (tmp_path / "jpo.toml").write_text(toml)
    settings = load(tmp_path / "config.ini", None, environ, flags)
    there = replace(settings, side_branch="feature/x")
    assert explore_here(there) == bold
    assert bool(kept_from_exploring(there)) == (bold == "off")
    assert (explore_here(settings), kept_from_exploring(settings)) == (settings.values.agent.explore, ())
