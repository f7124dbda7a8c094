"""Picture: what every plot needs to be drawn and kept."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from jpo.errors import UsageError
from jpo.files import whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS = (".png", ".svg")
COLOURS = ("#0072B2", "#000000", "#999999", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C6D31")
"""Distinguishable also for colour-blind readers: Okabe, Ito, "Color Universal Design", 2008, with a grey and a brown."""


def can_plot(file: Path) -> None:
    """Find out before a long simulation that the picture could not be drawn or kept."""
    if file.suffix.lower() not in FORMS:
        raise UsageError("--plot", f"{file} is neither .png nor .svg", "name e.g. --plot fleet.png", code="JPO-E712")
    if find_spec("matplotlib") is None:
        raise UsageError("--plot", "needs matplotlib, which is not installed", 'pip install "jpo[simulate]"', code="JPO-E713")


def save(figure: Figure, file: Path) -> None:
    """Write a figure as PNG or SVG, 150 dots per inch. The same figure gives the same bytes.

    Raises UsageError: JPO-E307, the file cannot be written.
    """
    from matplotlib import rc_context

    form = file.suffix.lower().removeprefix(".")
    with whole(file, remedy="name another --plot") as new, rc_context({"svg.hashsalt": "jpo"}):
        figure.savefig(new, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)
