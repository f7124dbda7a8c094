"""The file that a name means. Links are followed inside of the project; one that leads out of it is not written through.

Whoever may change a branch may commit a link. Without this rule, what JPO writes would land wherever that link points.
"""

import errno
import os
import re
from pathlib import Path

OPEN_FILES = re.compile(r"/dev/(stdout|stderr|fd/\d+)|/proc/self/fd/\d+")
"""Names of what is open already, for whose place whoever opened it has answered."""


def followed(path: Path) -> Path:
    """The file itself, which need not exist, with all links on the way followed.

    Raises OSError: ELOOP, or EPERM where a link leads out of the project; its `strerror` says where to.
    """
    target, project = Path(os.path.realpath(path)), project_of(path)
    if target.is_symlink():  # realpath gives up on a circle of links
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    if not target.is_relative_to(project):
        finding = f"a link leads to {target}, out of the project {project}"
        raise PermissionError(errno.EPERM, finding, str(path))
    return target


def within_project(path: Path) -> str:
    """The name of a file within its project, which tells several files of one workload apart wherever the checkout lies."""
    return os.path.relpath(os.path.realpath(path), project_of(path))


def is_open_already(path: Path) -> bool:
    """Whether a name is one of what this process was started with, e.g. /dev/stdout."""
    return bool(OPEN_FILES.fullmatch(str(path)))


def project_of(path: Path) -> Path:
    """The folder that holds all that belongs together: the repository, else where JPO was started, else the file's folder.

    Found by the name as it was given, before links are followed, and the outermost repository counts: so no link inside of the
    project can choose another one.
    """
    named, here = Path(os.path.abspath(path)), Path.cwd()  # noqa: PTH100 - absolute() would keep ".."
    repositories = [folder for folder in named.parents if (folder / ".git").exists()]
    if repositories:
        return repositories[-1].resolve()
    started_here = named.is_relative_to(here) and here != Path(here.anchor)
    return (here if started_here else named.parent).resolve()
