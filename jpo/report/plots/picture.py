"""Picture: what every plot needs to be drawn and kept."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from jpo.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS = (".png", ".svg")


def can_plot(file: Path) -> None:
    """Find out before a long simulation that the picture could not be drawn or kept."""
    if file.suffix.lower() not in FORMS:
        raise UsageError("--plot", f"{file} is neither .png nor .svg", "name e.g. --plot fleet.png", code="JPO-E712")
    if find_spec("matplotlib") is None:
        raise UsageError("--plot", "needs matplotlib, which is not installed", 'pip install "jpo[simulate]"', code="JPO-E713")


def save(figure: Figure, file: Path) -> None:
    """Write a figure as PNG or SVG, 150 dots per inch. The same figure gives the same bytes.

    Raises:
        UsageError: JPO-E307, the file cannot be written.
    """
    from matplotlib import rc_context

    try:
        with rc_context({"svg.hashsalt": "jpo"}):
            figure.savefig(file, dpi=150, metadata={"Date": None} if file.suffix.lower() == ".svg" else None)
    except OSError as error:
        finding = f"cannot be written ({error.strerror})"
        raise UsageError(str(file), finding, "name another --plot", code="JPO-E307") from error
