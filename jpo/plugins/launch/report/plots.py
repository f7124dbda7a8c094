"""The loop of `jpo optimize` as a picture: how long every run took, one panel per job, with the baseline's mean."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from jpo.errors import UsageError
from jpo.plugins.launch.report.optimize.record import LoopRun, OptimizedJob
from jpo.report.forms.colours import LIGHT
from jpo.report.plots.picture import dress, save
from jpo.wording import numbers
from jpo.wording.printable import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TINTS = {"baseline": LIGHT["dim"], "well": LIGHT["accent"], "stopped": LIGHT["warning"], "failed": LIGHT["bad"]}


def plot(results: Sequence[OptimizedJob], file: Path) -> None:
    """Draw the durations of all runs; UsageError JPO-E789: no run measured any, JPO-E307: the file cannot be written."""
    from matplotlib.figure import Figure

    jobs = [job for job in results if any(each.value("duration_seconds") for each in job.runs)]
    if not jobs:
        raise UsageError("--plot", "no run measured how long it took", "see `jpo history` for what is known", code="JPO-E789")
    figure = Figure(figsize=(8, 0.6 + 2.6 * len(jobs)), layout="constrained")
    for axes, job in zip(figure.subplots(len(jobs), squeeze=False)[:, 0], jobs, strict=True):
        _draw(job, axes)
    save(figure, file)


def _draw(job: OptimizedJob, axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter

    shown = [(number, each, seconds) for number, each in enumerate(job.runs, 1) if (seconds := each.value("duration_seconds"))]
    for kind, tint in TINTS.items():
        some = [(number, seconds) for number, each, seconds in shown if kind_of(each) == kind]
        if some:
            axes.plot(*zip(*some, strict=True), "o", color=tint, label=kind if kind != "well" else "with JPO's values")
    before = [seconds for _, each, seconds in shown if each.baseline and each.ended_well]
    if before:
        axes.axhline(fmean(before), color=TINTS["baseline"], linewidth=1, linestyle="--")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda seconds, _: numbers.duration(max(0.0, seconds))))
    axes.set_xticks([number for number, *_ in shown])
    axes.set_xlabel("run")
    dress(axes)
    title = printable(f"{job.identity}: time per run, the baseline's mean dashed")
    axes.set_title(title, fontsize=9, loc="left", parse_math=False)
    axes.legend(fontsize=8, frameon=False)


def kind_of(each: LoopRun) -> str:
    """How a run is shown, one of TINTS."""
    if each.ended_well:
        return "baseline" if each.baseline else "well"
    return "stopped" if each.run is not None and each.run.status.value == "stopped" else "failed"
