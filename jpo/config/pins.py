"""Pins: comments in config.ini that JPO obeys, `# jpo: pin` and `# jpo: ignore until 2027-01-01` (also with `;`).

They are behind the value or in the comment lines directly above it, and may continue with a reason: `# jpo: pin, see #12`. A
misspelt one, or one that belongs to no option, is an error: a value that someone believes pinned must not change.
"""

import datetime
import re
from collections.abc import Iterable
from pathlib import PurePath

from jpo.config.locate import IniOption
from jpo.config.source import Source
from jpo.errors import UsageError, quoted

DIRECTIVE = re.compile(r"(?:^|\s)[#;]+\s*jpo:\s*(.*)", re.IGNORECASE)
PIN = re.compile(r"pin\b", re.IGNORECASE)
IGNORE = re.compile(r"ignore\s+until\s+([0-9]{4}-[0-9]{2}-[0-9]{2})(?![\w-])", re.IGNORECASE)
MEANT = re.compile(r"(pin|ignore)\b", re.IGNORECASE)


def held(option: IniOption, place: str, today: datetime.date) -> str | None:
    """The reason why an option must not be changed now, or None; UsageError: a `jpo:` comment that cannot be understood."""
    for line, comment in (*option.above, (option.line, option.tail)):
        for words in DIRECTIVE.findall(comment):
            reason = _reason(words, place, line, today)
            if reason:
                return reason
    return None


def refuse_strays(source: Source, options: Iterable[IniOption], place: str) -> None:
    """Raise UsageError for a pin that belongs to no option, for instance because a blank line separates them."""
    owned = {number for option in options for number in (option.line, *(line for line, _ in option.above))}
    for number, line in enumerate(source.lines, start=1):
        if number in owned or not line.strip().startswith(("#", ";", "[")):
            continue
        if any(MEANT.match(words) for words in DIRECTIVE.findall(line)):
            remedy = "put it behind the value or on the line directly above"
            raise UsageError(f"{place}:{number}", "this jpo: comment belongs to no option", remedy, code="JPO-E211")


def _reason(words: str, place: str, line: int, today: datetime.date) -> str | None:
    if PIN.match(words):
        return f"pinned in {PurePath(place).name}"
    until = IGNORE.match(words)
    try:
        day = datetime.date.fromisoformat(until[1] if until else "")
    except ValueError as error:
        remedy = "write # jpo: pin or # jpo: ignore until 2027-01-01"
        raise UsageError(f"{place}:{line}", f"jpo: {quoted(words.strip())} is not understood", remedy, code="JPO-E211") from error
    return f"ignored until {day} in {PurePath(place).name}" if today < day else None
