"""The file that a name means: links inside of the project are followed, none leads out of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jpo.files.links import followed, project_of


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder, next to a folder of someone else, and JPO started in it."""
    for folder in ("repository/.git", "repository/jobs", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "elsewhere" / "config.ini").touch()
    monkeypatch.chdir(tmp_path / "repository")
    return tmp_path / "repository"


def test_links_inside_of_the_project_are_followed(repository: Path) -> None:
    (repository / "shared.ini").touch()
    (repository / "jobs/config.ini").symlink_to("../shared.ini")
    assert followed(Path("jobs/config.ini")) == repository / "shared.ini"


@pytest.mark.parametrize("named", ["config.ini", "jobs/config.ini", "folder/config.ini", "jobs/../folder/config.ini", "new.ini"])
@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("with_git", [True, False])
def test_no_link_leads_out_of_it(repository: Path, named: str, absolute: bool, with_git: bool) -> None:
    if not with_git:
        (repository / ".git").rmdir()
    (repository / "config.ini").symlink_to("../elsewhere/config.ini")
    (repository / "jobs/config.ini").symlink_to("../config.ini")
    (repository / "folder").symlink_to(repository.parent / "elsewhere")
    (repository / "new.ini").symlink_to("../elsewhere/new.ini")
    with pytest.raises(PermissionError, match=r"a link leads to .*elsewhere/(config|new)\.ini, out of the project .*repository"):
        followed(repository / named if absolute else Path(named))


def test_another_repository_behind_a_link_is_not_the_project(repository: Path) -> None:
    (repository.parent / "elsewhere/.git").mkdir()
    (repository / "folder").symlink_to("../elsewhere")
    with pytest.raises(PermissionError, match="out of the project"):
        followed(repository / "folder/config.ini")


def test_what_people_name_themselves_needs_no_repository(repository: Path) -> None:
    assert followed(Path("../elsewhere/config.ini")) == repository.parent / "elsewhere/config.ini"


def test_where_jpo_works_may_be_reached_through_a_link(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "config.ini").touch()
    (repository.parent / "link").symlink_to("repository")
    assert followed(repository.parent / "link/config.ini") == repository / "config.ini"
    monkeypatch.chdir(repository.parent / "link")
    assert followed(Path("config.ini")) == repository / "config.ini"


def test_without_a_repository_the_project_is_where_jpo_was_started_but_not_the_whole_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert project_of(Path("jobs/config.ini")) == tmp_path
    monkeypatch.chdir("/")
    assert project_of(tmp_path / "config.ini") == tmp_path


def test_a_circle_of_links_is_an_error(repository: Path) -> None:
    (repository / "config.ini").symlink_to("config.ini")
    with pytest.raises(OSError, match="Too many levels"):
        followed(Path(os.fspath("config.ini")))
