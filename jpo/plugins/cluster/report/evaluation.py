"""Evaluation of cluster policies: a table for each workload, policies as rows; every figure for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from jpo.plugins.cluster.grid import Evaluation
from jpo.plugins.cluster.metrics import JobFigures
from jpo.records import uncoded
from jpo.report.document import Cell, Column, Document, Row, Section, Span, Table
from jpo.wording.numbers import counted

LEGEND = "wait and slowdown: average and 95th percentile over jobs; slowdown is bounded, of 10 s at least. Better is smaller."


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Evaluations, and what their reader should know."""

    evaluations: tuple[Evaluation, ...]
    notes: tuple[str, ...] = ()


def document(evaluated: Evaluated) -> Document:
    """A table per workload and machine, and how to read it."""
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
    rows = [_figures(one) for one in found]
    best = [min(column) for column in zip(*rows, strict=True)]
    marked: list[Row] = [
        (
            one.rule.name,
            one.seed,
            *(Cell(v, emphasis="strong" if v == b else "") for v, b in zip(row, best, strict=True)),
            one.metrics.utilisation,
        )
        for one, row in zip(found, rows, strict=True)
    ]
    if any(one.bill for one in found):
        marked = [(*row, *_owed(one)) for row, one in zip(marked, found, strict=True)]
    columns: tuple[Column, ...] = (
        *(Column("policy", "key"), Column("seed", "figure")),
        *(
            Column("wait", "figure", "duration_seconds", "avg_wait_seconds"),
            Column("p95", "figure", "duration_seconds", "p95_wait_seconds"),
        ),
        *(Column("slowdown", "figure", key="avg_bounded_slowdown"), Column("p95", "figure", key="p95_bounded_slowdown")),
        Column("makespan", "figure", "duration_seconds", "makespan_seconds"),
        Column("utilisation", "figure", "share", "utilisation"),
    )
    if any(one.bill for one in found):
        columns = (
            *columns,
            Column("energy", "figure", "energy_joules", "energy_joules"),
            Column("cost", "figure", "cost_usd", "cost_usd"),
        )
    return Table(columns, tuple(marked), "policies")


def _owed(found: Evaluation) -> tuple[float | None, float | None]:
    return (found.bill.energy_joules, found.bill.cost_usd) if found.bill else (None, None)


def _figures(found: Evaluation) -> tuple[float, ...]:
    metrics = found.metrics
    wait, slowdown = metrics.wait_seconds, metrics.bounded_slowdown
    return wait.average, wait.p95, slowdown.average, slowdown.p95, metrics.makespan_seconds


def as_json(evaluated: Evaluated) -> dict[str, object]:
    """Every figure; where there is one evaluation its figures stand at the top, too. See docs/plugins/cluster.md."""
    results = [_result(found) for found in evaluated.evaluations]
    top = results[0] if len(results) == 1 else {}
    return {"schema_version": 1, **top, "results": results, "notes": list(evaluated.notes)}


def _result(found: Evaluation) -> dict[str, object]:
    metrics = found.metrics
    return {
        "workload": found.workload,
        "policy": found.rule.name,
        "selection": found.rule.selection,
        "backfill": found.rule.backfilling,
        "seed": found.seed,
        "procs": found.processors,
        "jobs": metrics.jobs,
        **_spread("wait_seconds", metrics.wait_seconds),
        **_spread("bounded_slowdown", metrics.bounded_slowdown),
        **_spread("turnaround_seconds", metrics.turnaround_seconds),
        **_spread("completion_seconds", metrics.completion_seconds),
        "makespan_seconds": metrics.makespan_seconds,
        "utilisation": metrics.utilisation,
        "utilisation_by_last_start": metrics.utilisation_by_last_start,
        "fairness": metrics.fairness,
        "jobs_per_second": found.jobs_per_second,
        **({} if found.resizes is None else {"resizes": found.resizes}),
        **({"resources": found.rule.resources or "first", **asdict(found.bill)} if found.bill else {}),
    }


def _spread(name: str, spread: JobFigures) -> dict[str, float]:
    values = {"avg": spread.average, "median": spread.median, "p95": spread.p95, "max": spread.largest}
    return {f"{which}_{name}": value for which, value in values.items()}
