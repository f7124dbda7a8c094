"""Allocations beside their peers: demand met, resizes, and what was allocated; requests of an allocation as CSV."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from jpo.plugins.phases.report.fitted import moment
from jpo.plugins.phases.requests.evaluate import Share, Standings
from jpo.plugins.phases.traces import Traces
from jpo.records import uncoded
from jpo.report.document import Cell, Column, Document, Marks, Plot, Row, Span, Table
from jpo.report.forms.csv import Raw, csv_line
from jpo.report.forms.picture import save

HEAD = ("exec_id", "t", "cpu_alloc", "mem_alloc")
LEGEND = (
    "met: share of the samples whose demand for CPU and memory was met, with its 90% interval over executions.",
    "CPU, memory: sum of the allocations / each run's own peak throughout; 1 is that peak.",
)
SEEN = "The more to the left and the higher, the better; the line: what a fit promises to meet (--met)."
OF_WAYS = "clairvoyant: knows the run; how much there is to be saved."
"""Of several ways that are compared."""


class Promised(NamedTuple):
    """A share of samples that fits promised to meet, and what their requests came to."""

    met: float
    came_to: Standings


@dataclass(frozen=True, slots=True)
class ComparedWays:
    """Ways to allocate for the same executions.

    `ways`: by name. `notes`: what the reader must not miss. `promises`: in a picture.
    """

    traces: Traces
    ways: Mapping[str, Standings]
    notes: tuple[str, ...] = ()
    promises: tuple[Promised, ...] = ()


def save_plot(compared: ComparedWays, file: Path) -> None:
    """Demand met against allocation: a line of what the promises came to, and each way that was compared."""
    charts = []
    for resource in ("cpu", "memory"):
        points = tuple((getattr(one.came_to, resource).mean, one.came_to.met.mean) for one in compared.promises)
        texts = tuple(f"{one.met:.0%}" for one in compared.promises)
        line = Marks("phases by --met", points, "dim", texts=texts, joined="line")
        ways = (
            Marks(name, ((getattr(way, resource).mean, way.met.mean),), hue=hue)
            for hue, (name, way) in enumerate(compared.ways.items(), start=1)
        )
        label = f"{'CPU' if resource == 'cpu' else resource} allocated / the run's own peak"
        charts.append(Plot(label, SEEN, "", "", (line, *ways), label, "share of samples met"))
    save(charts, file, f"Demand met against allocation: {compared.traces.place}")


def document(compared: ComparedWays) -> Document:
    title = (f"Allocations for {compared.traces.extent} of ", Span(compared.traces.place))
    columns = (
        *(Column("allocated by"), Column("met", "figure", "share"), Column("CPU", "figure"), Column("memory", "figure")),
        *(Column("resizes/h", "figure"), Column("most resizes/h", "figure")),
    )
    rows: tuple[Row, ...] = ()
    for name, way in compared.ways.items():
        rates = (Cell(round(rate, 1)) for rate in (way.resizes_per_hour, way.most_resizes_per_hour))
        rows += ((name, _cell(way.met), _cell(way.cpu), _cell(way.memory), *rates),)
    legend = (Span(line, "dim") for line in (*LEGEND, *([OF_WAYS] if len(compared.ways) > 1 else [])))
    return Document(title, (Table(columns, rows, "allocations"), *legend, *uncoded(compared.notes)))


def _cell(share: Share) -> Cell:
    low, high = share.low, share.high
    return Cell(round(share.mean, 3), low=None if low is None else round(low, 3), high=None if high is None else round(high, 3))


def as_json(compared: ComparedWays) -> dict[str, object]:
    """`{"schema_version", "executions", "samples", "allocations": {name: {...}}, "notes"}`; an unknown bound is null."""
    return {
        "schema_version": 1,
        "executions": len(compared.traces.executions),
        "samples": compared.traces.samples,
        "allocations": {name: asdict(way) for name, way in compared.ways.items()},
        "notes": list(compared.notes),
    }


def _cores(cores: float) -> float:
    """Millionths of a core; of less than a core six digits: what idles in millionths must not be allocated nothing."""
    return round(cores, 6 - math.floor(math.log10(cores))) if 0 < cores < 1 else round(cores, 6)


def requests_csv(rows: Iterable[tuple[str, float, float, float]]) -> str:
    """One line per request: execution, Unix seconds, cores, bytes; it holds until the next line of its execution."""
    lines: Iterable[tuple[Raw, ...]] = ((execution, moment(t), _cores(cores), round(size)) for execution, t, cores, size in rows)
    return "".join(csv_line(line, whole=True) for line in (HEAD, *lines))
