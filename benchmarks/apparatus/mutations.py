"""Mutations of real files for hypothesis: bits flipped, ends cut off, parts doubled or moved, numbers that no file holds."""

from __future__ import annotations

import re
from collections.abc import Callable

from hypothesis import strategies as st

NUMBERS = (
    *(b"nan", b"inf", b"-inf", b"1e999", b"-1e999", b"1e308", b"1e-320", b"-0.0", b"-1", b"0", b"0x10", b"3_2", b"true"),
    *("٣٢".encode(), b"9" * 30, b"9" * 400, b"9" * 5000, b"1" + b"0" * 18, b"9223372036854775808", b"1.7976931348623157e308"),
)
"""What may stand where a number was."""
TOKENS = (
    *(b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b"\x1b[31m", b"\r", b"\n", b"\r\n", b"\x85", b"\x0c"),
    *("\u202e\u2028".encode(), b"%(x)s", b"${x}", b"# jpo: pin", b"# jpo: ignore until 9999-99-99", b"\\", b'"', b"'", b'"""'),
    *(b"[", b"]", b"{", b"}", b"=", b",", b":", b";", b"#", b".", b"[" * 3000, b"{a=" * 2000, b'{"a":' * 3000, b".a" * 3000),
    *(b"x" * 70_000, b" " * 5000, b"null", b"{}", b"[]", b'""', b"../../etc/passwd", b"::error::x", b"<script>"),
)
"""What may stand anywhere."""
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")

Draw = Callable[[st.SearchStrategy[int]], int]


@st.composite
def mutated(draw: Draw, seeds: tuple[bytes, ...]) -> bytes:
    """One of the files after one to four mutations."""
    data = seeds[draw(st.integers(0, len(seeds) - 1))]
    for _ in range(draw(st.integers(1, 4))):
        data = WAYS[draw(st.integers(0, len(WAYS) - 1))](draw, data)
    return data


def flip(draw: Draw, data: bytes) -> bytes:
    """A bit is another one."""
    at = draw(st.integers(0, max(0, len(data) - 1)))
    return data[:at] + bytes([data[at] ^ 1 << draw(st.integers(0, 7))]) + data[at + 1 :] if data else b"\1"


def cut(draw: Draw, data: bytes) -> bytes:
    """The end is missing."""
    return data[: draw(st.integers(0, len(data)))]


def remove(draw: Draw, data: bytes) -> bytes:
    """Some bytes are missing."""
    begin, end = span(draw, data)
    return data[:begin] + data[end:]


def double(draw: Draw, data: bytes) -> bytes:
    """A part is there twice."""
    begin, end = span(draw, data)
    return data[:end] + data[begin:]


def move(draw: Draw, data: bytes) -> bytes:
    """A part is elsewhere."""
    begin, end = span(draw, data)
    rest, at = data[:begin] + data[end:], draw(st.integers(0, len(data) - (end - begin)))
    return rest[:at] + data[begin:end] + rest[at:]


def double_line(draw: Draw, data: bytes) -> bytes:
    """A line stands below another one, too."""
    lines = data.split(b"\n")
    line = lines[draw(st.integers(0, len(lines) - 1))]
    at = draw(st.integers(0, len(lines)))
    return b"\n".join([*lines[:at], line, *lines[at:]])


def insert(draw: Draw, data: bytes) -> bytes:
    """A strange token."""
    at = draw(st.integers(0, len(data)))
    return data[:at] + TOKENS[draw(st.integers(0, len(TOKENS) - 1))] + data[at:]


def other_number(draw: Draw, data: bytes) -> bytes:
    """A number that no file should hold in place of one that is there."""
    found = list(NUMBER.finditer(data))
    if not found:
        return data
    match = found[draw(st.integers(0, len(found) - 1))]
    return data[: match.start()] + NUMBERS[draw(st.integers(0, len(NUMBERS) - 1))] + data[match.end() :]


def span(draw: Draw, data: bytes) -> tuple[int, int]:
    begin = draw(st.integers(0, len(data)))
    return begin, min(len(data), begin + draw(st.integers(0, 200)))


WAYS = (flip, cut, remove, double, move, double_line, insert, other_number, other_number)
"""Numbers twice: they pass the reader, and what comes after it has to cope."""
