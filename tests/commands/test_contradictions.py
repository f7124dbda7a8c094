"""A job that takes less than it is given: said everywhere, learnt where it really was, and not asked for again and again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from user_project import Project


def document(project: Project, *command: str) -> dict[str, Any]:
    answer = project.jpo(*command, "-o", "json")
    assert answer.code == 0, answer.err
    said: dict[str, Any] = json.loads(answer.out)
    return said


def suggested(project: Project, *options: str) -> dict[str, Any]:
    return document(project, "suggest", "config.ini", "--no-learn", *options)


def batch_in(project: Project) -> str:
    line = next(line for line in project.config.read_text().splitlines() if line.startswith("batch_size"))
    return line.partition("=")[2].split()[0]


@pytest.fixture
def capped(project: Project) -> Project:
    """64 was suggested and written twice, and the job ran with 32 both times; 16 it had taken as it was given."""
    for name, given, ran in [("first", 16, 16), ("capped-1", 64, 32), ("capped-2", 64, 32)]:
        suggested(project, "--set", f"batch_size={given}")
        log = project.log_now(ran, 70.0)
        log.with_stem(name).write_text(log.read_text().replace("run_id=run-now", f"run_id={name}"))
        log.unlink()
    assert project.jpo("observe", "--offline").code == 0
    return project


def test_it_is_said_everywhere_and_settled_where_the_job_really_is(capped: Project) -> None:
    told = document(capped, "history")["contradictions"]
    assert len(told) == 1
    assert "2 runs (capped-1, capped-2) had batch_size 32 where 64 was given" in told[0]
    assert "[JPO-W161]" in told[0]
    lines = [line for line in document(capped, "doctor", "config.ini", "--offline")["checks"] if line["name"] == "as given"]
    assert [line["code"] for line in lines] == ["JPO-W161"]
    assert "not carried out as suggested" in capped.jpo("explain").out
    said = suggested(capped)
    assert "JPO-W161" in said["reason_codes"]
    assert [change["reason"] for change in said["changes"] if change["parameter"] == "batch_size"] == [
        "the value that the job really ran with"
    ]
    assert said["as_run"] == ["batch_size"]
    assert batch_in(capped) == "32"


def test_no_more_than_the_job_takes_is_asked_for_again_until_somebody_tries(capped: Project) -> None:
    suggested(capped)
    for _ in range(3):
        said = suggested(capped, "--explore", "on")
        assert "JPO-I162" in said["reason_codes"]
        assert float(batch_in(capped)) <= 32
    suggested(capped, "--set", "batch_size=64")
    capped.log_now(64, 40.0)
    assert "JPO-I162" not in suggested(capped)["reason_codes"]
    assert not any("batch_size" in told for told in document(capped, "history").get("contradictions", []))


def test_what_may_not_be_changed_stays_in_the_file_and_counts_as_it_ran(capped: Project) -> None:
    (capped.folder / "jpo.toml").write_text(
        (capped.folder / "jpo.toml").read_text().replace("[prices]", "batch_size = { freeze = true }\n[prices]")
    )
    said = suggested(capped)
    assert batch_in(capped) == "64"
    assert said["current"]["batch_size"] == said["suggested"]["batch_size"] == 32
    assert said["as_run"] == ["batch_size"]
    assert "training.batch_size (as run)" in capped.jpo("explain").out


def test_one_run_by_hand_is_told_with_both_readings_and_limits_nothing(project: Project) -> None:
    suggested(project, "--set", "batch_size=64")
    project.log_now(32, 70.0)
    said = suggested(project)
    note = next(note for note in said["evidence"]["notes"] if "run-now" in note)
    assert "If somebody ran it by hand, nothing is amiss" in note
    assert "JPO-W160" in said["reason_codes"]
    assert float(batch_in(project)) > 32
