"""Files that are no files, and files made to break who reads them: every command ends at once, in a line, with its exit code."""

from __future__ import annotations

import gzip
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from user_project import Project

MOST_SECONDS = 4.0


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path.name)  # the whole path may be too long


NO_FILES: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "directory": Path.mkdir,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "socket": a_socket,
}
READ = {  # command -> the file, exit code
    "check odd.ini": ("odd.ini", 2),
    "suggest odd.ini --dry-run": ("odd.ini", 2),
    "check config.ini --config odd.toml": ("odd.toml", 2),
    "config show": ("jpo.toml", 2),
    "config show --config ./jpo.toml": ("pyproject.toml", 2),
    "state import odd.jsonl": ("odd.jsonl", 2),
    "state import odd.jsonl.gz": ("odd.jsonl.gz", 2),
    "lab logs odd.csv": ("odd.csv", 4),
    "observe --csv odd.csv": ("odd.csv", 4),
    "predict config.ini --trials odd.csv": ("odd.csv", 4),
    "lab logs --extended odd.csv": ("odd.csv", 2),
    "lab replay odd.csv": ("odd.csv", 2),
    "prices refresh odd.csv --region eu-central-1": ("odd.csv", 2),
}


def test_ten_thousand_logs_of_other_jobs_and_of_none_hide_nothing_and_are_told_in_a_line(project: Project) -> None:
    other = project.log(99, 16, 100.0)
    other.write_text(other.read_text().replace("model=cnn", "model=vit"))
    none = project.folder / "runs" / "losses.csv"
    none.write_text("date,loss\n2026-01-01,0.5\n")
    for number in range(5_000):
        for path in (other, none):
            (path.parent / f"{path.stem}-{number}.csv").hardlink_to(path)
    observed = project.jpo("suggest", "config.ini", "--explore", "off", "--no-learn")
    assert observed.code == 0
    assert "7 finished runs used, 5001 skipped (5001 logs, the first: runs/losses-0.csv: line 1:" in " ".join(
        observed.out.split()
    )
    assert len(observed.out) < 3000
    assert len(project.jpo("suggest", "config.ini", "--dry-run", "--strict").err) < 500
    assert "7 runs of digits/cnn/pytorch" in project.jpo("doctor").out


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("command", READ)
def test_what_is_no_file_is_refused_without_waiting(project: Project, command: str, kind: str) -> None:
    name, code = READ[command]
    if kind == "link to itself" and ("--extended" in command or "refresh" in command):
        pytest.skip("a link to nothing is replaced by the table")
    if (command, kind) == ("lab logs odd.csv", "directory"):
        pytest.skip("the logs in it are meant")
    (project.folder / name).unlink(missing_ok=True)
    NO_FILES[kind](project.folder / name)
    started = time.monotonic()
    answer = project.jpo(*command.split())
    assert (answer.code, answer.err.count("\n"), answer.out) == (code, 1, "")
    assert name in answer.err
    assert "JPO-E001" not in answer.err
    assert time.monotonic() - started < MOST_SECONDS


@pytest.mark.parametrize("kind", ["directory", "pipe", "device"])
def test_a_log_that_is_no_file_is_skipped_and_named_and_the_others_count(project: Project, kind: str) -> None:
    NO_FILES[kind](project.folder / "runs" / "odd.csv")
    answer = project.jpo("lab", "logs", "-o", "json")
    assert answer.code == 0
    assert "odd.csv" in answer.out


TEXTS = {
    "lists in lists": "a = " + "[" * 100_000,
    "tables in tables": "a = " + "{ a = " * 50_000,
    "a key of 50,000 parts": "a" + ".a" * 50_000 + " = 1",
    "a table of 50,000 parts": "[a" + ".a" * 50_000 + "]",
    "a number of 5,000 digits": "[agent]\nexploration_runs = " + "9" * 5000,
    "a number beyond 64 bits": "[agent]\nexploration_runs = 0x" + "f" * 40,
    "infinity": "[quota]\ngpus = inf",
    "no number": "[sla]\ncost_max = nan",
    "a key of 200,000 characters": "[agent]\n" + "x" * 200_000 + " = 1",
    "a value of 200,000 characters": '[agent]\nexplore = "' + "x" * 200_000 + '"',
    "NUL bytes": "[agent]\n\0\0",
    "runs without end": "[agent]\nhorizon_runs = 9223372036854775807",
    "tool is not a table": "tool = 1",
}


@pytest.mark.parametrize("name", ["jpo.toml", "pyproject.toml"])
@pytest.mark.parametrize("what", TEXTS)
def test_settings_that_would_break_their_reader_are_refused_in_a_line(project: Project, name: str, what: str) -> None:
    text = TEXTS[what].replace("\n[", "\n[tool.jpo.") if name == "pyproject.toml" else TEXTS[what]
    text = f"[tool.jpo.{text[1:]}" if name == "pyproject.toml" and text.startswith("[") else text
    (project.folder / name).write_text(text)
    started = time.monotonic()
    answer = project.jpo("config", "show")
    allowed = (0, 2) if name == "pyproject.toml" and text.startswith("tool") else (2,)
    assert answer.code in allowed, answer.err
    assert "JPO-E001" not in answer.err
    assert len(answer.err) < 3000
    assert time.monotonic() - started < MOST_SECONDS


def test_the_second_look_refuses_the_same_texts_in_a_line(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    import datetime

    from constraints.second_look import main

    for what, text in TEXTS.items():
        (project.folder / "limits.toml").write_text(text)
        started = time.monotonic()
        code = main(["config.ini", "config.ini", "--limits", "limits.toml"], datetime.date(2026, 11, 22))
        assert code in (0, 2), what
        assert len(capsys.readouterr().err) < 3000, what
        assert time.monotonic() - started < MOST_SECONDS, what


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("JPO_A" + "__A" * 500, "1"),
        ("JPO_CSV__LOGS", "[" * 50_000),
        ("JPO_AGENT__EXPLORATION_RUNS", "9" * 5000),
        ("JPO_STORE__TIMEOUT", "9" * 400 + "d"),
        ("JPO_QUOTA__GPUS", "inf"),
        ("JPO_PARAMETERS__BATCH_SIZE__CHOICES", "[1e999]"),
    ],
)
def test_variables_are_bounded_too(project: Project, monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    answer = project.jpo("config", "show")
    assert (answer.code, answer.err.count("\n")) == (2, 1), answer.err
    assert len(answer.err) < 3000
    assert variable.split("__")[0] in answer.err


def test_columns_of_5000_digits_are_no_width(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "9" * 5000)
    assert project.jpo("lab", "logs").code == 0


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"table":"agents","table":"runs","row":{}}\n', "names 'table' twice"),
        (b'{"table":"agents","row":{"name":"a","version":1e999,"state":""}}\n', "1e999"),
        (b'{"table":"agents","row":{"name":"a","version":' + b"9" * 5000 + b',"state":""}}\n', "5000 digits"),
        (b'{"table":"agents","row":{"name":"a","version":' + b"9" * 30 + b',"state":""}}\n', "cannot be stored"),
        (b'{"row":' * 50_000 + b"\n", "nested too deep"),
        (b'{"table":"audit","row":' + b" " * (1 << 26), "is longer than"),
        (b'{"table":"\xed\xa0\x80","row":{}}\n', "is not JSON"),
        (b'{"table":"\\ud800","row":{}}\n', "is not a row"),
    ],
    ids=["doubled key", "infinity", "many digits", "128 bits", "deep", "a bomb of blanks", "half a character", "half, escaped"],
)
def test_exports_that_would_break_their_reader_are_refused(project: Project, line: bytes, words: str, packed: bool) -> None:
    project.jpo("observe", "--offline")
    assert project.jpo("state", "export", "good.jsonl").code == 0
    head = (project.folder / "good.jsonl").read_bytes().split(b"\n")[0] + b"\n"
    (project.folder / "bad").write_bytes(gzip.compress(head + line) if packed else head + line)
    (project.folder / "jpo.toml").write_text('[store]\nurl = "sqlite:///new.db"\n')
    answer = project.jpo("state", "import", "bad")
    assert (answer.code, answer.err.count("\n")) == (5, 1)
    assert "bad:2: " in answer.err
    assert words in answer.err
    assert len(answer.err) < 3000


def test_an_export_with_a_doubled_key_inside_of_a_document_is_refused(project: Project) -> None:
    project.jpo("observe", "--offline")
    assert project.jpo("state", "export", "good.jsonl").code == 0
    text = (project.folder / "good.jsonl").read_text()
    assert '"parameters":"{\\"batch_size\\":' in text
    (project.folder / "bad").write_text(text.replace('"parameters":"{', '"parameters":"{\\"cpus\\":9,\\"cpus\\":2,', 1))
    (project.folder / "jpo.toml").write_text('[store]\nurl = "sqlite:///new.db"\n')
    answer = project.jpo("state", "import", "bad")
    assert (answer.code, "'cpus' twice" in answer.err) == (5, True)


@pytest.mark.parametrize("value", ["1e300", "1e-300"])
def test_values_of_no_training_job_are_refused_with_their_line(project: Project, value: str) -> None:
    project.config.write_text(project.config.read_text().replace("learning_rate = 0.01", f"learning_rate = {value}"))
    answer = project.jpo("suggest", "config.ini", "--dry-run", "--offline", "--no-learn")
    assert (answer.code, "config.ini:8: learning_rate" in answer.err) == (2, True), answer.err


@pytest.mark.parametrize(("old", "new"), [(",1500,", ",1_500,"), (",1500,", ",١٥٠٠,"), ("# cpus=2", "# start=1_7")])
def test_numbers_in_logs_are_those_that_people_write(project: Project, old: str, new: str) -> None:
    log = project.folder / "runs" / "run-0.csv"
    log.write_text(
        log.read_text().replace(old, new).replace("# start=1700000000\n", "" if "start" in new else "# start=1700000000\n")
    )
    answer = project.jpo("observe", "--csv", "runs/run-0.csv")
    assert (answer.code, "is not a number" in answer.err) == (4, True), answer.err


@pytest.mark.parametrize("name", ["x" * 5000, "a/" * 3000])
@pytest.mark.parametrize(
    "command", ["check NAME", "lab logs --extended NAME", "pareto config.ini --plot NAME.png", "state export NAME"]
)
def test_a_name_that_no_file_can_have_is_refused(project: Project, command: str, name: str) -> None:
    answer = project.jpo(*(word.replace("NAME", name) for word in command.split()))
    assert (answer.code, "JPO-E309" in answer.err, len(answer.err) < 300) == (2, True, True)


@pytest.mark.parametrize(
    "value", ["%(" * 100_000, "%(" * 100_000 + ")", "%(a" * 60_000, "${" * 100_000, "1" * 200_000 + "x", "1" * 200_000 + ".x"]
)
def test_a_value_made_to_be_looked_at_again_from_each_character_is_read_at_once(project: Project, value: str) -> None:
    with project.config.open("a") as file:
        file.write(f"\n[odd]\nodd = {value}\n")
    started = time.process_time()
    assert project.jpo("check", "config.ini").code == 0
    assert time.process_time() - started < MOST_SECONDS
