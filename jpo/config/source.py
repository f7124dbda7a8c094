"""Source text of config.ini: bytes to text and back, without losing one of them.

Lines end where Python's text files end them (LF, CRLF, CR): not at form feeds or U+2028, where str.splitlines would cut.
"""

import codecs
import difflib
import io
import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from jpo.errors import UsageError

LARGEST_BYTES = 2 * 2**20
MOST_LINES = 50_000
"""A config.ini is a few kilobytes; a larger file was named by mistake. configparser takes some 25 microseconds a line."""

MOST_BESIDE = 1000
"""Files of a folder that are looked at where a name may be mistyped."""

BLANKS = re.compile(r"\s{250}")
"""configparser takes quadratic time on long runs of blanks before a delimiter (CPython gh-146333): hostile, never meant."""


@dataclass(frozen=True, slots=True)
class Source:
    """config.ini as text: `bom + "".join(lines).encode(codec)` are its bytes again, and each line keeps its own end."""

    lines: tuple[str, ...]
    codec: str
    bom: bytes


def contents(path: Path) -> bytes:
    """The bytes of a regular file. Raises UsageError when there is none, it cannot be read, or it is too large."""
    place = str(path)
    try:
        # Path.open takes no opener; without O_NONBLOCK, opening a pipe would wait for its writer.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(place, "is not a file", "name the training job's config.ini", code="JPO-E201")
            data = file.read(LARGEST_BYTES + 1)
    except IsADirectoryError as error:
        raise UsageError(place, "is a directory", "name the training job's config.ini in it", code="JPO-E201") from error
    except OSError as error:
        near = _similar(path) if isinstance(error, FileNotFoundError) else ""
        remedy = f"did you mean {near}?" if near else "check the path and its permissions"
        raise UsageError(place, f"cannot be read: {error.strerror}", remedy, code="JPO-E201") from error
    except ValueError as error:  # a NUL in the path
        raise UsageError(repr(place), f"cannot be read: {error}", "check the path", code="JPO-E201") from error
    if len(data) > LARGEST_BYTES:
        finding = f"is larger than {LARGEST_BYTES // 2**20} MiB"
        raise UsageError(place, finding, "name the training job's config.ini, not its data", code="JPO-E202")
    return data


def _similar(path: Path) -> str:
    """A config.ini beside the name of one that is not there, which may be meant."""
    with suppress(OSError):
        here = [one.name for one in islice(path.parent.iterdir(), MOST_BESIDE) if one.suffix == ".ini"]
        return next((str(path.with_name(name)) for name in difflib.get_close_matches(path.name, here, n=1, cutoff=0.7)), "")
    return ""


def decode(data: bytes, place: str) -> Source:
    """Text of bytes: UTF-8 with or without BOM, else latin-1, in which every byte is a character.

    Raises UsageError: empty, UTF-16 or UTF-32, a NUL byte, too many lines, or blanks on which configparser would hang.
    """
    if not data.strip(codecs.BOM_UTF8 + b" \t\r\n"):
        raise UsageError(place, "is empty", "write the training job's parameters into it", code="JPO-E202")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UsageError(place, "is UTF-16 or UTF-32 text", "save it as UTF-8", code="JPO-E202")
    if b"\0" in data:
        number = len(re.findall(rb"\r\n|\r|\n", data[: data.index(b"\0")])) + 1
        remedy = "save it as UTF-8 text (UTF-16 is full of NUL bytes)"
        raise UsageError(f"{place}:{number}", "contains a NUL byte", remedy, code="JPO-E202")
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    body, codec = data[len(bom) :], "utf-8"
    try:
        text = body.decode(codec)
    except UnicodeDecodeError:
        text, codec = body.decode("latin-1"), "latin-1"
    lines = tuple(io.StringIO(text, newline=""))
    if len(lines) > MOST_LINES:
        remedy = "name the training job's config.ini, not its data"
        raise UsageError(place, f"has more than {MOST_LINES:,} lines", remedy, code="JPO-E202")
    for number, line in enumerate(lines, start=1):
        if len(line) > 250 and BLANKS.search(re.split("[=:]", line, maxsplit=1)[0].strip()):
            raise UsageError(f"{place}:{number}", "contains more than 250 blanks in a row", "remove them", code="JPO-E202")
    return Source(lines, codec, bom)


def encode(lines: tuple[str, ...], like: Source) -> bytes:
    """Bytes of text, in the encoding of `like`."""
    return like.bom + "".join(lines).encode(like.codec)
