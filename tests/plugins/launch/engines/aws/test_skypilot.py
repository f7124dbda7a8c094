from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.aws.settings import AwsTable
from jpo.plugins.launch.engines.aws.skypilot import as_yaml, task
from jpo.plugins.launch.job import LaunchJob, Needs
from jpo.records import Identity

PLACE = AwsTable(region="eu-central-1", image="ami-1", bucket="ml-runs/nightly", instance_profile="training")
JOB = LaunchJob(
    "nightly_17.-a",
    Identity("d", "m", "f"),
    ("python", "train.py", "--note", "$(touch x); `id` ' \" \\ é\n- y: [1]"),
    Path("/srv/job"),
    {"JPO_CONFIG": "/srv/job/conf/digits.ini", "NOTE": "on", "NUMBER": "1e3", "DAY": "2026-11-23"},
    Needs(gpus=8, gpu_type="a100-80gb", cpus=64, memory_gib=500, nodes=2),
    longest_seconds=3600,
)


def test_resources_are_those_of_one_node() -> None:
    made = task(JOB, PLACE)
    assert (made["num_nodes"], made["name"]) == (2, "nightly-17-a")
    resources = made["resources"]
    assert resources["accelerators"] == {"A100-80GB": 4}
    assert (resources["cpus"], resources["memory"], resources["use_spot"]) == ("32+", "250+", True)
    assert resources["infra"] == "aws/eu-central-1"
    assert resources["autostop"] == {"idle_minutes": 5, "down": True}


def test_the_run_log_goes_to_the_bucket_and_config_ini_is_in_the_working_directory() -> None:
    made = task(JOB, PLACE)
    assert made["workdir"] == "/srv/job"
    assert made["envs"]["JPO_CONFIG"] == "conf/digits.ini"
    assert made["envs"]["JPO_RUNLOG_DIR"] == "/jpo-run/runs"
    assert made["file_mounts"]["/jpo-run"]["source"].startswith("s3://ml-runs/nightly/nightly_17.-a-")
    assert "file_mounts" not in task(JOB, PLACE.model_copy(update={"bucket": None}))


def test_the_command_is_quoted_and_ended_in_time() -> None:
    assert shlex.split(task(JOB, PLACE)["run"]) == ["timeout", "--kill-after=10", "3600", *JOB.command]


@pytest.mark.parametrize(
    ("gpu_type", "name"), [("a10g-24gb", "A10G"), ("T4", "T4"), ("v100-32gb", "V100-32GB"), ("h100", "H100")]
)
def test_gpus_have_the_names_of_skypilot(gpu_type: str, name: str) -> None:
    job = replace(JOB, needs=Needs(gpus=1, gpu_type=gpu_type))
    assert task(job, PLACE)["resources"]["accelerators"] == {name: 1}


def test_gpus_without_a_type_and_odd_variables_are_refused() -> None:
    with pytest.raises(LaunchError, match="gpu_type"):
        task(replace(JOB, needs=Needs(gpus=1)), PLACE)
    with pytest.raises(LaunchError, match="A-B"):
        task(replace(JOB, environment={"A-B": "1"}), PLACE)


words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


@settings(max_examples=50)
@given(command=st.lists(words, min_size=1, max_size=4), value=words)
def test_any_command_and_value_reads_back_from_yaml(command: list[str], value: str) -> None:
    job = replace(JOB, command=tuple(command), environment={"V": value}, longest_seconds=None)
    made = task(job, PLACE)
    read = yaml.safe_load(as_yaml(made))
    assert read == made
    assert shlex.split(read["run"]) == command
