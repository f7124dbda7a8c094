from __future__ import annotations

from pathlib import Path

import pytest

from jpo.plugins.launch.excerpt import last_words, without_secrets

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
