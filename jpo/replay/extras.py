"""Packages that only a replay needs: imported where they are used, asked for before anything is computed."""

from __future__ import annotations

from importlib.util import find_spec

from jpo.errors import UsageError


def need(what: str, *packages: str) -> None:
    """Raise JPO-E703 with the command that installs them if packages are missing."""
    missing = [package for package in packages if not is_installed(package)]
    if missing:
        extras = "replay,learn" if "torch" in missing else "replay"
        remedy = f'pip install "jpo[{extras}]"' if missing != ["ray"] else "pip install ray, or use --backend loky"
        raise UsageError("jpo replay", f"{what} needs {', '.join(missing)}, which is not installed", remedy, code="JPO-E703")


def is_installed(package: str) -> bool:
    """A folder of that name where one happens to be is no package."""
    found = find_spec(package)
    return found is not None and found.origin is not None
