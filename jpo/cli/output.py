"""Results in the form and to the places that were asked for; colours, width, progress. They leave through gate.py."""

import os
import re
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from jpo.cli.gate import ELSEWHERE, complain, for_people, progress_stream, put, save, stdout_encoding
from jpo.errors import UsageError
from jpo.files import refuse_unwritable
from jpo.files.reading import same_file
from jpo.wording.numbers import duration

if TYPE_CHECKING:
    from jpo.project.load import LoadedSettings
    from jpo.report.document import Document

NAMES_OF_SETTINGS = ("config.ini", "jpo.toml", "pyproject.toml")
"""What JPO reads by its name: a result of that name would be taken for settings the next time."""
FORMS = {".json": "json", ".md": "markdown", ".html": "html"}
"""The form of a result file by its suffix."""
READABLE = ("text", "json", "markdown", "html")
"""The forms that every report has."""
SECONDS_BETWEEN_LINES = 15.0
T = TypeVar("T", contravariant=True)


class Subject(Protocol[T]):
    """A module of jpo/report: what a result says, for people and for programs."""

    def document(self, result: T, /) -> "Document":
        """The result for people."""

    def as_json(self, result: T, /) -> Mapping[str, object]:
        """The published JSON document."""


@runtime_checkable
class Tabular(Protocol[T]):
    """A subject whose published CSV is not simply the tables of its document."""

    def as_csv(self, result: T, /) -> str:
        """The published CSV."""


@dataclass(frozen=True, slots=True)
class Output:
    """Destinations and form of a result; a file's suffix chooses its own."""

    form: str
    files: tuple[Path, ...] = ()
    colour: bool = False

    def show(self, subject: Subject[T], result: T, *, on_record: bool = False) -> None:
        """Write a result to all files, then to stdout; where that fails, one `on_record` need not be computed again."""
        remedy = "what was done is on record: see `jpo explain`" if on_record else "name another one"
        for file in self.files:
            save(file, rendered(subject, result, FORMS.get(file.suffix, self.form)), remedy=remedy)
        put(
            rendered(subject, result, self.form, colour=self.colour, columns=width(), encoding=stdout_encoding()),
            remedy=remedy if on_record else ELSEWHERE,
        )


def rendered(
    subject: Subject[T], result: T, form: str, *, colour: bool = False, columns: int = 120, encoding: str = "utf-8"
) -> str:
    """A result in the form that was asked for."""
    if form == "json":
        from jpo.report.forms import json

        return json.in_encoding(json.dumps(subject.as_json(result)), encoding)
    if form == "csv" and isinstance(subject, Tabular):
        return subject.as_csv(result)
    return shown(subject.document(result), form, colour=colour, columns=columns, encoding=encoding)


def shown(document: "Document", form: str, *, colour: bool = False, columns: int = 120, encoding: str = "utf-8") -> str:
    """A document in a form that every document has."""
    if form == "markdown":
        from jpo.report.forms import markdown

        return markdown.render(document)
    if form == "html":
        from jpo.report.forms import html

        return html.render(document).encode(encoding, "xmlcharrefreplace").decode(encoding)
    if form == "csv":
        from jpo.report.forms import csv

        return csv.render(document)
    from jpo.report.forms import text

    return text.render(document, width=columns, colour=colour, encoding=encoding)


def writable(files: Sequence[Path], config: Path, settings: "LoadedSettings") -> None:
    """Find out before anything is done that a result could not be kept, or would destroy what JPO works with."""
    logs = [Path(name) for pattern in settings.csv_logs for name in glob(pattern)]  # noqa: PTH207 - absolute too
    precious = [path for path in (config, settings.toml, *settings.store_files, *logs) if path]
    for file in files:
        if any(same_file(file, path) for path in precious):
            raise UsageError(str(file), "is a file that JPO works with", "name another one", code="JPO-E307")
    can_be_kept(files)


def can_be_kept(files: Sequence[Path]) -> None:
    """Find out before minutes are spent that a result could not be written, would be settings the next time, or replace another.

    Raises:
        UsageError: JPO-E307, one of them has a name of theirs, there or not, or behind a link; cannot be written; is named twice.
    """
    for index, file in enumerate(files):
        if {file.name.lower(), Path(os.path.realpath(file)).name.lower()} & set(NAMES_OF_SETTINGS):
            finding = "is not a place for a result: JPO reads files of this name"
            raise UsageError(str(file), finding, "name another one", code="JPO-E307")
        refuse_unwritable(file)
        kept = file.is_file() or not file.exists()  # what is written to /dev/null or a pipe replaces nothing
        if kept and any(same_file(file, other) for other in files[:index]):
            raise UsageError(str(file), "is named twice", "name a file for each result", code="JPO-E307")


def track(numbers: Sequence[int], what: str) -> Iterable[int]:
    """A progress bar on stderr, for people only."""
    stderr = progress_stream()
    if not stderr.isatty():
        return numbers
    from rich.console import Console
    from rich.progress import track as with_bar

    return with_bar(numbers, description=what, console=Console(file=stderr), transient=True)


def track_in_lines(numbers: Sequence[int], what: str) -> Iterable[int]:
    """The same for what takes minutes: where stderr is no terminal, a line now and then, none in the first seconds."""
    if progress_stream().isatty():
        yield from track(numbers, what)
        return
    began = said = time.monotonic()
    for place, number in enumerate(numbers):
        if place and (now := time.monotonic()) - said >= SECONDS_BETWEEN_LINES:
            said = now
            left = (now - began) / place * (len(numbers) - place)
            complain(f"{what}: {place} of {len(numbers)} rounds, about {duration(left)} left")
        yield number


def coloured(no_color: bool) -> bool:
    """Colours only for people: a terminal that wants them."""
    return for_people() and not no_color and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Columns of the terminal; a file or pipe gets what COLUMNS says, else 120."""
    if for_people():
        return shutil.get_terminal_size((120, 24)).columns
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if re.fullmatch("0*[1-9][0-9]{0,3}", columns) else 120
