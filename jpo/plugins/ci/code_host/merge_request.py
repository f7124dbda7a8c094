"""The merge request to which this pipeline belongs, and the token to write there: what GitLab and GitHub say in the environment.

Only the variables named here are read. A token goes to the API that the runner names, encrypted, and is in no message.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from jpo.errors import CodeHostError, UsageError
from jpo.files.reading import contents, json_object, soon_read
from jpo.inventory.caller import author_of
from jpo.project.load import without_credentials
from jpo.project.secrets import check_encrypted

ADDRESS = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]+(/[A-Za-z0-9._~/-]*)?")
"""Of an API: without user, password and query, so that it can be shown."""
REPOSITORY = re.compile(r"[\w-][\w.-]*/(?!\.\.?$)[\w.-]+", re.ASCII)
NUMBER = re.compile(r"[1-9][0-9]{0,17}")
TOKEN = re.compile(r"[!-~]{1,4096}")
LARGEST_EVENT_BYTES = 32 << 20
"""GitHub's own limit is 25 MB."""
LARGEST_TOKEN_BYTES, TOKEN_SECONDS = 1 << 16, 2.0
NO_TOKEN = 0
"""In place of the status of an answer: nothing was asked."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """What is written to a host.

    Attributes:
        what: it, in words; `missing`: what there may be none of.
        variable: which holds the token for it.
        remedies: by host and status of the answer what to do about a refusal.
    """

    what: str
    missing: str
    variable: str
    remedies: Mapping[tuple[str, int], str]


NOTE = Purpose(
    "the note",
    "merge request",
    "JPO_COMMENT_TOKEN",
    {
        ("gitlab", NO_TOKEN): "set the masked CI/CD variable JPO_COMMENT_TOKEN to a project access token with the scope api; "
        "a job token cannot",
        ("github", NO_TOKEN): "pass it: env GITHUB_TOKEN: ${{ github.token }}, with permissions: pull-requests: write",
        ("gitlab", 401): "set JPO_COMMENT_TOKEN to a project access token that has not expired, with the scope api",
        ("github", 401): "pass the job's own: env GITHUB_TOKEN: ${{ github.token }}",
        ("gitlab", 403): "the token needs the scope api and at least the role Reporter; is the discussion locked?",
        ("github", 403): "the job needs permissions: pull-requests: write, which forks never get; is the conversation locked?",
    },
)


@dataclass(frozen=True, slots=True)
class HostAccess:
    """Where JPO writes, and by what right.

    Attributes:
        api_url: base of the API, without a slash at the end.
        project: as the API's paths have it: number or encoded path (GitLab), owner/name (GitHub).
        ca_file: authorities to trust instead of the bundled ones, or None.
    """

    purpose: Purpose
    host: Literal["gitlab", "github"]
    api_url: str
    project: str
    token: str = field(repr=False)
    ca_file: Path | None = None

    def named(self, number: int) -> str:
        """A merge request, or pull request, as its host calls it."""
        return f"{'!' if self.host == 'gitlab' else '#'}{number}"


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """A merge request of GitLab, or a pull request of GitHub; its page, empty where the runner does not say where pages are."""

    access: HostAccess
    number: int
    web_url: str

    def __str__(self) -> str:
        return self.access.named(self.number)


def merge_request_of(environ: Mapping[str, str], number: int | None = None) -> MergeRequest | None:
    """The merge request of this pipeline; None for a pipeline without one, as on the main branch.

    `number`: another one of the same project, e.g. in a workflow that runs after the pull request's own.

    Raises UsageError: JPO-E907, this is no pipeline of GitLab or GitHub; JPO-E323, the token would travel unencrypted.
    CodeHostError: JPO-E901, there is no token; JPO-E907, the runner's own words cannot be used.
    """
    host = author_of(environ)["where"]
    if host == "gitlab":
        return _on_gitlab(environ, number)
    if host == "github":
        return _on_github(environ, number)
    finding = "this is not a pipeline of GitLab or GitHub, which would name the merge request"
    raise UsageError("jpo comment", finding, "run it there, or see the note with --dry-run", code="JPO-E907")


def _on_gitlab(environ: Mapping[str, str], number: int | None) -> MergeRequest | None:
    """A merge request belongs to the project into which it leads; the pipeline of a fork runs in the fork."""
    project = environ.get("CI_MERGE_REQUEST_PROJECT_ID") or environ.get("CI_PROJECT_ID", "")
    page = environ.get("CI_MERGE_REQUEST_PROJECT_URL") or environ.get("CI_PROJECT_URL", "")
    named = str(number or environ.get("CI_MERGE_REQUEST_IID", ""))
    if not named:  # a branch pipeline: the first of the open ones, path!number,path!number
        path, _, named = environ.get("CI_OPEN_MERGE_REQUESTS", "").partition(",")[0].rpartition("!")
        if not named:
            return None
        page = page if path == environ.get("CI_PROJECT_PATH") else ""
        project = quote(path, safe="")
    elif not NUMBER.fullmatch(project):
        raise unusable("CI_PROJECT_ID", project)
    if not NUMBER.fullmatch(named):
        raise unusable("CI_MERGE_REQUEST_IID", named)
    page = f"{page}/-/merge_requests/{named}" if ADDRESS.fullmatch(page) else ""
    return MergeRequest(access_of(environ, "gitlab", project, NOTE), int(named), page)


def _on_github(environ: Mapping[str, str], number: int | None) -> MergeRequest | None:
    number = number or _number_of_event(environ.get("GITHUB_EVENT_PATH", ""))
    if number is None:
        return None
    project = environ.get("GITHUB_REPOSITORY", "")
    if not REPOSITORY.fullmatch(project):
        raise unusable("GITHUB_REPOSITORY", project)
    server = environ.get("GITHUB_SERVER_URL", "")
    page = f"{server}/{project}/pull/{number}" if ADDRESS.fullmatch(server) else ""
    return MergeRequest(access_of(environ, "github", project, NOTE), number, page)


def _number_of_event(path: str) -> int | None:
    """The pull request of the event that started the workflow; None where it is about none."""
    if not path:
        return None
    refusal = partial(CodeHostError, f"GITHUB_EVENT_PATH {path}", code="JPO-E907")
    try:
        event = json_object(contents(Path(path), LARGEST_EVENT_BYTES, refusal))
    except ValueError as error:
        raise refusal(str(error)) from error
    after = event.get("workflow_run")  # a workflow that runs after the pull request's, with rights that one has not
    listed = after.get("pull_requests") if isinstance(after, dict) else None
    found = listed[0] if isinstance(listed, list) and listed else event.get("pull_request")
    number = found.get("number") if isinstance(found, dict) else None
    return number if isinstance(number, int) and NUMBER.fullmatch(str(number)) else None


def access_of(environ: Mapping[str, str], host: Literal["gitlab", "github"], project: str, purpose: Purpose) -> HostAccess:
    """The API that the runner names, with the token for this purpose."""
    variable = "CI_API_V4_URL" if host == "gitlab" else "GITHUB_API_URL"
    address = environ.get(variable, "")
    if not ADDRESS.fullmatch(address):
        raise unusable(variable, address)
    check_encrypted(address, f"the token of {purpose.variable} or GITHUB_TOKEN")
    named = environ.get("JPO_COMMENT_CA_FILE") or (environ.get("CI_SERVER_TLS_CA_FILE") if host == "gitlab" else None)
    token = _token_of(environ, host, purpose)
    return HostAccess(purpose, host, address.rstrip("/"), project, token, Path(named) if named else None)


def _token_of(environ: Mapping[str, str], host: Literal["gitlab", "github"], purpose: Purpose) -> str:
    """The token of the environment, or of the file that it names; CodeHostError JPO-E901 where there is none."""
    token = environ.get(purpose.variable, "").strip()
    if not token and (file := environ.get(f"{purpose.variable}_FILE")):
        try:
            token = soon_read(Path(file), LARGEST_TOKEN_BYTES, seconds=TOKEN_SECONDS).decode().strip()
        except (OSError, ValueError) as error:
            finding = f"cannot be read ({type(error).__name__})"
            raise CodeHostError(f"{purpose.variable}_FILE", finding, "check its path and mode", code="JPO-E901") from error
    if not token and host == "github":
        token = environ.get("GITHUB_TOKEN", "").strip()
    if not TOKEN.fullmatch(token):
        finding = "has blanks or signs that no token has" if token else "no token to write with"
        raise CodeHostError(purpose.variable, finding, purpose.remedies[host, NO_TOKEN], code="JPO-E901")
    return token


def unusable(variable: str, text: str) -> CodeHostError:
    finding = f"{without_credentials(text)!r:.80} is not what a runner says there" if text else "is not set"
    return CodeHostError(variable, finding, "leave the runner's own variables as they are", code="JPO-E907")
