"""Optional packages of a replay: imported where they are used, checked before anything is computed."""

from importlib.util import find_spec

from jpo.errors import UsageError


def need(what: str, *packages: str) -> None:
    """Check that packages are installed; raises UsageError JPO-E703 with the command that installs them."""
    missing = [package for package in packages if not is_installed(package)]
    if missing:
        extras = "replay,learn" if "torch" in missing else "replay"
        finding = f"{what} needs {', '.join(missing)}, which is not installed"
        raise UsageError("jpo lab replay", finding, f'pip install "jpo[{extras}]"', code="JPO-E703")


def is_installed(package: str) -> bool:
    """Whether a package is installed; a folder of that name in the current directory is no package."""
    spec = find_spec(package)
    return spec is not None and spec.origin is not None
