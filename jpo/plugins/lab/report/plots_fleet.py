"""A simulated fleet as a picture: what each run cost and took, in multiples of the unchanged configuration."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jpo.plugins.lab.fleet import Fleet, ratios
from jpo.report.forms.colours import LIGHT
from jpo.report.plots.picture import dress, save

HIGHEST = 5.0
"""Where the picture ends: one workload that got much worse must not hide the others."""
PANELS = {"cost_usd": "cost of a run", "duration_seconds": "time of a run"}


def plot(fleet: Fleet, file: Path) -> None:
    """Draw median and quartiles over the workloads against the number of the run.

    Raises UsageError: JPO-E307, the file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.8), layout="constrained")
    runs, highest = np.arange(1, fleet.runs + 1), 1.0
    panels = figure.subplots(1, len(PANELS), sharey=True)
    for axes, (name, title) in zip(panels, PANELS.items(), strict=True):
        low, middle, high = np.nanquantile(ratios(fleet, name), (0.25, 0.5, 0.75), axis=0)
        axes.axhline(1, color=LIGHT["dim"], linewidth=1, linestyle="--", label="unchanged")
        axes.fill_between(runs, low, high, color=LIGHT["accent"], alpha=0.25, linewidth=0, label="quartiles")
        axes.plot(runs, middle, color=LIGHT["accent"], linewidth=2, label="with JPO, median")
        axes.set(title=title, xlabel="run", xlim=(1, max(fleet.runs, 2)))
        axes.xaxis.get_major_locator().set_params(integer=True)
        dress(axes)
        highest = max(highest, float(np.nanmax(high)))
    panels[0].set_ylim(0, 1.08 * min(highest, HIGHEST))
    panels[0].set_ylabel("in multiples of unchanged")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle(
        f"{len(fleet.lanes)} simulated workloads; a failed run counts what it took and one unchanged run", fontsize=10
    )
    save(figure, file)
