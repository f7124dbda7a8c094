"""`jpo rollback`, and the rollback that `jpo suggest` proposes by itself."""

from __future__ import annotations

import configparser
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest

from jpo.history import open_store

if TYPE_CHECKING:
    from user_project import Answer, Project

ROLLBACK = [sys.executable, "-m", "jpo", "rollback"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
NUMBERS = itertools.count()


def set_by_hand(project: Project, *values: str) -> str:
    """`jpo suggest --set`; the suggestion's id."""
    options = [word for value in values for word in ("--set", value)]
    answer = project.jpo("suggest", "config.ini", "--no-learn", "-o", "json", *options)
    assert answer.code == 0, answer.err
    return str(json.loads(answer.out)["suggestion_id"])


def rolled_back(project: Project, *options: str) -> dict[str, object]:
    answer = project.jpo("rollback", "-o", "json", *options)
    assert answer.code == 0, answer.err
    document: dict[str, object] = json.loads(answer.out)
    return document


def refused(answer: Answer, code: int, *words: str) -> None:
    assert (answer.code, answer.out, answer.err.count("\n")) == (code, "", 1), answer
    assert all(word in answer.err for word in words), answer.err


def edit(project: Project, old: str, new: str) -> None:
    assert old in project.config.read_text()
    project.config.write_text(project.config.read_text().replace(old, new))


def ran(project: Project, *seconds: float, status: str = "succeeded", loss: float = 0.1) -> None:
    """Logs of runs with the values of config.ini, which start now."""
    read = configparser.ConfigParser(inline_comment_prefixes="#")
    read.read(project.config)
    values = {**read["training"], **read["resources"]}
    for took in seconds:
        number, start = next(NUMBERS), time.time()
        head = {
            "run_id": f"later-{number}",
            "dataset": "digits",
            "model": "cnn",
            "framework": "pytorch",
            **values,
            "start": start,
        }
        path = project.folder / "runs" / f"later-{number}.csv"
        path.parent.mkdir(exist_ok=True)
        lines = [*(f"# {name}={value}" for name, value in head.items()), "time,epoch,samples,train_loss,val_loss"]
        path.write_text(
            "\n".join([*lines, f"{start + took},1,1500,0.2,{loss}", f"# end={start + took}", f"# status={status}", ""])
        )


# --- by hand


def test_the_last_change_is_undone_to_the_byte_and_called_again_the_one_before(project: Project) -> None:
    edit(project, "= 0.01", "= 1.0e-2 ")
    first = project.config.read_bytes()
    set_by_hand(project, "learning_rate=0.02")
    second = project.config.read_bytes()
    set_by_hand(project, "batch_size=64", "learning_rate=0.03")
    assert rolled_back(project)["written"] is True
    assert project.config.read_bytes() == second
    rolled_back(project)
    assert project.config.read_bytes() == first
    refused(project.jpo("rollback"), 2, "nothing to undo", "JPO-E841")


def test_an_id_undoes_that_suggestion_and_all_after_it_and_a_rollbacks_id_brings_them_back(project: Project) -> None:
    old = project.config.read_bytes()
    ids = [set_by_hand(project, f"batch_size={size}") for size in (64, 256, 512)]
    new = project.config.read_bytes()
    told = rolled_back(project, ids[0])  # 512 to 16 in one step, which is more than max_change
    assert project.config.read_bytes() == old
    assert (told["decided_by"], told["current"]["batch_size"], told["suggested"]["batch_size"]) == ("rollback", 512, 16)  # type: ignore[index]
    assert f"the values from before suggestion {ids[0]} come back; 3 changes are undone" in told["reasons"]  # type: ignore[operator]
    rolled_back(project, str(told["suggestion_id"]))
    assert project.config.read_bytes() == new


def test_it_is_on_record_before_it_is_written_and_its_run_is_tied_to_it(project: Project) -> None:
    before = set_by_hand(project, "batch_size=64")
    told = rolled_back(project)
    ran(project, 99.0)
    project.jpo("observe")
    with open_store(f"sqlite:///{project.folder}/.jpo/jpo.db") as store:
        suggestion = store.suggestion(str(told["suggestion_id"]))
        kinds = [record.kind for record in store.audit_records()]
        followed = store.runs_following(suggestion.suggestion_id)
    assert (suggestion.decision.undoes, suggestion.decision.pinned_until, suggestion.decision.decided_by) == (
        before,
        None,
        "rollback",
    )
    assert [kind for kind in kinds if kind != "observed"] == ["suggested", "written", "rolled back", "written"]
    assert len(followed) == 1
    assert "batch_size 64 → 16, as before" in project.jpo("audit", "show").out
    assert project.jpo("explain").out.startswith("RETURN: training.batch_size 64 → 16")


def test_the_report_says_what_the_undone_change_had_expected_and_what_came(project: Project) -> None:
    answer = project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    assert "1 value written" in answer.out
    ran(project, 60.0, loss=0.3)
    reasons = " ".join(rolled_back(project)["reasons"])  # type: ignore[arg-type]
    assert "training.batch_size 16 → 64: expected " in reasons
    assert "took 1m 00s with a validation loss of 0.3" in reasons


def test_json_keeps_to_the_published_schema_and_markdown_and_diff_are_there(project: Project) -> None:
    schema = json.loads(project.jpo("config", "schema", "--output", "suggestion").out)
    set_by_hand(project, "batch_size=64")
    document = json.loads(project.jpo("rollback", "-o", "json", "--dry-run", "--diff").out)
    jsonschema.validate(document, schema)
    assert "-batch_size = 64      # from the tutorial" in document["diff"]
    assert project.jpo("rollback", "-o", "markdown").out.startswith("### **RETURN:** ")


def test_dry_run_writes_nothing_anywhere(project: Project) -> None:
    set_by_hand(project, "batch_size=64")
    before = {path: path.read_bytes() for path in project.folder.rglob("*") if path.is_file()}
    assert rolled_back(project, "--dry-run")["written"] is False
    assert {path: path.read_bytes() for path in project.folder.rglob("*") if path.is_file()} == before


def test_it_refuses_where_someone_has_changed_a_value_since_unless_forced(project: Project) -> None:
    old = project.config.read_bytes()
    set_by_hand(project, "batch_size=64")
    edit(project, "batch_size = 64", "batch_size = 48")
    hand = project.config.read_bytes()
    refused(project.jpo("rollback"), 6, "training.batch_size is 48", "wrote 64", "--force", "JPO-E843")
    assert project.config.read_bytes() == hand
    told = rolled_back(project, "--force")
    assert "JPO-W841" in told["reason_codes"]  # type: ignore[operator]
    assert project.config.read_bytes() == old


def test_what_jpo_did_not_change_stays_as_people_left_it(project: Project) -> None:
    set_by_hand(project, "batch_size=64")
    edit(project, "cpus = 2", "cpus = 3  # more")
    rolled_back(project)
    assert "batch_size = 16      # from the tutorial" in project.config.read_text()
    assert "cpus = 3  # more" in project.config.read_text()


def from_the_committed_values(project: Project) -> None:
    """What a checkout says counts, whatever was applied since."""
    with (project.folder / "jpo.toml").open("a") as file:
        file.write('[agent]\nstart_from = "committed"\n')


def test_values_that_stand_there_already_are_no_conflict_and_count_as_undone(project: Project) -> None:
    from_the_committed_values(project)
    old = project.config.read_bytes()
    set_by_hand(project, "batch_size=64")
    project.config.write_bytes(old)  # another checkout, or git restore
    told = rolled_back(project)
    assert (told["status"], told["written"]) == ("kept", False)
    assert "JPO-I845" in told["reason_codes"]  # type: ignore[operator]
    refused(project.jpo("rollback"), 2, "nothing to undo")


def test_another_checkout_that_never_had_the_values_leaves_them_to_be_undone_here(project: Project) -> None:
    from_the_committed_values(project)
    old = project.config.read_bytes()
    set_by_hand(project, "batch_size=64")
    new = project.config.read_bytes()
    project.config.write_bytes(old)  # the other checkout, which shares the store
    assert rolled_back(project)["status"] == "kept"
    project.config.write_bytes(new)
    assert rolled_back(project)["written"] is True
    assert project.config.read_bytes() == old
    refused(project.jpo("rollback"), 2, "nothing to undo")


@pytest.mark.parametrize("options", [(), ("--force",)])
def test_a_pin_in_the_file_is_obeyed_also_when_forced(project: Project, options: tuple[str, ...]) -> None:
    set_by_hand(project, "batch_size=64")
    edit(project, "# from the tutorial", "# jpo: pin")
    before = project.config.read_bytes()
    refused(project.jpo("rollback", *options), 3, "it is pinned in config.ini", "JPO-E401")
    assert project.config.read_bytes() == before


def test_a_limit_that_was_tightened_since_is_obeyed(project: Project) -> None:
    set_by_hand(project, "batch_size=64")
    with (project.folder / "jpo.toml").open("a") as file:
        file.write("[parameters.batch_size]\nmin = 32\n")
    refused(project.jpo("rollback"), 3, "batch_size = 16 is below 32")


def test_the_teams_checker_is_asked(project: Project) -> None:
    set_by_hand(project, "batch_size=64")
    with (project.folder / "jpo.toml").open("a") as file:
        file.write(f'[check]\ncommand = ["{sys.executable}", "-c", "import sys; sys.exit(\'not on Fridays\')", "{{config}}"]\n')
    refused(project.jpo("rollback"), 3, "not on Fridays")


def test_a_key_that_is_gone_or_means_another_unit_is_named(project: Project) -> None:
    edit(project, "cpus = 2\n", "cpus = 2\nmemory_gb = 8\n")
    set_by_hand(project, "memory_gib=14.901161193847656")
    text = project.config.read_text()
    assert "memory_gb = 16" in text
    project.config.write_text(text.replace("memory_gb = 16", "memory_mb = 16000"))
    refused(project.jpo("rollback", "--force"), 6, "resources.memory_mb = 8", "unit", "JPO-E844")
    project.config.write_text(text.replace("memory_gb = 16\n", ""))
    refused(project.jpo("rollback", "--force"), 6, "resources.memory_gb is gone", "JPO-E844")


def test_ids_that_cannot_be_meant_are_usage_errors(project: Project) -> None:
    ours = set_by_hand(project, "batch_size=64")
    refused(project.jpo("rollback", "20261121-nobody"), 2, "is not on record", "JPO-E507")
    edit(project, "model = cnn", "model = resnet")
    refused(project.jpo("rollback", ours), 2, "is about digits/cnn/pytorch", "--for", "JPO-E842")
    refused(project.jpo("rollback"), 2, "nothing to undo", "JPO-E841")
    edit(project, "model = resnet", "model = cnn")
    kept = set_by_hand(project, "batch_size=64")
    refused(project.jpo("rollback", kept), 2, "nothing has changed since", "JPO-E841")
    refused(project.jpo("rollback", "--unpin", ours), 2, "restores nothing", "JPO-E845")
    refused(project.jpo("rollback", "--unpin"), 2, "no rollback pins anything", "JPO-E841")
    assert project.jpo("rollback", "--pin", "0").code == 2


# --- pins


def test_what_is_pinned_stays_and_cannot_be_set_until_it_is_unpinned(project: Project) -> None:
    project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    told = rolled_back(project, "--pin", "30")
    old = project.config.read_bytes()
    ran(project, 100.0)
    answer = project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    assert f"by rollback {told['suggestion_id']}" in answer.out
    assert project.config.read_bytes() == old
    refused(project.jpo("suggest", "config.ini", "--set", "batch_size=32"), 3, "batch_size = 32 must stay 16: it is pinned until")
    assert "may be changed by `jpo suggest` again" in project.jpo("rollback", "--unpin").out
    assert project.jpo("suggest", "config.ini", "--set", "batch_size=32", "--no-learn").code == 0


def test_a_pin_can_be_set_where_nothing_is_left_to_restore(project: Project) -> None:
    from_the_committed_values(project)
    old = project.config.read_bytes()
    set_by_hand(project, "batch_size=64")
    project.config.write_bytes(old)
    assert rolled_back(project, "--pin", "30")["status"] == "kept"
    refused(project.jpo("suggest", "config.ini", "--set", "batch_size=32"), 3, "pinned until")


def test_another_rollback_overrides_a_pin(project: Project) -> None:
    set_by_hand(project, "batch_size=64")
    told = rolled_back(project, "--pin", "30")
    rolled_back(project, str(told["suggestion_id"]))
    assert "batch_size = 64 " in project.config.read_text()
    assert project.jpo("suggest", "config.ini", "--set", "batch_size=32", "--no-learn").code == 0


# --- killed, and two at once


DIE = """
import os, pkgutil, sys
import jpo.config, jpo.history.store
from jpo.__main__ import run
setattr(pkgutil.resolve_name({module!r}), {name!r}, lambda *_, **__: os._exit(9))
sys.exit(run({command!r}))
"""
SEAMS = [
    ("jpo.history.store.Store.append", False),
    ("jpo.config.write", False),
    ("os.fsync", False),
    ("os.replace", False),
    ("jpo.history.store.Store.audit", True),
]


def killed(project: Project, dies_at: str, *command: str) -> None:
    module, _, name = dies_at.rpartition(".")
    code = DIE.format(module=module, name=name, command=list(command))
    died = subprocess.run([sys.executable, "-c", code], cwd=project.folder, env=ENVIRONMENT, capture_output=True, check=False)
    assert died.returncode == 9, died.stderr


@pytest.mark.parametrize(("dies_at", "reached"), SEAMS)
def test_killed_at_each_step_of_a_rollback_it_can_be_repeated(empty: Project, dies_at: str, reached: bool) -> None:
    oldest = empty.config.read_bytes()
    set_by_hand(empty, "batch_size=32")
    old = empty.config.read_bytes()
    set_by_hand(empty, "batch_size=64")
    new = empty.config.read_bytes()
    killed(empty, dies_at, "rollback", "--pin", "9")
    assert empty.config.read_bytes() == (old if reached else new)
    assert empty.jpo("audit", "verify").code == 0
    rolled_back(empty)  # the one before it if it had taken effect, else the same again
    assert empty.config.read_bytes() == (oldest if reached else old)


@pytest.mark.parametrize(("dies_at", "reached"), SEAMS)
def test_a_suggestion_that_was_killed_is_undone_only_if_it_reached_the_file(empty: Project, dies_at: str, reached: bool) -> None:
    oldest = empty.config.read_bytes()
    set_by_hand(empty, "batch_size=32")
    old = empty.config.read_bytes()
    killed(empty, dies_at, "suggest", "config.ini", "--set", "batch_size=64", "--no-learn")
    rolled_back(empty)
    assert empty.config.read_bytes() == (old if reached else oldest)


def test_a_pin_whose_rollback_never_reached_the_file_holds_nothing(empty: Project) -> None:
    set_by_hand(empty, "batch_size=64")
    killed(empty, "jpo.config.write", "rollback", "--pin", "9")
    assert empty.jpo("suggest", "config.ini", "--set", "batch_size=32", "--no-learn").code == 0


def test_two_at_once_both_end_cleanly_and_take_back_no_more_than_two_changes(empty: Project) -> None:
    texts = [empty.config.read_bytes()]
    for size in (32, 64, 128):
        set_by_hand(empty, f"batch_size={size}")
        texts.append(empty.config.read_bytes())
    pipe = subprocess.PIPE
    both = [subprocess.Popen(ROLLBACK, cwd=empty.folder, env=ENVIRONMENT, stdout=pipe, stderr=pipe, text=True) for _ in range(2)]
    ends = [(process.communicate(timeout=60), process.returncode) for process in both]
    assert {code for _, code in ends} <= {0, 6}, ends
    assert empty.config.read_bytes() in texts[1:3]
    assert empty.jpo("audit", "verify").code == 0


# --- by itself


@pytest.fixture
def tried(empty: Project) -> Project:
    """Three runs with today's values, and a change by the agent."""
    edit(empty, "batch_size = 16", "batch_size = 1.6e1")
    ran(empty, 100.0, 104.0, 98.0)
    answer = empty.jpo("suggest", "config.ini", "--explore", "on", "--no-learn", "-o", "json")
    assert json.loads(answer.out)["status"] == "changed", answer
    return empty


def suggested(project: Project, *options: str) -> dict[str, object]:
    answer = project.jpo("suggest", "config.ini", "--explore", "on", "--no-learn", "-o", "json", *options)
    assert answer.code == 0, answer.err
    document: dict[str, object] = json.loads(answer.out)
    return document


def test_a_change_that_made_it_worse_is_undone_by_itself_to_the_byte(empty: Project) -> None:
    edit(empty, "batch_size = 16", "batch_size = 1.6e1")
    ran(empty, 100.0, 104.0, 98.0)
    old = empty.config.read_bytes()
    assert suggested(empty)["status"] == "changed"
    ran(empty, 190.0, 200.0)
    told = suggested(empty)
    assert (told["decided_by"], told["reason_codes"]) == ("rollback", ["JPO-I842"])
    assert "under your preference, more than noise explains" in str(told["reasons"])
    assert empty.config.read_bytes() == old
    refused(empty.jpo("rollback"), 2, "nothing to undo")


def test_a_worse_validation_loss_is_undone_although_time_is_saved(tried: Project) -> None:
    ran(tried, 90.0, 91.0, loss=0.15)
    assert suggested(tried)["decided_by"] == "rollback"


def test_a_change_that_broke_the_sla_is_undone_and_the_target_named(tried: Project) -> None:
    with (tried.folder / "jpo.toml").open("a") as file:
        file.write('[sla]\ntime_max = "120s"\n')
    ran(tried, 190.0)
    told = suggested(tried)
    assert (told["decided_by"], told["reason_codes"]) == ("rollback", ["JPO-I841"])
    assert "time_max = 120 was met before it" in str(told["reasons"])


def test_a_target_of_the_model_that_was_broken_before_is_no_reason_to_undo(tried: Project) -> None:
    with (tried.folder / "jpo.toml").open("a") as file:
        file.write("[sla]\nval_loss_max = 0.05\n")
    ran(tried, 100.0)  # with a loss of 0.1, as before the change
    assert suggested(tried)["decided_by"] != "rollback"


def test_a_change_that_failed_twice_is_undone_and_after_one_failure_the_agent_decides(tried: Project) -> None:
    ran(tried, 5.0, status="failed")
    assert suggested(tried, "--dry-run")["decided_by"] in ("sac", "belief")
    ran(tried, 6.0, status="failed")
    assert suggested(tried)["reason_codes"] == ["JPO-I843"]


@pytest.mark.parametrize("options", [("--set", "cpus=3"), ()])
def test_the_user_and_what_is_untried_come_first(tried: Project, options: tuple[str, ...]) -> None:
    if options:
        ran(tried, 190.0, 200.0)
    assert suggested(tried, *options)["decided_by"] == ("user" if options else "waiting")


def test_a_change_for_the_better_stays(tried: Project) -> None:
    ran(tried, 60.0, 62.0)
    assert suggested(tried)["decided_by"] != "rollback"


def test_what_was_undone_does_not_come_back_within_twenty_nights(empty: Project) -> None:
    """Today's values are the best there are: everything else takes half as long again."""
    found = empty.config.read_bytes()
    undone: list[object] = []
    for night in range(20):
        ran(empty, (100.0 if empty.config.read_bytes() == found else 150.0) * (1 + 0.02 * (night % 3 - 1)))
        told = suggested(empty, "--prefer", "time")
        if told["decided_by"] == "rollback":
            undone.append(told["current"])
            assert empty.config.read_bytes() == found
    assert undone
    assert all(undone.count(values) == 1 for values in undone)
    assert empty.config.read_bytes() == found


def test_with_a_closed_stdout_what_was_restored_is_on_record_and_what_was_tried_is_not(project: Project) -> None:
    set_by_hand(project, "batch_size=32")
    for options, on_record in ((["--dry-run"], False), ([], True)):
        command = ["sh", "-c", 'exec "$@" >&-', "sh", *ROLLBACK, *options]
        done = subprocess.run(command, cwd=project.folder, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, "see `jpo explain`" in done.stderr) == (2, on_record), done.stderr


def test_what_a_rollback_undoes_is_said_after_the_reason_and_is_none(tried: Project) -> None:
    told = tried.jpo("rollback", "--dry-run").out
    because = [line for line in told.splitlines() if line.startswith("because ")]
    assert (len(because), " come back; " in because[0]) == (1, True)
    assert "instead of" in told, "what had been expected of the change"
