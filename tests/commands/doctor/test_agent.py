"""The agent's lines: who decides and why, and what has been learnt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from commands.doctor.diagnosis import configure, diagnosis, everything_in

from jpo.agent.policy import load_policy, save_policy
from jpo.history import open_store
from jpo.learning.serving import AGENT, POLICY

if TYPE_CHECKING:
    from user_project import Project


def store_saves(project: Project, name: str, data: bytes) -> None:
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db") as store:
        saved = store.load_agent(name)
        store.save_agent(name, data, expected_version=saved[1] if saved else 0)


def test_before_the_first_run_the_policy_decides_that_came_with_jpo_and_nothing_is_made(empty: Project) -> None:
    before = everything_in(empty.folder)
    code, found = diagnosis(empty)
    assert (code, found["agent"]["status"], found["agent"]["topic"]) == (0, "ok", "Store")
    assert found["agent"]["finding"].startswith(
        f"SAC decides: as it came with JPO, version {load_policy().digest[:12]}, released"
    )
    assert found["learnt"]["finding"] == "nothing yet"
    assert everything_in(empty.folder) == before


@pytest.mark.parametrize(
    ("settings", "finding"),
    [
        ('policy = "belief"', 'the belief rule decides, as [agent] policy = "belief" asks'),
        ('explore = "off"', 'no agent decides: with [agent] explore = "off" only measured values are used'),
        ('policy = "mc-dropout"', 'mc-dropout decides, as [agent] policy = "mc-dropout" asks; on top of SAC, as it came'),
    ],
)
def test_what_the_user_asked_for_is_named(empty: Project, settings: str, finding: str) -> None:
    configure(empty, f"[agent]\n{settings}\n")
    assert diagnosis(empty)[1]["agent"]["finding"].startswith(finding)


def test_a_policy_that_learnt_here_decides_where_it_was_released(project: Project) -> None:
    project.jpo("observe")
    first, *rest = load_policy().members
    other = {name: array + 1 for name, array in first.items()}
    card = {"release_test": {"pooled": {"ratio": 0.97}}}
    store_saves(project, POLICY, save_policy(other, *rest, released=("safe",), card=card))
    line = diagnosis(project)[1]["agent"]
    assert "SAC decides: learnt here, version " in line["finding"]
    assert line["finding"].endswith("released for safe: 0.970 of the belief rule's cost")
    store_saves(project, POLICY, save_policy(other, *rest, released=(), card={}))
    line = diagnosis(project)[1]["agent"]
    assert "as it came with JPO" in line["finding"]
    assert line["finding"].endswith("what was learnt here has not passed its release test")


@pytest.mark.usefixtures("short_practice")
def test_what_has_been_learnt_is_counted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="torch is not installed; it is needed for learning only")
    project.jpo("observe")
    monkeypatch.setenv("JPO_AGENT__LEARN_BUDGET", "10m")
    project.jpo("suggest", "config.ini")
    learnt = diagnosis(project)[1]["learnt"]
    assert learnt["status"] == "ok"
    assert learnt["finding"].startswith("from 6 runs of 1 workload, 6 transitions in its memory, 48 updates, last ")


@pytest.mark.parametrize("data", [b"damaged", save_policy(*load_policy().members, released=(), card={})[:-1]])
def test_a_damaged_policy_is_a_warning_with_what_to_do_here_and_in_a_suggestion(project: Project, data: bytes) -> None:
    project.jpo("observe")
    store_saves(project, POLICY, data)
    code, found = diagnosis(project)
    line = found["learnt policy"]
    assert (code, line["status"], line["code"]) == (0, "warning", "JPO-W636")
    assert "until it is made anew, what came with JPO decides" in line["finding"]
    assert "`jpo learn config.ini`" in line["next_step"]
    assert "as it came with JPO" in found["agent"]["finding"]
    answer = project.jpo("suggest", "config.ini", "--dry-run")
    assert answer.code == 0
    assert "the policy that learnt here is damaged" in answer.out
    assert "JPO-W636" in project.jpo("suggest", "config.ini", "--dry-run", "-o", "json").out


def test_a_damaged_agent_is_a_warning_and_rebuilding_mends_it(project: Project) -> None:
    project.jpo("observe")
    store_saves(project, AGENT, b"damaged")
    code, found = diagnosis(project)
    line = found["learnt"]
    assert (code, line["status"], line["code"]) == (0, "warning", "JPO-W605")
    assert "--rebuild" in line["next_step"]
