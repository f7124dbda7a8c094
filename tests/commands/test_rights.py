"""Through the command line: what a file has besides its content, where a link may lead, and who gets a secret."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from answering import NOTHING, served, tells

if TYPE_CHECKING:
    from user_project import Answer, Project

TOKEN = "s3cret-of-the-runner"


def suggest(project: Project, *options: str) -> Answer:
    return project.jpo("suggest", "config.ini", "--no-learn", "--explore", "off", *options)


def elsewhere(project: Project, name: str) -> Path:
    """A file out of the project."""
    folder = project.folder.with_name(f"{project.folder.name}-elsewhere")
    folder.mkdir()
    return folder / name


def test_config_ini_keeps_its_acl_and_attributes(project: Project, setfacl: str) -> None:
    try:
        os.setxattr(project.config, "user.owner", b"team-7")
    except OSError as error:
        pytest.skip(f"this file system has no attributes: {error.strerror}")
    if subprocess.run([setfacl, "-m", "u:12345:rw,g::r", str(project.config)], capture_output=True, check=False).returncode:
        pytest.skip("this file system has no ACLs")
    listing = ["getfacl", "-cpnE", str(project.config)]
    before, content = subprocess.check_output(listing), project.config.read_bytes()
    assert suggest(project).code == 0
    assert project.config.read_bytes() != content
    assert (subprocess.check_output(listing), os.getxattr(project.config, "user.owner")) == (before, b"team-7")


def test_a_link_out_of_the_project_is_refused_on_record_and_the_next_call_works(project: Project) -> None:
    target = elsewhere(project, "config.ini")
    project.config.rename(target)
    project.config.symlink_to(target)
    before, answer = target.read_bytes(), suggest(project)
    assert (answer.code, target.read_bytes(), project.config.is_symlink()) == (6, before, True)
    assert "name that file itself on the command line, or put a file in place of the link [JPO-E225]" in answer.err
    project.config.unlink()
    project.config.write_bytes(before)
    assert suggest(project).code == 0
    assert project.config.read_bytes() != before
    assert project.jpo("audit", "verify").code == 0


def test_a_result_does_not_go_through_a_link_out_of_the_project(project: Project) -> None:
    target = elsewhere(project, "precious")
    target.write_text("precious")
    (project.folder / "report.json").symlink_to(target)
    before, answer = project.config.read_bytes(), suggest(project, "--output-file", "report.json")
    assert (answer.code, "out of the project" in answer.err, "JPO-E307" in answer.err) == (2, True, True)
    assert (target.read_text(), project.config.read_bytes()) == ("precious", before)


def test_a_hard_link_is_told(project: Project) -> None:
    os.link(project.config, project.folder / "other.ini")
    answer = json.loads(suggest(project, "-o", "json").out)
    assert "JPO-W224" in answer["reason_codes"]
    assert any("2 names (hard links)" in note for note in answer["evidence"]["notes"])


def test_results_are_written_whole_or_to_what_is_open_already(project: Project) -> None:
    (project.folder / "old.json").write_text("{}")
    (project.folder / "old.json").chmod(0o640)
    assert suggest(project, "--dry-run", "--output-file", "old.json", "--output-file", "/dev/null").code == 0
    assert json.loads((project.folder / "old.json").read_text())["status"] == "changed"
    assert (project.folder / "old.json").stat().st_mode & 0o777 == 0o640


def test_the_server_that_a_branch_names_never_sees_the_runners_token(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPO_PROMETHEUS__AUTH__TYPE", "bearer")
    monkeypatch.setenv("JPO_PROMETHEUS__AUTH__TOKEN", TOKEN)
    toml, before = project.folder / "jpo.toml", project.config.read_bytes()
    with served(tells(NOTHING)) as server:
        toml.write_text(f'{toml.read_text()}[prometheus]\nurl = "{server.url}"\n')
        for command in (["suggest"], ["suggest", "--strict"], ["observe"]):
            answer = project.jpo(*command)
            assert (answer.code, "JPO-E321" in answer.err, TOKEN in answer.err) == (2, True, False)
        assert (server.asked, project.config.read_bytes()) == ([], before)
        assert suggest(project, "--offline").code == 0
        monkeypatch.setenv("JPO_SECRETS_TO", server.url)
        assert suggest(project, "--strict").code == 0
        assert server.asked
