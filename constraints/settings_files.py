"""Files by whose limits jpo goes: [tool.jpo] of the nearest pyproject.toml, and jpo.toml over it, from config.ini upwards.

Independent of jpo's own search on purpose; tests hold the two against each other. What the environment or a command line sets is
not seen: the second look judges by what is in files.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from constraints.inifile import read_bytes
from constraints.unknown import table_of

MOST_STEPS = 2e7  # of tomllib: about a second
PYPROJECT = "pyproject.toml"
NAMES = re.compile(r"""\((?=['"]).*['"],?\)|(?<=key )['"].*['"]""", re.DOTALL)  # what tomllib repeats of a text

Tables = dict[str, object]


def files_for(config: Path, given: Sequence[Path] = ()) -> list[Path]:
    """The files that `jpo suggest config.ini` reads its limits from, the strongest last.

    Args:
        given: instead of the jpo.toml that would be found, as with `jpo suggest --config`.
    """
    above = list(folders_up(config.parent))
    found = (folder / "jpo.toml" for folder in (*above, Path()))
    own = list(given) or [path for path in found if os.path.lexists(path)][:1]
    folder = own[-1].parent if own else above[-1]
    reach = above[: above.index(folder) + 1] if folder in above else above[:1]
    candidates = (each / PYPROJECT for each in reach)
    below = [path for path in candidates if os.path.lexists(path) and read_tables(path) is not None][:1]
    return below + own


def folders_up(folder: Path) -> Iterator[Path]:
    """A folder and those above it, up to the repository's own; the folder alone where it is in no repository, or in one of
    somebody else's: anybody could place one in /tmp, with limits next to it."""
    named = Path(os.path.abspath(folder))  # noqa: PTH100 - absolute() would keep ".."
    repository = next((above for above in (named, *named.parents) if os.path.exists(above / ".git")), None)  # noqa: PTH110
    yield folder
    if repository is None or repository == named or not _ours(repository, named):
        return
    for above in named.parents:
        yield above if folder.is_absolute() else Path(os.path.relpath(above))
        if above == repository:
            return


def _ours(repository: Path, folder: Path) -> bool:
    """Whether a repository belongs to whom this runs as, or to the folder's owner."""
    try:
        owners = {os.geteuid(), folder.stat().st_uid}
        return {repository.stat().st_uid, (repository / ".git").stat().st_uid} <= owners
    except OSError:
        return False


def tables_of(files: Sequence[Path]) -> Tables:
    """The tables of these files laid over each other, key by key; later ones win.

    Raises:
        ValueError: one of them is not TOML; one line with its name.
    """
    tables: Tables = {}
    for path in files:
        try:
            _lay_over(tables, read_tables(path) or {})
        except RecursionError as error:
            raise ValueError(f"{path}: contains tables of too many parts; see https://toml.io") from error
    return tables


def _lay_over(under: Tables, over: Mapping[str, object]) -> None:
    for name, value in over.items():
        if isinstance(value, Mapping):
            below = under.get(name)
            inner: Tables = dict(below) if isinstance(below, Mapping) else {}
            _lay_over(inner, value)
            under[name] = inner
        else:
            under[name] = value


def read_tables(path: Path) -> Mapping[str, object] | None:
    """The tables of a jpo.toml, or of [tool.jpo] in a pyproject.toml; None where that has none.

    Raises:
        ValueError: the file cannot be read, or is not TOML.
    """
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
        _refuse_endless_keys(text)
        tables: Mapping[str, object] = tomllib.loads(text)
        if path.name != PYPROJECT:
            return tables
        tools = table_of(tables, "tool")
        if other := next((name for name in tools if name != "jpo" and name.lower() == "jpo"), None):
            raise ValueError(f"[tool.{other}]: would be passed over with its limits; write [tool.jpo]")
        own = tools.get("jpo")
        return None if own is None else table_of({"tool.jpo": own}, "tool.jpo")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"{path}: is not TOML ({NAMES.sub('a name', str(error))}); see https://toml.io") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: is not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _refuse_endless_keys(text: str) -> None:
    """Raise ValueError for dotted keys on which tomllib, quadratic in their parts, would spend minutes."""
    head = steps = 0
    for at, line in enumerate(text.split("\n"), start=1):
        dots = line.count(".")
        head = dots if line.lstrip().startswith("[") else head
        steps += (head + dots + 1) * (dots + 1)
        if steps > MOST_STEPS:
            raise ValueError(f"contains names with too many parts (line {at} has {dots} dots); see https://toml.io")
