"""Before and after JPO as a picture: the ratio of each quantity with its interval, around 1 = as before."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

from jpo.errors import UsageError
from jpo.report.before_after import WorkloadChange, label
from jpo.report.forms.colours import LIGHT
from jpo.report.plots.picture import dress, save
from jpo.wording import numbers
from jpo.wording.printable import printable

TINTS = {"better": LIGHT["good"], "worse": LIGHT["bad"], "no clear change": LIGHT["dim"]}

LETTERS = 70  # of a line of the title


def plot(workload: WorkloadChange, file: Path) -> None:
    """Draw the quantities for which an interval is stated.

    Raises UsageError: JPO-E852, there is none; else as picture.save.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, NullFormatter

    lines = [(line, line.change) for line in workload.lines if line.change and line.kind == "ratio"][::-1]
    if not lines:
        finding = f"too few runs of {workload.identity} before and after a change for any interval"
        raise UsageError("--plot", finding, "run the job some more times, or leave --plot out", code="JPO-E852")
    figure = Figure(figsize=(7, 1.4 + 0.45 * len(lines)), layout="constrained")
    axes = figure.subplots()
    axes.axvline(1, color=LIGHT["dim"], linewidth=1, linestyle="--")
    for height, (line, change) in enumerate(lines):
        tint = TINTS[line.word]
        axes.plot([change.low, change.high], [height, height], color=tint, linewidth=5, alpha=0.35, solid_capstyle="butt")
        axes.plot([change.mean], [height], "o", color=tint)
        axes.annotate(
            f"{numbers.change(change.mean)}, {line.word}",
            (change.high, height),
            (6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=tint,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},  # readable over the line at 1
        )
    axes.set_xscale("log")
    low, high = (edge(bound for _, change in lines for bound in (change.low, change.high, 1.0)) for edge in (min, max))
    axes.set(xlim=(low / 1.15, high * 1.15 * (high / low) ** 0.45), ylim=(-0.6, len(lines) - 0.4), xlabel="after / before")
    labels = [label(line) + ("\n(before: forecast)" if line.basis == "forecast" else "") for line, _ in lines]
    axes.set_yticks(range(len(lines)), labels)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}"))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}") if high / low < 12 else NullFormatter())
    axes.tick_params(axis="x", which="both", labelsize=8, length=4, pad=4)
    dress(axes)
    counted = f"{workload.before} runs before JPO's first change, {workload.after} after; 90% intervals"
    title = fill(f"{printable(str(workload.identity))}: {counted}", LETTERS)
    axes.set_title(title, fontsize=9, loc="left", parse_math=False)  # a name with $ is no formula
    save(figure, file)
