"""The trade-off front for machines; amounts in USD, what is not known is null."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from jpo.optimizer.front import Front, Point, maximised


def render(front: Front) -> str:
    """`{"schema_version", "workload", "objectives", "points": [...], "hypervolume", ...}`; see docs/guide.md."""
    document = {
        "schema_version": 1,
        "workload": asdict(front.workload),
        "objectives": [
            {"name": name, "quantity": quantity, "better": "higher" if maximised(quantity) else "lower"}
            for name, quantity in front.objectives.items()
        ],
        "points": [_point(point, front) for point in front.points],
        "today": dict(front.today),
        "suggested": None if front.suggested is None else dict(front.suggested),
        "because": front.because,
        "preferences": {name: dict(values) for name, values in front.preferences.items()},
        "hypervolume": None if front.volumes is None else asdict(front.volumes),
        "left_out": dict(front.left_out),
        "notes": list(front.notes),
        "reason_codes": list(front.codes),
    }
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _point(point: Point, front: Front) -> dict[str, Any]:
    return {
        "kind": "measured" if point.runs else "predicted",
        "parameters": dict(point.parameters),
        "runs": point.runs,
        "values": {quantity: point.values.get(quantity) for quantity in front.quantities},
        "intervals": {quantity: asdict(interval) for quantity, interval in point.bounds.items()} or None,
        "on_front": point.on_front,
        "on_expected_front": point.on_expected_front,
        "p_fail": point.p_fail,
        "breaks_sla": list(point.breaks),
        "marks": list(point.marks),
    }
