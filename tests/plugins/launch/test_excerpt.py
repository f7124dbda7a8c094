from __future__ import annotations

from pathlib import Path

import pytest

from jpo.plugins.launch.excerpt import TAIL_BYTES, NewOutput, last_words
from jpo.wording.hidden import hidden, secrets_of

ENVIRON = {"WANDB_API_KEY": "0123456789abcdef", "HOME": "/home/somebody", "DB_PASSWORD": "correct horse", "USE_TOKEN": "1"}


def test_the_runs_own_secrets_are_not_repeated(tmp_path: Path) -> None:
    file = tmp_path / "output.log"
    file.write_text("x\nlogin with 0123456789abcdef, the correct horse of /home/somebody and API_KEY=hunter2 failed\n")
    words = last_words(file, ENVIRON)
    assert words == "login with [hidden], the [hidden] of /home/somebody and API_KEY=[hidden] failed"


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (b"", ""),
        (b"\n \n", ""),
        (b"Traceback:\n  File\nKeyError: 'lr'\n\n", "KeyError: 'lr'"),
        (b"10%\r20%\rstopped at 20%", "stopped at 20%"),
        (b"\xff\xfe broken \x00 text", "\ufffd\ufffd broken text"),
        (b"x" * 10**6, "x" * 300 + "..."),
    ],
)
def test_the_last_line_that_says_something_is_told_in_one_line(tmp_path: Path, output: bytes, words: str) -> None:
    file = tmp_path / "output.log"
    file.write_bytes(output)
    assert last_words(file, {}) == words


def test_no_output_says_nothing(tmp_path: Path) -> None:
    assert last_words(tmp_path / "output.log", {}) == ""


def test_new_output_is_whole_lines_each_once_and_the_last_of_many(tmp_path: Path) -> None:
    file = tmp_path / "output.log"
    new = NewOutput(file, ENVIRON)
    assert [*new.lines(over=False)] == []  # nothing is printed yet
    with file.open("ab", buffering=0) as output:
        output.write(b"10%\r20%\rdone\r\n\nlogin with 0123456")
        assert [*new.lines(over=False)] == ["done"]
        output.write(b"789abcdef \xc3")  # the first byte of two
        assert [*new.lines(over=False)] == []
        output.write(b"\xa4\n")
        assert [*new.lines(over=False)] == ["login with [hidden] ä"]
        output.write(b"0123456789abcdef\n" * 5000)
        left_out, *rest = new.lines(over=False)
        assert left_out == f"[{5000 * 17 - TAIL_BYTES} bytes are not shown here]"
        assert set(rest) == {"[hidden]"}  # none was cut where a secret stands
    file.write_bytes(b"the rest of a line\nend")
    assert [*new.lines(over=True)] == ["[some bytes are not shown here]", "end"]


def test_the_rest_of_a_line_is_not_shown_without_its_beginning(tmp_path: Path) -> None:
    file = tmp_path / "output.log"
    new, long = NewOutput(file, {}), b"a" * (TAIL_BYTES + 1) + b" password="
    said = f"[a line of more than {TAIL_BYTES} bytes]"
    with file.open("ab", buffering=0) as output:
        for some in (long[:TAIL_BYTES], long[TAIL_BYTES:]):  # it grows too long
            output.write(some)
            assert [*new.lines(over=False)] == []
        output.write(b"hunter2")
        assert [*new.lines(over=False)] == []
        output.write(b"hunter2\nnext\n")
        assert [*new.lines(over=False)] == [said, "next"]
        output.write(long)  # it is too long from the start
        assert [*new.lines(over=False)] == [f"[{len(long) - TAIL_BYTES} bytes are not shown here]"]
        output.write(b"hunter2\nnext\n")
        assert [*new.lines(over=False)] == ["next"]
        output.write(b"password=")
        assert [*new.lines(over=False)] == []
    file.write_bytes(b"hunter2\nnext\n")  # it was full
    assert [*new.lines(over=False)] == ["[some bytes are not shown here]", "next"]
    file.write_bytes(b"hunter2")
    assert [*new.lines(over=True)] == ["[some bytes are not shown here]"]


def test_of_a_bar_that_is_drawn_for_long_the_last_state_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "output.log"
    new = NewOutput(file, {})
    with file.open("ab", buffering=0) as output:
        for _ in range(3):
            output.write(b"\r10% of a bar" * 5000)
            assert [*new.lines(over=False)] == []
        output.write(b"\rall of a bar\r\n")
    assert [*new.lines(over=True)] == ["all of a bar"]


def test_each_line_of_a_secret_is_hidden() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvAIBADANBgkq\nhkiG9w0B\n-----END PRIVATE KEY-----\n"
    shown = [hidden(line, secrets_of({"DEPLOY_KEY": key})) for line in (*key.splitlines(), "MIIEvAIBADANBgkq", repr(key))]
    assert not any(word in line for line in shown for word in ("MIIE", "hkiG"))
