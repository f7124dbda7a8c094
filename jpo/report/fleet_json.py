"""A simulated fleet for machines: everything in the tables, and every single run. What is not known is null."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from jpo.records import Run
from jpo.simulate.fleet import CLEARLY, METRICS, Fleet, Lane, Totals, all_runs, before_after, change, overall, typical, worse


def render(fleet: Fleet) -> str:
    """`{"schema_version", "plan", "overall", "workloads": [...]}`; see docs/guide.md."""
    unchanged, tuned = all_runs(fleet)
    document = {
        "schema_version": 1,
        "plan": {
            "workloads": len(fleet.lanes),
            "runs": fleet.runs,
            "compared_last_runs": fleet.last,
            "seed": fleet.seed,
            "drift": fleet.drift,
            "explore": fleet.explore,
            "preference": dict(fleet.preference),
        },
        "overall": {
            "metrics": {name: _metric(fleet, name) for name in METRICS},
            "all_runs": {"unchanged": _totals(unchanged), "with_jpo": _totals(tuned)},
            "workloads_worse": worse(fleet),
            "workloads_worse_by_5_percent": worse(fleet, than=CLEARLY),
        },
        "workloads": [_workload(lane, fleet.last) for lane in fleet.lanes],
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _metric(fleet: Fleet, name: str) -> dict[str, Any]:
    before, after = typical(fleet, name)
    ratio = overall(fleet, name)
    return {"unchanged": before, "with_jpo": after, "ratio": asdict(ratio) if ratio else None}


def _totals(of: Totals) -> dict[str, Any]:
    return {**asdict(of), "usd_per_model": of.usd_per_model}


def _workload(lane: Lane, last: int) -> dict[str, Any]:
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
        "runs": [{"unchanged": _run(unchanged), "with_jpo": _run(tuned)} for unchanged, tuned in _pairs(lane)],
    }


def _pairs(lane: Lane) -> zip[tuple[Run, Run]]:
    return zip(lane.unchanged, lane.tuned, strict=True)


def _run(run: Run) -> dict[str, Any]:
    measured = {name: value for name, value in asdict(run.outcome).items() if value is not None}
    return {"run_id": run.run_id, "status": run.status.value, "parameters": dict(run.parameters), "outcome": measured}
