"""`jpo history --compare`: which runs are before, which after, and what cannot be said."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from made import a_suggestion

from jpo.history import open_store

if TYPE_CHECKING:
    from user_project import Project


def compared(project: Project) -> dict[str, Any]:
    answer = project.jpo("history", "--compare", "--for", "config.ini", "-o", "json")
    assert (answer.code, answer.err) == (0, "")
    (one,) = json.loads(answer.out)["workloads"]
    return dict(one)


@pytest.fixture
def changed(project: Project) -> Project:
    """The seven runs of the fixture, then a change to 64, and four runs with it and one with 32."""
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    now = time.time()
    for number, seconds in enumerate((40.0, 41.0, 42.0, 43.0)):
        project.log(0, 64, seconds, start=now + 100 * number, name=f"after-{number}")
    project.log(0, 32, 500.0, start=now + 400, name="other")
    project.jpo("observe")
    return project


def test_runs_before_the_change_are_held_against_those_that_followed_it(changed: Project) -> None:
    one = compared(changed)
    assert (one["before"], one["after"], one["left_out"]) == (7, 4, 1)
    duration = one["since_first_change"][0]
    assert duration["quantity"] == "duration_seconds"
    assert duration["after"] == pytest.approx(41.5)
    assert (duration["word"], duration["change"]["high"] < 1) == ("better", True)
    assert one["since_last_change"] == []  # it is the first one


def test_a_second_change_is_also_compared_by_itself(changed: Project) -> None:
    changed.jpo("suggest", "config.ini", "--set", "batch_size=32", "--no-learn")
    changed.log(0, 32, 70.0, start=time.time() + 1000, name="later")
    changed.jpo("observe")
    one = compared(changed)
    assert (one["after"], one["since_last_change"][0]["runs_after"]) == (5, 1)
    assert one["since_last_change"][0]["word"] == "too few"


def test_before_the_first_change_it_says_that_there_is_nothing_to_compare(project: Project) -> None:
    project.jpo("observe")
    assert "no change by JPO is on record yet: 7 runs" in project.jpo("history", "--compare").out


def test_a_suggestion_that_was_not_written_is_no_change(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn", "--dry-run")
    project.jpo("observe")
    assert compared(project)["first_change"] is None


def test_a_suggestion_whose_writing_is_not_on_record_is_no_change(project: Project) -> None:
    project.jpo("observe")
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db") as store:
        store.append(a_suggestion(), config="config.ini", source_digest="ab" * 32)
    assert compared(project)["first_change"] is None


def test_a_change_that_was_run_counts_though_the_process_was_killed_before_it_was_on_record(project: Project) -> None:
    """Else its runs would be those from before."""
    project.jpo("observe")
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db") as store:
        suggested = {"batch_size": 64.0, "learning_rate": 0.01}
        store.append(a_suggestion(created_at=time.time(), suggested=suggested), config="config.ini", source_digest="ab" * 32)
    project.log_now(64, 41.0)
    project.jpo("observe")
    one = compared(project)
    assert (one["before"], one["after"], one["left_out"]) == (7, 1, 0)


def test_without_prices_the_cost_is_unknown(changed: Project) -> None:
    toml = changed.folder / "jpo.toml"
    toml.write_text(toml.read_text().partition("[prices]")[0])
    cost = compared(changed)["since_first_change"][1]
    assert (cost["quantity"], cost["before"], cost["after"], cost["word"]) == ("cost_usd", None, None, "too few")


def test_the_picture_is_drawn_and_two_workloads_need_a_name(changed: Project) -> None:
    pytest.importorskip("matplotlib")
    assert changed.jpo("history", "--compare", "--plot", "a.png").code == 0
    assert (changed.folder / "a.png").read_bytes().startswith(b"\x89PNG")
    changed.log(0, 16, 10.0, name="another")
    log = changed.folder / "runs" / "run-another.csv"
    log.write_text(log.read_text().replace("dataset=digits", "dataset=mnist"))
    changed.jpo("observe", "--csv", str(log))
    answer = changed.jpo("history", "--compare", "--plot", "b.png")
    assert (answer.code, "JPO-E851" in answer.err, (changed.folder / "b.png").exists()) == (2, True, False)


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (("--compare", "--limit", "3"), "JPO-E853"),
        (("--plot", "a.png"), "JPO-E853"),
        (("--for", "config.ini"), "JPO-E853"),
        (("--compare", "--plot", "a.gif"), "JPO-E712"),
        (("--compare", "--plot", "config.ini"), "JPO-E307"),
    ],
)
def test_flags_that_say_nothing_together_are_refused(project: Project, flags: tuple[str, ...], code: str) -> None:
    answer = project.jpo("history", *flags)
    assert (answer.code, code in answer.err, answer.err.count("\n")) == (2, True, 1)


def test_a_new_user_gets_an_answer_from_the_first_change_on(empty: Project) -> None:
    """One run, one change, one run: what was forecast of the old values stands in for runs that there will never be."""
    empty.log(1, 16, 100.0)
    empty.jpo("suggest", "config.ini", "--set", "batch_size=64", "--no-learn")
    empty.log_now(64, 40.0)
    empty.jpo("observe")
    one = compared(empty)
    duration = one["since_first_change"][0]
    assert (one["before"], one["after"], duration["basis"], duration["word"]) == (1, 1, "forecast", "better")
    assert (duration["runs_before"], duration["before"]) == (1, pytest.approx(100.0, rel=0.01))
    assert duration["change"]["low"] < 0.4 < duration["change"]["high"] < 1
    shown = empty.jpo("history", "--compare").out
    assert "forecast 1m 40s" in shown


def test_of_too_few_runs_before_later_ones_with_the_old_values_count_too(empty: Project) -> None:
    empty.log(1, 16, 100.0)
    empty.jpo("suggest", "config.ini", "--set", "batch_size=64", "--no-learn")
    now = time.time()
    empty.log(0, 64, 40.0, start=now + 100, name="new")
    for number in (1, 2):
        empty.log(0, 16, 100.0 + number, start=now + 1000 * number, name=f"old-{number}")
    empty.jpo("observe")
    one = compared(empty)
    duration = one["since_first_change"][0]
    assert (one["before"], one["left_out"], duration["basis"], duration["runs_before"]) == (3, 0, "runs", 3)
