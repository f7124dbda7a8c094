"""`jpo config`: effective settings with their origins, and the published schemas."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Project


def test_config_show_names_values_and_origins_but_no_secret(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPO_PROMETHEUS__AUTH__TYPE", "bearer")
    monkeypatch.setenv("JPO_PROMETHEUS__AUTH__TOKEN", "hunter2")
    out = project.jpo("config", "show").out
    monkeypatch.setenv("PROMETHEUS_URL", "http://bob:hunter2@host:9090/p")
    monkeypatch.setenv("JPO_PROMETHEUS__HEADERS__AUTHORIZATION", "Bearer hunter2")
    out += project.jpo("config", "show").out
    for awkward in ("http://h:9?token=hunter2", "http://us:pa/hunter2@h:9", "http://h:9#hunter2", "us:hunter2@h:9"):
        monkeypatch.setenv("PROMETHEUS_URL", awkward)
        out += project.jpo("config", "show").out
    assert 'agent.explore = "safe"  # built in' in out
    assert "prices.usd_per_cpu_hour = 0.04  # jpo.toml" in out
    assert "hunter2" not in out


def test_config_check_finds_what_only_the_guard_refuses(project: Project) -> None:
    assert project.jpo("config", "check").out == "jpo.toml: valid\n"
    (project.folder / "jpo.toml").write_text("[quota]\nusd_per_hour = 3.0\n")
    answer = project.jpo("config", "check")
    assert answer.code == 2
    assert "[quota] usd_per_hour" in answer.err


@pytest.mark.parametrize(("output", "name"), [("settings", "prometheus"), ("suggestion", "forecast")])
def test_a_schema_is_json_schema(empty: Project, output: str, name: str) -> None:
    schema = json.loads(empty.jpo("config", "schema", "--output", output).out)
    assert name in schema["properties"]
