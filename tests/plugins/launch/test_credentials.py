"""What looks like a credential is found by name and value, and named without its value."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import LaunchError
from jpo.plugins.launch.credentials import config_of, refuse_credentials
from jpo.plugins.launch.job import LaunchJob
from jpo.records import Identity


def refused(config: str = "", *command: str) -> LaunchError | None:
    job = LaunchJob("night-1", Identity("d", "m", "f"), command or ("python", "train.py"), Path("/srv"))
    try:
        refuse_credentials(job, config.encode(), "a ConfigMap", "use a Secret")
    except LaunchError as error:
        return error
    return None


@pytest.mark.parametrize(
    "line",
    [
        "api_key = 0123456789abcdef0123456789abcdef01234567",
        "hf_token: hf_AbCdEfGh12345678",
        "password = hunter2",
        "dbPassword = 'correct horse'",
        "# aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "store = postgresql://me:hunter2@db.example.com/jpo",
        "url = https://:ghp_0123456789@github.com/x",
        "# sk-proj-0123456789abcdefAbCd",
        "notes = ask for glpat-0123456789abcdefAbCd",
        "  eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "auth = Bearer 0123456789abcdefAbCd",
        "# postgresql://me:hunter2@db.example.com/jpo",
        "store = db  # postgresql://me:hunter2@db.example.com/jpo",
        "export DB_PASS=hunter2",
    ],
)
def test_a_line_of_config_ini_that_holds_one_is_named_without_its_value(line: str) -> None:
    found = refused(f"[training]\n{line}\n")
    assert found is not None
    assert (found.code, found.place) == ("JPO-E770", "config.ini:2")
    assert not any(secret in str(found) for secret in ("hunter2", "0123456789", "AbCd", "wJalr", "horse"))


@pytest.mark.parametrize(
    "line",
    [
        "api_key = ${WANDB_API_KEY}",
        "token = %(token)s",
        "password_file = /run/secrets/password",
        "pad_token = [PAD]",
        "eos_token = </s>",
        "max_tokens = 4096",
        "tokenizer = bert-base-uncased-v2",
        "key = validation_accuracy_top5",
        "secret =",
        "data = s3://bucket/key@2",
        "url = https://hub.example.com:8443/v2",
        "learning_rate = 0.001  # api_key = none",
    ],
)
def test_references_and_other_kinds_of_tokens_are_none(line: str) -> None:
    assert refused(line) is None


def test_arguments_of_the_command_are_looked_at() -> None:
    for words in (("--api-key=abcdef0123456789",), ("--password", "hunter2"), ("--store", "redis://:hunter2@h/0")):
        found = refused("", "python", "train.py", *words)
        assert found is not None
        assert "hunter2" not in str(found)
    assert refused("", "python", "train.py", "--token", "--epochs", "3") is None


def test_the_file_is_the_jobs_own(tmp_path: Path) -> None:
    job = LaunchJob("night-1", Identity("d", "m", "f"), ("train",), tmp_path, {"JPO_CONFIG": str(tmp_path / "a.ini")})
    assert config_of(job) == b""
    (tmp_path / "a.ini").write_bytes(b"[x]\n")
    assert config_of(job) == b"[x]\n"
