"""A branch and a pull request of GitHub through its REST API.

The branch only ever goes forward: where the target has moved, the next commit has both as parents. So GitHub itself refuses it
where somebody has put a commit on the branch meanwhile, and nobody's work is lost.
"""

from base64 import b64encode
from collections.abc import Iterator
from typing import Literal

from jpo.errors import CodeHostError
from jpo.plugins.ci.code_host.calls import Calls, part
from jpo.plugins.ci.code_host.changes import Blob, BranchDifference, BranchStart, ProposedChange, PullRequest, as_lost_race
from jpo.plugins.ci.code_host.repository import encoded, strange

PER_PAGE = 100


class GitHub:
    """A repository of GitHub (changes.py, CodeHost)."""

    def __init__(self, calls: Calls, project: str) -> None:
        self._calls, self._repository, self._owner = calls, f"repos/{project}", project.partition("/")[0]

    def head(self, branch: str) -> str | None:
        path = f"{self._repository}/git/ref/{encoded(f'heads/{branch}')}"
        found = self._calls.found(path)
        return None if found is None else part(part(found, "object", path, object), "sha", path, str)

    def blob(self, commit: str, path: str) -> Blob | None:
        """Folder by folder: nothing else says the mode of a file."""
        digest, found = self._tree_of(commit), None
        for name in path.split("/"):
            address = f"{self._repository}/git/trees/{digest}"
            tree, _ = self._calls.ask("GET", address)
            entries = [entry for entry in part(tree, "tree", address, list) if isinstance(entry, dict)]
            found = next((entry for entry in entries if entry.get("path") == name), None)
            if found is None:
                return None
            digest = part(found, "sha", address, str)
        return Blob(digest, part(found, "mode", path, str))

    def _tree_of(self, commit: str) -> str:
        path = f"{self._repository}/git/commits/{commit}"
        found, _ = self._calls.ask("GET", path)
        return part(part(found, "tree", path, object), "sha", path, str)

    def difference(self, target: str, head: str) -> BranchDifference:
        path = f"{self._repository}/compare/{target}...{head}"
        found, _ = self._calls.ask("GET", path, query={"per_page": PER_PAGE})
        commits = part(found, "commits", path, list)
        files = part(found, "files", path, list) if isinstance(found, dict) and "files" in found else []
        paths = {part(file, "filename", path, str) for file in files}
        paths |= {str(file["previous_filename"]) for file in files if isinstance(file, dict) and "previous_filename" in file}
        based = part(part(found, "merge_base_commit", path, object), "sha", path, str) == target
        messages = tuple(part(part(commit, "commit", path, object), "message", path, str) for commit in commits)
        return BranchDifference(messages, frozenset(paths), part(found, "total_commits", path, object) == len(commits), based)

    def put(self, wanted: ProposedChange, start: BranchStart, message: str) -> None:
        branch, content = wanted.branch, b64encode(wanted.content).decode()
        blob = self._made("git/blobs", {"content": content, "encoding": "base64"})
        entry = {"path": wanted.path, "mode": start.mode, "type": "blob", "sha": blob}
        tree = self._made("git/trees", {"base_tree": self._tree_of(start.onto), "tree": [entry]})
        parents = [commit for commit in (start.head, None if start.head and start.based else start.onto) if commit]
        commit = self._made("git/commits", {"message": message, "tree": tree, "parents": parents})
        with as_lost_race(branch, "was changed meanwhile", lambda: self.head(branch) != start.head):
            if start.head is None:
                self._calls.ask("POST", f"{self._repository}/git/refs", body={"ref": f"refs/heads/{branch}", "sha": commit})
            else:
                path = f"{self._repository}/git/refs/{encoded(f'heads/{branch}')}"
                self._calls.ask("PATCH", path, body={"sha": commit, "force": False})

    def _made(self, kind: str, body: dict[str, object]) -> str:
        path = f"{self._repository}/{kind}"
        return part(self._calls.ask("POST", path, body=body)[0], "sha", path, str)

    def delete(self, branch: str) -> None:
        try:
            self._calls.ask("DELETE", f"{self._repository}/git/refs/{encoded(f'heads/{branch}')}")
        except CodeHostError as error:
            if error.code not in ("JPO-E903", "JPO-E904"):  # 422: reference does not exist
                raise

    def requests(self, branch: str, target: str) -> Iterator[PullRequest]:
        path = f"{self._repository}/pulls"
        wanted = {"head": f"{self._owner}:{branch}", "base": target, "state": "all", "sort": "created", "direction": "desc"}
        yield from (_request(one, path) for one in self._calls.listed(path, **wanted, per_page=PER_PAGE))

    def open(self, branch: str, target: str, title: str, body: str) -> PullRequest:
        path = f"{self._repository}/pulls"
        with as_lost_race(
            branch, "has a pull request by now", lambda: any(one.state == "open" for one in self.requests(branch, target))
        ):
            found, _ = self._calls.ask("POST", path, body={"head": branch, "base": target, "title": title, "body": body})
        return _request(found, path)

    def change(self, request: PullRequest, title: str, body: str, *, close: bool = False) -> None:
        wanted = {"title": title, "body": body, **({"state": "closed"} if close else {})}
        self._calls.ask("PATCH", f"{self._repository}/pulls/{request.number}", body=wanted)


def _request(found: object, path: str) -> PullRequest:
    number, title, url = part(found, "number", path, int), part(found, "title", path, str), part(found, "html_url", path, str)
    state, merged, body = (part(found, name, path, object) for name in ("state", "merged_at", "body"))
    if state not in ("open", "closed"):
        raise strange(path)
    ended: Literal["closed", "merged"] = "closed" if merged is None else "merged"
    return PullRequest(number, "open" if state == "open" else ended, title, body if isinstance(body, str) else "", url)
