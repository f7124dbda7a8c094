"""A text that changes in its place, for people; it is gone afterwards."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from jpo.wording.printable import encodable, released


@contextmanager
def live(stream: TextIO) -> Iterator[Callable[[str], None]]:
    """Shows one text after the other on a terminal, each in place of the one before, while it is open."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(file=stream, highlight=False)
    with Live(console=console, auto_refresh=False, transient=True, vertical_overflow="crop") as shown:

        def draw(text: str) -> None:
            shown.update(Text(encodable(released(text), stream.encoding or "utf-8"), no_wrap=True), refresh=True)

        yield draw
