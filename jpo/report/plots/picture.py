"""Pictures of plugins that matplotlib draws itself: dressed like the charts of a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jpo.files import whole
from jpo.report.forms.colours import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def dress(axes: Axes) -> None:
    """Axes as on a page: lines at the numbers of the vertical one, and no frame."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(LIGHT["line"])
    axes.grid(axis="y", color=LIGHT["line"], linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", color=LIGHT["line"], labelcolor=LIGHT["dim"])


def save(figure: Figure, file: Path) -> None:
    """Write a figure as PNG or SVG, 150 dots per inch. The same figure gives the same bytes.

    Raises UsageError: JPO-E307, the file cannot be written.
    """
    from matplotlib import rc_context

    form = file.suffix.lower().removeprefix(".")
    with whole(file, remedy="name another --plot") as new, rc_context({"svg.hashsalt": "jpo"}):
        figure.savefig(new, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)
