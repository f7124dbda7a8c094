"""What JPO asks of a code host to keep one branch and one merge request: the words in which gitlab.py and github.py answer."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

from jpo.errors import CodeHostError


@dataclass(frozen=True, slots=True)
class Blob:
    """A file of a commit.

    Attributes:
        digest: Git's own of the content.
        mode: "100644", or "100755" for one that can be executed; "120000" is a link, which is no file.
        last_commit: of the branch that changed it (GitLab); "" where the host does not say.
    """

    digest: str
    mode: str
    last_commit: str = ""


@dataclass(frozen=True, slots=True)
class BranchDifference:
    """What a branch has that another one has not.

    Attributes:
        messages: of its commits.
        paths: which files differ, from where both parted.
        whole: whether that is all.
        based: whether it starts from where the other one is now.
    """

    messages: tuple[str, ...]
    paths: frozenset[str]
    whole: bool
    based: bool


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A merge request, or pull request."""

    number: int
    state: Literal["open", "closed", "merged"]
    title: str
    body: str
    url: str


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """What is to be proposed.

    Attributes:
        branch: of this workload alone.
        path: of config.ini in the repository.
        content: config.ini with the values that were applied.
        values: digest of those values; the same suggestion has the same.
        title: of the merge request.
        body: its text; begins with `marker(values)`.
        message: of the commit, without its trailer.
    """

    branch: str
    path: str
    content: bytes
    values: str
    title: str
    body: str
    message: str


@dataclass(frozen=True, slots=True)
class BranchStart:
    """Where a branch is, and where it is to start from.

    Attributes:
        head: the commit at which it was looked at; None: there is no such branch.
        onto: the commit of the target branch; `mode`: of the file there.
        based: whether the branch starts from there already.
        there: its file, where it has one.
    """

    head: str | None
    onto: str
    mode: str
    based: bool = False
    there: Blob | None = None


class LostRaceError(CodeHostError):
    """Somebody else was faster: a branch or merge request is not what it was when it was looked at."""


@contextmanager
def as_lost_race(branch: str, happened: str, lost: Callable[[], bool]) -> Iterator[None]:
    """What a host refuses because somebody was faster, as LostRaceError."""
    try:
        yield
    except CodeHostError as error:
        if error.code == "JPO-E904" and lost():
            raise LostRaceError(branch, happened, "try again", code="JPO-E904") from error
        raise


class CodeHost(Protocol):
    """A host as far as JPO writes there. Each method raises CodeHostError; what is not there is None or empty."""

    def head(self, branch: str) -> str | None:
        """The commit at which a branch is."""

    def blob(self, commit: str, path: str) -> Blob | None:
        """A file of a commit."""

    def difference(self, target: str, head: str) -> BranchDifference:
        """What the commit `head` has that `target` has not."""

    def put(self, wanted: ProposedChange, start: BranchStart, message: str) -> None:
        """Make a commit with this file the head of its branch; LostRaceError where that is not at `start.head` any more."""

    def delete(self, branch: str) -> None:
        """Delete a branch."""

    def requests(self, branch: str, target: str) -> Iterator[PullRequest]:
        """All that were ever opened from a branch of the repository itself, the newest first."""

    def open(self, branch: str, target: str, title: str, body: str) -> PullRequest:
        """Open a merge request; LostRaceError where there is an open one by now."""

    def change(self, request: PullRequest, title: str, body: str, *, close: bool = False) -> None:
        """Give a merge request this title and text, and close it."""


def digest_of(content: bytes, *, like: str) -> str:
    """Git's digest of a content, by the algorithm that another digest shows."""
    algorithm = "sha256" if len(like) == 64 else "sha1"
    return hashlib.new(algorithm, b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
