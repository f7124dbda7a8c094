"""Fleet: before and after of every simulated workload and overall, as tables and as a picture; every single run for programs."""

from dataclasses import asdict

import numpy as np

from jpo.plugins.lab.fleet import (
    CLEARLY,
    METRICS,
    Fleet,
    Lane,
    all_runs,
    before_after,
    change,
    failures,
    overall,
    ratios,
    typical,
    worse,
)
from jpo.records import Run
from jpo.report.document import Cell, Column, Document, Items, Marks, Plot, Row, Table, estimate
from jpo.wording import names, numbers

HIGHEST = 5.0
"""Where a picture ends: one workload that got much worse must not hide the others."""


def document(fleet: Fleet) -> Document:
    return Document(headline(fleet), (per_workload(fleet), over_all(fleet), totals(fleet), Items(notes(fleet))))


def headline(fleet: Fleet) -> str:
    weights = ", ".join(f"{name} {weight:g}" for name, weight in fleet.preference.items() if weight)
    drift = ", with drift" if fleet.drift else ""
    where = f"; installation {fleet.installation}, one after the other" if fleet.installation else ""
    plan = f"{len(fleet.lanes)} simulated workloads × {fleet.runs} runs"
    return f"{plan}; preference {weights}; explore {fleet.explore}{drift}{where}"


def per_workload(fleet: Fleet) -> Table:
    """Medians of the last runs, unchanged → with JPO; how much better the objective got, and how much better it could be."""
    shown = sorted((name for name in METRICS if name != "energy_joules"), key=lambda name: name.endswith("_utilisation"))
    metrics = [Column(names.quantity(name).short, "figure", name) for name in shown]
    changes = (Column("goal", "figure", "change"), Column("best", "figure", "change"), Column("failed", "figure"))
    rows: list[Row] = []
    for number, lane in enumerate(fleet.lanes):
        workload = f"{number:02} {'gpu' if 'gpus' in lane.first else 'cpu'}"
        values = (arrow(name, *before_after(lane, name, fleet.last)) for name in shown)
        rows.append((workload, goal(lane), lane.best, "{} → {}".format(*failures(lane)), *values))
    return Table((Column("workload", "key"), *changes, *metrics), tuple(rows), "workloads")


def charts(fleet: Fleet) -> list[Plot]:
    """Median and quartiles over the workloads against the number of the run, in multiples of the unchanged configuration."""
    counted = (
        f"{len(fleet.lanes)} simulated workloads; a failed run counts what it took and one unchanged run. Dashed: unchanged."
    )
    charts = []
    for name, title in (("cost_usd", "cost of a run"), ("duration_seconds", "time of a run")):
        low, middle, high = np.minimum(np.nanquantile(ratios(fleet, name), (0.25, 0.5, 0.75), axis=0), HIGHEST).tolist()
        points = tuple((float(run), value) for run, value in enumerate(middle, 1))
        reach = tuple((run, run, *ends) for (run, _), ends in zip(points, zip(low, high, strict=True), strict=True))
        marks = (Marks("with JPO: median, and quartiles", points, joined="line", reach=reach),)
        charts.append(Plot(title, counted, "", "", marks, "run", "in multiples of unchanged", level=1.0))
    return charts


def arrow(name: str, before: float | None, after: float | None) -> Cell:
    """before → after; unknown where both are."""
    return Cell(None) if before is None and after is None else Cell(numbers.from_to(name, before, after))


def goal(lane: Lane) -> Cell:
    if lane.goal is None:
        return Cell("fails", emphasis="bad")
    return Cell(lane.goal, emphasis="bad" if lane.goal > CLEARLY else "good" if lane.goal < 1 / CLEARLY else "")


def over_all(fleet: Fleet) -> Table:
    columns = Column("unchanged", "figure"), Column("with JPO", "figure"), Column("change (90% interval)", "figure", "change")
    rows: list[Row] = [
        (names.quantity(name).short, *(Cell(value, name) for value in typical(fleet, name)), estimate(ratio))
        for name in METRICS
        if (ratio := overall(fleet, name))
    ]
    return Table((Column("median over workloads"), *columns), tuple(rows), "overall")


def totals(fleet: Fleet) -> Table:
    """What all runs took, failed ones included, and what each that ended well cost."""
    columns = (
        *(Column("all runs"), Column("runs", "figure"), Column("failed", "figure")),
        *(Column("duration", "figure", "duration_seconds"), Column("cost", "figure", "cost_usd")),
        Column("cost per good run", "figure", "cost_usd"),
    )
    rows = (
        (name, total.runs, total.failed, total.duration_seconds, total.cost_usd, total.usd_per_model)
        for name, total in zip(("unchanged", "with JPO"), all_runs(fleet), strict=True)
    )
    return Table(columns, tuple(rows), "totals")


def notes(fleet: Fleet) -> tuple[str, ...]:
    """What the tables do not show: losers, and how far this can be trusted."""
    strange = " but for the installation" if fleet.installation not in (None, "none") else ""
    losers = f"{worse(fleet)} of {len(fleet.lanes)} workloads, by more than 5%: {worse(fleet, than=CLEARLY)}"
    return (
        f"Medians of each workload's last {'run' if fleet.last == 1 else f'{fleet.last} runs'} that ended well.",
        "unchanged: its first configuration, with the same luck.",
        "goal: change of the preferred objective, failed runs paid for.",
        "best: what the best configuration would reach.",
        f"Decided by: {', '.join(f'{name} {count}' for name, count in fleet.decided_by.items())}.",
        f"Worse than unchanged in the end: {losers}.",
        f"The jobs come from the simulator on which JPO's belief rests{strange}: expect less from real ones.",
    )


def as_json(fleet: Fleet) -> dict[str, object]:
    """Everything in the tables, and every single run, see docs/plugins/lab.md; what is not known is None."""
    return {
        "schema_version": 1,
        "plan": {
            "workloads": len(fleet.lanes),
            "runs": fleet.runs,
            "compared_last_runs": fleet.last,
            "seed": fleet.seed,
            "drift": fleet.drift,
            "installation": fleet.installation,
            "explore": fleet.explore,
            "preference": dict(fleet.preference),
        },
        "overall": {
            "metrics": {name: _metric(fleet, name) for name in METRICS},
            "all_runs": {
                name: {**asdict(total), "usd_per_model": total.usd_per_model}
                for name, total in zip(("unchanged", "with_jpo"), all_runs(fleet), strict=True)
            },
            "decided_by": dict(fleet.decided_by),
            "workloads_worse": worse(fleet),
            "workloads_worse_by_5_percent": worse(fleet, than=CLEARLY),
        },
        "workloads": [_workload(lane, fleet.last) for lane in fleet.lanes],
    }


def _metric(fleet: Fleet, name: str) -> dict[str, object]:
    (before, after), ratio = typical(fleet, name), overall(fleet, name)
    return {"unchanged": before, "with_jpo": after, "ratio": asdict(ratio) if ratio else None}


def _workload(lane: Lane, last: int) -> dict[str, object]:
    medians = {name: before_after(lane, name, last) for name in METRICS}
    return {
        "workload": lane.workload,
        "first": dict(lane.first),
        "last": dict(lane.tuned[-1].parameters) if lane.tuned else None,
        "goal": lane.goal,
        "best_goal": lane.best,
        "metrics": {
            name: {"unchanged": before, "with_jpo": after, "ratio": change(lane, name, last)}
            for name, (before, after) in medians.items()
        },
        "runs": [
            {"unchanged": _run(one), "with_jpo": _run(other)} for one, other in zip(lane.unchanged, lane.tuned, strict=True)
        ],
    }


def _run(run: Run) -> dict[str, object]:
    measured = {name: value for name, value in asdict(run.outcome).items() if value not in (None, {})}
    return {"run_id": run.run_id, "status": run.status.value, "parameters": dict(run.parameters), "outcome": measured}
