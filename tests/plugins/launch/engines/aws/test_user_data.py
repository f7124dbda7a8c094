from __future__ import annotations

import gzip
import json
from base64 import b64decode
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.aws.request import MOST_BYTES, Home, user_data
from jpo.plugins.launch.job import LaunchJob
from jpo.records import Identity

HOME = Home("eu-central-1", "ml-runs", "nightly/run-1-abc")
NASTY = "$(touch /tmp/x); `id` \"'\n#cloud-config\n- x: é\\"
JOB = LaunchJob("run-1", Identity("d", "m", "f"), ("python", "train.py", NASTY), Path("/srv/job"), {"NOTE": NASTY})


def told(data: bytes) -> Any:
    head, _, text = gzip.decompress(data).decode().partition("\n")
    assert head == "#cloud-config"
    return yaml.safe_load(text)


def files(data: bytes) -> dict[str, bytes]:
    return {file["path"]: gzip.decompress(b64decode(file["content"])) for file in told(data)["write_files"]}


def test_values_travel_as_data_and_commands_are_fixed() -> None:
    data = user_data(JOB, b"[training]\nbatch_size = 64\n", HOME)
    assert told(data)["runcmd"] == [
        ["shutdown", "-P", "+10080"],
        ["python3", "/var/lib/jpo/supervisor.py", "/var/lib/jpo"],
        ["shutdown", "-P", "now"],
    ]
    job = json.loads(files(data)["/var/lib/jpo/job.json"])
    assert job["command"] == ["python", "train.py", NASTY]
    assert job["environment"] == {"NOTE": NASTY}
    assert files(data)["/var/lib/jpo/config.ini"] == b"[training]\nbatch_size = 64\n"
    assert job["config"] == "/srv/job/config.ini"
    assert "touch" not in gzip.decompress(data).decode()


def test_the_instance_lives_a_grace_longer_than_its_run() -> None:
    assert told(user_data(replace(JOB, longest_seconds=601.0), b"", HOME))["runcmd"][0] == ["shutdown", "-P", "+26"]


def test_it_is_the_same_for_the_same_job_whatever_the_order_and_kind_of_its_numbers() -> None:
    one = replace(JOB, environment={"A": "1", "B": "2"}, longest_seconds=60)
    other = replace(JOB, environment={"B": "2", "A": "1"}, longest_seconds=60.0)
    assert user_data(one, b"x", HOME) == user_data(other, b"x", HOME)


def test_config_ini_goes_where_the_code_is_on_the_image() -> None:
    words = ("python3", "/srv/job/train.py", "--config=/srv/job/conf/digits.ini", "/srv/job/../x", "/srv/jobs", "a=/srv/job/b")
    job = replace(JOB, command=words, environment={"JPO_CONFIG": "/srv/job/conf/digits.ini"})
    data = user_data(job, b"x", HOME, PurePosixPath("/opt/training"))
    about = json.loads(files(data)["/var/lib/jpo/job.json"])
    assert (about["folder"], about["config"]) == ("/opt/training", "/opt/training/conf/digits.ini")
    changed = ["python3", "/opt/training/train.py", "--config=/opt/training/conf/digits.ini"]
    assert about["command"] == [*changed, "/srv/job/../x", "/srv/jobs", "a=/srv/job/b"]
    assert about["environment"]["JPO_CONFIG"] == "/opt/training/conf/digits.ini"


def test_without_a_file_the_image_has_its_own() -> None:
    data = user_data(JOB, b"", HOME)
    assert "/var/lib/jpo/config.ini" not in files(data)
    assert json.loads(files(data)["/var/lib/jpo/job.json"])["config"] is None


def test_what_ec2_would_not_take_is_refused() -> None:
    import secrets

    with pytest.raises(LaunchError, match=str(MOST_BYTES)) as caught:
        user_data(JOB, secrets.token_hex(20000).encode(), HOME)
    assert caught.value.code == "JPO-E755"


def test_a_usual_job_leaves_room() -> None:
    assert len(user_data(JOB, b"# comment\n[training]\nbatch_size = 64\n" * 10, HOME)) < MOST_BYTES / 2
