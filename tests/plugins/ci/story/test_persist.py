"""`jpo persist` as a pipeline runs it: one merge request, exit codes, and that it is never a reason for a job to fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from code_hosts import TOKEN, CodeHost, code_host, refuses

if TYPE_CHECKING:
    from user_project import Project

SUGGEST = ("suggest", "config.ini", "--no-learn", "--explore", "off", "--output-file", "s.json")
PERSIST = ("persist", "config.ini", "--from", "s.json")
HOST_VARIABLES = ("GITLAB_CI", "GITHUB_ACTIONS", "JENKINS_URL", "CI", "GITHUB_TOKEN", "JPO_PERSIST_TOKEN")


@pytest.fixture(autouse=True)
def no_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in HOST_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=["gitlab", "github"])
def host(request: pytest.FixtureRequest, project: Project, monkeypatch: pytest.MonkeyPatch) -> Any:
    with code_host(request.param) as one:
        commit = one.repository.commit("main", {"config.ini": project.config.read_bytes(), "train.py": b""}, "first")
        for name, value in one.nightly(project.folder, commit).items():
            monkeypatch.setenv(name, value)
        yield one


def test_nights_keep_one_merge_request_until_somebody_merges_it(project: Project, host: CodeHost) -> None:
    committed, git = project.config.read_bytes(), host.repository
    project.jpo(*SUGGEST)
    first = project.jpo(*PERSIST)
    sign = "!" if host.kind == "gitlab" else "#"
    assert (first.code, first.err, first.out.startswith(f"merge request {sign}7 opened: https://")) == (0, "", True)
    (branch,) = set(git.branches) - {"main"}
    assert git.file(branch, "config.ini") == project.config.read_bytes() != committed == git.file("main", "config.ini")
    assert "| `training.batch_size` | 16 | **64** |" in git.open[0].body
    assert project.jpo(*PERSIST).out.startswith(f"merge request {sign}7 unchanged")
    project.config.write_bytes(committed)  # the next night's checkout
    project.jpo("suggest", "--no-learn", "--set", "batch_size=32", "--output-file", "s.json")
    assert " updated" in project.jpo(*PERSIST).out
    assert git.file(branch, "config.ini") == project.config.read_bytes()
    git.commit("main", {"config.ini": project.config.read_bytes()}, "merged")
    git.proposals[0].state = "merged"
    assert "nothing to propose" in project.jpo(*PERSIST).out


def test_two_files_of_one_workload_have_a_merge_request_each(
    project: Project, host: CodeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project.folder / "jobs" / "b"
    folder.mkdir(parents=True)
    (folder / "config.ini").write_bytes(project.config.read_bytes())
    commit = host.repository.commit("main", {"jobs/b/config.ini": project.config.read_bytes()})
    monkeypatch.setenv("CI_COMMIT_SHA" if host.kind == "gitlab" else "GITHUB_SHA", commit)
    for name in ("config.ini", "jobs/b/config.ini"):
        project.jpo("suggest", name, *SUGGEST[2:])
        assert " opened: " in project.jpo("persist", name, "--from", "s.json").out
    assert [one.title.endswith(" in jobs_b") for one in host.repository.open] == [False, True]
    assert len(host.repository.branches) == 3


def test_a_file_without_the_values_of_the_suggestion_is_not_proposed(project: Project, host: CodeHost) -> None:
    project.jpo(*SUGGEST, "--check")
    answer = project.jpo(*PERSIST, "--strict")
    assert (answer.code, "does not have the values of suggestion" in answer.out) == (0, True)
    assert host.asked == []


@pytest.mark.parametrize(("status", "code"), [(401, "E901"), (403, "E902"), (404, "E903"), (409, "E904"), (422, "E904")])
def test_a_refusal_is_a_line_and_fails_with_strict_alone(project: Project, host: CodeHost, status: int, code: str) -> None:
    project.jpo(*SUGGEST)
    before = project.config.read_bytes()
    store = project.jpo("audit", "verify", "--anchor").out
    for strict, ends in ((), 0), (("--strict",), 4):
        host.faults["POST"] = [refuses(status)]
        answer = project.jpo(*PERSIST, *strict)
        assert (answer.code, answer.out, answer.err.count("\n"), f"JPO-{code}" in answer.err) == (ends, "", 1, True)
        assert TOKEN not in answer.err
    assert (project.config.read_bytes(), project.jpo("audit", "verify", "--anchor").out) == (before, store)
    host.faults["GET"] = [refuses(500)] * 99
    answer = project.jpo(*PERSIST, "--strict", "--timeout", "1s")
    assert (answer.code, "JPO-E905" in answer.err) == (4, True)


def test_without_a_token_or_elsewhere(project: Project, host: CodeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    project.jpo(*SUGGEST)
    monkeypatch.delenv("JPO_PERSIST_TOKEN", raising=False)
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    answer = project.jpo(*PERSIST)
    assert (answer.code, "JPO-E901" in answer.err, answer.err.count("\n")) == (0, True, 1)
    assert project.jpo(*PERSIST, "--strict").code == 4
    monkeypatch.setenv("CI_COMMIT_BRANCH", "feature")
    monkeypatch.setenv("GITHUB_REF", "refs/heads/feature")
    monkeypatch.setenv("GITHUB_EVENT_NAME", "push")
    answer = project.jpo(*PERSIST, "--strict")
    assert (answer.code, answer.out.startswith("nothing is proposed: ")) == (0, True)
    monkeypatch.delenv("GITLAB_CI", raising=False)
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert project.jpo(*PERSIST).code == 2
    shown = project.jpo(*PERSIST, "--dry-run")
    assert (shown.code, shown.out.split("\n")[0].startswith("jpo/digits_cnn")) == (0, True)
    assert host.asked == []


def test_a_config_ini_that_moved_meanwhile_ends_with_6_if_strict(project: Project, host: CodeHost) -> None:
    project.jpo(*SUGGEST)
    host.repository.commit("main", {"config.ini": b"[other]\n"})
    answer = project.jpo(*PERSIST, "--strict")
    assert (answer.code, "JPO-E923" in answer.err) == (6, True)
    assert project.jpo(*PERSIST).code == 0


def test_a_job_with_the_token_needs_neither_store_nor_settings(project: Project, host: CodeHost, tmp_path: Path) -> None:
    project.jpo(*SUGGEST)
    for name in ("jpo.toml", ".jpo/jpo.db"):
        (project.folder / name).unlink()
    document = json.loads((project.folder / "s.json").read_text())
    assert " opened: " in project.jpo(*PERSIST).out
    assert document["suggestion_id"] in host.repository.open[0].body
