"""Errors, as a tree. Every error names the place, what was found there and what to do.

    JpoError                1    a bug if it is exactly this class
    ├── UsageError          2    command line, jpo.toml or config.ini is invalid
    ├── NothingAdmissible   3    limits, SLA or a check leave nothing to propose
    ├── TelemetryError      4    a source of runs is unreachable, refuses or answers in part
    ├── CodeHostError       4    GitLab or GitHub is unreachable or refuses what was to be written there
    ├── StoreError          5    the history or the audit log cannot be used
    ├── EditError           6    config.ini changed meanwhile, or cannot be edited without loss
    │   └── ConflictError   6    ... because someone else changed it since it was read
    └── LaunchError         7    a run could not be started or followed, or it failed

The number is the exit code of the command; `code` is the stable reason code. docs/codes.md explains both.
"""

import re
from functools import partial
from typing import Any, ClassVar

LONGEST = 2000
"""Characters of a place or a finding; a long list of violations has a thousand."""
LONGEST_QUOTE = 64
"""Characters of what is repeated of a file: the keys of config.ini have thirty."""
WORD = r"(?>(?:[A-Za-z]{1,20}|[A-Za-z]{0,5}[0-9]{1,2}|[A-Za-z]?[0-9]{1,4})(?![A-Za-z0-9]))"
"""Letters, or a few with a short number behind them: batch, lr0, fp16, A100."""
KNOWN = re.compile(
    r"[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?\s?[A-Za-z%]{0,6}"  # a number, with a unit: 1,5 16 GiB 90% 1e-3
    rf"|[-_]*+{WORD}(?:[_./:-]++{WORD})*+"  # a name: training.batch_size
)
"""What is repeated of a file. No part of it is tried twice: otherwise a text of 64 characters could keep JPO busy."""
IN_QUOTES = re.compile(r"""(?<![A-Za-z]{2})(?:'(?:[^'\\]|\\.)*+(?:'|$)|"(?:[^"\\]|\\.)*+(?:"|$))""", re.DOTALL)
"""Texts as Python's `repr` writes them, also one that is cut off; b'...' is one, and the apostrophe of "doesn't" begins none."""


class JpoError(Exception):
    """An expected failure: `place: finding; remedy`, one line, no secrets in it.

    Args:
        place: file, file:line, URL without credentials, or option where it was found.
        finding: what was found.
        remedy: what the reader can do about it; empty when there is nothing.
        code: stable reason code, e.g. "JPO-E201".
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, place: str, finding: str, remedy: str = "", *, code: str) -> None:
        place, finding, remedy = shortened(place), shortened(finding), shortened(remedy)
        self.place, self.finding, self.remedy, self.code = place, finding, remedy, code
        super().__init__(f"{place}: {finding}; {remedy}" if remedy else f"{place}: {finding}")

    def __reduce__(self) -> tuple[Any, ...]:
        """What another process needs to raise it again."""
        return partial(type(self), code=self.code), (self.place, self.finding, self.remedy)

    @property
    def in_short(self) -> str:
        """`place: finding [code]`, for a sentence of a report or a note: what to do about it is not for its reader."""
        return f"{self.place}: {self.finding} [{self.code}]"


def shortened(text: str) -> str:
    """A text in a message, which may quote a file: its beginning and its end where it is longer than anybody reads."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 4 :]}"


def quoted(found: object) -> str:
    """What was found in a file, for a message: 'auto' and -1.5 as they are, anything else as <20 characters>.

    A file that somebody names may be any: a private key, a table of passwords. The message has its place, where it can be read.
    """
    if isinstance(found, list | tuple | dict) and found:
        return f"<a {'table' if isinstance(found, dict) else 'list'} of {len(found)}>"
    text = found if isinstance(found, str) else str(found)
    if not found or (len(text) <= LONGEST_QUOTE and KNOWN.fullmatch(text)):
        return repr(text) if isinstance(found, str) else text
    return f"<{len(text)} characters>"


def words_of(error: object) -> str:
    """What Python or a library says of an error, for a message: what it quotes of a file only as `quoted` does."""
    return IN_QUOTES.sub(lambda found: quoted(found[0][1:].removesuffix(found[0][0])), str(error))


class UsageError(JpoError):
    """Invalid command line, jpo.toml or config.ini."""

    exit_code = 2


class NothingAdmissible(JpoError):
    """Limits, SLA or a check that leave nothing to propose."""

    exit_code = 3


class TelemetryError(JpoError):
    """A source of runs that is unreachable, refuses or answers in part."""

    exit_code = 4


class CodeHostError(JpoError):
    """GitLab or GitHub that is unreachable, refuses, or answers something else."""

    exit_code = 4


class StoreError(JpoError):
    """A history or audit log that cannot be used."""

    exit_code = 5


class EditError(JpoError):
    """A config.ini that changed meanwhile, or cannot be edited without loss."""

    exit_code = 6


class ConflictError(EditError):
    """A config.ini that is no longer the file that was read."""


class LaunchError(JpoError):
    """A run that an engine does not start, that cannot be followed, or that failed."""

    exit_code = 7
