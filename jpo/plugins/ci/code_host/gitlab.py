"""A branch and a merge request of GitLab through its REST API, version 4.

A branch that starts from where the target is goes on by one commit, which loses nothing. Where the target has moved it is made
anew from there (`force`), and GitLab has no condition for that: it is looked at once more just before.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Literal

from jpo.errors import CodeHostError
from jpo.plugins.ci.code_host.calls import Calls, part
from jpo.plugins.ci.code_host.changes import (
    Blob,
    BranchDifference,
    BranchStart,
    LostRaceError,
    ProposedChange,
    PullRequest,
    as_lost_race,
)
from jpo.plugins.ci.code_host.repository import encoded, strange

STATES: Mapping[str, Literal["open", "closed", "merged"]] = {
    "opened": "open",
    "locked": "open",  # while it is being merged
    "closed": "closed",
    "merged": "merged",
}
PER_PAGE = 100


class GitLab:
    """A project of GitLab (changes.py, CodeHost)."""

    def __init__(self, calls: Calls, project: str) -> None:
        self._calls, self._repository, self._project = calls, f"projects/{project}/repository", f"projects/{project}"

    def head(self, branch: str) -> str | None:
        path = f"{self._repository}/branches/{encoded(branch)}"
        found = self._calls.found(path)
        return None if found is None else part(part(found, "commit", path, object), "id", path, str)

    def blob(self, commit: str, path: str) -> Blob | None:
        address = f"{self._repository}/files/{encoded(path)}"
        found = self._calls.found(address, ref=commit)
        if found is None:
            return None
        mode = "100755" if isinstance(found, dict) and found.get("execute_filemode") is True else "100644"
        return Blob(part(found, "blob_id", address, str), mode, part(found, "last_commit_id", address, str))

    def difference(self, target: str, head: str) -> BranchDifference:
        path = f"{self._repository}/compare"
        found, _ = self._calls.ask("GET", path, query={"from": target, "to": head})
        commits, diffs = part(found, "commits", path, list), part(found, "diffs", path, list)
        parents = {parent for commit in commits for parent in part(commit, "parent_ids", path, list)}
        paths = {part(diff, side, path, str) for diff in diffs for side in ("old_path", "new_path")}
        whole = isinstance(found, dict) and found.get("compare_timeout") is not True
        messages = tuple(part(commit, "message", path, str) for commit in commits)
        return BranchDifference(messages, frozenset(paths), whole, target == head or target in parents)

    def put(self, wanted: ProposedChange, start: BranchStart, message: str) -> None:
        branch, content = wanted.branch, b64encode(wanted.content).decode()
        action = {"action": "update", "file_path": wanted.path, "encoding": "base64", "content": content}
        body: dict[str, object] = {"branch": branch, "commit_message": message, "actions": [action]}
        if start.head is not None and start.based and start.there:
            action["last_commit_id"] = start.there.last_commit
        else:
            body |= {"start_sha": start.onto, "force": start.head is not None}
            if self.head(branch) != start.head:
                raise LostRaceError(branch, "was changed meanwhile", "try again", code="JPO-E904")
        with as_lost_race(branch, "was changed meanwhile", lambda: self.head(branch) != start.head):
            self._calls.ask("POST", f"{self._repository}/commits", body=body)

    def delete(self, branch: str) -> None:
        try:
            self._calls.ask("DELETE", f"{self._repository}/branches/{encoded(branch)}")
        except CodeHostError as error:
            if error.code != "JPO-E903":
                raise

    def requests(self, branch: str, target: str) -> Iterator[PullRequest]:
        path = f"{self._project}/merge_requests"
        wanted = {"source_branch": branch, "target_branch": target, "state": "all", "order_by": "created_at", "sort": "desc"}
        for one in self._calls.listed(path, **wanted, per_page=PER_PAGE):  # a fork's branch may have the same name
            if isinstance(one, dict) and one.get("source_project_id") == one.get("target_project_id"):
                yield _request(one, path)

    def open(self, branch: str, target: str, title: str, body: str) -> PullRequest:
        path = f"{self._project}/merge_requests"
        wanted = {"source_branch": branch, "target_branch": target, "title": title, "description": body}
        with as_lost_race(
            branch, "has a merge request by now", lambda: any(one.state == "open" for one in self.requests(branch, target))
        ):
            found, _ = self._calls.ask("POST", path, body={**wanted, "remove_source_branch": True})
        return _request(found, path)

    def change(self, request: PullRequest, title: str, body: str, *, close: bool = False) -> None:
        wanted = {"title": title, "description": body, **({"state_event": "close"} if close else {})}
        self._calls.ask("PUT", f"{self._project}/merge_requests/{request.number}", body=wanted)


def _request(found: object, path: str) -> PullRequest:
    body, state = part(found, "description", path, object), STATES.get(part(found, "state", path, str))
    if state is None:
        raise strange(path)
    number, title, url = part(found, "iid", path, int), part(found, "title", path, str), part(found, "web_url", path, str)
    return PullRequest(number, state, title, body if isinstance(body, str) else "", url)
