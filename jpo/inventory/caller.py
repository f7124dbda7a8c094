"""The caller: who asks JPO to do something, where, and with which versions. Every record of the audit log names it.

Only the variables named here are read, and none of them holds a secret. Whoever starts the process can set them, so they are
hints for people who ask around, never grounds for trust.
"""

import os
import pwd
import re
import sys
from collections.abc import Mapping

from jpo.version import __version__

LONGEST = 200
"""Characters of one value; anyone may name a branch."""

TRUE = ("true", "True", "1")

GITHUB = {
    "repository": "GITHUB_REPOSITORY",
    "pipeline": "GITHUB_WORKFLOW",
    "job": "GITHUB_JOB",
    "run": "GITHUB_RUN_ID",
    "commit": "GITHUB_SHA",
    "ref": "GITHUB_REF",
    "user": "GITHUB_ACTOR",
}
GITLAB = {
    "repository": "CI_PROJECT_PATH",
    "pipeline": "CI_PIPELINE_ID",
    "pipeline_url": "CI_PIPELINE_URL",
    "job": "CI_JOB_NAME",
    "run": "CI_JOB_ID",
    "url": "CI_JOB_URL",
    "commit": "CI_COMMIT_SHA",
    "ref": "CI_COMMIT_REF_NAME",
    "user": "GITLAB_USER_LOGIN",
}
JENKINS = {
    "job": "JOB_NAME",
    "run": "BUILD_NUMBER",
    "url": "BUILD_URL",
    "commit": "GIT_COMMIT",
    "ref": "GIT_BRANCH",
    "user": "BUILD_USER_ID",
}
"""What an audit record calls it -> the variable that says it."""


def author_of(environ: Mapping[str, str]) -> dict[str, str]:
    """Who and where, as far as that is known.

    Returns:
        `where` ("github", "gitlab", "jenkins", "ci" or "local"), `user`, `host`, the versions `jpo` and `python`; in a pipeline
        also `repository`, `pipeline`, `job`, `run`, `url`, `commit` and `ref`. What is not known is absent.
    """
    where, variables = _system(environ)
    said = {name: environ.get(variable, "") for name, variable in variables.items()}
    if where == "github" and said["repository"] and said["run"]:
        server = environ.get("GITHUB_SERVER_URL", "https://github.com")
        said["url"] = f"{server}/{said['repository']}/actions/runs/{said['run']}"
    python = ".".join(map(str, sys.version_info[:3]))
    process = {"user": _user(), "host": os.uname().nodename, "jpo": __version__, "python": python}
    lines = {name: "".join(filter(str.isprintable, text)) for name, text in said.items()}
    safe = {name: re.sub(r"//[^/]*@", "//", line)[:LONGEST] for name, line in lines.items()}  # some put a password into a URL
    return {"where": where, **process, **{name: text for name, text in safe.items() if text}}


def _system(environ: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    """Which pipeline this is, and its variables."""
    if environ.get("GITHUB_ACTIONS") in TRUE:
        return "github", GITHUB
    if environ.get("GITLAB_CI") in TRUE:
        return "gitlab", GITLAB
    if environ.get("JENKINS_URL"):
        return "jenkins", JENKINS
    return ("ci" if environ.get("CI") in TRUE else "local"), {}


def _user() -> str:
    """The account that runs this process; its number where it has no name, as in many containers."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
