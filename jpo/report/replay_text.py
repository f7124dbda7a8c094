"""The result for people: a table for each objective, policies as rows, horizons as columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from jpo.replay.contest import Contest, Result
from jpo.replay.metrics import HARM_RUNS, Estimate, Score

LEGEND = (
    "N = ...: cost of the first N runs / expected cost of N runs of the best configuration, ± standard error; 1 is perfect. "
    "per model: cost of {last} runs / models delivered. stopped: share of runs ended at twice the cheapest so far. "
    "harm: share of replays more than 5% above never changing anything after {harm} runs."
)


def render(contest: Contest, result: Result, notes: Sequence[str], *, width: int, colour: bool, workloads: bool = False) -> str:
    """The tables as text, `width` columns wide; with `workloads`, one for each workload too."""
    file = StringIO()
    console = Console(file=file, width=width, force_terminal=colour, no_color=not colour, highlight=False, legacy_windows=False)
    console.print(Text(head(contest)))
    for objective, standings in result.items():
        if len(contest.traces) > 1:
            overall = {policy: standing.overall for policy, standing in standings.items()}
            _show(console, f"{objective}, {len(contest.traces)} workloads", overall, contest)
        for trace in contest.traces if workloads or len(contest.traces) == 1 else ():
            scores = {policy: standing.by_workload[trace.name] for policy, standing in standings.items()}
            _show(console, f"{objective}, {trace.name}", scores, contest)
    console.print()
    console.print(Text(LEGEND.format(last=contest.runs, harm=min(HARM_RUNS, contest.runs)), style="dim"))
    for note in notes:
        console.print(Text(f"Note: {note}", style="yellow"))
    return "\n".join(line.rstrip() for line in file.getvalue().split("\n"))


def _show(console: Console, title: str, scores: Mapping[str, Score], contest: Contest) -> None:
    """A table; where the terminal is too narrow for it, with the errors on lines of their own."""
    shown = table(scores, contest)
    if console.measure(shown, options=console.options.update(width=1000)).maximum > console.width:
        shown = table(scores, contest, narrow=True)
    console.print()
    console.print(Text(title, style="bold"))
    console.print(shown)


def head(contest: Contest) -> str:
    count, seeds = len(contest.traces), contest.seeds
    workloads = "1 recorded workload" if count == 1 else f"{count} recorded workloads"
    return f"{workloads}, {seeds} replay{'' if seeds == 1 else 's'} of {contest.runs} runs for each policy; run 1 is the default"


def table(scores: Mapping[str, Score], contest: Contest, *, narrow: bool = False) -> Table:
    """Rows in the order of the policies; the best of each column is bold."""
    rows = {policy: figures(score, contest.horizons) for policy, score in scores.items()}
    best = [min(column, key=lambda one: one.mean).mean for column in zip(*rows.values(), strict=True)]
    shown = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    shown.add_column("policy", no_wrap=True)
    for name in (*(f"N = {n}" for n in contest.horizons), "per model", "stopped", "harm"):
        shown.add_column(name, justify="right", no_wrap=True)
    for policy, row in rows.items():
        shares = [False] * (len(row) - 2) + [True, True]
        cells = [
            Text(cell(one, share=share).replace(" ±", "\n±" if narrow else " ±"), style="bold" if one.mean == least else "")
            for one, least, share in zip(row, best, shares, strict=True)
        ]
        shown.add_row(policy, *cells)
    return shown


def figures(score: Score, horizons: Sequence[int]) -> list[Estimate]:
    """What a row shows: the cumulative cost at each horizon, per model, stopped, harm."""
    return [*(score.curve[n - 1] for n in horizons), score.per_model, score.stopped, score.harm]


def cell(one: Estimate, *, share: bool) -> str:
    """1.37 ± 0.02; shares in percent; without the error where one replay cannot tell it."""
    if math.isinf(one.mean):
        return "none"
    factor, digits, unit = (100, 0, " %") if share else (1, 2, "")
    error = "" if math.isnan(one.error) else f" ± {factor * one.error:.{digits}f}"
    return f"{factor * one.mean:.{digits}f}{error}{unit}"
