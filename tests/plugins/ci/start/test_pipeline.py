"""The pipeline's file is the example of pipelines/ itself, with other paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from schemas import broken

from jpo.errors import UsageError
from jpo.plugins.ci.start.pipeline import FILES, SOURCES, hosts_of, part_of, pipeline_file, template

PIPELINES = Path(__file__).parents[4] / "pipelines"
HOSTS: list[Any] = ["gitlab", "github"]
SCHEMAS = {"gitlab": "gitlab-ci", "github": "github-workflows"}


@pytest.mark.parametrize("host", HOSTS)
def test_for_the_usual_path_it_is_the_example(host: Any) -> None:
    example = (PIPELINES / SOURCES[host]).read_text()
    assert template(host) == example
    assert yaml.safe_load(pipeline_file(host, "config.ini").text) == yaml.safe_load(example)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("config", ["config.ini", "a/b/job.cfg"])
def test_it_follows_the_schema_of_its_host(host: Any, config: str, tmp_path: Path) -> None:
    file = tmp_path / Path(FILES[host]).name
    file.write_text(pipeline_file(host, config).text)
    assert broken(SCHEMAS[host], file) == ""


def test_gitlab_needs_the_include_alone_where_there_is_a_file() -> None:
    part = yaml.safe_load(pipeline_file("gitlab", "a/job.ini", "a").add)
    given = part["include"][0]["inputs"]
    assert (list(part), given["config"], given["settings"], given["history"]) == (
        ["include"],
        "a/job.ini",
        "a/jpo.toml",
        "a/.jpo",
    )
    assert part_of("x: 1\ninclude:\n  - a\n\nstages: []\n") == "include:\n  - a\n"


@pytest.mark.parametrize("config", ["a b.ini", "../config.ini", "-x.ini", "a\nb.ini", "ü.ini", "$x.ini", ""])
def test_a_path_that_would_need_quoting_is_refused(config: str) -> None:
    with pytest.raises(UsageError) as caught:
        pipeline_file("github", config)
    assert caught.value.code == "JPO-E910"


def test_hosts_are_those_of_files_before_those_of_remotes(tmp_path: Path) -> None:
    assert list(hosts_of(tmp_path)) == []
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("[remote]\n\turl = git@GitLab.example.com:a/b\n\turl = https://github.com/a/b\n")
    assert list(hosts_of(tmp_path)) == ["gitlab", "github"]
    (tmp_path / ".github").mkdir()
    assert list(hosts_of(tmp_path)) == ["github"]


def test_a_worktree_without_a_config_of_its_own_shows_none(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /elsewhere\n")
    assert list(hosts_of(tmp_path)) == []
