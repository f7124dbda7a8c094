"""Words of engines, and lines of a run's output, without what is a secret or looks like one."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from jpo.http.quoting import quote
from jpo.wording.hidden import hidden, secrets_of
from jpo.wording.printable import LONGEST_QUOTE, one_line

TAIL_BYTES = 2**16


def last_words(output: Path, environ: Mapping[str, str]) -> str:
    """The last line that says something in the output of a run, of a traceback the exception; "" where there is none.

    Values of the run's variables that look secret are not shown.
    """
    with suppress(OSError), output.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
        lines = file.read(TAIL_BYTES).decode("utf-8", "replace").replace("\r", "\n").splitlines()
        return one_line(hidden(next((line.strip() for line in reversed(lines) if line.strip()), ""), secrets_of(environ)))
    return ""


class NewOutput:
    """The lines of a run's output that were written since the last look, without secrets; of many the last ones."""

    def __init__(self, output: Path, environ: Mapping[str, str]) -> None:
        self._output, self._secrets = output, secrets_of(environ)
        self._seen, self._begun, self._is_cut = 0, b"", False

    def lines(self, *, over: bool) -> Iterator[str]:
        """Whole lines, of a bar that is drawn over and over its last state; the rest waits until the run is `over`.

        Of a line whose beginning is left out nothing is shown: there it may say that a secret follows.
        """
        with suppress(OSError), self._output.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            was_full = size < self._seen  # it begins anew
            start = max(0 if was_full else self._seen, size - TAIL_BYTES)
            if was_full or start > self._seen:
                yield f"[{'some' if was_full else start - self._seen} bytes are not shown here]"
                self._begun, self._is_cut = b"", True
            file.seek(start)
            data = file.read(TAIL_BYTES)
            self._seen = file.tell()
            if self._is_cut:
                end = data.find(b"\n")
                self._is_cut, data = end < 0, data[end:] if end >= 0 else b""
            whole, newline, begun = (self._begun + data).rpartition(b"\n")
            self._begun = begun[begun.rstrip(b"\r").rfind(b"\r") + 1 :]
            if over:
                whole += newline + self._begun
            elif len(self._begun) > TAIL_BYTES:
                self._begun, self._is_cut = f"[a line of more than {TAIL_BYTES} bytes]".encode(), True
            states = (line.strip("\r").rpartition("\r")[2].rstrip() for line in whole.decode("utf-8", "replace").split("\n"))
            yield from (hidden(line, self._secrets) for line in states if line)


def engine_words(*said: str) -> str:
    """What the server of an engine says, in one line; longer than of other servers, since it is why a run waits or failed."""
    return quote(*said, longest=LONGEST_QUOTE)
