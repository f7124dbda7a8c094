"""`jpo explain`: what the store knows of a suggestion, from before the first run to after its rollback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from made import DIGITS, a_suggestion, altered

from jpo.commands.explain import undone_by
from jpo.history import AuditEvent, open_store

if TYPE_CHECKING:
    from user_project import Project

SUGGEST = ("suggest", "config.ini", "--no-learn")


def test_it_says_what_else_there_was_and_what_came_of_it(project: Project) -> None:
    project.jpo(*SUGGEST, "--explore", "off")
    project.jpo("observe", "--csv", str(project.log_now(64, 41.0)))
    answer = project.jpo("explain")
    assert (answer.code, answer.err) == (0, "")
    for told in (
        "Status",
        "written into config.ini",
        "JPO has changed nothing since",
        "followed by 1 run",
        "run-now: succeeded",
        "Alternatives",
        "What would change the answer",
        "Most informative runs",
        "guard: approved",
    ):
        assert told in answer.out


def test_it_names_the_newest_runs_with_todays_and_the_suggested_values(project: Project) -> None:
    project.jpo(*SUGGEST, "--explore", "off")
    document = json.loads(project.jpo("explain", "-o", "json").out)
    assert document["suggestion"]["evidence"]["run_ids"] == [f"run-{n}" for n in range(6)]
    ran = {one["run_id"]: one["parameters"]["batch_size"] for one in document["evidence_runs"]}
    assert ran == {"run-0": 16, "run-1": 16, "run-3": 16, "run-2": 64, "run-4": 64, "run-5": 64}
    assert all(one["outcome"]["cost_usd"] for one in document["evidence_runs"])  # from time and prices


def test_a_suggestion_made_before_the_first_run_is_explained(empty: Project) -> None:
    empty.jpo(*SUGGEST)
    answer = empty.jpo("explain")
    assert (answer.code, "nothing to write: today's values were kept" in answer.out) == (0, True)
    assert "Alternatives" not in answer.out


def test_one_that_holds_none_of_the_new_fields_is_explained(empty: Project) -> None:
    with open_store(f"sqlite:///{empty.folder}/.jpo/jpo.db") as store:
        store.append(a_suggestion(), config="config.ini", source_digest="ab" * 32)
    for form in ("text", "json", "markdown"):
        assert empty.jpo("explain", "s1", "-o", form).code == 0
    assert "there is no record that it was written" in empty.jpo("explain").out


def test_a_later_change_supersedes_it(project: Project) -> None:
    project.jpo(*SUGGEST, "--set", "batch_size=32")
    first = json.loads(project.jpo("history", "-o", "json").out)["suggestions"][0]["suggestion_id"]
    project.jpo(*SUGGEST, "--set", "batch_size=64")
    second = json.loads(project.jpo("explain", "-o", "json").out)["suggestion"]["suggestion_id"]
    assert f"superseded by suggestion {second}" in project.jpo("explain", first).out


def test_what_a_rollback_brought_back_is_in_force_again(project: Project) -> None:
    project.jpo(*SUGGEST, "--set", "batch_size=32")
    first = json.loads(project.jpo("explain", "-o", "json").out)["suggestion"]["suggestion_id"]
    project.jpo(*SUGGEST, "--set", "batch_size=64")
    project.jpo("rollback")
    assert "batch_size = 32 " in project.config.read_text()
    assert "JPO has changed nothing since" in project.jpo("explain", first).out


def test_what_never_reached_the_file_supersedes_nothing(project: Project) -> None:
    project.jpo(*SUGGEST, "--set", "batch_size=32")
    first = json.loads(project.jpo("explain", "-o", "json").out)["suggestion"]
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db") as store:  # killed before it was written
        store.append(a_suggestion(created_at=first["created_at"] + 1), config="config.ini", source_digest="ab" * 32)
    assert "superseded" not in project.jpo("explain", first["suggestion_id"]).out
    assert "JPO has changed nothing since" not in project.jpo("explain", "s1").out


def test_a_rollback_undoes_the_one_it_names_and_all_since_unless_it_was_undone_itself() -> None:
    a, b = a_suggestion("a"), a_suggestion("b")
    back = a_suggestion("r1", undoes="b")
    assert undone_by([a, b, back]) == {"b": "r1"}
    assert undone_by([a, b, altered(back, undoes="a")]) == {"a": "r1", "b": "r1"}
    assert undone_by([a, b, back, a_suggestion("r2", undoes="r1")]) == {"r1": "r2"}
    assert undone_by([a, back]) == {}


def test_what_was_not_written_says_why(empty: Project) -> None:
    with open_store(f"sqlite:///{empty.folder}/.jpo/jpo.db") as store:
        store.append(a_suggestion(), config="config.ini", source_digest="ab" * 32)
        store.withdraw("s1", AuditEvent("conflict", 101.0, DIGITS, {"suggestion_id": "s1", "reason": "config.ini: changed"}))
    out = empty.jpo("explain", "s1").out
    assert "not written: config.ini: changed" in out
    assert "superseded" not in out


def test_explain_repeats_the_newest_suggestion_and_what_came_of_it(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    project.jpo("observe", "--csv", str(project.log_now(64, 41.0)))
    out = project.jpo("explain").out
    assert "guard: approved" in out
    assert "followed by 1 run" in out
    assert any(line.split()[:3] == ["run-now:", "succeeded", "duration"] and "41s" in line for line in out.splitlines())


def test_explain_of_nothing_says_what_to_do(empty: Project) -> None:
    answer = empty.jpo("explain")
    assert answer.code == 2
    assert "run `jpo suggest config.ini` first" in answer.err
