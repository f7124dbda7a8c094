from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from command_lines import commands

from jpo.__main__ import run
from jpo.cli.main import CORE, EVERY_DAY, SUMMARY, cli


def test_the_help_is_one_screen_of_24_lines_and_names_every_command():
    lines = CliRunner().invoke(cli, ["--help"], terminal_width=80).output.rstrip("\n").split("\n")
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    said = set(re.findall(r"[a-z]+", " ".join(lines)))
    assert {command.name for command in commands()} <= said
    assert [line.split()[0] for line in lines if line.split()[:1] and line.split()[0] in EVERY_DAY] == [*EVERY_DAY]


def test_the_core_has_16_commands_and_none_has_two_owners():
    names = [command.name for command in commands()]
    assert len(CORE) == 16
    assert len(names) == len(set(names))


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.name)
def test_a_summary_is_short_and_not_cut_off(command: click.Command):
    summary = command.get_short_help_str(SUMMARY)
    assert 0 < len(summary) <= SUMMARY
    assert not summary.endswith("...")


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.name)
def test_every_command_has_help_with_an_example(command: click.Command):
    leaves = list(command.commands.values()) if isinstance(command, click.Group) else [command]
    assert [leaf.name for leaf in leaves if "Example" not in (leaf.help or "")] == []


@pytest.mark.parametrize("name", ["suggest", "observe", "learn", "check", "explain", "history"])
def test_the_help_of_a_command_has_a_text_and_an_example(name: str):
    text = CliRunner().invoke(cli, [name, "--help"], prog_name="jpo").output
    assert f"jpo {name}" in text.split("Options:")[0].replace(f"Usage: jpo {name}", "")


def test_help_loads_no_records_and_no_settings():
    code = "import sys, jpo.cli.main; print(*sorted({'jpo.records', 'pydantic', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["config.ini"], "Did you mean 'jpo suggest config.ini'?"),
        (["help"], "Did you mean 'jpo --help'?"),
        (["help", "suggest"], "Did you mean 'jpo suggest --help'?"),
        (["sugest"], "Did you mean 'suggest'?"),
        (["suggest", "--dryrun"], "Did you mean '--dry-run'?"),
        (["sla", "chek"], "Did you mean 'check'?"),
        (["suggest", "--config", "config.ini"], "did you mean it as the argument, `jpo suggest config.ini`?"),
        (["suggest", "config.in"], "did you mean config.ini?"),
        (["suggest", "jpo.toml"], "did you mean --config jpo.toml?"),
        (["suggest", "--set", "gpu=2"], "did you mean gpus?"),
    ],
)
def test_what_is_mistyped_is_answered_with_what_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], meant: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.ini").write_text("[w]\ndataset = d\nmodel = m\nframework = f\ngpus = 1\n")
    (tmp_path / "jpo.toml").write_text("agent.explore = 'off'\n")
    assert run(words) == 2
    assert meant in capsys.readouterr().err


def test_a_working_directory_that_was_removed_is_no_bug(tmp_path: Path):
    (tmp_path / "gone").mkdir()
    program = "import os, sys; from jpo.__main__ import run; os.rmdir(os.getcwd()); sys.exit(run(['history']))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path / "gone", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "jpo: the working directory: was removed; change to a folder that is there [JPO-E310]\n"
