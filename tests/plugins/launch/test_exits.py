from __future__ import annotations

import pytest

from jpo.plugins.launch.exits import in_words


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (3, "exit code 3"),
        (127, "exit code 127 (a command was not found)"),
        (126, "exit code 126 (a command cannot be executed)"),
        (128, "exit code 128"),
        (139, "ended by SIGSEGV (exit code 139)"),
        (255, "exit code 255"),
        (-9, "ended by SIGKILL"),
        (-40, "ended by signal 40"),
        (-100, "ended by signal 100"),
    ],
)
def test_an_exit_is_said_in_plain_words(code: int, words: str) -> None:
    assert in_words(code) == words
