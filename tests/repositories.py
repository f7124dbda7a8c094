"""A Git repository in memory with its merge requests, as GitLab and GitHub answer about it: the other half of code_hosts.py."""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from code_hosts import Handler

Answer = tuple[int, object, dict[str, str]]
Files = dict[str, tuple[str, bytes]]
"""Path -> mode and content."""
PROJECT, FORK = 42, 43
GONE: Answer = (404, {"message": "404 Not Found"}, {})


@dataclass
class Commit:
    message: str
    parents: list[str]
    files: Files


@dataclass
class Proposal:
    """A merge request; `state` in GitLab's words."""

    number: int
    source: str
    target: str
    title: str
    body: str
    state: str = "opened"
    project: int = PROJECT


@dataclass
class GitRepository:
    """Branches, commits and merge requests; `protected` are branches that no token of ours may write."""

    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    proposals: list[Proposal] = field(default_factory=list)
    protected: set[str] = field(default_factory=set)
    objects: dict[str, Any] = field(default_factory=dict)

    def commit(self, branch: str, files: dict[str, bytes], message: str = "by hand", *parents: str) -> str:
        """A person's commit on a branch, or (with `parents`) any other one."""
        heads = list(parents) or ([self.branches[branch]] if branch in self.branches else [])
        before = self.commits[heads[0]].files if heads else {}
        changed = {path: (before.get(path, ("100644", b""))[0], content) for path, content in files.items()}
        return self.add(branch, Commit(message, heads, {**before, **changed}))

    def add(self, branch: str, commit: Commit) -> str:
        self.branches[branch] = self.keep(commit)
        return self.branches[branch]

    def keep(self, commit: Commit) -> str:
        sha = hashlib.sha1(f"{len(self.commits)} {commit}".encode(), usedforsecurity=False).hexdigest()
        self.commits[sha] = commit
        return sha

    def reachable(self, sha: str) -> list[str]:
        found, ahead = [], [sha]
        while ahead:
            one = ahead.pop(0)
            if one not in found:
                found.append(one)
                ahead += self.commits[one].parents
        return found

    def compared(self, base: str, head: str) -> tuple[list[str], list[str], str]:
        """Commits of `head` alone, oldest first; the paths that differ from where both parted; and that commit."""
        known, mine = self.reachable(base), self.reachable(head)
        parted = next(sha for sha in mine if sha in known)
        before, after = self.commits[parted].files, self.commits[head].files
        paths = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
        return [sha for sha in reversed(mine) if sha not in known], paths, parted

    def file(self, branch: str, path: str) -> bytes:
        return self.commits[self.branches[branch]].files[path][1]

    @property
    def open(self) -> list[Proposal]:
        return [one for one in self.proposals if one.state == "opened"]

    def opened(self, source: str, target: str, title: str, body: str) -> Proposal | None:
        if any((one.source, one.target, one.project) == (source, target, PROJECT) for one in self.open):
            return None
        self.proposals.append(Proposal(len(self.proposals) + 7, source, target, title, body))
        return self.proposals[-1]


def blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def answered(handler: Handler, path: dict[str, str], query: dict[str, str]) -> Answer | None:
    """What the host says to a call about the repository; None for one about notes."""
    host, parts = handler.server, handler.path.partition("?")[0].removeprefix("/api/v4").split("/")
    body = json.loads(handler.given) if handler.given else {}
    about = "/".join(parts[3 if host.kind == "gitlab" else 4 :])
    if "notes" in about or "comments" in about or about in ("", "user"):
        return None
    answer = gitlab if host.kind == "gitlab" else github
    return answer(host.repository, handler.command, about.split("/"), path, query, body)


def gitlab(
    git: GitRepository, method: str, about: list[str], path: dict[str, str], query: dict[str, str], body: dict[str, Any]
) -> Answer | None:
    kind = about[1] if about[0] == "repository" else about[0]
    if kind == "branches":
        sha = git.branches.get(path["branch"])
        if sha is None:
            return GONE
        if method == "DELETE":
            if path["branch"] in git.protected:
                return 403, {"message": "403 Forbidden"}, {}
            del git.branches[path["branch"]]
            return 204, None, {}
        return 200, {"name": path["branch"], "commit": _commit(git, sha)}, {}
    if kind == "files":
        found = git.commits[query["ref"]].files.get(path["file_path"]) if query["ref"] in git.commits else None
        if found is None:
            return GONE
        mode, content = found
        same = [sha for sha in git.reachable(query["ref"]) if git.commits[sha].files.get(path["file_path"]) == found]
        document = {"file_path": path["file_path"], "blob_id": blob_id(content), "content": b64encode(content).decode()}
        return 200, {**document, "encoding": "base64", "last_commit_id": same[-1], "execute_filemode": mode == "100755"}, {}
    if kind == "compare":
        commits, paths, _ = git.compared(query["from"], query["to"])
        diffs = [{"old_path": one, "new_path": one} for one in paths]
        return 200, {"commits": [_commit(git, sha) for sha in commits], "diffs": diffs, "compare_timeout": False}, {}
    if kind == "commits":
        return _gitlab_commit(git, body)
    if method == "GET":
        wanted = [one for one in git.proposals if (one.source, one.target) == (query["source_branch"], query["target_branch"])]
        return 200, [_merge_request(one) for one in reversed(wanted)], {}
    if method == "POST":
        made = git.opened(body["source_branch"], body["target_branch"], body["title"], body["description"])
        return (201, _merge_request(made), {}) if made else (409, {"message": ["Another open merge request already exists"]}, {})
    one = next(one for one in git.proposals if one.number == int(path["merge_request_iid"]))
    one.title, one.body = body["title"], body["description"]
    one.state = "closed" if body.get("state_event") == "close" else one.state
    return 200, _merge_request(one), {}


def _gitlab_commit(git: GitRepository, body: dict[str, Any]) -> Answer:
    branch, (action,) = body["branch"], body["actions"]
    if branch in git.protected:
        return 403, {"message": "You are not allowed to push into this branch"}, {}
    start = body.get("start_sha")
    if start and branch in git.branches and not body.get("force"):
        return 400, {"message": f"A branch called '{branch}' already exists. Switch to that branch in order to make changes"}, {}
    if not start and branch not in git.branches:
        return 400, {"message": "You can only create or edit files when you are on a branch"}, {}
    head = start or git.branches[branch]
    files = git.commits[head].files
    found = files[action["file_path"]]
    newest = [sha for sha in git.reachable(head) if git.commits[sha].files.get(action["file_path"]) == found][-1]
    if action.get("last_commit_id", newest) != newest:
        return 400, {"message": "You are attempting to update a file that has changed since you started editing it."}, {}
    changed = {**files, action["file_path"]: (found[0], b64decode(action["content"]))}
    sha = git.add(branch, Commit(body["commit_message"], [head], changed))
    return 201, _commit(git, sha), {}


def _commit(git: GitRepository, sha: str) -> dict[str, object]:
    return {"id": sha, "message": git.commits[sha].message, "parent_ids": git.commits[sha].parents}


def _merge_request(one: Proposal) -> dict[str, object]:
    page = f"https://gitlab.example.com/team/job/-/merge_requests/{one.number}"
    document = {"iid": one.number, "state": one.state, "title": one.title, "description": one.body, "web_url": page}
    sides = {"source_project_id": one.project, "target_project_id": PROJECT}
    return {**document, **sides, "source_branch": one.source, "target_branch": one.target}


def github(
    git: GitRepository, method: str, about: list[str], path: dict[str, str], query: dict[str, str], body: dict[str, Any]
) -> Answer | None:
    kind = about[1] if about[0] == "git" else about[0]
    if kind in ("ref", "refs"):
        return _github_ref(git, method, (path.get("ref") or body["ref"].removeprefix("refs/")).removeprefix("heads/"), body)
    if kind == "commits" and method == "GET":
        commit = git.commits.get(path["commit_sha"])
        return (
            GONE
            if commit is None
            else (200, {"sha": path["commit_sha"], "tree": {"sha": _tree(git, commit.files)}, "message": ""}, {})
        )
    if kind == "trees" and method == "GET":
        return 200, {"sha": path["tree_sha"], "tree": git.objects[path["tree_sha"]], "truncated": False}, {}
    if kind == "blobs":
        sha = blob_id(b64decode(body["content"]))
        git.objects[sha] = b64decode(body["content"])
        return 201, {"sha": sha, "url": "https://x"}, {}
    if kind == "trees":
        (entry,) = body["tree"]
        files = {**git.objects[f"files {body['base_tree']}"], entry["path"]: (entry["mode"], git.objects[entry["sha"]])}
        return 201, {"sha": _tree(git, files)}, {}
    if kind == "commits":
        sha = git.keep(Commit(body["message"], body["parents"], git.objects[f"files {body['tree']}"]))
        return 201, {"sha": sha}, {}
    if kind == "compare":
        base, _, head = path["basehead"].partition("...")
        commits, paths, parted = git.compared(base, head)
        listed = [{"sha": sha, "commit": {"message": git.commits[sha].message}} for sha in commits]
        files = [{"filename": one, "status": "modified"} for one in paths]
        return 200, {"commits": listed, "files": files, "total_commits": len(commits), "merge_base_commit": {"sha": parted}}, {}
    if method == "GET":
        owner, _, source = query["head"].partition(":")
        assert owner == "team"
        wanted = [one for one in git.proposals if (one.source, one.target, one.project) == (source, query["base"], PROJECT)]
        return 200, [_pull(one) for one in reversed(wanted)], {}
    if method == "POST":
        made = git.opened(body["head"], body["base"], body["title"], body["body"])
        return (201, _pull(made), {}) if made else (422, {"message": "A pull request already exists"}, {})
    one = next(one for one in git.proposals if one.number == int(path["pull_number"]))
    one.title, one.body, one.state = body["title"], body["body"], body.get("state", one.state)
    return 200, _pull(one), {}


def _github_ref(git: GitRepository, method: str, branch: str, body: dict[str, Any]) -> Answer:
    if method == "GET":
        return GONE if branch not in git.branches else (200, _ref(git, branch), {})
    if branch in git.protected:
        return 422, {"message": "Protected branch update failed"}, {}
    if method == "POST":
        if branch in git.branches:
            return 422, {"message": "Reference already exists"}, {}
    elif branch not in git.branches:
        return 422, {"message": "Reference does not exist"}, {}
    elif method == "DELETE":
        del git.branches[branch]
        return 204, None, {}
    elif git.branches[branch] not in git.reachable(body["sha"]) and not body.get("force"):
        return 422, {"message": "Update is not a fast forward"}, {}
    git.branches[branch] = body["sha"]
    return (201 if method == "POST" else 200), _ref(git, branch), {}


def _ref(git: GitRepository, branch: str) -> dict[str, object]:
    return {"ref": f"refs/heads/{branch}", "object": {"sha": git.branches[branch], "type": "commit"}}


def _tree(git: GitRepository, files: Files) -> str:
    """The tree of these files, and of each folder in it; the files are noted next to it."""
    entries = []
    for name in sorted({path.partition("/")[0] for path in files}):
        below = {path.partition("/")[2]: file for path, file in files.items() if path.startswith(f"{name}/")}
        mode, kind, sha = ("040000", "tree", _tree(git, below)) if below else (files[name][0], "blob", blob_id(files[name][1]))
        entries.append({"path": name, "mode": mode, "type": kind, "sha": sha})
    sha = hashlib.sha1(repr(entries).encode(), usedforsecurity=False).hexdigest()
    git.objects |= {sha: entries, f"files {sha}": files} | {blob_id(content): content for _, content in files.values()}
    return sha


def _pull(one: Proposal) -> dict[str, object]:
    page, state = f"https://github.example.com/team/job/pull/{one.number}", "open" if one.state == "opened" else "closed"
    merged = "2026-11-22T00:00:00Z" if one.state == "merged" else None
    return {"number": one.number, "state": state, "title": one.title, "body": one.body, "html_url": page, "merged_at": merged}
