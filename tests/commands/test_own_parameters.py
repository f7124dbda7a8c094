"""Parameters of a team's own, through the command line: numbers and words from config.ini to every report and back."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from user_project import Project

OWN = """
[training2]
optimizer = "sgd"   ; torch.optim
weight_decay = 1e-4
warmup_steps = 100  # steps
[model]
dropout = 0.1
"""
LINES = """
dropout = { key = "model.dropout", min = 0.0, max = 0.5 }
weight_decay = { min = 1e-6, max = 1e-1, scale = "log" }
optimizer = { choices = ["adam", "sgd", "rmsprop"] }
warmup_steps = { min = 0, max = 2000, integer = true, multiple_of = 50 }
"""
HEAD = (
    "# run_id={id}\n# dataset=digits\n# model=cnn\n# framework=pytorch\n# start={start}\n{more}# end={end}\n# status=succeeded\n"
)


def declared(project: Project, lines: str = LINES, own: str = OWN) -> Project:
    """The project with these parameters of its own."""
    project.config.write_text(project.config.read_text() + own)
    toml = project.folder / "jpo.toml"
    toml.write_text(toml.read_text().replace("[parameters]\n", f"[parameters]\n{lines}\n"))
    return project


def log(project: Project, number: int, seconds: float, **values: object) -> None:
    start = 1_790_000_000 + 10_000 * number
    more = "".join(
        f"# {name}={value}\n" for name, value in {"batch_size": 16, "learning_rate": 0.01, "epochs": 40, **values}.items()
    )
    text = HEAD.format(id=f"own-{number}", start=start, end=start + seconds, more=more)
    (project.folder / "runs" / f"own-{number}.csv").write_text(text)


def test_check_and_config_show_them(empty: Project) -> None:
    told = declared(empty).jpo("check", "config.ini", "-o", "json")
    shown = {p["parameter"]: (p["text"], p["value"]) for p in json.loads(told.out)["parameters"]}
    assert shown["optimizer"] == ('"sgd"', "sgd")
    assert shown["dropout"] == ("0.1", 0.1)
    shown = tomllib.loads(empty.jpo("config", "show").out)
    assert shown["parameters"]["optimizer"]["choices"] == ["adam", "sgd", "rmsprop"]


def test_values_by_hand_are_written_as_the_file_has_them_and_rolled_back(empty: Project) -> None:
    before = declared(empty).config.read_bytes()
    given = ("--set", "optimizer=adam", "--set", "dropout=0.25", "--set", "weight_decay=3e-5", "--set", "warmup_steps=200")
    said = json.loads(empty.jpo("suggest", "config.ini", *given, "-o", "json").out)
    after = empty.config.read_bytes()
    expected = (
        before.replace(b'"sgd"', b'"adam"').replace(b"0.1\n", b"0.25\n").replace(b"1e-4", b"3e-5").replace(b"100 ", b"200 ")
    )
    assert after == expected
    assert (said["current"]["optimizer"], said["suggested"]["optimizer"], said["suggested"]["dropout"]) == ("sgd", "adam", 0.25)
    assert [(c["old"], c["new"]) for c in said["changes"] if c["parameter"] == "optimizer"] == [("sgd", "adam")]
    old, toml = empty.folder / "old.ini", empty.folder / "jpo.toml"
    old.write_bytes(before)
    guard = [sys.executable, "-m", "constraints", str(old), str(empty.config), "--limits", str(toml), "-o", "json"]
    looked = subprocess.run(guard, capture_output=True, text=True, check=False)
    changes = {c["parameter"]: c["new"] for c in json.loads(looked.stdout)["changes"]}
    assert (looked.returncode, changes["optimizer"], changes["dropout"]) == (0, "adam", 0.25)
    audit = empty.jpo("audit", "show", "-o", "json").out
    assert '"adam"' in audit.replace(" ", "")
    assert empty.jpo("rollback").code == 0
    assert empty.config.read_bytes() == before


def test_a_word_that_is_no_choice_is_refused_by_suggest_and_named_by_check(empty: Project) -> None:
    before = declared(empty).config.read_bytes()
    refused = empty.jpo("suggest", "config.ini", "--set", "optimizer=lion")
    assert (refused.code, empty.config.read_bytes()) == (3, before)
    assert "optimizer = lion is none of the choices adam, sgd, rmsprop" in refused.err
    empty.config.write_text(empty.config.read_text().replace('"sgd"', '"lion"'))
    told = " ".join(empty.jpo("check", "config.ini").out.split())
    assert "optimizer = lion is none of the choices adam, sgd, rmsprop; suggest leaves it as it is, or brings it back" in told
    kept = json.loads(empty.jpo("suggest", "config.ini", "--dry-run", "-o", "json").out)
    assert "optimizer = lion is none of the choices" in kept["guard"]["notices"][0]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("dropout=adam", "dropout = 'adam' is not a finite number"),
        ("warmup_steps=10.5", "warmup_steps = 10.5 is not a whole number"),
        ("nesterov=1", "has no parameter nesterov"),
    ],
)
def test_values_of_another_kind_are_refused(empty: Project, given: str, told: str) -> None:
    answer = declared(empty).jpo("suggest", "config.ini", "--set", given)
    assert (answer.code, told in answer.err) == (2, True)


@pytest.mark.parametrize("edit", ["# jpo: pin", "# jpo: ignore until 2999-01-01"])
def test_pins_hold_words(empty: Project, edit: str) -> None:
    declared(empty, own=OWN.replace("; torch.optim", edit))
    answer = empty.jpo("suggest", "config.ini", "--set", "optimizer=adam")
    assert (answer.code, "optimizer = adam must stay sgd: it is" in answer.err) == (3, True)


def test_runs_in_words_are_learnt_from_and_shown_everywhere(empty: Project) -> None:
    (empty.folder / "runs").mkdir(exist_ok=True)
    for number, (optimizer, seconds) in enumerate(
        [("sgd", 100), ("adam", 60), ("sgd", 103), ("adam", 61), ("1e-3", 90), ("adam", 59)]
    ):
        log(empty, number, seconds, optimizer=optimizer, dropout=0.1, weight_decay=1e-4, warmup_steps=100, cpus=2)
    declared(empty)
    said = json.loads(empty.jpo("suggest", "config.ini", "--offline", "-o", "json", "--explore", "off").out)
    assert (said["suggested"]["optimizer"], said["evidence"]["runs_used"]) == ("adam", 6)
    assert 'optimizer = "adam"   ; torch.optim' in empty.config.read_text()
    assert said["changes"][0]["reason"] == "3 runs at adam"
    runs = json.loads(empty.jpo("history", "-o", "json").out)["runs"]
    assert [run["parameters"]["optimizer"] for run in runs] == ["sgd", "adam", "sgd", "adam", "1e-3", "adam"]
    rows = list(csv.DictReader(io.StringIO(empty.jpo("history", "--format", "csv").out)))
    assert (rows[1]["optimizer"], rows[1]["dropout"]) == ("adam", "0.1")
    for command in (
        ("history",),
        ("explain",),
        (
            "lab",
            "logs",
        ),
        ("pareto", "config.ini"),
        ("predict", "config.ini", "--vary", "optimizer=adam,sgd"),
    ):
        answer = empty.jpo(*command)
        assert (answer.code, ("sgd" if command[0] == "predict" else "adam") in answer.out) == (0, True), (command, answer.err)
    toml = empty.folder / "jpo.toml"
    toml.write_text(toml.read_text().replace('["adam", "sgd", "rmsprop"]', '["rmsprop", "sgd", "adam"]'))
    again = json.loads(empty.jpo("history", "-o", "json").out)
    assert again["runs"] == runs
    assert again["suggestions"][0]["suggested"]["optimizer"] == "adam"
    assert (
        json.loads(empty.jpo("suggest", "config.ini", "--offline", "-o", "json", "--dry-run").out)["current"]["optimizer"]
        == "adam"
    )


def test_runs_before_it_was_declared_count_by_what_differs_and_later_ones_with_what_was_in_force(empty: Project) -> None:
    (empty.folder / "runs").mkdir(exist_ok=True)
    for number, batch in enumerate([16, 64, 16, 64]):
        log(empty, number, 100 if batch == 16 else 40, batch_size=batch, cpus=2)
    declared(empty, lines='dropout = { key = "model.dropout", min = 0.0, max = 0.5 }')
    said = json.loads(empty.jpo("suggest", "config.ini", "--offline", "-o", "json").out)
    assert (said["evidence"]["runs_used"], "JPO-I129" in said["reason_codes"]) == (0, True)
    told = " ".join(said["evidence"]["notes"])
    assert "4 runs did not report dropout" in told
    assert told.endswith("jpo import ... --set dropout=0.1 --write, or jpo observe RUN --param dropout=0.1")
    reason = empty.jpo("suggest", "config.ini", "--offline", "--dry-run").out.replace("\n", " ")
    assert reason.startswith("KEPT: the runs on record do not say dropout (see below): JPO needs one run")
    run_id = json.loads(empty.jpo("history", "-o", "json").out)["runs"][0]["run_id"]
    assert empty.jpo("observe", run_id, "--param", "dropout=0.1").code == 0
    answered = json.loads(empty.jpo("suggest", "config.ini", "--offline", "-o", "json", "--dry-run").out)
    assert answered["evidence"]["runs_used"] == 1
    assert empty.jpo("observe", "r9", "--metric", "duration_seconds=50").code == 0
    told = json.loads(empty.jpo("suggest", "config.ini", "--offline", "-o", "json", "--dry-run").out)
    assert told["evidence"]["runs_used"] == 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('"Drop-Out" = { min = 0, max = 1 }', "a name is made of a-z, 0-9 and _"),
        ("dataset = { min = 0, max = 1 }", "JPO uses this name for something else"),
        ("learning_rte = { min = 0, max = 1 }", "did you mean learning_rate?"),
        ("missing = { min = 0, max = 1 }", "config.ini has no option of this name"),
        ('missing = { key = "model.missing", min = 0, max = 1 }', "is not in config.ini"),
        ("dropout = { min = 0.5, max = 0.1 }", "min = 0.5 is above max = 0.1"),
        ('dropout = { min = 0, max = 1, scale = "log" }', "begins above 0"),
        ("dropout = { min = 0.1 }", "max not given"),
        ('dropout = { choices = ["a", "b;c"] }', "cannot be written to a config.ini"),
        ('optimizer = { choices = ["SGD", "Adam"] }', "but for its case"),
        ("optimizer = { choices = [true, false] }", "write it in quotes"),
        ("optimizer = { choices = [0, 1] }", "optimizer = 'sgd' is not a finite number"),
        ("bare = { min = 0, max = 1 }", "has no value"),
        ("twice = { min = 0, max = 1 }", 'say which in jpo.toml: [parameters] twice = { key = "a.twice" }'),
        ('gpus = { choices = ["one"] }', "are not numbers"),
    ],
)
def test_what_cannot_be_is_one_line_and_nothing_is_written(empty: Project, line: str, told: str) -> None:
    declared(empty, lines=line, own=f"bare\n{OWN}\n[a]\ntwice = 1\n[b]\ntwice = 2\n")
    before = empty.config.read_bytes()
    for command in ("check", "suggest"):
        answer = empty.jpo(command, "config.ini")
        assert (answer.code, told in answer.err, answer.err.count("\n")) == (2, True, 1), answer.err
    assert empty.config.read_bytes() == before
    assert not (empty.folder / ".jpo").exists()


def test_usual_hyperparameters_are_named_with_the_line_that_tunes_them(empty: Project) -> None:
    declared(empty, lines="")
    told = " ".join(empty.jpo("check", "config.ini").out.split())
    line = 'optimizer = { key = "training2.optimizer", choices = ["sgd", "adam"] }'
    assert f"stays as it is; to have it tuned, add [parameters] {line}" in told
    declared(empty, lines=line, own="")
    assert empty.jpo("check", "config.ini").code == 0


def test_a_file_that_is_not_utf_8_takes_no_word_beyond_its_letters(empty: Project) -> None:
    declared(empty, lines='optimizer = { choices = ["sgd", "größe", "大"] }')
    empty.config.write_bytes(empty.config.read_bytes() + "# über\n".encode("latin-1"))
    refused = empty.jpo("suggest", "config.ini", "--set", "optimizer=大")
    assert (refused.code, "save it as UTF-8" in refused.err) == (6, True)
    assert empty.jpo("suggest", "config.ini", "--set", "optimizer=größe").code == 0
    assert 'optimizer = "größe"'.encode("latin-1") in empty.config.read_bytes()


def test_a_run_by_hand_may_have_run_with_other_values_than_the_file_says(empty: Project) -> None:
    declared(empty)
    given = ("--param", "optimizer=adam", "--param", "dropout=0.2", "--metric", "duration_seconds=50")
    assert empty.jpo("observe", "by-hand", *given).code == 0
    (run,) = json.loads(empty.jpo("history", "-o", "json").out)["runs"]
    assert (run["parameters"]["optimizer"], run["parameters"]["dropout"], run["parameters"]["warmup_steps"]) == ("adam", 0.2, 100)
    assert empty.jpo("observe", "by-hand", "--metric", "val_loss=0.3").code == 0  # of a run on record the file says nothing
    (again,) = json.loads(empty.jpo("history", "-o", "json").out)["runs"]
    assert again["parameters"] == run["parameters"]
    refused = empty.jpo("observe", "other", "--param", "nesterov=1")
    assert (refused.code, "--param: " in refused.err) == (2, True)


def test_columns_of_other_tools_are_read_by_the_name_of_the_parameter(empty: Project) -> None:
    declared(empty)
    table = "run,start,end,batch_size,params.optimizer,config.dropout,metrics.dropout\n"
    rows = ("a,1790000000,1790000100,16,adam,0.2,9\n", "b,1790001000,1790001200,16,sgd,none,9\n")
    (empty.folder / "table.csv").write_text(table + "".join(rows))
    told = empty.jpo("import", "table.csv", "--write", "--set", "warmup_steps=200")
    assert told.code == 0, told.err
    runs = {run["started_at"]: run["parameters"] for run in json.loads(empty.jpo("history", "-o", "json").out)["runs"]}
    assert runs[1790000000] == {"batch_size": 16, "optimizer": "adam", "dropout": 0.2, "warmup_steps": 200}
    assert runs[1790001000] == {"batch_size": 16, "optimizer": "sgd", "warmup_steps": 200}


def test_a_table_that_was_imported_before_the_line_was_written_is_completed_and_not_recorded_twice(empty: Project) -> None:
    (empty.folder / "table.csv").write_text("start,end,batch_size,dropout\n1790000000,1790000100,16,0.2\n")
    assert empty.jpo("import", "table.csv", "--write").code == 0
    declared(empty)
    assert empty.jpo("import", "table.csv", "--write").code == 0
    (run,) = json.loads(empty.jpo("history", "-o", "json").out)["runs"]
    assert run["parameters"] == {"batch_size": 16, "dropout": 0.2}


def test_a_metric_and_a_parameter_cannot_share_a_name(empty: Project) -> None:
    toml = declared(empty).folder / "jpo.toml"
    toml.write_text(toml.read_text() + '[metric]\nname = "dropout"\ndirection = "max"\n')
    answer = empty.jpo("check", "config.ini")
    assert (answer.code, "[metric] and [parameters] both name dropout; give one another name" in answer.err) == (2, True)
