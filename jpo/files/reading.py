"""Reading of what others wrote: files that end, and TOML and JSON that stay small once they are read.

A file here may be a pipe without a writer, a device, a link to itself, or a text that its parser would follow for hours. Each
reader names its own limit of size and its own error; what is said here is the finding alone.
"""

import json
import math
import os
import re
import select
import stat
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

from jpo.errors import JpoError, quoted

DEEPEST = 32
"""Tables or lists in each other: what is written by hand has five."""
MOST_STEPS = 2e7
"""Work of tomllib on dotted keys, which is quadratic in their parts: about a second."""
WHOLE_NUMBERS = 2**63
"""TOML has 64 bits; JSON has no such limit."""
NAMES = re.compile(r"""\((?=['"]).*['"],?\)|(?<=key )['"].*['"]""", re.DOTALL)
"""What tomllib repeats of a text: names of tables and keys. Which character is illegal, it may say."""
MOST_DIGITS = 400
"""Of a whole number in JSON: the largest float has 309."""
LONGEST_NUMBER = 64
"""Characters of a number in text; `repr` of a float has at most 24. An exporter may print all the digits of 1e21."""
FINITE = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE | re.ASCII)

Refusal = Callable[[str], JpoError]
"""The error of a reader for a finding."""


def opened(path: Path, refusal: Refusal) -> BufferedReader:
    """A regular file open for reading, opened without waiting for a writer; else the error that `refusal` makes."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise refusal(f"cannot be read ({getattr(error, 'strerror', None) or error})") from error
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return open(handle, "rb")  # noqa: PTH123 - it is a descriptor
    os.close(handle)
    raise refusal("is a directory" if stat.S_ISDIR(mode) else "is not a regular file (a pipe, a device or a socket)")


def contents(path: Path, most_bytes: int, refusal: Refusal) -> bytes:
    """The bytes of a regular file, most_bytes at most."""
    data = beginning(path, most_bytes + 1, refusal)
    if len(data) > most_bytes:
        raise refusal(f"is larger than {in_words(most_bytes)}")
    return data


def beginning(path: Path, size_bytes: int, refusal: Refusal) -> bytes:
    """The first bytes of a regular file, which may have more."""
    with opened(path, refusal) as file:
        try:
            return file.read(size_bytes)
        except OSError as error:
            raise refusal(f"cannot be read ({error.strerror})") from error


def soon_read(path: Path, most_bytes: int, *, seconds: float) -> bytes:
    """The bytes of a small file, which may be a pipe that is written meanwhile; OSError: unreadable, too slow or too large."""
    deadline, data = time.monotonic() + seconds, b""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        while time.monotonic() < deadline and len(data) <= most_bytes:
            ready, _, _ = select.select([handle], [], [], deadline - time.monotonic())
            part = os.read(handle, most_bytes + 1) if ready else b""
            data += part
            if not part and (data or not stat.S_ISFIFO(os.fstat(handle).st_mode)):
                return data
            time.sleep(0 if part else 0.01)  # a pipe into which nothing is written yet is at its end, too
        raise OSError("too large" if len(data) > most_bytes else "nothing was written in time")
    finally:
        os.close(handle)


def same_file(one: Path, other: Path) -> bool:
    """Whether two names are of one file, which need not exist yet."""
    if os.path.realpath(one) == os.path.realpath(other):  # Path.resolve raises for a link to itself
        return True
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there
        return False


def in_words(size_bytes: int) -> str:
    """A limit as messages say it."""
    return f"{size_bytes >> 20} MiB" if size_bytes >= 1 << 20 else f"{size_bytes >> 10} KiB"


class NotToml(ValueError):
    """A text that is not TOML; `why`: what was found in it."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(f"is not TOML: {why}")


def toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text; ValueError, in words: no TOML, deeper than DEEPEST, or a whole number beyond 64 bits."""
    refuse_endless_keys(text)
    try:
        tables = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError(f"nests lists or tables deeper than {DEEPEST}") from error
    except tomllib.TOMLDecodeError as error:
        raise NotToml(NAMES.sub("a name", str(error))) from error
    except ValueError as error:  # Python reads no decimal number of more than 4300 digits
        raise ValueError("contains a number with thousands of digits") from error
    refuse_beyond_bounds(tables)
    return tables


def refuse_endless_keys(text: str) -> None:
    """Raise ValueError for dotted keys on which tomllib would spend minutes; names the line."""
    head = steps = 0
    for number, line in enumerate(text.split("\n"), start=1):
        dots = line.count(".")
        head = dots if line.lstrip().startswith("[") else head
        steps += (head + dots + 1) * (dots + 1)
        if steps > MOST_STEPS:
            raise ValueError(f"contains names with too many parts (line {number} has {dots} dots)")


def refuse_beyond_bounds(tables: Mapping[str, Any]) -> None:
    """Raise ValueError for values that are too deep or too large, with the key where they are."""
    level: list[tuple[str, Any]] = list(tables.items())
    for _ in range(DEEPEST):
        below: list[tuple[str, Any]] = []
        for key, value in level:
            if isinstance(value, dict):
                below += ((f"{key}.{name}", inner) for name, inner in value.items())
            elif isinstance(value, list):
                below += ((key, inner) for inner in value)
            elif isinstance(value, int) and not -WHOLE_NUMBERS <= value < WHOLE_NUMBERS:
                raise ValueError(f"{key:.80} is a whole number beyond 64 bits")
        level = below
    if level:
        raise ValueError(f"{level[0][0]:.80} is nested deeper than {DEEPEST}")


def json_object(text: str | bytes) -> dict[str, Any]:
    """A JSON object as `json_value` reads it; ValueError, in words, where it is something else."""
    document = json_value(text)
    if not isinstance(document, dict):
        raise ValueError("is not a JSON object")
    return document


def json_value(text: str | bytes) -> object:
    """A JSON text as the standard has it: each key once, numbers finite; ValueError, in words, where it is something else."""
    try:
        text = text.decode() if isinstance(text, bytes) else text  # json itself would take UTF-16, and halves of characters
        return json.loads(text, object_pairs_hook=_once, parse_float=finite, parse_int=_whole, parse_constant=finite)
    except RecursionError as error:
        raise ValueError("is JSON nested too deep") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError("is not JSON") from error


def number(text: str) -> float:
    """The number of a text in ASCII digits; NaN and infinity where they are written out.

    What Python would read as well is none ("٣٢", "3_2", " 32 ", "+5"): a text that a person or another
    program reads as something else must not become a value.

    Raises ValueError: it is none, is longer than LONGEST_NUMBER, or is too large for a float (1e400 is not infinity).
    """
    if len(text) <= LONGEST_NUMBER:
        if FINITE.fullmatch(text):
            value = float(text)
            if math.isfinite(value):
                return value
        elif NOT_FINITE.fullmatch(text):
            return float(text)
    raise ValueError(f"{quoted(text)} is not a number")


def number_or_nan(text: str) -> float:
    """The number of a text as `number` reads it; NaN where it is none."""
    try:
        return number(text)
    except ValueError:
        return math.nan


def finite(text: str) -> float:
    """The number of a JSON text; raises ValueError for NaN and infinity, which Python's json would accept."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"contains {text:.20}, which is not a finite number")
    return number


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"contains a number with {len(text)} digits")
    return int(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"names {quoted(name)} twice in one object")
    return document
