"""The figures of many runs for people, as JSON and as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.markup import escape
from rich.table import Table

from jpo.history.figures import GOALS, QUANTITIES, Configuration, Figures, Spread
from jpo.records import PARAMETERS, USD, Currency
from jpo.report.page import blank_page, text_of
from jpo.report.spreadsheet import csv_line
from jpo.wording import numbers
from jpo.wording.names import SHORT
from jpo.wording.printable import printable

NAMES = {"duration_seconds": "duration", "throughput_samples_per_second": "samples/s", "cost_usd": "cost", "val_loss": "val loss"}
MOST_LISTED = 20
"""Unusable logs in the table; JSON has all of them."""


@dataclass(frozen=True, slots=True)
class NotUsable:
    """A file without a run that can be learnt from."""

    file: str
    reason: str
    code: str


def as_json(found: Sequence[Figures], unusable: Sequence[NotUsable]) -> str:
    """`{"schema_version", "workloads": [...], "not_usable": [...]}`; what was not measured is null."""
    document = {
        "schema_version": 1,
        "workloads": [document_of(one) for one in found],
        "not_usable": [asdict(one) for one in unusable],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def document_of(one: Figures) -> dict[str, Any]:
    """One workload, always with the same names."""
    statuses = ("succeeded", "target missed", "failed", "oom_killed", "diverged", "stopped")
    return {
        **asdict(one.identity),
        "runs": one.runs,
        "by_status": {status.replace(" ", "_"): one.by_status.get(status, 0) for status in statuses},
        **{name: asdict(one.spreads[name]) for name in QUANTITIES},
        "best": {goal: best_document(one.best[goal]) for goal in GOALS},
    }


def best_document(best: Configuration | None) -> dict[str, Any]:
    """A configuration; all null where there is none."""
    known = best or Configuration({}, 0, 0, {})
    return {
        "parameters": {name: known.parameters.get(name) for name in PARAMETERS},
        "runs": known.runs,
        "failed": known.failed,
        **{name: known.medians.get(name) for name in QUANTITIES},
    }


def as_csv(found: Sequence[Figures]) -> str:
    """One row per workload: the leaves of its JSON document under dotted names; empty = not measured."""
    documents = [dict(leaves(document_of(one))) for one in found]
    return "".join(map(csv_line, (*documents[:1], *(document.values() for document in documents))))


def leaves(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested names joined by dots."""
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def as_text(
    found: Sequence[Figures], unusable: Sequence[NotUsable], *, width: int, colour: bool, currency: Currency = USD
) -> str:
    """Two tables per workload, then what could not be used."""
    console = blank_page(width, colour=colour, markup=True)
    for one in found:
        endings = ", ".join(f"{count} {ending.replace('_', ' ')}" for ending, count in one.by_status.items())
        told = f"{one.runs} run{'' if one.runs == 1 else 's'}: {endings}"
        console.print(f"[bold]Workload {escape(printable(str(one.identity)))}[/]   {told}", "", sep="\n", soft_wrap=True)
        for table in (quantities(one, currency), best_configurations(one, currency)):
            if table.row_count:
                console.print(table, "")
    for line in complaints(unusable):
        console.print(line, markup=False, soft_wrap=True)
    return text_of(console)


def quantities(one: Figures, currency: Currency) -> Table:
    """What was measured of the runs that ended well."""
    table = plain_table("of runs that ended well", "runs", "mean", "median", "middle half", "least")
    for name in QUANTITIES:
        spread = one.spreads[name]
        if spread.runs:
            mean, median, least = (shown(name, value, currency) for value in (spread.mean, spread.median, spread.least))
            table.add_row(NAMES[name], str(spread.runs), mean, median, half(name, spread, currency), least)
    return table


def half(name: str, spread: Spread, currency: Currency) -> str:
    """The middle half; empty for a single run."""
    return "" if spread.low is None else f"{shown(name, spread.low, currency)} to {shown(name, spread.high, currency)}"


def best_configurations(one: Figures, currency: Currency) -> Table:
    """For each goal the best configuration, with what differs between configurations, and how many runs say so."""
    names = one.varied or tuple(name for name in PARAMETERS if any(name in best.parameters for best in one.best.values() if best))
    known = [name for name in QUANTITIES if one.spreads[name].runs]
    table = plain_table(
        "best configuration", *(SHORT[name] for name in names), "runs", "failed", *(NAMES[name] for name in known)
    )
    for goal, best in one.best.items():
        if best:
            values = [numbers.plain(best.parameters[name]) if name in best.parameters else "" for name in names]
            medians = [shown(name, best.medians[name], currency) for name in known]
            table.add_row(f"by {goal}", *values, str(best.runs), str(best.failed), *medians)
    return table


def shown(name: str, value: float | None, currency: Currency) -> str:
    """A value with its unit."""
    return "" if value is None else numbers.written(name, value, currency)


def complaints(unusable: Sequence[NotUsable]) -> Iterator[str]:
    """Why which file says nothing."""
    if unusable:
        yield f"{len(unusable)} log{'' if len(unusable) == 1 else 's'} not usable:"
    for one in unusable[:MOST_LISTED]:
        yield printable(f"  {one.reason} [{one.code}]")
    if len(unusable) > MOST_LISTED:
        yield f"  and {len(unusable) - MOST_LISTED} more; `-o json` names all"


def plain_table(*heads: str) -> Table:
    """A table without lines: the first column is text, the others are numbers. What a terminal is too narrow for is wrapped."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for number, head in enumerate(heads):
        table.add_column(head, justify="right" if number else "left", overflow="fold")
    return table
