"""What was applied is proposed to the target branch: one branch and one merge request per workload, in Renovate's manner.

Each pipeline looks at what is there and brings it up to date: opened, updated, put on the target's newest commit, closed when
nothing is left to propose. A person's word counts: commits of somebody else on the branch are left alone, and values whose merge
request was closed are not proposed again. Nothing is remembered elsewhere, so a pipeline that was killed leaves nothing in doubt.
"""

import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Literal

from jpo.errors import CodeHostError, ConflictError
from jpo.plugins.ci.code_host.calls import Calls, InDoubtError
from jpo.plugins.ci.code_host.changes import Blob, BranchStart, CodeHost, LostRaceError, ProposedChange, PullRequest, digest_of
from jpo.plugins.ci.code_host.github import GitHub
from jpo.plugins.ci.code_host.gitlab import GitLab
from jpo.plugins.ci.code_host.repository import Repository

ATTEMPTS = 2
TRAILER = re.compile(r"^JPO-Blob: ([0-9a-f]{40}|[0-9a-f]{64})$", re.MULTILINE)
"""Of our commits: Git's digest of the config.ini that they leave. Whoever changes that or adds a commit does not have it."""
OF_US = re.compile(r"<!-- jpo:(?P<what>values|obsolete):(?P<values>[0-9a-f]{32}) -->")


@dataclass(frozen=True, slots=True)
class Persisted:
    """What became of the merge request.

    `request`: None where there is none. `why`: what is to be known of that; "" where `how` says all.
    """

    how: Literal["opened", "updated", "unchanged", "closed", "none", "left"]
    request: PullRequest | None
    why: str = ""


def marker(values: str) -> str:
    """The first line of the text, which nobody sees: which values are proposed."""
    return f"<!-- jpo:values:{values} -->"


def persist(repository: Repository, wanted: ProposedChange, *, timeout_seconds: float) -> Persisted:
    """Bring branch and merge request up to date.

    Raises ConflictError: JPO-E923, config.ini is not on the target branch what this pipeline has checked out. CodeHostError:
    JPO-E901 to E906; the target branch is as it was, and so is all that a person has done.
    """
    access = repository.access
    with Calls(access, timeout_seconds=timeout_seconds) as calls:
        host: CodeHost = (GitLab if access.host == "gitlab" else GitHub)(calls, access.project)
        for left in reversed(range(ATTEMPTS)):
            try:
                return _brought_up_to_date(host, repository, wanted)
            except (LostRaceError, InDoubtError) as error:  # in doubt: what is there says whether it arrived
                if not left:
                    remedy = "the next pipeline tries again"
                    raise CodeHostError(error.place, error.finding, remedy, code=error.code) from error
    raise AssertionError("the last attempt returns or raises")


def _brought_up_to_date(host: CodeHost, repository: Repository, wanted: ProposedChange) -> Persisted:
    """One attempt: look, decide, write."""
    target = host.head(repository.target)
    if target is None:
        raise CodeHostError(repository.target, "is not a branch that this token can see", "check the token", code="JPO-E903")
    there = _as_checked_out(host, repository, wanted, target)
    proposed = list(host.requests(wanted.branch, repository.target))
    open_one = next((request for request in proposed if request.state == "open"), None)
    head = host.head(wanted.branch)
    if there.digest == digest_of(wanted.content, like=there.digest):
        return _closed(host, wanted, open_one, head, target)
    mine = head is None or _is_ours(host, wanted, target, head)
    if not mine:
        why = f"{wanted.branch} has commits or changes of somebody else: it is left alone until they are taken off it"
        return Persisted("left", open_one, why)
    for request in proposed if open_one is None else ():
        found = OF_US.search(request.body)  # one that JPO has closed says that it was obsolete
        if request.state == "closed" and found and found["what"] == "values" and found["values"] == wanted.values:
            why = "was closed by a person: these values are not proposed again; reopen it to have them"
            return Persisted("none", request, why)
    new = _branch_up_to_date(host, wanted, BranchStart(head, target, there.mode), there)
    if open_one is None:
        return Persisted("opened", host.open(wanted.branch, repository.target, wanted.title, wanted.body))
    if (open_one.title, _lines(open_one.body)) != (wanted.title, _lines(wanted.body)):
        host.change(open_one, wanted.title, wanted.body)
        return Persisted("updated", open_one)
    return Persisted("updated" if new else "unchanged", open_one)


def _as_checked_out(host: CodeHost, repository: Repository, wanted: ProposedChange, target: str) -> Blob:
    """config.ini on the target branch, if it is what this pipeline has tuned, or has the tuned values already."""
    there = host.blob(target, wanted.path)
    then = there if target == repository.commit else host.blob(repository.commit, wanted.path)
    remedy = "nothing was written; the next pipeline of it proposes anew"
    done = there is not None and there.digest == digest_of(wanted.content, like=there.digest)
    if there is None or (not done and (then is None or there.digest != then.digest)):
        finding = "is not there any more" if there is None else "was changed since this pipeline began"
        raise ConflictError(f"{wanted.path} on {repository.target}", finding, remedy, code="JPO-E923")
    if there.mode not in ("100644", "100755"):
        place = f"{wanted.path} on {repository.target}"
        raise ConflictError(place, "is not a plain file", "commit the file itself", code="JPO-E923")
    return there


def _is_ours(host: CodeHost, wanted: ProposedChange, target: str, head: str) -> bool:
    """Whether a branch has nothing but what JPO has put there: our commits alone, of this file alone, as they left it."""
    ahead = host.difference(target, head)
    trailers = [TRAILER.search(message) for message in ahead.messages]
    if not trailers:  # nothing that the target branch has not
        return ahead.whole
    there = host.blob(head, wanted.path)
    of_us = {found[1] for found in trailers if found}
    return ahead.whole and all(trailers) and ahead.paths <= {wanted.path} and there is not None and there.digest in of_us


def _branch_up_to_date(host: CodeHost, wanted: ProposedChange, start: BranchStart, there: Blob) -> bool:
    """Whether the branch had to be written: made, put on the target's newest commit, or given other values."""
    digest = digest_of(wanted.content, like=there.digest)
    if start.head is not None:
        based, mine = host.difference(start.onto, start.head).based, host.blob(start.head, wanted.path)
        if based and mine is not None and mine.digest == digest:
            return False
        start = replace(start, based=based, there=mine)
    message = f"{wanted.message}\n\nJPO-Blob: {digest}\n"
    host.put(wanted, start, message)
    return True


def _closed(host: CodeHost, wanted: ProposedChange, request: PullRequest | None, head: str | None, target: str) -> Persisted:
    """Nothing is left to propose: close what is open, and delete the branch if nobody else has worked on it."""
    file = PurePosixPath(wanted.path).name
    mine = head is not None and _is_ours(host, wanted, target, head)
    if request is None:
        return Persisted("none", None, "the target branch has the values in force: nothing to propose")
    if head is not None and not mine:
        return Persisted("left", request, "nothing is left to propose, but its branch has changes of somebody else")
    found = OF_US.search(request.body)
    values = found["values"] if found else wanted.values
    body = f"<!-- jpo:obsolete:{values} -->\n\nObsolete: the target branch has the values in force.\n"
    host.change(request, wanted.title, body, close=True)
    if head is not None:
        host.delete(wanted.branch)
    return Persisted("closed", request, f"the target branch has the values in force in {file}")


def _lines(body: str) -> str:
    """A text without what hosts change of it."""
    return body.replace("\r\n", "\n").rstrip()
