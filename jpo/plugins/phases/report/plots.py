"""Phases as pictures: each resource over bars of its phases, and what each phase uses as box plots."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jpo.plugins.phases.chain import Ints, entries
from jpo.plugins.phases.table import in_units
from jpo.plugins.phases.traces import Traces
from jpo.report.plots.picture import dress, save
from jpo.wording.printable import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALETTES = ("tab10", "Set2", "viridis", "cividis", "gray")
"""Of matplotlib; the last three read in print or with any eyes."""
MOST_ROWS = 12
UNITS = {"cpu_cores": "CPU (cores)", "memory_bytes": "memory (GiB)", "gpu_memory_bytes": "GPU memory (GiB)"}


def plot_resources(traces: Traces, phases: Ints, k: int, palette: str, file: Path) -> None:
    """Draw each execution, MOST_ROWS at most: a row for each, a panel for each feature, the phases behind it.

    Raises UsageError: JPO-E307, the file cannot be written.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    colours = _colours(palette, k)
    shown = traces.executions[:MOST_ROWS]
    figure = Figure(figsize=(5.5 * len(traces.features), 0.8 + 1.7 * len(shown)), layout="constrained")
    panels = figure.subplots(len(shown), len(traces.features), squeeze=False)
    for row, execution, own in zip(panels, shown, traces.split(phases), strict=False):
        minutes = (execution.times - execution.times[0]) / 60
        edges = [*entries(own), len(own) - 1]
        for axes, feature, values in zip(row, traces.features, execution.values.T, strict=True):
            for start, end in itertools.pairwise(edges):
                axes.axvspan(minutes[start], minutes[end], color=colours[own[start]], alpha=0.35, linewidth=0)
            axes.plot(minutes, [in_units(feature, value) for value in values], color="0.15", linewidth=1)
            axes.set_xlim(0, max(minutes[-1], 1e-9))
            axes.set_ylim(bottom=0)
            _plain(axes, printable(execution.name), UNITS.get(feature, printable(feature)))
    for axes in panels[-1]:
        axes.set_xlabel("minutes")
    handles = [Patch(color=colours[phase], label=f"phase {phase}", alpha=0.6) for phase in range(k)]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(k, 10), frameon=False)
    save(figure, file)


def plot_variance(traces: Traces, phases: Ints, k: int, palette: str, file: Path) -> None:
    """Draw how much the samples of each phase differ, per feature, and how frequent each phase is.

    Raises UsageError: JPO-E307, the file cannot be written.
    """
    from matplotlib.figure import Figure

    colours, values = _colours(palette, k), traces.stacked()
    figure = Figure(figsize=(4.2 * (len(traces.features) + 1), 3.6), layout="constrained")
    *boxes, last = figure.subplots(1, len(traces.features) + 1)
    for axes, feature, used in zip(boxes, traces.features, values.T, strict=True):
        groups = [[in_units(feature, value) for value in used[phases == phase]] for phase in range(k)]
        drawn = axes.boxplot(groups, positions=range(k), patch_artist=True, flierprops={"markersize": 2})
        for box, colour in zip(drawn["boxes"], colours, strict=True):
            box.set(facecolor=colour, alpha=0.6)
        _plain(axes, "", UNITS.get(feature, printable(feature)))
        axes.set_xlabel("phase")
    last.bar(range(k), np.bincount(phases, minlength=k) / len(phases), color=colours)
    _plain(last, "", "share of the samples")
    last.set_xlabel("phase")
    save(figure, file)


def _colours(palette: str, k: int) -> Sequence[tuple[float, float, float, float]]:
    from matplotlib import colormaps

    colours = colormaps[palette]
    if palette in ("tab10", "Set2"):
        return [colours(phase % colours.N) for phase in range(k)]
    return [colours(place) for place in np.linspace(0.1, 0.95, k)]


def _plain(axes: Axes, title: str, label: str) -> None:
    axes.set_ylabel(label)
    axes.set_title(title, fontsize=9, loc="left", parse_math=False)
    dress(axes)
