"""Runs held against an SLA, and thresholds that could be promised, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from jpo.records import USD, Currency, Interval, SlaCheck
from jpo.report.page import blank_page, text_of
from jpo.wording import numbers
from jpo.wording.printable import printable

WORDS = {"ok": ("met", "green"), "broken": ("violated", "red"), "unknown": ("unknown", "dim"), "at risk": ("at risk", "yellow")}
"""Verdict -> its word for people, and its colour."""


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """A run and its promises, each with what was measured (None: nothing)."""

    run_id: str
    ending: str
    """How and when it ended, in words."""
    checks: Sequence[tuple[SlaCheck, float | None]]


@dataclass(frozen=True, slots=True)
class Tally:
    """In how many cases something was kept, of those in which it is known."""

    what: str
    kept: int
    known: int
    bounds: Interval | None = None
    """The share with its 90% interval, where that can be told."""


def checked_text(
    workload: str,
    checked: Sequence[CheckedRun],
    tallies: Sequence[Tally],
    notes: Iterable[str],
    *,
    runs: int,
    currency: Currency = USD,
    width: int,
    colour: bool,
) -> str:
    """A table for each checked run, one over all `runs` runs, and the verdict in one line."""
    parts: list[RenderableType] = [Text.assemble("Workload ", (printable(workload), "bold")), ""]
    for one in checked:
        parts += [Text.assemble("Run ", (printable(one.run_id), "bold"), f"   {one.ending}"), _promises(one, currency), ""]
    if runs:
        parts += [_compliance(tallies, runs), ""]
    parts += [Text(printable(f"Note: {note}"), style="yellow") for note in notes]
    return _laid_out([*parts, Text(verdict(checked), style="bold")], width, colour)


def verdict(checked: Sequence[CheckedRun]) -> str:
    """What came of it, in one line."""
    if not checked:
        return "no run on record: whether the SLA is kept is unknown"
    broken = [f"{one.run_id} ({', '.join(names)})" for one in checked if (names := list(_named(one, "broken")))]
    if broken:
        return printable(f"violated by {', '.join(broken)}")
    unknown = sum(len(list(_named(one, "unknown"))) for one in checked)
    targets = sum(len(one.checks) for one in checked)
    if unknown == targets:
        return "unknown: nothing was measured of what is promised"
    return "all promises met" if not unknown else f"no promise violated; {unknown} of {targets} unknown"


def tally(one: Tally) -> str:
    """6 of 7: 86%, with its interval."""
    if not one.known:
        return numbers.UNKNOWN
    told = f"{one.kept} of {one.known}: {numbers.percent(one.kept / one.known)}"
    return told if one.bounds is None else f"{told} ({numbers.percent(one.bounds.low)} to {numbers.percent(one.bounds.high)})"


def limit(name: str, value: float, currency: Currency) -> str:
    """What is promised, with its sign."""
    return f"{'≥' if '_min' in name else '≤'} {numbers.written(name, value, currency)}"


def _named(one: CheckedRun, verdict: str) -> Iterator[str]:
    return (check.name for check, _ in one.checks if check.verdict == verdict)


def _promises(one: CheckedRun, currency: Currency) -> Table:
    table = _table("promise", "limit", "measured", "")
    for check, value in one.checks:
        measured = numbers.UNKNOWN if value is None else numbers.written(check.name, value, currency)
        word, style = WORDS[check.verdict]
        table.add_row(check.name, limit(check.name, check.limit, currency), measured, Text(word, style=style))
    return table


def _compliance(tallies: Sequence[Tally], runs: int) -> Table:
    table = _table(f"of {runs} run{'' if runs == 1 else 's'}", "kept, where known (90% interval)")
    for one in tallies:
        table.add_row(one.what, tally(one))
    return table


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 2))
    for name in names:
        table.add_column(name, overflow="fold")
    return table


def _laid_out(parts: Iterable[RenderableType], width: int, colour: bool) -> str:
    console = blank_page(width, colour=colour)
    for part in parts:
        console.print(part)
    return text_of(console)
