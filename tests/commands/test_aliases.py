"""Runs of one workload under two spellings: named with the line that joins them, joined by it, and on record as reported."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from user_project import Project

ALIASES = '[workload]\naliases = { dataset = ["Digits"], framework = ["torch"] }\n'


def suggested(project: Project) -> dict[str, Any]:
    answer = project.jpo("suggest", "config.ini", "--no-learn", "-o", "json")
    assert answer.code == 0, answer.err
    said: dict[str, Any] = json.loads(answer.out)
    return said


def respelt(project: Project, number: int, *, dataset: str = "Digits", framework: str = "torch") -> None:
    log = next((project.folder / "runs").glob(f"*-{number}.csv"))
    text = log.read_text().replace("dataset=digits", f"dataset={dataset}").replace("framework=pytorch", f"framework={framework}")
    log.write_text(text)


def test_they_are_named_once_wherever_they_are_seen(project: Project) -> None:
    respelt(project, 0)
    respelt(project, 1, dataset="digits2")
    for _ in range(2):
        said = suggested(project)
        notes = [note for note in said["evidence"]["notes"] if "[workload.aliases]" in note]
        assert len(notes) == 1
        assert 'write dataset = ["Digits"], framework = ["torch"] under [workload.aliases]' in notes[0]
        assert "JPO-W163" in said["reason_codes"]
        assert said["evidence"]["runs_used"] == 5
    found = [
        check
        for check in json.loads(project.jpo("doctor", "--offline", "-o", "json").out)["checks"]
        if check["code"] == "JPO-W163"
    ]
    assert len(found) == 1


@pytest.mark.parametrize("first_recorded_apart", [False, True])
def test_joined_they_count_as_the_workloads_own_and_stay_as_reported(project: Project, first_recorded_apart: bool) -> None:
    for number in (0, 2, 3):
        respelt(project, number)
    config, toml = project.config.read_text(), (project.folder / "jpo.toml").read_text()
    if first_recorded_apart:  # under the other name, before anybody noticed
        project.config.write_text(config.replace("= digits", "= Digits").replace("= pytorch", "= torch"))
        assert project.jpo("observe").code == 0
        project.config.write_text(config)
        (project.folder / "jpo.toml").write_text(toml.replace("runs/*.csv", "runs/run-[1456].csv"))
        toml = (project.folder / "jpo.toml").read_text()
    (project.folder / "jpo.toml").write_text(toml + ALIASES)
    said = suggested(project)
    assert said["evidence"]["runs_used"] == 7
    assert "JPO-W163" not in said["reason_codes"]
    workloads = {run["workload"]["dataset"] for run in json.loads(project.jpo("history", "-o", "json").out)["runs"]}
    assert workloads == {"digits", "Digits"}


def test_a_run_under_another_name_follows_the_suggestion_it_ran_with(project: Project) -> None:
    (project.folder / "jpo.toml").write_text((project.folder / "jpo.toml").read_text() + ALIASES)
    batch = suggested(project)["suggested"]["batch_size"]
    project.log(9, int(batch), 40.0, start=time.time())
    respelt(project, 9)
    assert "JPO-I611" not in suggested(project)["reason_codes"]  # its outcome is no longer waited for


def test_an_empty_name_is_refused(project: Project) -> None:
    (project.folder / "jpo.toml").write_text('[workload]\naliases = { dataset = [" "] }\n')
    answer = project.jpo("suggest", "config.ini")
    assert (answer.code, "JPO-E302" in answer.err) == (2, True)
