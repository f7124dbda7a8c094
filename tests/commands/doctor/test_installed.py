"""Installation: Python, packages, torch, the guard and the pipeline."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from commands.doctor.diagnosis import configure, diagnosis

from jpo.commands.doctor.case import Case
from jpo.commands.doctor.installed import guard, packages, pipeline, python, version_of
from jpo.errors import UsageError
from jpo.version import __version__

if TYPE_CHECKING:
    from user_project import Project


@pytest.mark.usefixtures("learning")
@pytest.mark.parametrize(
    ("settings", "status", "code"),
    [
        ("", "warning", "JPO-W650"),
        ('learn_budget = "0s"', "ok", "JPO-I140"),
        ('policy = "belief"', "ok", "JPO-I140"),
        ('policy = "by-sla"', "warning", "JPO-W650"),
        ('learn_budget = "soon"', "warning", "JPO-W650"),
    ],
)
def test_without_torch_learning_is_off_which_is_a_warning_unless_that_is_meant(
    empty: Project, monkeypatch: pytest.MonkeyPatch, settings: str, status: str, code: str
) -> None:
    monkeypatch.setattr("jpo.commands.doctor.installed.version_of", lambda package: None if package == "torch" else "1")
    configure(empty, f"[agent]\n{settings}\n")
    learning = diagnosis(empty)[1]["learning"]
    assert (learning["status"], learning["code"]) == (status, code)
    assert 'pip install "jpo[learn]"' in learning["next_step"]


def test_a_package_that_is_missing_is_named(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = {"numpy", "rich"}
    monkeypatch.setattr("jpo.commands.doctor.installed.version_of", lambda package: None if package in missing else "1")
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
