"""What GitLab alone says of branches; the story of both hosts is in test_persist.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from code_hosts import CodeHost, code_host, refuses

from jpo.errors import CodeHostError
from jpo.plugins.ci.code_host.calls import Calls
from jpo.plugins.ci.code_host.gitlab import GitLab
from jpo.plugins.ci.code_host.repository import Repository, repository_of


def asked(host: CodeHost, folder: Path, answer: object) -> Any:
    """A GitLab whose next GET is answered so."""
    host.faults["GET"] = [refuses(200, answer)]
    repository = repository_of(host.nightly(folder, "0" * 40))
    assert isinstance(repository, Repository)
    return GitLab(Calls(repository.access, timeout_seconds=5), repository.access.project)


def test_a_comparison_that_was_given_up_is_not_the_whole(tmp_path: Path) -> None:
    with code_host("gitlab") as host:
        renamed = {"commits": [], "diffs": [{"old_path": "a", "new_path": "b"}], "compare_timeout": True}
        found = asked(host, tmp_path, renamed).difference("1", "2")
        assert (found.whole, found.paths, found.based) == (False, {"a", "b"}, False)


@pytest.mark.parametrize("answer", [[], {}, {"commits": 3, "diffs": []}, {"commits": [{}], "diffs": []}])
def test_what_is_no_comparison_is_said_to_be_none(answer: object, tmp_path: Path) -> None:
    with code_host("gitlab") as host:
        with pytest.raises(CodeHostError) as caught:
            asked(host, tmp_path, answer).difference("1", "2")
        assert caught.value.code == "JPO-E906"


def test_one_that_is_being_merged_is_still_open(tmp_path: Path) -> None:
    sides = {"source_project_id": 1, "target_project_id": 1, "title": "t", "description": None, "web_url": "u"}
    with code_host("gitlab") as host:
        (found,) = asked(host, tmp_path, [{"iid": 1, "state": "locked", **sides}]).requests("a", "b")
        assert (found.state, found.body) == ("open", "")
