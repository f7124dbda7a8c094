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

The number is the exit code of the command (docs/exit-codes.md); `code` is the stable reason code with an entry in docs/codes.md.
"""

from __future__ import annotations

from typing import ClassVar

LONGEST = 2000
"""Characters of a place or a finding; a long list of violations has a thousand."""


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

    @property
    def in_short(self) -> str:
        """`place: finding [code]`, for a sentence of a report or a note: what to do about it is not for its reader."""
        return f"{self.place}: {self.finding} [{self.code}]"


def shortened(text: str) -> str:
    """A text in a message, which may quote a file: its beginning and its end where it is longer than anybody reads."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 4 :]}"


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
