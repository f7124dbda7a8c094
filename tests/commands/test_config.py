"""`jpo config`: effective settings with their origins, and the published schemas."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from jpo.project.load import load
from jpo.project.tables.effective import effective
from jpo.project.workload import limits_of

if TYPE_CHECKING:
    from user_project import Project


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
    assert '[agent]\npolicy = "sac"  # built in\nexplore = "safe"  # built in' in out
    assert "[prices]\nusd_per_cpu_hour = 0.04  # jpo.toml" in out
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


AWKWARD = """\
[workload]
identity = { dataset = "a.b", model = "c.d", framework = "e.f" }
aliases = { model = ["résnet \\U0001F600", "a\\"b\\\\c"] }
[parameters]
learning_rate = { min = 1e-5, max = 1e-1, scale = "log", follow = "batch_size:sqrt" }
optimizer = { key = "t.opt", choices = ["sgd", "adam"] }
[sla]
time_max = "1h 30m"
cost_max = "12 EUR"
gpu_util_min = "50%"
[metric]
name = "f1"
direction = "max"
[preferences.night]
cost = 1.0
[prices]
currency = "EUR"
per_usd = 0.9
usd_per_gpu_hour_of = { "A100 (80 GB)" = 3.0, v100 = 1 }
gpu_type = "v100"
[prometheus]
labels = { model = "job.model" }
[prometheus.pod_labels]
"app.kubernetes.io/name" = "model"
[imports.columns]
val_loss = { column = "eval/loss", unit = "1" }
[check]
command = ["./check.sh", "{config}"]
"""


@pytest.mark.usefixtures("learning")  # which sets no variable
@pytest.mark.parametrize(
    ("toml", "variables"),
    [
        ("", {}),
        (AWKWARD, {}),
        ('preference = "cost"\n', {"JPO_SLA__TIME_MAX": "90 min", "JPO_AGENT__CONFIDENCE": "0.8"}),
        ("preference = { usd_per_saved_hour = 20 }\n", {"JPO_PREFERENCES__NIGHT__TIME": "1"}),
        ("", {"JPO_PREFERENCE": "time=0.3,cost=0.7", "JPO_CHECK__COMMAND": '["a b", "{config}"]'}),
        ("", {"PROMETHEUS_URL": "http://prometheus:9090/x"}),
    ],
)
def test_what_is_shown_is_a_jpo_toml_that_means_the_same(
    project: Project, monkeypatch: pytest.MonkeyPatch, toml: str, variables: dict[str, str]
) -> None:
    file = project.folder / "jpo.toml"
    file.write_text(toml)
    before = load(None, file, variables, {})
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    shown = project.jpo("config", "show")
    assert shown.code == 0, shown.err
    file.write_text(shown.out)
    after = load(None, file, {}, {})
    assert {each.path: each.value for each in effective(after)} == {each.path: each.value for each in effective(before)}
    assert limits_of(after) == limits_of(before), "and to the guard"


def test_what_is_secret_is_shown_as_a_comment(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMETHEUS_URL", "http://bob:hunter2@host:9090")
    monkeypatch.setenv("JPO_PROMETHEUS__HEADERS__X-Token", "hunter2")
    (project.folder / "jpo.toml").write_text("[agent]\nexplore = 'off'\n")
    out = project.jpo("config", "show").out
    assert '# url = "http://host:9090"  # environment PROMETHEUS_URL, without its secret' in out
    assert "hunter2" not in out
    (project.folder / "jpo.toml").write_text(out)
    assert project.jpo("config", "check").out == "jpo.toml: valid\n"
