"""Files that are made where none is. What is there already is left alone, whatever it is and whoever made it meanwhile."""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jpo.errors import UsageError
from jpo.files import followed, whole
from jpo.files.reading import contents

LARGEST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to be made; `add`: what is to be added by hand where there is one; empty: nothing."""

    path: Path
    text: str
    add: str


def there_already(file: NewFile) -> bool:
    """Whether there is something of this name; a link that leads nowhere is something, too."""
    return os.path.lexists(file.path)


def is_the_same(file: NewFile) -> bool:
    """Whether what is there has this text."""
    refusal = partial(UsageError, str(file.path), code="JPO-E307")
    try:
        return contents(file.path, LARGEST_BYTES, refusal) == _bytes(file)
    except UsageError:
        return False


def refuse_unmakeable(file: NewFile) -> None:
    """Find out before anything is made that this one could not be.

    Raises UsageError: JPO-E307, a link leads out of the project, or its folder cannot be written.
    """
    try:
        folder = next(folder for folder in followed(file.path).parents if folder.exists())
    except OSError as error:
        raise _unmakeable(file, str(error.strerror)) from error
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise _unmakeable(file, f"no file can be made in {folder}")


def made(file: NewFile) -> bool:
    """Make the file, and the folders that it needs; False where somebody made one meanwhile.

    Raises UsageError: JPO-E307, it cannot be made.
    """
    refuse_unmakeable(file)
    try:
        followed(file.path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unmakeable(file, str(error.strerror)) from error
    try:
        with whole(file.path, over=False) as new:
            new.write(_bytes(file))
    except FileExistsError:
        return False
    return True


def _bytes(file: NewFile) -> bytes:
    return file.text.encode("utf-8", "replace")


def _unmakeable(file: NewFile, finding: str) -> UsageError:
    return UsageError(str(file.path), f"cannot be made ({finding})", "see --dry-run for its text", code="JPO-E307")
