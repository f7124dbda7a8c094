"""Words of engines, and the last of a run's output, in one line, for messages, without what is a secret or looks like one."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from jpo.http.quoting import HIDDEN, hidden, quote
from jpo.wording.printable import LONGEST_QUOTE, one_line

TAIL_BYTES = 2**16
SECRET_NAME = re.compile(r"TOKEN|PASSW|SECRET|KEY|CREDENTIAL|PRIVATE|AUTH|DSN|COOKIE|SESSION", re.IGNORECASE)
"""Of environment variables whose values are not shown."""
SHORTEST_SECRET = 6
"""Characters; a shorter value ("1", "true") would hide half of what is said."""
SAID = re.compile(
    r"(?i)((?<![\w.-])(?=[\w.-]*(?:token|passw(?:or)?d|secret|api[_-]?key|access[_-]?key|credential))[\w.-]++[\"']?\s*[=:]\s*)"
    r"(\"[^\"]*\"|'[^']*'|\S+)"
    r"|(\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}"
    r"|(://[^/\s:@]*:)[^@\s/]+(?=@)"
)
"""What is said to be a secret, in a setting, a header or a URL."""


def last_words(output: Path, environ: Mapping[str, str]) -> str:
    """The last line that says something in the output of a run, of a traceback the exception; "" where there is none.

    Values of the run's variables that look secret are not shown.
    """
    with suppress(OSError), output.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
        lines = file.read(TAIL_BYTES).decode("utf-8", "replace").replace("\r", "\n").splitlines()
        return one_line(without_secrets(next((line.strip() for line in reversed(lines) if line.strip()), ""), environ))
    return ""


def engine_words(*said: str) -> str:
    """What the server of an engine says, in one line; longer than of other servers, since it is why a run waits or failed."""
    return quote(*said, longest=LONGEST_QUOTE)


def without_secrets(text: str, environ: Mapping[str, str]) -> str:
    """A text in which neither values of variables that look secret are seen, nor what it says to be one."""
    values = {value for name, value in environ.items() if SECRET_NAME.search(name) and len(value) >= SHORTEST_SECRET}
    return SAID.sub(lambda found: f"{found[1] or found[3] or found[4]}{HIDDEN}", hidden(text, values))
