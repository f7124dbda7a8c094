"""Policies: the same simulated fleet under each of them, a row each; every fleet in full for programs."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

import jpo.plugins.lab.report.fleet as one
from jpo.plugins.lab.fleet import LEARNT_FROM, MOST, Fleet, against, all_runs, later, share_decided_by, typical_goal, typical_paid
from jpo.report.document import Cell, Column, Document, Items, Row, Table


def document(fleets: Mapping[str, Fleet]) -> Document:
    """One table of all workloads, one of the later ones where they ran one after the other, and how to read them."""
    return Document(one.headline(next(iter(fleets.values()))), (*tables(fleets), Items(notes())))


def tables(fleets: Mapping[str, Fleet]) -> Iterator[Table]:
    """All workloads, then those that ran after the first LEARNT_FROM."""
    yield table(fleets, "policies", "")
    rest = {name: those for name, fleet in fleets.items() if (those := later(fleet))}
    if rest:
        yield table(rest, "later", f"after the first {LEARNT_FROM} workloads")


def table(fleets: Mapping[str, Fleet], name: str, caption: str) -> Table:
    first = next(iter(fleets))
    columns = (
        *(Column("policy", "key"), Column("paid", "figure", "change")),
        Column(f"against {first} (90% interval)", "figure", "change"),
        *(Column("goal", "figure", "change"), Column("runs", "figure"), Column("failed", "figure")),
        *(Column("cost per good run", "figure", "cost_usd"), Column("decided by SAC", "figure", "share")),
    )
    return Table(columns, tuple(row(policy, fleet, fleets[first]) for policy, fleet in fleets.items()), name, caption).filled()


def row(policy: str, fleet: Fleet, reference: Fleet) -> Row:
    ratio, total = against(fleet, reference), all_runs(fleet)[1]
    compared = Cell("reference") if fleet is reference else Cell(ratio.mean, low=ratio.low, high=ratio.high)
    decided = Cell(share_decided_by(fleet, "sac") if fleet.decided_by else "")
    return policy, typical_paid(fleet), compared, typical_goal(fleet), total.runs, total.failed, total.usd_per_model, decided


def notes() -> tuple[str, ...]:
    return (
        "paid: what all runs took against unchanged, a failed run one more; time and money as preferred; geometric mean.",
        f"goal: the preferred objective over the last runs. Both: each workload at most {MOST:g}-fold.",
        "All policies got the same workloads with the same luck.",
    )


def as_json(fleets: Mapping[str, Fleet]) -> dict[str, object]:
    """The comparison, and each fleet as `jpo lab simulate` gives it."""
    reference = next(iter(fleets))
    policies = {name: {**_figures(fleet, fleets[reference]), "fleet": one.as_json(fleet)} for name, fleet in fleets.items()}
    for name, fleet in fleets.items():
        others = later(fleet), later(fleets[reference])
        policies[name]["later"] = _figures(others[0], others[1]) if others[0] and others[1] else None
    return {"schema_version": 1, "reference": reference, "policies": policies}


def _figures(fleet: Fleet, reference: Fleet) -> dict[str, object]:
    return {
        "paid": typical_paid(fleet),
        "against_reference": asdict(against(fleet, reference)),
        "goal": typical_goal(fleet),
        "failed": all_runs(fleet)[1].failed,
        "decided_by_sac": share_decided_by(fleet, "sac"),
    }
