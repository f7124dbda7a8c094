"""`jpo run --on aws` and `--skypilot` as typed; what an instance does is in tests/launch/aws."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from user_project import Project


def test_a_run_is_written_as_a_task_of_skypilot_and_not_started(project: Project) -> None:
    toml = project.folder / "jpo.toml"
    toml.write_text(toml.read_text() + '[launch.aws]\nregion = "eu-central-1"\nbucket = "ml-runs"\nspot = false\n')
    command = ("sh", "-c", "echo '$(id)' \"a b\"")
    answer = project.jpo("run", "--skypilot", "task.yaml", "--timeout", "1h", "--", *command)
    assert answer.code == 0, answer.err
    assert "start it with: sky jobs launch task.yaml" in answer.out
    made = yaml.safe_load((project.folder / "task.yaml").read_text())
    assert shlex.split(made["run"]) == ["timeout", "--kill-after=10", "3600", *command]
    assert (made["resources"]["infra"], made["resources"]["use_spot"]) == ("aws/eu-central-1", False)
    assert made["envs"]["JPO_CONFIG"] == "config.ini"
    assert not (project.folder / ".jpo/launches" / made["envs"]["JPO_RUN_ID"]).exists()


def test_settings_that_aws_needs_are_named(project: Project) -> None:
    answer = project.jpo("run", "--on", "aws", "--dry-run", "--", "true")
    assert (answer.code, "JPO-E767" in answer.err) == (7, True)
    assert "lacks " in answer.err
