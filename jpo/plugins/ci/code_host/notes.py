"""JPO's own note on a merge request: one per workload, found by its marker and its author, and updated in place.

A note of somebody else is never touched, though it may hold a copy of the marker. Written first, tidied up afterwards: of several
own notes, which two pipelines at once may leave, the oldest is the one, and the others are deleted.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from jpo.errors import CodeHostError
from jpo.plugins.ci.code_host.calls import Calls, InDoubtError
from jpo.plugins.ci.code_host.merge_request import MergeRequest
from jpo.plugins.ci.code_host.repository import strange

PER_PAGE = 100
MOST_PAGES = 100
"""Ten thousand notes."""
LARGEST_BODY = 60_000
"""Characters; GitHub takes 65,536, GitLab a million."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of the note.

    Attributes:
        url: of the note; empty where pages have no known address.
        removed: further own notes that were deleted.
        left: why one could not be; None where none is left.
    """

    how: Literal["written", "updated", "unchanged"]
    url: str
    removed: int = 0
    left: str | None = None


@dataclass(frozen=True, slots=True)
class OwnNote:
    number: int
    body: str


def put_note(
    request: MergeRequest, marker: str, body: str, *, timeout_seconds: float, only_update: bool = False
) -> Written | None:
    """Write the note, or update the one that is there; None: there is none, and `only_update` wants no new one.

    `marker`: begins the body, and tells this note from all others; `timeout_seconds`: for all calls together.

    Raises CodeHostError: it could not be written; what was there is as it was.
    """
    assert body.startswith(marker), "the note would not be found again"
    if len(body) > LARGEST_BODY:
        finding = f"the note has {len(body)} characters, and {LARGEST_BODY} are the most"
        raise CodeHostError(str(request), finding, "report it as a bug of JPO", code="JPO-E904")
    with Calls(request.access, timeout_seconds=timeout_seconds) as calls:
        notes = _Notes(calls, request, marker)
        own = list(notes.own())
        if only_update and not own:
            return None
        how, number = notes.brought_up_to_date(own, body)
        removed, left = notes.without([note.number for note in own if note.number != number])
        anchor = "note_" if request.access.host == "gitlab" else "issuecomment-"
        return Written(how, f"{request.web_url}#{anchor}{number}" if request.web_url else "", removed, left)


class _Notes:
    """The notes of one merge request, in the words of its host."""

    def __init__(self, calls: Calls, request: MergeRequest, marker: str) -> None:
        self._calls, self._marker, self._github = calls, marker, request.access.host == "github"
        project = request.access.project
        if self._github:
            self._all = f"repos/{project}/issues/{request.number}/comments"
            self._each = f"repos/{project}/issues/comments"
        else:
            self._all = self._each = f"projects/{project}/merge_requests/{request.number}/notes"
        self._me = self._who_am_i()

    def _who_am_i(self) -> object:
        """Our number among the users; None for a GitHub app, as the token of a job is, which may not ask."""
        try:
            user, _ = self._calls.ask("GET", "user")
        except CodeHostError as error:
            if self._github and error.code == "JPO-E902":
                return None
            raise
        return user.get("id") if isinstance(user, dict) else None

    def own(self) -> Iterator[OwnNote]:
        """Our notes with the marker, oldest first."""
        order: Mapping[str, object] = {} if self._github else {"sort": "asc", "order_by": "created_at"}
        for page in range(1, MOST_PAGES + 1):
            found, headers = self._calls.ask("GET", self._all, query={**order, "per_page": PER_PAGE, "page": page})
            if not isinstance(found, list):
                raise strange(self._all, "notes")
            yield from (OwnNote(note["id"], note["body"]) for note in found if self._is_ours(note))
            more = 'rel="next"' in headers.get("Link", "") if self._github else headers.get("X-Next-Page")
            if not more:
                return

    def _is_ours(self, note: Any) -> bool:
        """By marker and author: whoever quotes or copies our note has another name."""
        if not isinstance(note, dict):
            raise strange(self._all, "notes")
        author = note.get("user" if self._github else "author")
        if not (isinstance(author, dict) and isinstance(note.get("id"), int) and isinstance(note.get("body"), str)):
            return False
        ours = author.get("type") == "Bot" if self._me is None else author.get("id") == self._me
        return ours and note["body"].startswith(self._marker)

    def brought_up_to_date(self, own: list[OwnNote], body: str) -> tuple[Literal["written", "updated", "unchanged"], int]:
        """The oldest note that is still there, or a new one, with this body; and its number."""
        for note in own:
            if note.body.replace("\r\n", "\n").rstrip() == body.rstrip():
                return "unchanged", note.number
            try:
                self._calls.ask("PATCH" if self._github else "PUT", f"{self._each}/{note.number}", body={"body": body})
            except CodeHostError as error:
                another_bots = self._me is None and error.code == "JPO-E902"
                if error.code != "JPO-E903" and not another_bots:  # else somebody deleted it meanwhile
                    raise
            else:
                return "updated", note.number
        return "written", self._new(body)

    def _new(self, body: str) -> int:
        """A new note; after trouble in between, the one that arrived all the same."""
        try:
            return self._posted(body)
        except InDoubtError:
            arrived = next(self.own(), None)
            return arrived.number if arrived else self._posted(body)

    def _posted(self, body: str) -> int:
        made, _ = self._calls.ask("POST", self._all, body={"body": body})
        number = made.get("id") if isinstance(made, dict) else None
        if not isinstance(number, int):
            raise strange(self._all, "notes")
        return number

    def without(self, numbers: list[int]) -> tuple[int, str | None]:
        """Delete further notes of ours: how many went, and why one did not. The note itself is right by now."""
        removed = 0
        for number in numbers:
            try:
                self._calls.ask("DELETE", f"{self._each}/{number}")
            except CodeHostError as error:
                if error.code != "JPO-E903":
                    return removed, error.finding
            else:
                removed += 1
        return removed, None
