"""Checkouts that have the committed values again every night: what was applied is in force, until a person says otherwise."""

from __future__ import annotations

import configparser
import contextlib
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jpo.history import open_store

if TYPE_CHECKING:
    from user_project import Answer, Project

GUARD = [sys.executable, "-I", "-S", str(Path(__file__).parents[2] / "constraints")]
ON_GITLAB = {"GITLAB_CI": "true", "CI": "true", "CI_DEFAULT_BRANCH": "main", "CI_COMMIT_REF_NAME": "main"}


def night(project: Project, committed: bytes, *options: str, config: str = "config.ini") -> dict[str, Any]:
    """A suggestion in a clean checkout."""
    (project.folder / config).write_bytes(committed)
    answer = project.jpo("suggest", config, "--no-learn", "-o", "json", *options)
    assert answer.code == 0, answer.err
    document: dict[str, Any] = json.loads(answer.out)
    return document


def batch(project: Project, config: str = "config.ini") -> str:
    """What the job would read."""
    read = configparser.ConfigParser(inline_comment_prefixes="#")
    read.read(project.folder / config)
    return read["training"]["batch_size"]


def note(document: dict[str, Any], code: str) -> str:
    """What a suggestion says of the values that it starts from."""
    assert code in document["reason_codes"], document
    (said,) = [one for one in document["evidence"]["notes"] if re.search("in force|other values|default branch", one)]
    return str(said)


def silent(document: dict[str, Any]) -> bool:
    return not {"JPO-I855", "JPO-I856", "JPO-W857", "JPO-I858"} & {*document["reason_codes"]}


def kinds(project: Project) -> list[str]:
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db", read_only=True) as store:
        return [record.kind for record in store.audit_records() if record.kind != "observed"]


def add(project: Project, toml: str) -> None:
    with (project.folder / "jpo.toml").open("a") as file:
        file.write(toml)


@pytest.fixture
def on_gitlab(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`on_gitlab(CI_COMMIT_REF_NAME="feature")`: the commands that follow run in a pipeline."""

    def become(**variables: str) -> None:
        for name, value in {**ON_GITLAB, **variables}.items():
            monkeypatch.setenv(name, value)

    become()
    return become


def test_one_night_goes_on_from_the_other_though_the_file_begins_anew(project: Project) -> None:
    committed = project.config.read_bytes()
    first = night(project, committed, "--set", "batch_size=64")
    assert (first["current"]["batch_size"], silent(first), "committed" in first) == (16, True, False)
    second = night(project, committed, "--set", "batch_size=256")  # more than four times what is committed
    assert (second["current"]["batch_size"], second["committed"]["batch_size"]) == (64, 16)
    assert second["changes"][0]["old_text"] == "64"
    said = note(second, "JPO-I855")
    assert said == (
        "config.ini in this checkout has the committed values; those in force since suggestion "
        f"{first['suggestion_id']} are used: training.batch_size 16 → 64 (`jpo rollback` goes back)"
    )
    third = night(project, committed, "--set", "batch_size=1024")
    assert (third["current"]["batch_size"], third["committed"]["batch_size"], third["written"]) == (256, 16, True)
    assert project.config.read_bytes() == committed.replace(b"= 16 ", b"= 1024 ")


def test_values_that_are_kept_are_written_where_the_file_has_older_ones_and_told_by_their_origin(project: Project) -> None:
    committed = project.config.read_bytes()
    first = night(project, committed, "--set", "batch_size=64")
    for _ in range(2):
        kept = night(project, committed, "--explore", "off")
        assert (kept["status"], kept["written"], kept["changes"], batch(project)) == ("kept", True, [], "64")
        assert f"since suggestion {first['suggestion_id']}" in note(kept, "JPO-I855")
    assert kinds(project) == ["suggested", "written", "kept", "written", "kept", "written"]
    assert silent(night(project, project.config.read_bytes(), "--explore", "off"))


def test_check_tells_whether_the_file_would_change_and_diff_shows_it(project: Project) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64")
    project.config.write_bytes(committed)
    answer = project.jpo("suggest", "config.ini", "--no-learn", "--check", "--diff", "--explore", "off")
    assert (answer.code, project.config.read_bytes()) == (10, committed)
    assert "+batch_size = 64      # from the tutorial" in answer.out
    assert "config.ini: the values in force are kept, and not written" in answer.out
    back = project.jpo("suggest", "config.ini", "--no-learn", "--check", "--set", "batch_size=16")
    assert (back.code, "1 value restored to what the file has" in back.out) == (0, True)


@pytest.mark.parametrize("way", ["rollback", "set"])
def test_going_back_to_the_committed_values_is_on_record_though_nothing_need_be_written(project: Project, way: str) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64")
    project.config.write_bytes(committed)
    options = ["rollback"] if way == "rollback" else ["suggest", "config.ini", "--no-learn", "--set", "batch_size=16"]
    done = json.loads(project.jpo(*options, "-o", "json").out)
    assert (done["status"], done["written"], done["suggested"]["batch_size"]) == ("changed", True, 16)
    assert (project.config.read_bytes(), kinds(project)[-1]) == (committed, "written")
    after = night(project, committed, "--explore", "off")
    assert (after["current"]["batch_size"], silent(after)) == (16, True)


def test_a_rollback_restores_what_was_in_force_before_and_may_pin_it(project: Project) -> None:
    committed = project.config.read_bytes()
    for size in (64, 256):
        night(project, committed, "--set", f"batch_size={size}")
    project.config.write_bytes(committed)
    assert project.jpo("rollback", "--pin", "30").code == 0
    assert batch(project) == "64"
    refused = project.jpo("suggest", "config.ini", "--no-learn", "--set", "batch_size=128")
    assert (refused.code, "pinned until" in refused.err) == (3, True)
    project.config.write_bytes(committed)
    pinned = project.jpo("suggest", "config.ini", "--no-learn", "--set", "batch_size=128")
    assert (pinned.code, "must stay 64" in pinned.err) == (3, True)


def test_a_file_that_a_person_has_set_counts_as_a_whole_on_record_and_is_told_once(
    project: Project, on_gitlab: Callable[..., None]
) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64", "--set", "cpus=1")
    edited = committed.replace(b"= 16 ", b"= 24 ")
    told = night(project, edited, "--set", "batch_size=24")
    assert (told["current"]["batch_size"], told["current"]["cpus"], told["status"]) == (24, 2, "kept")
    assert note(told, "JPO-I856").endswith("they count: batch_size 24, where 64 was in force, cpus 2, where 1 was in force")
    assert silent(night(project, edited, "--set", "batch_size=24"))
    assert night(project, edited, "--set", "batch_size=48")["current"]["batch_size"] == 24
    assert night(project, edited, "--explore", "off")["current"]["batch_size"] == 48


def test_who_commits_exactly_what_was_suggested_hears_nothing(project: Project, on_gitlab: Callable[..., None]) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64")
    accepted = project.config.read_bytes()
    after = night(project, accepted, "--explore", "off")
    assert (after["current"]["batch_size"], silent(after)) == (64, True)
    night(project, accepted, "--set", "batch_size=128")
    assert night(project, accepted, "--explore", "off")["current"]["batch_size"] == 128


def test_a_merge_that_comes_a_night_late_does_not_turn_back_the_values(project: Project, on_gitlab: Callable[..., None]) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64")
    merged = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=256")
    assert night(project, merged, "--explore", "off")["current"]["batch_size"] == 256


def test_values_of_an_older_suggestion_are_a_persons_and_what_they_replace_is_told(
    project: Project, on_gitlab: Callable[..., None]
) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=32")
    merged = project.config.read_bytes()
    for size in (64, 128):
        night(project, committed, "--set", f"batch_size={size}")
    told = night(project, merged, "--explore", "off")
    assert told["current"]["batch_size"] == 32
    assert note(told, "JPO-I856").endswith("they count: batch_size 32, where 128 was in force")
    assert "JPO-I856" not in night(project, merged, "--explore", "off")["reason_codes"]


def test_start_from_committed_begins_with_the_file_every_night(project: Project) -> None:
    add(project, '[agent]\nstart_from = "committed"\n')
    committed = project.config.read_bytes()
    for _ in range(2):
        made = night(project, committed, "--set", "batch_size=64")
        assert (made["current"]["batch_size"], silent(made)) == (16, True)
    project.config.write_bytes(committed)
    assert project.jpo("suggest", "config.ini", "--no-learn", "--set", "batch_size=256").code == 3


def set_limit(project: Project, committed: bytes) -> bytes:
    add(project, "[parameters.batch_size]\nmax = 32\n")
    return committed


def freeze(project: Project, committed: bytes) -> bytes:
    add(project, "[parameters.batch_size]\nfreeze = true\n")
    return committed


def pin(project: Project, committed: bytes) -> bytes:
    return committed.replace(b"# from the tutorial", b"# jpo: pin")


def quota(project: Project, committed: bytes) -> bytes:
    add(project, "[quota]\ncpus = 2\n")
    return committed


def remove(project: Project, committed: bytes) -> bytes:
    return committed.replace(b"batch_size = 16      # from the tutorial\n", b"")


@pytest.mark.parametrize(
    ("since", "why"),
    [
        (set_limit, "batch_size = 64 is above 32, the largest value allowed"),
        (freeze, "batch_size = 64 must stay 16: it is frozen in jpo.toml"),
        (pin, "batch_size = 64 must stay 16: it is pinned in config.ini"),
        (quota, "cpus = 4 is above the quota of 2"),
        (remove, "training.batch_size is gone"),
    ],
)
def test_values_that_are_not_allowed_any_more_give_way_to_the_file_with_the_reason(
    project: Project, since: Callable[..., bytes], why: str
) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64", "--set", "cpus=4")
    edited = since(project, committed)
    told = night(project, edited, "--explore", "off")
    assert (told["current"].get("batch_size", 16), told["current"]["cpus"]) == (16, 2)
    assert why in note(told, "JPO-W857")


def test_a_key_that_was_renamed_keeps_its_value_in_force(project: Project) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64")
    renamed = committed.replace(b"batch_size = 16", b"bs = 16")
    told = night(project, renamed, "--explore", "off")
    assert told["current"]["batch_size"] == 64
    assert project.config.read_bytes() == committed.replace(b"batch_size = 16", b"bs = 64")


def test_other_edits_of_the_file_stay_and_the_values_too(project: Project) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64")
    edited = committed.replace(b"[resources]", b"[data]\r\npath = /data/new\n\n[resources]")
    assert night(project, edited, "--explore", "off")["current"]["batch_size"] == 64
    assert project.config.read_bytes() == edited.replace(b"= 16 ", b"= 64 ")


@pytest.mark.parametrize(
    ("old", "new", "option", "written"),
    [
        (b"cpus = 2\n", b"cpus = 2\nmemory = 16Gi   ; of the pod\n", "memory_gib=24", b"memory = 24Gi   ; of the pod\n"),
        (b"cpus = 2\n", b"cpus = 2\nmemory_mb = 16384\n", "memory_gib=30.517578125", b"memory_mb = 32768\n"),
        (b"learning_rate = 0.01", b"learning_rate = 1e-2", "learning_rate=0.025", b"learning_rate = 2.5e-2"),
        (
            b"learning_rate = 0.01",
            b"lr = 0.01\nlearning_rate = %(lr)s",
            "learning_rate=0.02",
            b"lr = 0.02\nlearning_rate = %(lr)s",
        ),
        (b"cpus = 2\n", b"cpus = 2\ngpus = 2\n", "gpus=4", b"gpus = 4\n"),
        (
            b"batch_size = 16      # from the tutorial\n",
            b"per_device_train_batch_size = 16\ngradient_accumulation_steps = 2\ngpus = 2\n",
            "batch_size=128",
            b"per_device_train_batch_size = 32\ngradient_accumulation_steps = 2\ngpus = 2\n",
        ),
    ],
)
def test_values_in_force_come_back_byte_for_byte_in_the_form_of_the_file(
    project: Project, old: bytes, new: bytes, option: str, written: bytes
) -> None:
    committed = project.config.read_bytes().replace(old, new)
    night(project, committed, "--set", option)
    once = project.config.read_bytes()
    assert written in once
    kept = night(project, committed, "--explore", "off")
    assert (kept["status"], project.config.read_bytes()) == ("kept", once)


def test_words_and_parameters_of_ones_own_stay_in_force_too(project: Project, on_gitlab: Callable[..., None]) -> None:
    add(project, '[parameters.optimizer]\nchoices = ["adam", "sgd"]\n[parameters.dropout]\nmin = 0.0\nmax = 0.5\n')
    committed = project.config.read_bytes().replace(b"epochs = 40", b"epochs = 40\noptimizer = adam  # or sgd\ndropout = 0.1")
    night(project, committed, "--set", "optimizer=sgd", "--set", "dropout=0.2")
    told = night(project, committed, "--set", "batch_size=32", "--in-force", "in-force.ini")
    assert (told["current"]["optimizer"], told["committed"]["optimizer"], told["current"]["dropout"]) == ("sgd", "adam", 0.2)
    assert b"batch_size = 32 " in project.config.read_bytes()
    assert b"optimizer = sgd  # or sgd\ndropout = 0.2\n" in project.config.read_bytes()
    (project.folder / "committed.ini").write_bytes(committed)
    both = guarded(project, "--in-force", "in-force.ini")
    assert (both.returncode, "optimizer adam -> sgd" in both.stdout) == (0, True)
    told = night(project, committed.replace(b"= adam", b"= sgd"), "--set", "batch_size=16")
    assert (told["current"]["batch_size"], told["current"]["dropout"], "JPO-I856" in told["reason_codes"]) == (16, 0.1, True)


def test_bytes_that_are_no_utf8_and_line_ends_survive(project: Project) -> None:
    committed = project.config.read_bytes().replace(b"from the tutorial", b"caf\xe9").replace(b"\n", b"\r\n")
    for _ in range(2):
        night(project, committed, "--set", "batch_size=64")
        assert project.config.read_bytes() == committed.replace(b"= 16 ", b"= 64 ")


def test_two_files_of_one_workload_do_not_turn_each_other_back(project: Project) -> None:
    committed = project.config.read_bytes()
    other = committed.replace(b"= 16 ", b"= 32 ")
    (project.folder / "large").mkdir()
    (project.folder / "large" / "jpo.toml").write_text((project.folder / "jpo.toml").read_text())
    add(project, '[store]\nurl = "sqlite:///.jpo/jpo.db"\n')
    options = ("--config", "jpo.toml")
    night(project, committed, "--set", "batch_size=64", *options)
    night(project, other, "--set", "batch_size=16", *options, config="large/config.ini")
    for _ in range(2):
        assert night(project, committed, "--explore", "off", *options)["current"]["batch_size"] == 64
        there = night(project, other, "--explore", "off", *options, config="large/config.ini")
        assert there["current"]["batch_size"] == 16


def test_branches_with_other_values_do_not_turn_each_other_back(project: Project, on_gitlab: Callable[..., None]) -> None:
    committed = project.config.read_bytes()
    other = committed.replace(b"= 16 ", b"= 32 ")
    night(project, committed, "--set", "batch_size=64")
    on_gitlab(CI_COMMIT_REF_NAME="feature")
    assert night(project, other, "--set", "batch_size=16")["current"]["batch_size"] == 32  # as is committed on main
    for _ in range(2):
        on_gitlab(CI_COMMIT_REF_NAME="main")
        assert night(project, committed, "--explore", "off")["current"]["batch_size"] == 64
        on_gitlab(CI_COMMIT_REF_NAME="feature")
        assert night(project, other, "--explore", "off")["current"]["batch_size"] == 16


def test_a_rollback_undoes_what_was_applied_to_this_branch(project: Project, on_gitlab: Callable[..., None]) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64")
    on_gitlab(CI_COMMIT_REF_NAME="feature")
    night(project, committed.replace(b"= 16 ", b"= 32 "), "--set", "batch_size=128")
    on_gitlab(CI_COMMIT_REF_NAME="main")
    project.config.write_bytes(committed)
    assert project.jpo("rollback").code == 0
    assert project.config.read_bytes() == committed
    assert night(project, committed, "--set", "batch_size=16")["current"]["batch_size"] == 16


def test_a_branch_with_the_same_file_starts_from_what_main_has_in_force_and_tries_nothing(
    project: Project, on_gitlab: Callable[..., None]
) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64")
    on_gitlab(CI_COMMIT_REF_NAME="feature\x1b[2J/x")
    there = night(project, committed)
    assert (there["current"]["batch_size"], "JPO-I855" in there["reason_codes"]) == (64, True)
    (said,) = [one for one in there["evidence"]["notes"] if "default branch" in one]
    assert said == (
        "Nothing new is tried on feature [2J/x, which is not the default branch: "
        "[agent] explore_branches, or --explore, allows it"
    )


def test_of_two_pipelines_at_once_the_last_counts_and_both_are_on_record(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPO_STORE__URL", f"sqlite:///{project.folder}/.jpo/jpo.db")
    committed = project.config.read_bytes()
    first, second = (project.folder / name for name in ("a", "b"))
    for checkout in (first, second):
        checkout.mkdir()
        (checkout / "config.ini").write_bytes(committed)
        subprocess.run(["git", "init", "--quiet"], cwd=checkout, check=True)
    for checkout, size in ((first, 64), (second, 32)):
        answer = project.jpo("suggest", str(checkout / "config.ini"), "--set", f"batch_size={size}", "--no-learn")
        assert answer.code == 0, answer.err
    (second / "config.ini").write_bytes(committed)
    last = json.loads(project.jpo("suggest", str(second / "config.ini"), "--no-learn", "--explore", "off", "-o", "json").out)
    assert last["current"]["batch_size"] == 32
    assert kinds(project) == ["suggested", "written", "suggested", "written", "kept", "written"]


def test_what_was_never_written_is_not_in_force(project: Project) -> None:
    committed = project.config.read_bytes()
    project.config.chmod(0o444)
    assert project.jpo("suggest", "config.ini", "--no-learn", "--set", "batch_size=64").code == 6
    project.config.chmod(0o644)
    assert silent(night(project, committed, "--explore", "off"))


def test_the_teams_checker_is_asked_about_values_in_force_that_are_written_and_may_refuse(project: Project) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64")
    checker = project.folder / "checker"
    checker.write_text('#!/bin/sh\ngrep -q "batch_size = 16" "$1" || { echo only sixteen; exit 1; }\n')
    checker.chmod(0o755)
    add(project, f'[check]\ncommand = ["{checker}", "{{config}}"]\n')
    project.config.write_bytes(committed)
    answer = project.jpo("suggest", "config.ini", "--no-learn", "--explore", "off")
    assert (answer.code, "only sixteen" in answer.err, project.config.read_bytes()) == (3, True, committed)
    assert project.jpo("rollback").code == 0
    assert project.jpo("suggest", "config.ini", "--no-learn", "--set", "batch_size=16").code == 0


def test_a_file_that_someone_saves_meanwhile_is_theirs_and_the_values_stay_in_force(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64")
    project.config.write_bytes(committed)
    saved = iter((b"# saved\n", b"# saved again\n"))
    monkeypatch.setattr("jpo.project.record.edits_on_disk", lambda _: project.config.write_bytes(committed + next(saved)) and ())
    answer = project.jpo("suggest", "config.ini", "--no-learn", "--explore", "off")
    assert (answer.code, "JPO-E220" in answer.err, project.config.read_bytes()) == (6, True, committed + b"# saved again\n")
    monkeypatch.undo()
    monkeypatch.chdir(project.folder)
    assert night(project, committed, "--explore", "off")["current"]["batch_size"] == 64


@pytest.mark.parametrize("value", ["Infinity", "NaN", "1e300", "0.3", "-5"])
def test_a_record_with_impossible_values_leaves_the_file_as_it_is(project: Project, value: str) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64", "--set", "cpus=4", "--set", "learning_rate=0.02")
    with contextlib.closing(sqlite3.connect(project.folder / ".jpo" / "jpo.db")) as store, store:
        (document,) = store.execute("SELECT document FROM suggestions").fetchone()
        for old in ('"batch_size":64.0', '"cpus":4.0', '"learning_rate":0.02'):
            name = old.partition(":")[0]
            forged = document.replace(old, f"{name}:{value}")
            assert forged != document
            store.execute("UPDATE suggestions SET document = ?", (forged,))
            store.commit()
            told = night(project, committed, "--dry-run", "--explore", "off")
            if value == "0.3" and "rate" in name:
                continue
            assert (told["current"]["batch_size"], "JPO-W857" in told["reason_codes"]) == (16, True), name


def test_forecasts_and_fronts_start_from_the_same_values_and_say_so(project: Project) -> None:
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64")
    project.config.write_bytes(committed)
    row = json.loads(project.jpo("predict", "config.ini", "-o", "json").out)
    assert row["rows"][0]["parameters"]["batch_size"] == 64, row
    assert any("those in force since" in one for one in row["notes"])
    looked_at = project.jpo("doctor", "--offline", "-o", "json").out
    assert "those in force since" in looked_at
    front = project.jpo("pareto", "config.ini").out
    assert "those in force since" in " ".join(front.split())
    assert "batch_size 16" in " ".join(project.jpo("check", "config.ini").out.split()).replace("training.", "")


@pytest.mark.parametrize(("where", "size"), [("pipeline", 64), ("laptop", 16)])
def test_a_run_put_on_record_by_hand_had_the_values_in_force_in_a_pipeline_and_those_of_the_file_elsewhere(
    project: Project, request: pytest.FixtureRequest, where: str, size: int
) -> None:
    if where == "pipeline":
        request.getfixturevalue("on_gitlab")
    committed = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=64")
    project.config.write_bytes(committed)
    answer = project.jpo("observe", "by-hand", "--metric", "duration_seconds=1")
    assert answer.code == 0, answer.err
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db", read_only=True) as store:
        run = store.run("by-hand")
    assert run is not None
    assert run.parameters["batch_size"] == size


def guarded(project: Project, *options: str) -> subprocess.CompletedProcess[str]:
    command = [*GUARD, "committed.ini", "config.ini", "--limits", "jpo.toml", *options]
    return subprocess.run(command, cwd=project.folder, capture_output=True, text=True, check=False)


def test_the_guard_judges_both_steps_by_the_file_that_suggest_leaves_for_it(project: Project) -> None:
    committed = project.config.read_bytes()
    (project.folder / "committed.ini").write_bytes(committed)
    night(project, committed, "--set", "batch_size=64")
    in_force = project.config.read_bytes()
    night(project, committed, "--set", "batch_size=256", "--in-force", "in-force.ini")
    assert (project.folder / "in-force.ini").read_bytes() == in_force
    alone, both = guarded(project), guarded(project, "--in-force", "in-force.ini")
    assert (alone.returncode, "largest_change" in alone.stdout) == (1, True)
    assert both.stdout == (
        "approved: committed to in force: batch_size 16 -> 64; 25 rules\napproved: batch_size 64 -> 256; 25 rules\n"
    )


def test_in_force_is_no_place_for_what_jpo_works_with(project: Project) -> None:
    for name in ("config.ini", "jpo.toml", "other/config.ini"):
        answer: Answer = project.jpo("suggest", "config.ini", "--no-learn", "--in-force", name)
        assert (answer.code, "JPO-E307" in answer.err) == (2, True)
