"""What GitHub alone says of branches; the story of both hosts is in test_persist.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from code_hosts import CodeHost, code_host, refuses

from jpo.errors import CodeHostError
from jpo.plugins.ci.code_host.calls import Calls
from jpo.plugins.ci.code_host.github import GitHub
from jpo.plugins.ci.code_host.repository import Repository, repository_of


def asked(host: CodeHost, folder: Path, *answers: object) -> GitHub:
    """A GitHub whose next GETs are answered so."""
    host.faults["GET"] = [refuses(200, answer) for answer in answers]
    repository = repository_of(host.nightly(folder, "0" * 40))
    assert isinstance(repository, Repository)
    return GitHub(Calls(repository.access, timeout_seconds=5), repository.access.project)


def test_more_commits_than_are_listed_are_not_the_whole(tmp_path: Path) -> None:
    with code_host("github") as host:
        found = asked(
            host, tmp_path, {"commits": [], "total_commits": 251, "files": [], "merge_base_commit": {"sha": "1"}}
        ).difference("1", "2")
        assert (found.whole, found.based) == (False, True)


def test_both_names_of_a_renamed_file_differ(tmp_path: Path) -> None:
    files = [{"filename": "b", "previous_filename": "a"}]
    with code_host("github") as host:
        answer = {"commits": [], "total_commits": 0, "files": files, "merge_base_commit": {"sha": "0"}}
        assert asked(host, tmp_path, answer).difference("1", "2").paths == {"a", "b"}


def test_a_file_is_found_folder_by_folder_with_its_mode(tmp_path: Path) -> None:
    trees = [{"tree": [{"path": "a", "sha": "s", "mode": "040000"}]}, {"tree": [{"path": "b", "sha": "t", "mode": "100755"}]}]
    with code_host("github") as host:
        found = asked(host, tmp_path, {"tree": {"sha": "r"}}, *trees).blob("c", "a/b")
        assert found is not None
        assert (found.digest, found.mode) == ("t", "100755")
        assert asked(host, tmp_path, {"tree": {"sha": "r"}}, *trees).blob("c", "a/x") is None


@pytest.mark.parametrize("answer", [[], {}, {"object": {}}, {"object": {"sha": 3}}])
def test_what_is_no_branch_is_said_to_be_none(answer: object, tmp_path: Path) -> None:
    with code_host("github") as host:
        with pytest.raises(CodeHostError) as caught:
            asked(host, tmp_path, answer).head("main")
        assert caught.value.code == "JPO-E906"
