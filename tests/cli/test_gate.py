"""What leaves the process: released, and an error in a line where it cannot leave."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import TextIO, cast

import pytest

from jpo.__main__ import run
from jpo.cli import gate
from jpo.cli.gate import Gate, answer, at_the_gate, complain, explain_at_length, put, save, save_together, stream
from jpo.errors import UsageError

JPO = [sys.executable, "-m", "jpo"]
ATTACK = "x\n::error file=a::b \x1b[2J\x85##[error]c"


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_what_any_library_writes_is_released(capsys: pytest.CaptureFixture[str]) -> None:
    with at_the_gate():
        sys.stdout.write(ATTACK)
        sys.stderr.write(ATTACK)
    assert capsys.readouterr() == ("x\n: :error file=a::b  [2J # #[error]c",) * 2


def test_a_line_of_an_answer_cannot_begin_another_one(capsys: pytest.CaptureFixture[str]) -> None:
    with at_the_gate():
        answer(["recorded " + ATTACK, "b"])
    assert capsys.readouterr().out == "recorded x ::error file=a::b  [2J # #[error]c\nb\n"


@pytest.mark.parametrize("secret", ["ghp_9f8a7b6c5d4e3f2a1b0c", "password=hunter2", "redis://:hunter2@h/0", "of the environment"])
def test_no_way_out_shows_a_secret(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    monkeypatch.setenv("SOMEBODYS_TOKEN", "of the environment")
    with at_the_gate():
        sys.stdout.write(f"{secret}\n")
        put(f"{secret}\n")
        answer([secret])
        stream([f"{secret}\n"])
        complain(secret)
        explain_at_length(f"{secret}\n")
        save(tmp_path / "one", secret)
        save_together(tmp_path / "more", {"one": secret, "two": secret})
    out, err = capsys.readouterr()
    files = [path.read_text() for path in sorted(tmp_path.rglob("*")) if path.is_file()]
    assert (out.count("[hidden]"), err.count("[hidden]"), [text.count("[hidden]") for text in files]) == (4, 2, [1, 1, 1])
    assert "hunter2" not in out + err + "".join(files)


def test_colours_reach_a_terminal_alone() -> None:
    terminal, file = Terminal(), StringIO()
    for one in (terminal, file):
        Gate(one, must=True).write("\x1b[1mbold\x1b[0m \x1b[2J")
    assert (terminal.getvalue(), file.getvalue()) == ("\x1b[1mbold\x1b[0m  [2J", " [1mbold [0m  [2J")


def test_bars_are_drawn_behind_the_gate_where_there_is_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", Gate(terminal, must=False))
    assert gate.progress_stream() is terminal
    no_terminal = cast(TextIO, Gate(StringIO(), must=False))
    monkeypatch.setattr(sys, "stderr", no_terminal)
    assert gate.progress_stream() is no_terminal


def test_a_file_holds_what_was_released_whatever_its_characters(tmp_path: Path) -> None:
    save(tmp_path / "a.md", "a\n::b\udc80\n")
    assert (tmp_path / "a.md").read_text() == "a\n: :b \n"


def test_a_stream_that_is_closed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with at_the_gate(), pytest.raises(UsageError, match=r"stdout: cannot be written \(closed\); see elsewhere"):
        put("a", remedy="see elsewhere")


def test_a_stream_is_written_as_it_comes(monkeypatch: pytest.MonkeyPatch):
    written: list[str] = []
    monkeypatch.setattr(gate, "put", written.append)
    monkeypatch.setattr(gate, "AT_ONCE", 2)

    def lines() -> Iterator[str]:
        for number in range(3):
            assert len(written) == number // 2, "what came before is out"
            yield f"{number}\n"

    stream(lines())
    assert written == ["0\n1\n", "2\n"]


def test_a_bug_is_told_at_length_and_steers_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(ATTACK)

    monkeypatch.setattr("jpo.commands.config.check", broken)
    assert run(["config", "check", "-v"]) == 1
    err = capsys.readouterr().err
    log = Path(re.findall(r"report it with (\S+)", err)[0])
    for text in (err, log.read_text()):
        assert "RuntimeError: x\n: :error file=a::b  [2J # #[error]c\n" in text
    log.unlink()


@pytest.mark.parametrize("words", ["--version", "suggest --help", "config schema"])  # click's own, a command's, an answer
def test_a_full_disk_is_said_of_help_too(words: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*JPO, *words.split()], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    error = "jpo: stdout: cannot be written (No space left on device); write it elsewhere [JPO-E307]\n"
    assert (done.returncode, done.stderr) == (2, error)


def test_an_error_that_cannot_be_told_keeps_its_exit_code() -> None:
    with Path("/dev/full").open("w") as full:
        for words in ("nonsense", "explain --config none.toml"):
            assert subprocess.run([*JPO, *words.split()], stdout=full, stderr=full, check=False).returncode == 2


def test_a_reader_that_leaves_is_no_error() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([*JPO, "config", "schema"], stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == ("", 141)


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("register", ["import atexit; atexit.register", "import threading; threading._register_atexit"])
def test_an_interrupt_while_python_shuts_down_says_nothing(number: str, register: str) -> None:
    late = f"def late(): import os, signal, time; os.kill(os.getpid(), signal.{number}); time.sleep(1)"
    code = f"{late}\n{register}(late)\nimport sys; sys.argv = ['jpo', '--version']\nfrom jpo.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


def test_a_config_is_copied_byte_for_byte(tmp_path: Path) -> None:
    gate.save_copy(tmp_path / "copy.ini", b"a = caf\xe9\r\n\x1b")
    assert (tmp_path / "copy.ini").read_bytes() == b"a = caf\xe9\r\n\x1b"


def test_files_that_belong_together_are_all_replaced_or_none(tmp_path: Path) -> None:
    save_together(tmp_path / "new", {"a": "1", "b": ATTACK})
    assert (tmp_path / "new" / "a").read_text() == "1"
    assert "\x1b" not in (tmp_path / "new" / "b").read_text()
    (tmp_path / "new" / "c").mkdir()
    with pytest.raises(UsageError, match="cannot be written"):
        save_together(tmp_path / "new", {"a": "2", "c": "2"})
    assert (tmp_path / "new" / "a").read_text() == "1"
    with pytest.raises(UsageError, match="is not a folder for files"):
        save_together(tmp_path / "new" / "a", {"a": "1"})


@pytest.mark.parametrize(
    ("form", "said"),
    [("text", {"LC_ALL": "C"}), ("text", {"PYTHONIOENCODING": "latin-1"}), ("json", {"LC_ALL": "C"}), ("html", {"LC_ALL": "C"})],
)
def test_no_form_crashes_or_loses_a_character_where_the_terminal_has_few(tmp_path: Path, form: str, said: dict[str, str]) -> None:
    config = "[workload]\ndataset = d\nmodel = résnet🦀\nframework = f\n[t]\nbatch_size = 8\n"
    (tmp_path / "config.ini").write_text(config, "utf-8")
    plain = {name: text for name, text in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    done = subprocess.run(
        [*JPO, "suggest", "config.ini", "--dry-run", "--set", "batch_size=16", "-o", form],
        cwd=tmp_path,
        env={**plain, **said},
        capture_output=True,
        check=True,
    )
    out = done.stdout.decode("latin-1" if "latin" in str(said) else "ascii")
    assert "?" not in out
    assert {"text": "8    ->  16", "json": '"new": 16', "html": "&#8594;"}[form] in out
    if form == "json":
        assert json.loads(out)["workload"]["model"] == "résnet🦀"
