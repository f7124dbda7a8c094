"""Who and where, from the environments which pipelines give."""

from __future__ import annotations

import os
import pwd

import pytest

from jpo.inventory.caller import GITHUB, GITLAB, JENKINS, LONGEST, author_of
from jpo.version import __version__

ON_GITHUB = {
    "GITHUB_ACTIONS": "true",
    "CI": "true",
    "GITHUB_REPOSITORY": "octo/job",
    "GITHUB_WORKFLOW": "nightly",
    "GITHUB_JOB": "tune",
    "GITHUB_RUN_ID": "77",
    "GITHUB_SHA": "a" * 40,
    "GITHUB_REF": "refs/heads/main",
    "GITHUB_ACTOR": "octocat",
    "GITHUB_TOKEN": "ghs_hunter2",
}
ON_GITLAB = {
    "GITLAB_CI": "true",
    "CI": "true",
    "CI_PROJECT_PATH": "team/job",
    "CI_PIPELINE_ID": "5",
    "CI_PIPELINE_URL": "https://gitlab.example/team/job/-/pipelines/5",
    "CI_JOB_NAME": "tune",
    "CI_JOB_ID": "9",
    "CI_JOB_URL": "https://gitlab.example/team/job/-/jobs/9",
    "CI_COMMIT_SHA": "b" * 40,
    "CI_COMMIT_REF_NAME": "main",
    "GITLAB_USER_LOGIN": "alice",
    "CI_JOB_TOKEN": "hunter2",
    "CI_REPOSITORY_URL": "https://gitlab-ci-token:hunter2@gitlab.example/team/job.git",
}


def test_on_github_the_run_is_named_and_linked() -> None:
    author = author_of(ON_GITHUB)
    assert (author["where"], author["user"], author["repository"], author["job"]) == ("github", "octocat", "octo/job", "tune")
    assert author["url"] == "https://github.com/octo/job/actions/runs/77"
    assert set(author) == {"where", "host", "jpo", "python", "url", *GITHUB}


def test_an_own_github_server_is_linked() -> None:
    assert author_of({**ON_GITHUB, "GITHUB_SERVER_URL": "https://ghe.example"})["url"].startswith("https://ghe.example/octo/job")


def test_on_gitlab_pipeline_and_job_are_named_and_linked() -> None:
    author = author_of(ON_GITLAB)
    assert (author["where"], author["user"], author["ref"]) == ("gitlab", "alice", "main")
    assert (author["run"], author["url"]) == ("9", "https://gitlab.example/team/job/-/jobs/9")
    assert set(author) == {"where", "host", "jpo", "python", *GITLAB}


def test_on_jenkins_the_build_is_linked_without_the_password_of_its_url() -> None:
    jenkins = {"JENKINS_URL": "http://j", "JOB_NAME": "tune", "BUILD_NUMBER": "3", "BUILD_URL": "http://bob:hunter2@j/tune/3/"}
    author = author_of(jenkins)
    assert (author["where"], author["job"], author["run"], author["url"]) == ("jenkins", "tune", "3", "http://j/tune/3/")


def test_elsewhere_it_is_the_account_and_the_host() -> None:
    assert author_of({}) == {
        "where": "local",
        "user": pwd.getpwuid(os.getuid()).pw_name,
        "host": os.uname().nodename,
        "jpo": __version__,
        "python": author_of({})["python"],
    }
    assert author_of({"CI": "true"})["where"] == "ci"


def test_an_account_without_a_name_is_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 987_654_321)
    assert author_of({})["user"] == "987654321"


@pytest.mark.parametrize("environ", [ON_GITHUB, ON_GITLAB, {**ON_GITLAB, "JENKINS_URL": "x", "GIT_URL": "https://hunter2@g"}])
def test_no_secret_of_a_pipeline_is_read(environ: dict[str, str]) -> None:
    environ = {**environ, "PGPASSWORD": "hunter2", "JPO_PROMETHEUS__AUTH__TOKEN": "hunter2"}
    assert "hunter2" not in str(author_of(environ))
    read = {*GITHUB.values(), *GITLAB.values(), *JENKINS.values()}
    assert not [name for name in read if "TOKEN" in name or "PASSWORD" in name or "SECRET" in name]


def test_what_anybody_may_have_named_is_one_short_printable_line() -> None:
    author = author_of({**ON_GITHUB, "GITHUB_REF": "a\x1b[31m\n\u202eb\udcff" + "c" * 5000, "GITHUB_ACTOR": "\n"})
    assert author["ref"] == "a[31mb" + "c" * (LONGEST - 6)
    assert author["user"] == pwd.getpwuid(os.getuid()).pw_name
