"""The result as a picture: cumulative cost against runs, one line per policy with a band of one standard error."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from jpo.plugins.lab.replay.contest import Contest, Result
from jpo.plugins.lab.replay.extras import need
from jpo.plugins.lab.replay.metrics import Score
from jpo.report.forms.colours import SEVERAL
from jpo.report.plots.picture import dress, save
from jpo.wording.printable import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot(path: Path, contest: Contest, result: Result) -> None:
    """Write a PNG or SVG with one panel per objective.

    Raises UsageError: JPO-E703, matplotlib is missing; JPO-E307, the file cannot be written.
    """
    need("--plot", "matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.6 + 4.4 * len(result), 4.4), dpi=150, layout="constrained")
    panels = figure.subplots(1, len(result), squeeze=False)[0]
    for panel, (objective, standings) in zip(panels, result.items(), strict=True):
        _lines(panel, {policy: standing.overall for policy, standing in standings.items()})
        panel.set_title(objective)
        panel.set_xlabel("runs of the job")
    panels[0].set_ylabel("cost of all runs so far / of the best configuration")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    count = f"{len(contest.traces)} workloads" if len(contest.traces) > 1 else contest.traces[0].name
    title = f"jpo lab replay: {printable(count)}, {len(contest.seeds)} replays each"
    figure.suptitle(title, fontsize="medium", x=0.01, ha="left", parse_math=False)  # a name with $ is no formula
    save(figure, path)


def _lines(panel: Axes, scores: dict[str, Score]) -> None:
    """On a log axis, since costs are ratios: a line from run 1, where all are equal, to the last."""
    for (policy, score), colour in zip(scores.items(), cycle(SEVERAL), strict=False):
        runs = np.arange(1, len(score.curve) + 1)
        mean = np.array([estimate.mean for estimate in score.curve])
        error = np.nan_to_num([estimate.error for estimate in score.curve])
        panel.plot(runs, mean, color=colour, label=policy, linewidth=2.4 if policy == "jpo" else 1.4)
        panel.fill_between(runs, mean - error, mean + error, color=colour, alpha=0.18, linewidth=0)
    panel.axhline(1.0, color="#BBBBBB", linewidth=0.8, linestyle=":")
    panel.set_yscale("log")
    ticks = _ticks(*panel.get_ylim())
    panel.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.set_yticks([], minor=True)
    dress(panel)


def _ticks(low: float, high: float) -> list[float]:
    several = [1, 1.1, 1.2, 1.4, 1.7, 2, 2.5, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 500, 1000]
    inside = [tick for tick in several if low <= tick <= high]
    return inside if len(inside) <= 12 else inside[:: len(inside) // 8]
