"""Policies: the same simulated fleet under each of them, a row each; every fleet in full for programs."""

from __future__ import annotations

from collections.abc import Mapping

from jpo.report import fleet as of_one
from jpo.report.document import Cell, Column, Document, Items, Row, Table
from jpo.simulate.fleet import MOST, Fleet, against, all_runs, share_decided_by, typical_goal, worse


def document(fleets: Mapping[str, Fleet]) -> Document:
    """One table and how to read it."""
    reference = next(iter(fleets))
    columns = (
        Column("policy", "key"),
        Column("goal", "figure", "change"),
        Column(f"against {reference} (90% interval)", "figure", "change"),
        *(Column("worse", "figure"), Column("failed", "figure"), Column("runs", "figure")),
        *(Column("cost per good run", "figure", "cost_usd"), Column("decided by SAC", "figure", "share")),
    )
    rows = tuple(row(name, fleet, fleets[reference]) for name, fleet in fleets.items())
    return Document(of_one.headline(fleets[reference]), (Table(columns, rows, "policies"), Items(notes())))


def row(name: str, fleet: Fleet, reference: Fleet) -> Row:
    """What came of the fleet under one policy."""
    ratio, total = against(fleet, reference), all_runs(fleet)[1]
    compared = Cell("reference") if fleet is reference else Cell(ratio.mean, low=ratio.low, high=ratio.high)
    shares = total.usd_per_model, share_decided_by(fleet, "sac")
    return name, typical_goal(fleet), compared, worse(fleet), total.failed, total.runs, *shares


def notes() -> tuple[str, ...]:
    """What the table does not show."""
    return (
        f"goal: change of the preferred objective over the last runs, geometric mean over workloads, each at most {MOST:g}-fold.",
        "worse: workloads that ended worse than unchanged.",
        "All policies got the same workloads with the same luck.",
    )


def as_json(fleets: Mapping[str, Fleet]) -> dict[str, object]:
    """The comparison, and each fleet as `jpo simulate` gives it."""
    reference = next(iter(fleets))
    return {
        "schema_version": 1,
        "reference": reference,
        "policies": {
            name: {
                "goal": typical_goal(fleet),
                "against_reference": dict(zip(("mean", "low", "high"), _bounds(fleet, fleets[reference]), strict=True)),
                "decided_by_sac": share_decided_by(fleet, "sac"),
                "fleet": of_one.as_json(fleet),
            }
            for name, fleet in fleets.items()
        },
    }


def _bounds(fleet: Fleet, reference: Fleet) -> tuple[float, float, float]:
    ratio = against(fleet, reference)
    return ratio.mean, ratio.low, ratio.high
