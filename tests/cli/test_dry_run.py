"""`--dry-run`: every command that writes what a user may want to see first takes it, and then nothing at all is different."""

from __future__ import annotations

import shutil
from pathlib import Path

import click
import pytest
from command_lines import leaves
from user_project import Project, empty, project

__all__ = ["empty", "project"]

LINES = {
    "suggest": "suggest config.ini",
    "rollback": "rollback",
    "sla suggest": "sla suggest",
    "observe": "observe --csv late.csv",
    "state import": "state import export.jsonl --config other.toml",
    "state gc": "state gc",
    "run": "run config.ini -- python train.py",
    "watch": "watch --csv late.csv --once",
    "optimize": "optimize config.ini -- python train.py",
    "init": "init",
    "comment": "comment --from s.json",
    "persist": "persist --from s.json",
    "import": "import table.csv",
}
MAKES_WHAT_IT_IS_ASKED_FOR = {
    *("state export", "report", "history", "phases fit", "phases parts", "phases predict", "phases allocate", "phases plot"),
    *("phases expand", "phases evaluate", "phases rightsize", "cluster evaluate", "cluster describe", "cluster plot"),
    *("cluster convert", "cluster train", "cluster test", "lab simulate", "lab replay", "lab logs", "pareto", "predict"),
    *("phases follow", "prices refresh", "learn"),  # resizes with --apply; the agent is a cache of the history
}
"""A file that its command line names, and nothing else."""
ONLY_READS = {
    *("check", "explain", "doctor", "sla check", "prices show", "audit show", "audit verify", "audit export", "completion"),
    *("config check", "config show", "config schema"),
}


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every file with its bytes, every folder with None."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def looked_at(project: Project, line: str) -> None:
    """Run it with --dry-run: it says something, and the folder is as before."""
    before = tree(project.folder)
    words, dashes, command = line.partition(" -- ")
    answer = project.jpo(*words.split(), "--dry-run", *(["--", *command.split()] if dashes else []))
    assert answer.code == 0, answer.err
    assert answer.out
    assert tree(project.folder) == before


def takes_it(command: click.Command) -> bool:
    return any("--dry-run" in option.opts for option in command.params)


@pytest.fixture
def used(project: Project) -> Project:
    """A project with a suggestion, an export of its store, a log that is not on record, and a script."""
    project.jpo("suggest", "config.ini", "--offline", "--output-file", "s.json")
    project.jpo("state", "export", "export.jsonl")
    project.log(8, 64, 39.0).rename(project.folder / "late.csv")
    (project.folder / "table.csv").write_text("batch_size,duration_seconds\n64,40\n", "utf-8")
    (project.folder / "train.py").write_text("print(1)\n", "utf-8")
    (project.folder / "other.toml").write_text('[store]\nurl = "sqlite:///elsewhere/jpo.db"\n', "utf-8")
    return project


def test_every_command_takes_it_reads_or_makes_what_it_is_asked_for() -> None:
    known = LINES.keys() | MAKES_WHAT_IT_IS_ASKED_FOR | ONLY_READS
    assert {name for name, _ in leaves()} == known
    assert {name for name, command in leaves() if takes_it(command)} == LINES.keys()


@pytest.mark.parametrize("name", LINES)
def test_nothing_is_different_afterwards(name: str, used: Project) -> None:
    looked_at(used, LINES[name])


@pytest.mark.parametrize("name", ["suggest", "observe", "state gc", "run", "optimize", "import"])
def test_before_the_first_run_no_store_is_made(name: str, used: Project) -> None:
    shutil.rmtree(used.folder / ".jpo")
    looked_at(used, LINES[name])


def test_a_preview_of_what_goes_on_record_counts_it(used: Project) -> None:
    assert "would record run-8: " in used.jpo("observe", "--csv", "late.csv", "--dry-run").out
    assert "would import " in used.jpo("state", "import", "export.jsonl", "--config", "other.toml", "--dry-run").out
    full = used.jpo("state", "import", "export.jsonl", "--dry-run")
    assert (full.code, "JPO-E515" in full.err) == (5, True)


def test_it_goes_with_no_word_that_asks_for_writing(used: Project) -> None:
    for line in ("sla suggest --write", "import table.csv --write", "watch --csv late.csv --apply", "optimize config.ini -o csv"):
        answer = used.jpo(*line.split(), "--dry-run")
        assert answer.code == 2, line
        assert "--dry-run" in answer.err
        assert "JPO-E308" in answer.err
