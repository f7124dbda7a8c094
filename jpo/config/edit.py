"""Edits of config.ini: new values in its bytes, with proof that nothing else changed.

The characters of a value are replaced on its line. Then the result is read again in every way in which training code may read
it, and must differ from the original in the wanted values only. configupdater is a witness, not the writer: setting a value
through it drops inline comments, breaks indented options and turns CRLF into LF.
"""

import configparser
import dataclasses
import io
import re
from collections.abc import Iterable, Sequence

from jpo.config.locate import IniOption, locate, values_with_inline_comments
from jpo.config.source import Source, decode, encode
from jpo.errors import EditError, quoted
from jpo.records import Edit

NUMBER = "[0-9A-Za-z.+-]+(?: [A-Za-z]+)?"
WORD = r"(?=.*(?:[^\W\d_]|\d[,:/]))[\w.+/:,@()-]+(?: [\w.+/:,@()-]+)*"
WRITABLE = re.compile(rf"""(["']?)(?:{NUMBER}|{WORD})\1""")
"""Form of a new value: a number with a unit, or a word. Nothing that could end a line or start a comment or an interpolation."""

MOST_LINES_FOR_CONFIGUPDATER = 4000
"""configupdater's time grows with the square of a section's options: 4,000 of them take 0.2 s, 16,000 take 3 s."""


def edited(original: bytes, place: str, edits: Sequence[Edit]) -> bytes:
    """The file with new values, every other byte as it was.

    Args:
        original: the whole file.
        place: what messages call it.
        edits: at most one per option; without any, the result is `original`.

    Raises:
        UsageError: configparser cannot read the file.
        EditError: a value is not where the edit says, spans lines, or the proof fails.
    """
    before = decode(original, place)
    options = locate(before, place)
    wanted = _wanted(options, edits, place, before.codec)
    lines = list(before.lines)
    for option, text in wanted.items():
        lines[option.line - 1] = _written(lines[option.line - 1], option, text)
    result = encode(tuple(lines), before)
    _prove(original, before, options, result, wanted, place)
    return result


def _wanted(options: Iterable[IniOption], edits: Sequence[Edit], place: str, codec: str) -> dict[IniOption, str]:
    """Each option to change with its new text. Options are unique by line, so two edits of one are found here."""
    by_line = {option.line: option for option in options}
    wanted: dict[IniOption, str] = {}
    for edit in edits:
        here, option = f"{place}:{edit.line}", by_line.get(edit.line)
        if option is None or (option.key, option.text) != (edit.key, edit.old_text):
            raise EditError(
                here, f"{quoted(edit.key)} is not {quoted(edit.old_text)} here", "read the file again", code="JPO-E221"
            )
        if not option.one_line:
            finding = f"the value of {quoted(edit.key)} continues on the next line"
            raise EditError(here, finding, "write it on one line", code="JPO-E221")
        if not edit.old_text:
            raise EditError(here, f"{quoted(edit.key)} has no value", f"write {option.name} = value", code="JPO-E221")
        if option in wanted:
            raise EditError(here, f"two edits for {quoted(edit.key)}", "ask for one", code="JPO-E221")
        if not WRITABLE.fullmatch(edit.new_text):
            finding = f"the new text {quoted(edit.new_text)} is not a plain number or word"
            raise EditError(here, finding, "write digits, a point, an exponent or a unit; or letters", code="JPO-E221")
        try:
            edit.new_text.encode(codec)
        except UnicodeEncodeError as error:
            finding = f"the file is not UTF-8, and {quoted(edit.new_text)} has letters that it cannot represent"
            raise EditError(here, finding, "save it as UTF-8", code="JPO-E221") from error
        wanted[option] = edit.new_text
    return wanted


def _prove(
    original: bytes, before: Source, options: tuple[IniOption, ...], result: bytes, wanted: dict[IniOption, str], place: str
) -> None:
    """Raise EditError unless the result differs from the original in the wanted values only, in every reading."""
    after = decode(result, place)
    checks = {
        "other lines change": _same_lines(original, result, wanted),
        "configparser reads other values": locate(after, place) == tuple(_changed(option, wanted) for option in options),
        "configparser with inline comments reads other values": _same_with_inline_comments(before, after, wanted),
        "configupdater finds other values": _same_blocks(before, after, wanted),
    }
    for finding, holds in checks.items():
        if not holds:
            lines = ", ".join(str(option.line) for option in wanted)
            remedy = "write the value by hand, alone on its line"
            raise EditError(f"{place}:{lines}", f"with the new value {finding}", remedy, code="JPO-E221")


def _same_lines(original: bytes, result: bytes, wanted: dict[IniOption, str]) -> bool:
    old, new = _byte_lines(original), _byte_lines(result)
    differ = {number for number, pair in enumerate(zip(old, new, strict=False), start=1) if pair[0] != pair[1]}
    grown = sum(len(text) - len(option.text) for option, text in wanted.items())
    expected = {option.line for option, text in wanted.items() if option.text != text}
    return len(old) == len(new) and differ == expected and len(result) == len(original) + grown


def _byte_lines(data: bytes) -> list[str]:
    return list(io.StringIO(data.decode("latin-1"), newline=""))  # latin-1: one character per byte


def _changed(option: IniOption, wanted: dict[IniOption, str]) -> IniOption:
    if option not in wanted:
        return option
    text, value = wanted[option], option.value or ""
    return dataclasses.replace(option, text=text, value=text + value[len(option.text) :])


def _same_with_inline_comments(before: Source, after: Source, wanted: dict[IniOption, str]) -> bool:
    """Whether code which strips inline comments reads exactly the new texts; True when it could not read the original either."""
    expected = values_with_inline_comments(before)
    if expected is None:
        return True
    old = {(option.section, option.name.lower()): option.text for option in wanted}
    new = {(option.section, option.name.lower()): text for option, text in wanted.items()}
    return old.items() <= expected.items() and values_with_inline_comments(after) == expected | new


def _same_blocks(before: Source, after: Source, wanted: dict[IniOption, str]) -> bool:
    """Whether an independent parser agrees. It does not count where it misreads the original (indented comments)."""
    if len(before.lines) > MOST_LINES_FOR_CONFIGUPDATER or (expected := _seen_by_configupdater(before)) is None:
        return True
    if any((option.section, option.name) not in expected for option in wanted):
        return True
    for option, text in wanted.items():
        _, *more = expected[option.section, option.name]
        expected[option.section, option.name] = [_written(before.lines[option.line - 1], option, text), *more]
    return _seen_by_configupdater(after) == expected


def _seen_by_configupdater(source: Source) -> dict[tuple[str, str], list[str]] | None:
    """The lines of each option (its `value` fails on an option without value that goes on); None if it cannot read the file."""
    from configupdater import ConfigUpdater  # here: the import takes 60 ms, and only an edit needs it

    updater = ConfigUpdater(allow_no_value=True)
    try:
        updater.read_file(source.lines, "config.ini")
    except configparser.Error:
        return None
    options = ((section.name, option) for section in updater.iter_sections() for option in section.iter_options())
    return {(section, option.raw_key): option.lines for section, option in options}


def _written(line: str, option: IniOption, text: str) -> str:
    return line[: option.start] + text + line[option.end :]
