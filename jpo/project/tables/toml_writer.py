"""The writer of jpo.toml: values of one table, put in without a loss. Comments, order, line ends and a BOM stay as they were.

What is written is read back first: every other value must mean what it meant. A file that changed meanwhile is not written over.
"""

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jpo.errors import ConflictError, EditError, UsageError, words_of
from jpo.files import followed, successor, whole
from jpo.files.reading import contents
from jpo.files.reading import toml as toml_of

MAX_TOML_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class TomlLine:
    """A line of jpo.toml: its value as TOML writes it, and what is said behind it."""

    text: str
    comment: str = ""

    @property
    def value(self) -> Any:
        return toml_of(f"v = {self.text}")["v"]


@dataclass(frozen=True, slots=True)
class EditedTable:
    """What became of the lines, by their names; `put`: stand in the file now; `kept`: it had another value, and keeps it."""

    file: Path
    put: tuple[str, ...]
    kept: tuple[str, ...]


def put_in(file: Path, table: str, lines: Mapping[str, TomlLine], *, replace: bool) -> EditedTable:
    """Put lines into a table of jpo.toml, which may have neither the table nor be there.

    `replace`: also where the file has another value.

    Raises UsageError: JPO-E301, the file cannot be read or is not TOML; JPO-E307, it cannot be written. EditError: JPO-E226, it
    cannot be changed without loss. ConflictError: JPO-E220, it changed meanwhile, and again.
    """
    try:
        return _put_in(file, table, lines, replace=replace)
    except ConflictError:  # somebody was faster: what they wrote is read, and counts
        return _put_in(file, table, lines, replace=replace)


def _put_in(file: Path, table: str, lines: Mapping[str, TomlLine], *, replace: bool) -> EditedTable:
    before = current(file)
    after, written = edited(before or b"", file, table, lines, replace=replace)
    if not written.put:
        return written
    if before is None:
        try:
            with whole(file, over=False) as new:
                new.write(after)
        except FileExistsError as error:
            raise conflict(file) from error
        return written

    def still_as_read() -> None:
        if current(file) != before:
            raise conflict(file)

    try:
        with successor(followed(file), before_rename=still_as_read) as new:
            new.write(after)
    except OSError as error:
        finding = f"cannot be written ({error.strerror})"
        raise UsageError(str(file), finding, "make it writable, or paste the lines", code="JPO-E307") from error
    return written


def current(file: Path) -> bytes | None:
    """The bytes of the file; None where there is none."""
    if not file.exists():
        return None
    return contents(file, MAX_TOML_BYTES, lambda finding: UsageError(str(file), finding, "check the file", code="JPO-E301"))


def conflict(file: Path) -> ConflictError:
    return ConflictError(str(file), "was changed by someone else since it was read", "run again", code="JPO-E220")


def edited(content: bytes, file: Path, table: str, lines: Mapping[str, TomlLine], *, replace: bool) -> tuple[bytes, EditedTable]:
    """The bytes with these lines in that table, and what became of each."""
    from tomlkit.exceptions import TOMLKitError

    bom = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    try:
        text = content[len(bom) :].decode()
        was = toml_of(text)
    except ValueError as error:
        raise UsageError(str(file), words_of(error), "see https://toml.io", code="JPO-E301") from error
    here = was.get(table, {})
    if not isinstance(here, dict):
        raise _lossy(file, f"{table} is not a table")
    differing = [name for name, line in lines.items() if here.get(name) != line.value]
    put = tuple(name for name in differing if replace or name not in here)
    try:
        after = _with_lines(text, table, {name: lines[name] for name in put}, empty=not here) if put else text
        as_wanted = toml_of(after) == {**was, table: {**here, **{name: lines[name].value for name in put}}}
    except (ValueError, TypeError, AttributeError, TOMLKitError) as error:
        raise _lossy(file, words_of(error)) from error
    if put and not as_wanted:
        raise _lossy(file, f"[{table}] is written in a way that cannot be added to")
    return bom + after.encode(), EditedTable(file, put, tuple(name for name in differing if name not in put))


def _with_lines(text: str, table: str, lines: Mapping[str, TomlLine], *, empty: bool) -> str:
    """The text with these lines. An empty table gets them below its heading: a comment further down may be of the next one."""
    import tomlkit
    from tomlkit.items import InlineTable

    end = "\r\n" if "\r\n" in text else "\n"
    heading = re.search(rf"^[ \t]*\[[ \t]*{re.escape(table)}[ \t]*\][ \t]*(#[^\r\n]*)?(\r?\n|$)", text, re.MULTILINE)
    if empty and (heading or f"{table}" not in tomlkit.parse(text)):
        said = {name: f"   # {line.comment}" if line.comment else "" for name, line in lines.items()}
        new = "".join(f"{name} = {line.text}{said[name]}{end}" for name, line in lines.items())
        if heading:
            return text[: heading.end()] + ("" if heading[2] else end) + new + text[heading.end() :]
        return text + ("" if not text or text.endswith("\n") else end) + (end if text.strip() else "") + f"[{table}]{end}" + new
    document = tomlkit.parse(text)
    target: Any = document[table]
    for name, line in lines.items():
        value, old = tomlkit.value(line.text), target.item(name) if name in target else None
        value.trivia.trail = end
        if old is not None:
            vars(value.trivia).update(vars(old.trivia))
        elif line.comment and not isinstance(target, InlineTable):
            value.comment(line.comment)
            value.trivia.comment_ws = "   "
        target[name] = value
    return tomlkit.dumps(document)


def _lossy(file: Path, finding: str) -> EditError:
    return EditError(str(file), f"cannot be changed without loss ({finding})", "paste the lines by hand", code="JPO-E226")
