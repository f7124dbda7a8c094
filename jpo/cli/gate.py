"""The gate: whatever a command says leaves the process here, to stdout, to stderr or into a file for people.

`at_the_gate` puts it before both streams, so that libraries, warnings and tracebacks pass it too: click's help, a logger of a
client, Python's own complaints. What passes is `released` (jpo/wording/printable.py); what comes from outside has been made
`printable` before, by the form of its report, or here where a command answers in lines. tests/test_architecture.py holds that
nothing else writes.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOBase, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TextIO, cast

from jpo.errors import UsageError
from jpo.files import whole
from jpo.wording.hidden import keep_secret, secrets_of
from jpo.wording.printable import encodable, printable, released

ELSEWHERE = "write it elsewhere"
"""What to do where stdout cannot be written."""
COMPLETING = "_JPO_COMPLETE"
"""Variable by which a shell asks for completions; fish wants a tab before what each one does."""
AT_ONCE = 500
"""Lines of a stream that are written at once."""


class ReaderGone(Exception):
    """Nobody reads stdout any more, as after `jpo history | head`: not an error, and nothing else can be said there."""


class Gate(TextIOBase):
    """A stream through which only released text leaves.

    `stream`: what it leads to; None where the process was started without one. `must`: whether a text that cannot be written is
    an error (stdout), or is lost (stderr: there is no one to tell).
    """

    def __init__(self, stream: TextIO | None, *, must: bool) -> None:
        self.stream = stream
        self._must = must

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """How characters are written: a terminal may know no arrows. With LC_ALL=C Python says UTF-8, and the user says ASCII."""
        own = "PYTHONIOENCODING" in os.environ or "PYTHONUTF8" in os.environ
        if os.environ.get("LC_ALL") in ("C", "POSIX") and not own:
            return "ascii"
        return getattr(self.stream, "encoding", None) or "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        """What becomes of characters that the encoding does not have."""
        return getattr(self.stream, "errors", None) or "strict"

    def isatty(self) -> bool:
        """Whether a person reads it; it may also be closed."""
        return self.stream is not None and self.stream.isatty()

    def fileno(self) -> int:
        """Its descriptor, for what asks how wide a terminal is."""
        if self.stream is None:
            raise OSError("the process was started without this stream")
        return self.stream.fileno()

    def write(self, text: str | bytes, /) -> int:
        """Write released text; colours reach a terminal alone. What a shell completes comes from click as bytes."""
        if isinstance(text, bytes):
            text = text.decode()
        if text == "":
            return 0  # click asks with no text whether a stream takes texts, and would swallow the answer of a full disk
        with self._failing_once():
            if self.stream is None:
                raise OSError(None, "closed")
            parts = text.split("\t") if COMPLETING in os.environ else [text]
            shown = "\t".join(released(part, colours=self.isatty()) for part in parts)
            self.stream.write(encodable(shown, self.encoding))
        return len(text)

    def flush(self) -> None:
        """Hand over what is written; a full disk is often noticed only now."""
        with self._failing_once():
            if self.stream is not None:
                self.stream.flush()

    @contextmanager
    def _failing_once(self) -> Iterator[None]:
        """A stream that cannot be written is said once; what is left in its buffer then goes nowhere, or Python complains.

        Raises ReaderGone: of stdout, it was a pipe whose reader left; UsageError: JPO-E307, of stdout, it cannot be written.
        """
        try:
            yield
        except (OSError, ValueError) as error:  # ValueError: of a stream that was closed
            with suppress(OSError, ValueError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if not self._must:
                return
            if isinstance(error, BrokenPipeError):
                raise ReaderGone from error
            finding = f"cannot be written ({getattr(error, 'strerror', None) or 'closed'})"
            raise UsageError("stdout", finding, ELSEWHERE, code="JPO-E307") from error


@contextmanager
def at_the_gate() -> Iterator[None]:
    """The gate before stdout and stderr, as long as the context."""
    before = sys.stdout, sys.stderr
    keep_secret(*secrets_of(os.environ))
    for known in before:
        if isinstance(known, TextIOWrapper):
            known.reconfigure(errors="backslashreplace")  # what the terminal cannot show is no reason to fail
    sys.stdout, sys.stderr = cast(TextIO, Gate(sys.stdout, must=True)), cast(TextIO, Gate(sys.stderr, must=False))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def put(text: str, *, remedy: str = ELSEWHERE) -> None:
    """A result in one of the forms, and nothing else, to stdout.

    Raises UsageError: JPO-E307, it cannot be written; `remedy` says what to do then.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except UsageError as error:
        raise UsageError(error.place, error.finding, remedy, code=error.code) from error


def answer(lines: Iterable[str]) -> None:
    """What a command has to say, a line each, to stdout; what stands in a line cannot begin another one."""
    put("".join(f"{printable(line)}\n" for line in lines))


def stream(lines: Iterable[str]) -> None:
    """Lines of one of the forms to stdout as they come, some of them at once."""
    rest = iter(lines)
    while some := list(islice(rest, AT_ONCE)):
        put("".join(some))


def complain(message: str) -> None:
    sys.stderr.write(f"jpo: {printable(message)}\n")
    sys.stderr.flush()


def explain_at_length(text: str) -> None:
    """Several lines on stderr: how a command is used, or a traceback."""
    sys.stderr.write(text)
    sys.stderr.flush()


def save(file: Path, text: str, *, remedy: str = "name another one") -> None:
    """A result in one of the forms to a file, whole or not at all. Raises UsageError: JPO-E307, it cannot be written."""
    with whole(file, remedy=remedy) as new:
        new.write(released(text).encode("utf-8", "replace"))


def save_together(folder: Path, texts: Mapping[str, str]) -> None:
    """Results in one of the forms to files of a folder, which is made where it is missing: all of them, or none.

    No file takes its place before every one is complete on disk. Raises UsageError: JPO-E307, the folder cannot be made, or one
    of them cannot be written.
    """
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(str(folder), f"is not a folder for files ({error.strerror})", ELSEWHERE, code="JPO-E307") from error
    with ExitStack() as replaced:
        for name, text in texts.items():
            new = replaced.enter_context(whole(folder / name, remedy="name another folder"))
            new.write(released(text).encode("utf-8", "replace"))
            new.flush()


def save_copy(file: Path, content: bytes) -> None:
    """A config.ini, byte for byte, to another file, whole or not at all; UsageError JPO-E307 as in `save`."""
    with whole(file) as new:
        new.write(content)


def for_people() -> bool:
    """Whether stdout is a terminal; it may also be closed."""
    return sys.stdout is not None and sys.stdout.isatty()


def stdout_encoding() -> str:
    """How stdout writes characters: a terminal may know no arrows. Files are UTF-8."""
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def progress_stream() -> TextIO:
    """Where a wait is shown: stderr; of a terminal what is behind the gate, since bars are drawn with control characters."""
    gate = sys.stderr
    return gate.stream if isinstance(gate, Gate) and gate.stream is not None and gate.isatty() else gate
