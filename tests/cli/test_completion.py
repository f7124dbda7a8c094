"""Completion in real shells: bash and zsh at a terminal, where somebody types and presses Tab; fish by its own `complete -C`."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from jpo.__main__ import run

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 60
CASES = [
    ("jpo sugg", "jpo suggest "),
    ("jpo opti", "jpo optimize "),  # of a plugin
    ("jpo lab simulate --dri", "jpo lab simulate --drift "),  # in a group
    ("jpo import --format hug", "jpo import --format huggingface "),  # a word of an option
    ("jpo suggest nigh", "jpo suggest nightly.ini "),
    ("jpo explain nigh", "jpo explain nightly.ini "),
    ("jpo suggest --config tea", "jpo suggest --config team.toml "),
]
FEW = (CASES[0], CASES[3], CASES[4])
"""A command, a word of an option, a file: every shell gets the same answers, and what it does with one is its script's."""


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell in which `jpo` is the one of this checkout."""
    (tmp_path / "jpo").write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -P -m jpo "$@"\n')
    (tmp_path / "jpo").chmod(0o755)
    (tmp_path / "job").mkdir()
    for name in ("nightly.ini", "team.toml"):
        (tmp_path / "job" / name).write_text("")
    return {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "dumb", "LC_ALL": "C.UTF-8"}


class Terminal:
    """A shell at a terminal."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        self.mine, other = pty.openpty()
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=other, stdout=other, stderr=other, start_new_session=True
        )
        os.close(other)

    def type(self, keys: str, until: str) -> str:
        """What the terminal shows after these keys, up to what is awaited."""
        os.write(self.mine, keys.encode())
        shown, end = "", time.monotonic() + PATIENCE_SECONDS
        while until not in shown and time.monotonic() < end:
            if select.select([self.mine], [], [], 0.1)[0]:
                shown += os.read(self.mine, 65536).decode(errors="replace")
        return shown

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.mine)


@pytest.mark.parametrize(
    ("command", "prepared", "cases"),
    [
        (["bash", "--norc", "-i"], "", CASES),
        (["zsh", "-f", "-i"], "unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D; ", FEW),
    ],
    ids=["bash", "zsh"],
)
@pytest.mark.usefixtures("zsh_and_fish")
def test_tab_completes_at_a_terminal(
    shell: dict[str, str], tmp_path: Path, command: list[str], prepared: str, cases: Sequence[tuple[str, str]]
) -> None:
    terminal = Terminal(command, tmp_path / "job", shell)
    try:
        ready = f'{prepared}eval "$(jpo completion {command[0]})"; echo re""ady\n'
        assert "ready" in terminal.type(ready, "ready\r\n")
        for typed, meant in cases:
            shown = terminal.type(f"{typed}\t", meant)
            assert meant in shown, (typed, shown)
            terminal.type('\x15echo cl""ean\n', "clean\r\n")
    finally:
        terminal.close()


@pytest.mark.usefixtures("zsh_and_fish")
def test_fish_completes(shell: dict[str, str], tmp_path: Path) -> None:
    script = "; ".join(["jpo completion fish | source", *(f'complete -C "{typed}"' for typed, _ in FEW)])
    found = subprocess.run(["fish", "-c", script], cwd=tmp_path / "job", env=shell, capture_output=True, text=True, check=True)
    assert [line.split("\t")[0] for line in found.stdout.splitlines()] == [meant.split()[-1] for _, meant in FEW]


def test_what_nobody_can_complete_is_answered_with_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_JPO_COMPLETE", "bash_complete")
    for typed in ("jpo nonsense --da", "jpo logs --no-such", "jpo \x1b[31m"):
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
        with pytest.raises(SystemExit):
            run([])
        assert [text.strip() for text in capsys.readouterr()] == ["", ""]


def test_without_a_line_all_commands_are_the_answer() -> None:
    environment = {name: text for name, text in os.environ.items() if not name.startswith("COMP_")}
    environment["_JPO_COMPLETE"] = "bash_complete"
    answer = subprocess.run([Path(sys.executable).with_name("jpo")], env=environment, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr, "plain,suggest" in answer.stdout.split()) == (0, "", True)


def test_clicks_own_way_to_the_script_works_as_well(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "zsh"]) == 0
    script = capsys.readouterr().out
    monkeypatch.setenv("_JPO_COMPLETE", "zsh_source")
    with pytest.raises(SystemExit):
        run([])
    assert capsys.readouterr().out == script


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_a_name_that_is_no_utf_8_is_completed_too(shell: dict[str, str], shell_name: str) -> None:
    words = {
        "COMP_WORDS": "jpo suggest \udcff",
        "COMP_CWORD": "\udcff" if shell_name == "fish" else "2",
        "_JPO_COMPLETE": f"{shell_name}_complete",
    }
    answer = subprocess.run([Path(sys.executable).with_name("jpo")], env={**shell, **words}, capture_output=True, check=False)
    assert (answer.returncode, answer.stderr, b"file" in answer.stdout) == (0, b"", True)
