"""The root of the project: the folder of jpo.toml, which may lie above config.ini, else that of the repository.

There lies the history, though config.ini lies in a folder of it: a pipeline's cache keeps one place, and every command finds it.
A history that an earlier version of JPO left beside config.ini goes on being used where it is, until someone moves it.
"""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from jpo.records import Note, advice
from jpo.wording.printable import printable

BESIDE = "JPO-W860"


def folders_up(folder: Path) -> Iterator[Path]:
    """A folder and those above it, up to the repository's own; the folder alone where it is in no repository.

    A repository is believed in where it belongs to whom JPO runs as, or to the folder's owner: in a folder that all may write to,
    as /tmp, anybody could place one, and a jpo.toml with a command next to it.
    """
    repository = repository_of(folder)
    yield folder
    if repository is None:
        return
    named = Path(os.path.abspath(folder))  # noqa: PTH100 - absolute() would keep ".."
    for above in named.parents if named != repository else ():
        yield above if folder.is_absolute() else Path(os.path.relpath(above))
        if above == repository:
            return


def repository_of(folder: Path) -> Path | None:
    """The nearest folder with a .git; None where there is none, or it is somebody else's."""
    named = Path(os.path.abspath(folder))  # noqa: PTH100
    for above in (named, *named.parents):
        try:
            owner = (above / ".git").stat().st_uid
        except OSError:
            continue
        owners = {os.geteuid(), owner_of(named)}
        return above if owner in owners and owner_of(above) in owners else None
    return None


def owner_of(folder: Path) -> int | None:
    try:
        return folder.stat().st_uid
    except OSError:  # the command that reads config.ini says that it is not there
        return None


def about_its_place(beside: Path | None, root: Path | None) -> tuple[Note, ...]:
    """That the history is beside config.ini and not at the root, and how it is moved."""
    if beside is None or root is None:
        return ()
    said = f"The history {printable(str(beside))} is next to config.ini, where an earlier JPO made it, and stays in use"
    if root.exists():
        why = f"{printable(str(root))} at the project's root is another one; its runs do not count here"
        return (advice(BESIDE, f"{said}: {why}", "move away the one that is not wanted"),)
    target = shlex.quote(str(root.parent))
    move = printable(f"mkdir -p -- {target} && mv -- {shlex.quote(str(beside))}* {target}/")
    return (advice(BESIDE, said, f"to have it at the project's root, where caches of pipelines keep it: {move}"),)
