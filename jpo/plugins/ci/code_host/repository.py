"""The repository to which this pipeline belongs, as far as JPO writes there; from the environment, as for notes.

Values are proposed to the default branch, by a pipeline of it: whose suggestion has been tried there, or will be.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from jpo.errors import CodeHostError, UsageError
from jpo.inventory.caller import author_of
from jpo.plugins.ci.code_host.merge_request import NO_TOKEN, NUMBER, REPOSITORY, HostAccess, Purpose, access_of, unusable
from jpo.project.checkout.branch import default_on_github

COMMIT_LENGTHS = (40, 64)
"""Hexadecimal digits of a commit in repositories with SHA-1 and SHA-256."""
PROPOSAL = Purpose(
    "the proposal",
    "branch, file or merge request",
    "JPO_PERSIST_TOKEN",
    {
        ("gitlab", NO_TOKEN): "set the masked, protected CI/CD variable JPO_PERSIST_TOKEN to a project access token with the "
        "scope api and the role Developer; a job token cannot",
        ("github", NO_TOKEN): "give the action its input token, or a step env GITHUB_TOKEN: ${{ github.token }}, with "
        "permissions: contents: write and pull-requests: write",
        ("gitlab", 401): "set JPO_PERSIST_TOKEN to a project access token that has not expired, with the scope api",
        ("github", 401): "pass the job's own: env GITHUB_TOKEN: ${{ github.token }}",
        ("gitlab", 403): "the token needs the scope api and the role Developer; do protected branches include jpo/*?",
        ("github", 403): "the job needs permissions: contents: write and pull-requests: write, and the repository's Actions "
        "settings must allow workflows to create pull requests",
    },
)


@dataclass(frozen=True, slots=True)
class Repository:
    """A project of GitLab, or a repository of GitHub.

    Attributes:
        target: the default branch, to which values are proposed.
        commit: which this pipeline has checked out.
        root: the folder of the checkout.
    """

    access: HostAccess
    target: str
    commit: str
    root: Path

    def path_of(self, config: Path) -> str:
        """The name of a config.ini in the repository; UsageError JPO-E907 for one outside of it."""
        file, root = Path(os.path.realpath(config)), Path(os.path.realpath(self.root))
        if not file.is_relative_to(root):
            raise UsageError(str(config), f"is outside of the checkout {root}", "name a file of the checkout", code="JPO-E907")
        return file.relative_to(root).as_posix()


def repository_of(environ: Mapping[str, str]) -> Repository | str:
    """The repository of this pipeline; or why none of its values are to be proposed, in words.

    Raises UsageError: JPO-E907, this is no pipeline of GitLab or GitHub; JPO-E323, the token would travel unencrypted.
    CodeHostError: JPO-E901, there is no token; JPO-E907, the runner's own words cannot be used.
    """
    host = author_of(environ)["where"]
    if host == "gitlab":
        branch, default = environ.get("CI_COMMIT_BRANCH", ""), environ.get("CI_DEFAULT_BRANCH", "")
        names = ("CI_PROJECT_ID", "CI_COMMIT_SHA", "CI_PROJECT_DIR")
    elif host == "github":
        branch, default = environ.get("GITHUB_REF", ""), default_on_github(environ)
        branch = branch.removeprefix("refs/heads/") if branch.startswith("refs/heads/") else ""
        names = ("GITHUB_REPOSITORY", "GITHUB_SHA", "GITHUB_WORKSPACE")
    else:
        finding = "this is not a pipeline of GitLab or GitHub, which would name the repository"
        raise UsageError("jpo persist", finding, "run it there, or see the text with --dry-run", code="JPO-E907")
    if not branch:
        return "this pipeline is of a merge request or tag: values are proposed by those of the default branch"
    if branch != default:
        return "this pipeline is not known to be of the default branch, whose pipelines propose values"
    project, commit, root = (environ.get(name, "") for name in names)
    if not (NUMBER if host == "gitlab" else REPOSITORY).fullmatch(project):
        raise unusable(names[0], project)
    if len(commit) not in COMMIT_LENGTHS or set(commit) - set("0123456789abcdef"):
        raise unusable(names[1], commit)
    if not Path(root).is_absolute():
        raise unusable(names[2], root)
    access = access_of(environ, "gitlab" if host == "gitlab" else "github", project, PROPOSAL)
    return Repository(access, branch, commit, Path(root))


def encoded(text: str) -> str:
    """A branch or path as one part of an address."""
    return quote(text, safe="")


def strange(path: str, than: str = "was asked for") -> CodeHostError:
    return CodeHostError(path, f"answered with something else than {than}", "is this the address of the API?", code="JPO-E906")
