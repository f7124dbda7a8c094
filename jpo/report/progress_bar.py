"""A long wait on stderr: a bar that moves for people, one line per step for logs and pipes. Results never go there."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from jpo.wording.printable import printable


class Live(Protocol):
    """Progress as somebody sees it who waits."""

    def progress(self, text: str, done: float | None, total: float | None) -> None:
        """Progress: `done` steps out of `total`, both finite; None = not known."""

    def note(self, text: str) -> None:
        """Something that happened."""


class Lines:
    """One line for each note, and for each whole step of progress; after a note progress begins anew."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._steps = -1

    def progress(self, text: str, done: float | None, total: float | None) -> None:
        steps = math.floor(done or 0)
        if steps != self._steps:
            self._line(text)
        self._steps = steps

    def note(self, text: str) -> None:
        self._line(text)
        self._steps = -1

    def _line(self, text: str) -> None:
        self._stream.write(f"{printable(text)}\n")
        self._stream.flush()


@contextmanager
def live(stream: TextIO, *, for_people: bool) -> Iterator[Live]:
    """The progress on a stream, while it is open; a bar is gone afterwards."""
    if not for_people:
        yield Lines(stream)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(file=stream, highlight=False)
    columns = (BarColumn(20), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("waiting", total=None)

        class Bar:
            def progress(self, text: str, done: float | None, total: float | None) -> None:
                bars.update(task, description=printable(text), completed=done or 0, total=total)

            def note(self, text: str) -> None:
                bars.console.print(printable(text), markup=False)

        yield Bar()
