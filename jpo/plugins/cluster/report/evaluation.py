"""Evaluation of cluster policies: a table for each workload, policies as rows; every figure for programs."""

from collections.abc import Iterator
from dataclasses import dataclass

from jpo.plugins.cluster.grid import Evaluation
from jpo.records import uncoded
from jpo.report.document import Cell, Column, Document, Row, Section, Span, Table
from jpo.wording.numbers import counted

LEGEND = "wait and slowdown: average and 95th percentile over jobs; slowdown is bounded, of 10 s at least. Better is smaller."
OWED = {"energy": "energy_joules", "cost": "cost_usd"}


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Evaluations, and what their reader should know."""

    evaluations: tuple[Evaluation, ...]
    notes: tuple[str, ...] = ()


def document(evaluated: Evaluated) -> Document:
    sections = tuple(Section(title, (table(found),)) for title, found in by_workload(evaluated))
    return Document("Policies of workload management", (*sections, Span(LEGEND, "dim"), *uncoded(evaluated.notes)))


def by_workload(evaluated: Evaluated) -> Iterator[tuple[str, tuple[Evaluation, ...]]]:
    """Evaluations of one workload on one machine, with a title."""
    for workload, processors in dict.fromkeys((found.workload, found.processors) for found in evaluated.evaluations):
        alike = tuple(one for one in evaluated.evaluations if (one.workload, one.processors) == (workload, processors))
        jobs = counted(alike[0].metrics.jobs, "job")
        yield f"{workload}: {jobs} on {counted(processors, 'processor')}", alike


def table(found: tuple[Evaluation, ...]) -> Table:
    """A row per rule and seed; the best of each column is strong."""
    figures = [one.figures for one in found]
    ranked = (
        Column("wait", "figure", "duration_seconds", "avg_wait_seconds"),
        Column("p95", "figure", "duration_seconds", "p95_wait_seconds"),
        Column("slowdown", "figure", key="avg_bounded_slowdown"),
        Column("p95", "figure", key="p95_bounded_slowdown"),
        Column("makespan", "figure", "duration_seconds", "makespan_seconds"),
    )
    besides = (
        Column("utilisation", "figure", "share", "utilisation"),
        *(Column(name, "figure", key, key) for name, key in OWED.items() if any(row.get(key) is not None for row in figures)),
    )
    best = {column.key: min(row[column.key] for row in figures) for column in ranked}
    rows: list[Row] = [
        (
            one.rule.name,
            one.seed,
            *(Cell(row[key], emphasis="strong" if row[key] == value else "") for key, value in best.items()),
            *(row.get(column.key) for column in besides),
        )
        for one, row in zip(found, figures, strict=True)
    ]
    return Table((Column("policy", "key"), Column("seed", "figure"), *ranked, *besides), tuple(rows), "policies")


def as_json(evaluated: Evaluated) -> dict[str, object]:
    """Every figure; where there is one evaluation its figures stand at the top, too. See docs/plugins/cluster.md."""
    results: list[dict[str, object]] = [
        {
            "workload": found.workload,
            "policy": found.rule.name,
            "selection": found.rule.selection,
            "backfill": found.rule.backfilling,
            "seed": found.seed,
            "procs": found.processors,
            **found.figures,
        }
        for found in evaluated.evaluations
    ]
    top = results[0] if len(results) == 1 else {}
    return {"schema_version": 1, **top, "results": results, "notes": list(evaluated.notes)}
