"""The result for programs: every figure of the tables, per workload too."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from jpo.replay.contest import Contest, Result
from jpo.replay.metrics import Estimate, Score
from jpo.replay.play import STOP_AT, expected


def render(contest: Contest, result: Result, notes: Sequence[str]) -> str:
    """JSON text; what cannot be told is null. Costs are multiples of the oracle's expected cost, shares lie in 0..1."""
    document: dict[str, Any] = {
        "schema_version": 1,
        "workloads": [
            {
                "name": trace.name,
                "configurations": len(trace.configurations),
                "executions": sum(map(len, trace.executions)),
                "default": dict(trace.configurations[trace.default]),
                "cost_unit": trace.cost_unit,
                "oracle": {
                    objective: dict(trace.configurations[int(expected(trace, objective).argmin())])
                    for objective in contest.objectives
                },
            }
            for trace in contest.traces
        ],
        "runs": list(contest.horizons),
        "seeds": {"first": contest.first_seed, "count": contest.seeds},
        "stopped_at": STOP_AT,
        "objectives": {
            objective: {
                policy: {
                    **_score(standing.overall, contest.horizons),
                    "workloads": {name: _score(one, contest.horizons) for name, one in standing.by_workload.items()},
                }
                for policy, standing in standings.items()
            }
            for objective, standings in result.items()
        },
        "notes": list(notes),
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _score(score: Score, horizons: Sequence[int]) -> dict[str, Any]:
    return {
        "normalised_cumulative_cost": {str(n): _estimate(score.curve[n - 1]) for n in horizons},
        "cost_per_delivered_model": _estimate(score.per_model),
        "stopped_share": _estimate(score.stopped),
        "harm_rate": _estimate(score.harm),
    }


def _estimate(one: Estimate) -> dict[str, float | None]:
    return {"mean": _finite(one.mean), "standard_error": _finite(one.error)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
