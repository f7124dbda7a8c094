"""The project's own files: settings, files of secrets, config.ini and its limits."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from commands.doctor.diagnosis import SECRET, configure, diagnosis

from jpo.commands.doctor.case import Case
from jpo.commands.doctor.own_files import config_ini, settings, writable
from jpo.errors import EditError
from jpo.project.load import load

if TYPE_CHECKING:
    from user_project import Project


def test_a_value_beyond_its_limit_is_a_warning(empty: Project) -> None:
    empty.config.write_text(empty.config.read_text().replace("learning_rate = 0.01", "learning_rate = 500"))
    code, found = diagnosis(empty)
    assert (code, found["limits"]["code"]) == (0, "JPO-W403")


def test_files_of_secrets_are_readable_by_us_and_not_by_everybody(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    token = empty.folder / "token"
    configure(empty, '[prometheus]\nauth = { type = "bearer", token_file = "token" }\n')
    assert diagnosis(empty)[1]["token_file"]["code"] == "JPO-E303"
    monkeypatch.setenv("JPO_PROMETHEUS__AUTH__TOKEN", SECRET)
    assert "token_file" not in diagnosis(empty)[1]
    monkeypatch.delenv("JPO_PROMETHEUS__AUTH__TOKEN")
    token.write_text(SECRET)
    token.chmod(0o644)
    assert diagnosis(empty)[1]["token_file"]["code"] == "JPO-W147"
    token.chmod(0o600)
    assert diagnosis(empty)[1]["token_file"]["status"] == "ok"
    token.unlink()
    os.mkfifo(token, 0o600)
    assert diagnosis(empty)[1]["token_file"]["status"] == "ok"


def test_a_key_in_the_file_of_its_certificate_is_a_secret_too(empty: Project) -> None:
    (empty.folder / "own.pem").touch(0o644)
    configure(empty, '[prometheus]\ncert_file = "own.pem"\n')
    assert diagnosis(empty)[1]["key_file"]["code"] == "JPO-W147"


def test_an_impossible_file_name_is_a_file_that_is_not_there(empty: Project) -> None:
    configure(empty, '[prometheus]\nauth = { type = "bearer", token_file = "a\\u0000b" }\n')
    code, found = diagnosis(empty)
    assert (code, found["token_file"]["code"]) == (2, "JPO-E303")


def test_what_overrides_jpo_toml_is_named(case: Case) -> None:
    environ = {"JPO_AGENT__EXPLORE": "off"}
    (line,) = settings(replace(case, load=lambda: load(None, None, environ, {})))
    assert line.finding.endswith("jpo.toml; also environment JPO_AGENT__EXPLORE")


def test_without_a_jpo_toml_what_is_built_in_counts(case: Case, empty: Project) -> None:
    (empty.folder / "jpo.toml").unlink()
    (line,) = settings(case)
    assert (line.status, line.finding) == ("ok", "built in, without a jpo.toml")


def test_config_ini_is_named_with_its_workload_and_todays_values(case: Case) -> None:
    file, parameters = config_ini(case)
    assert file.finding.endswith("config.ini, workload digits/cnn/pytorch")
    assert parameters.finding == "batch_size 16, learning_rate 0.01, epochs 40 (frozen in jpo.toml), cpus 2"


def test_a_config_ini_that_cannot_be_replaced_is_an_error_with_its_code(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = writable(case)
    assert line.status == "ok"
    monkeypatch.setattr("jpo.commands.doctor.own_files.os.access", lambda path, _mode: not path.is_dir())
    with pytest.raises(EditError, match="cannot be replaced") as caught:
        list(writable(case))
    assert caught.value.code == "JPO-E222"


def test_options_that_are_no_parameters_are_named_with_their_lines(case: Case, empty: Project) -> None:
    assert [line.name for line in config_ini(case)] == ["config.ini", "parameters"]
    with empty.config.open("a") as file:
        file.write("[more]\n" + "\n".join(f"option_{number} = x" for number in range(12)) + "\n")
    others = next(line for line in config_ini(replace(case, now=case.now)) if line.name == "other options")
    assert (others.status, others.finding.startswith("12 options in which JPO sees no parameter")) == ("ok", True)
    assert others.finding.endswith(" and 2 more")
