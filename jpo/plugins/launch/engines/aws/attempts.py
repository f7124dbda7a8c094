"""Attempts of a run: which instance types were asked for, in its folder, one line each, before AWS hears of it.

    g5.xlarge spot us-east-1b InsufficientInstanceCapacity
    g5.2xlarge on-demand us-east-1

A line without a code is one whose answer never came: it is asked again, with the same token, and AWS gives the same instance.
The token of an attempt has the number of its line: one that was refused is a new request when it is made again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jpo.errors import LaunchError
from jpo.files import whole
from jpo.files.reading import contents
from jpo.plugins.launch.engines.aws.offers import Attempt

FILE = "attempts.txt"
LARGEST_BYTES = 2**20
EXHAUSTED = "-"
"""Line after which nothing was left to try; a later launch begins with the cheapest again."""


@dataclass(frozen=True, slots=True)
class Tried:
    """Lines of the file, oldest first."""

    lines: tuple[str, ...] = ()

    @property
    def pending(self) -> Attempt | None:
        """The attempt whose answer is not known."""
        words = self.lines[-1].split() if self.lines else []
        return Attempt(words[0], words[1] == "spot", words[2]) if len(words) == 3 else None

    @property
    def number(self) -> int:
        """Number of the pending attempt's line, else of the next one's."""
        return len(self.lines) - (self.pending is not None)

    @property
    def refused(self) -> tuple[str, ...]:
        """The refusals since everything was tried last, in words: "g5.xlarge spot us-east-1b InsufficientInstanceCapacity"."""
        last = max((number for number, line in enumerate(self.lines) if line == EXHAUSTED), default=-1)
        return tuple(line for line in self.lines[last + 1 :] if len(line.split()) == 4)


def read(folder: Path) -> Tried:
    """What was tried for the run of a folder; LaunchError JPO-E752 where that is damaged."""
    file = folder / FILE
    if not file.exists():
        return Tried()
    remedy = "look for the run's instance in the console of EC2 first"
    refusal = partial(LaunchError, str(file), remedy=remedy, code="JPO-E752")
    lines = contents(file, LARGEST_BYTES, refusal).decode("utf-8", "replace").splitlines()
    if any(line != EXHAUSTED and len(line.split()) not in (3, 4) for line in lines):
        raise refusal("is damaged")
    return Tried(tuple(lines))


def write(folder: Path, lines: Sequence[str]) -> Tried:
    with whole(folder / FILE, mode=0o600, remedy="check disk and mode") as new:
        new.write("".join(f"{line}\n" for line in lines).encode())
    return Tried(tuple(lines))
