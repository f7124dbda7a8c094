from __future__ import annotations

from pathlib import Path

import pytest

from jpo.plugins.launch.excerpt import TAIL_BYTES, NewOutput, last_words, without_secrets

ENVIRON = {"WANDB_API_KEY": "0123456789abcdef", "HOME": "/home/somebody", "DB_PASSWORD": "correct horse", "USE_TOKEN": "1"}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("ValueError: loss is nan", "ValueError: loss is nan"),
        ("login with 0123456789abcdef failed", "login with *** failed"),
        ("the correct horse of /home/somebody", "the *** of /home/somebody"),
        ("API_KEY=hunter2 is wrong", "API_KEY=*** is wrong"),
        ("{'password': 'two words', 'user': 'me'}", "{'password': ***, 'user': 'me'}"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer ***"),
        ("cannot reach postgresql://me:hunter2@db/x", "cannot reach postgresql://me:***@db/x"),
        ("1 of 10 tokens per second", "1 of 10 tokens per second"),
    ],
)
def test_secrets_are_not_repeated(said: str, shown: str) -> None:
    assert without_secrets(said, ENVIRON) == shown


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
        assert [*new.lines(over=False)] == ["login with *** ä"]
        output.write(b"0123456789abcdef\n" * 5000)
        left_out, *rest = new.lines(over=False)
        assert left_out == f"[{5000 * 17 - TAIL_BYTES} bytes are not shown here]"
        assert set(rest) == {"***"}  # none was cut where a secret stands
    file.write_bytes(b"begun anew\nend")
    assert [*new.lines(over=True)] == ["begun anew", "end"]
