"""The optional packages of fits: imported where they are used, named where they are absent. A fitted model needs none of them."""

from importlib.util import find_spec

from jpo.errors import UsageError


def need(what: str, *packages: str) -> None:
    """Raise UsageError JPO-E733 for a package that is not installed, with the command that installs it."""
    for package in packages:
        spec = find_spec(package)
        if spec is None or spec.origin is None:  # a folder of that name in the current directory is no package
            remedy = 'pip install "jpo[phases,learn]"' if package == "torch" else 'pip install "jpo[phases]"'
            raise UsageError("jpo phases", f"{what} needs {package}, which is not installed", remedy, code="JPO-E733")
