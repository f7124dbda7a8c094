"""The branch of a pipeline: all branches read the shared history; the default one explores, and those that are told to.

The variables are hints, as in caller.py: where they do not say which branch is the default one, `explore` applies as it is set.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from jpo.errors import UsageError
from jpo.files.reading import contents, json_object
from jpo.inventory.caller import LONGEST, TRUE
from jpo.records import Note
from jpo.wording.printable import printable

if TYPE_CHECKING:
    from jpo.agent.budget import Explore
    from jpo.project.load import LoadedSettings

LARGEST_EVENT = 8 << 20
"""Bytes of what GitHub says of the event; its own limit is 25 MiB, of events with thousands of commits."""
SIDE_BRANCH = "JPO-I858"


def side_branch_of(environ: Mapping[str, str]) -> str:
    """The branch, tag or merge request of a pipeline, where that is known to be another than the default branch; else ""."""
    here, default = "", ""
    if environ.get("GITHUB_ACTIONS") in TRUE:
        here = environ.get("GITHUB_REF", "")
        default = f"refs/heads/{name}" if (name := default_on_github(environ)) else ""
    elif environ.get("GITLAB_CI") in TRUE:
        merging = environ.get("CI_MERGE_REQUEST_REF_PATH", "")
        here, default = merging or environ.get("CI_COMMIT_REF_NAME", ""), environ.get("CI_DEFAULT_BRANCH", "")
        if environ.get("CI_COMMIT_TAG"):
            here = f"refs/tags/{environ['CI_COMMIT_TAG']}"
    elif environ.get("JENKINS_URL") and environ.get("BRANCH_NAME"):  # of a multibranch pipeline, which marks its primary branch
        here = "" if environ.get("BRANCH_IS_PRIMARY") in TRUE else environ["BRANCH_NAME"]
        return here[:LONGEST]
    return here.removeprefix("refs/heads/")[:LONGEST] if here and default and here != default else ""


def default_on_github(environ: Mapping[str, str]) -> str:
    """The default branch, of the file in which the runner says what happened; "" where it does not."""
    if environ.get("GITHUB_EVENT_NAME") == "schedule":
        return environ.get("GITHUB_REF_NAME", "")  # GitHub runs schedules on the default branch alone
    path = Path(environ.get("GITHUB_EVENT_PATH", ""))
    try:
        said = json_object(contents(path, LARGEST_EVENT, lambda finding: UsageError(str(path), finding, code="JPO-E309")))
    except (UsageError, ValueError):  # it says nothing that can be read
        return ""
    repository = said.get("repository")
    name = repository.get("default_branch") if isinstance(repository, Mapping) else None
    return name if isinstance(name, str) else ""


def explore_here(settings: "LoadedSettings") -> "Explore":
    """How bold to be: as it is set, and not at all on a branch that was not told to."""
    return "off" if kept_from_exploring(settings) else settings.values.agent.explore


def kept_from_exploring(settings: "LoadedSettings") -> tuple[Note, ...]:
    """That nothing new is tried on this branch; empty where `explore` applies as it is set."""
    agent, branch = settings.values.agent, settings.side_branch
    asked = settings.said_by("agent.explore") in ("command line", "environment")
    if not branch or asked or agent.explore == "off" or any(fnmatchcase(branch, form) for form in agent.explore_branches):
        return ()
    why = f"Nothing new is tried on {printable(branch)}, which is not the default branch"
    return (Note(SIDE_BRANCH, f"{why}: [agent] explore_branches, or --explore, allows it"),)
