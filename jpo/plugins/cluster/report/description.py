"""Descriptions of workloads and machines: a section each."""

from collections.abc import Sequence
from dataclasses import asdict

from jpo.plugins.cluster.description import WorkloadDescription
from jpo.report.document import Cell, Column, Document, Row, Section, Table
from jpo.wording.numbers import counted


def document(found: Sequence[WorkloadDescription]) -> Document:
    return Document("Workloads of a cluster", tuple(Section(title(one), (table(one), spreads(one))) for one in found))


def title(one: WorkloadDescription) -> str:
    nodes = ", ".join(f"{count} x {name}" for name, count in one.nodes.items())
    return f"{one.workload}: {counted(one.jobs, 'job')} for {counted(one.processors, 'processor')}" + (
        f" ({nodes})" if nodes else ""
    )


def table(one: WorkloadDescription) -> Table:
    shares = one.shares
    rows: tuple[Row, ...] = (
        ("load", Cell(one.load, "share")),
        ("from the first submit to the last", Cell(one.span_seconds, "duration_seconds")),
        ("users", one.users),
        ("jobs on one processor", Cell(shares["serial"], "share")),
        ("jobs on a power of two", Cell(shares["power_of_two"], "share")),
        ("jobs that need GPUs", Cell(shares["gpu_jobs"], "share")),
        *([("jobs that can be resized", Cell(shares["elastic_jobs"], "share"))] if shares["elastic_jobs"] else []),
        ("jobs that run longer than requested", Cell(shares["overruns"], "share")),
        ("run time / requested time, average", Cell(shares["accuracy"], "share")),
    )
    return Table((Column("figure", "key"), Column("value", "figure")), rows, "figures")


def spreads(one: WorkloadDescription) -> Table:
    named = (("run time", one.run_seconds), ("requested time", one.requested_seconds), ("processors", one.sizes))
    rows: list[Row] = []
    for name, figures in named:
        quantity = "" if name == "processors" else "duration_seconds"
        values = (figures.average, figures.median, figures.p95, figures.largest)
        rows.append((name, *(Cell(value, quantity) for value in values)))
    columns = (Column("of a job", "key"), *(Column(which, "figure") for which in ("average", "median", "p95", "max")))
    return Table(columns, tuple(rows), "spreads")


def as_json(found: Sequence[WorkloadDescription]) -> dict[str, object]:
    """Every figure; shares of jobs lie flat among them."""
    workloads = []
    for one in found:
        figures = asdict(one)
        shares, nodes = figures.pop("shares"), figures.pop("nodes")
        workloads.append({**figures, **shares, "nodes": nodes})
    return {"schema_version": 1, "workloads": workloads}
