"""Installation: Python, packages, torch, the guard and the pipeline."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from commands.doctor.diagnosis import diagnosis

from jpo.commands.doctor.case import Case
from jpo.commands.doctor.installation import guard, packages, pipeline, python, version_of
from jpo.errors import UsageError
from jpo.version import __version__

if TYPE_CHECKING:
    from conftest import Project


def test_without_torch_learning_says_how_to_get_it(empty: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jpo.commands.doctor.installation.version_of", lambda package: None if package == "torch" else "1")
    learning = diagnosis(empty)[1]["learning"]
    assert (learning["status"], learning["code"]) == ("ok", "JPO-I140")
    assert 'pip install "jpo[learn]"' in learning["next_step"]


def test_a_package_that_is_missing_is_named(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"numpy", "rich"}
    monkeypatch.setattr("jpo.commands.doctor.installation.version_of", lambda package: None if package in missing else "1")
    with pytest.raises(UsageError, match="numpy, rich not installed") as caught:
        list(packages(case))
    assert caught.value.code == "JPO-E140"


def test_the_guard_starts_as_a_process_of_its_own_or_the_line_says_why_not(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    (line,) = guard(case)
    assert (line.status, line.finding.endswith("starts as a process of its own")) == ("ok", True)
    for program, why in (("/nowhere/python", "FileNotFoundError"), ("/bin/false", "exit code 1")):
        monkeypatch.setattr(sys, "executable", program)
        (line,) = guard(case)
        assert (line.status, line.code, line.finding.endswith(why)) == ("warning", "JPO-W155", True)


def test_python_is_named_with_the_version_of_jpo(case: Case) -> None:
    (line,) = python(case)
    assert line.finding.startswith(".".join(map(str, sys.version_info[:3])))
    assert line.finding.endswith(f"jpo {__version__}")


@pytest.mark.parametrize(
    ("environ", "finding"),
    [
        ({}, "none: started by hand"),
        ({"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/train"}, "github: acme/train"),
        ({"CI": "true"}, "ci"),
    ],
)
def test_the_pipeline_is_named_as_far_as_it_is_known(case: Case, environ: dict[str, str], finding: str) -> None:
    (line,) = pipeline(replace(case, environ=environ))
    assert (line.status, line.finding) == ("ok", finding)


def test_a_package_that_is_not_there_has_no_version() -> None:
    assert version_of("click") is not None
    assert version_of("no-such-package-of-jpo") is None
