"""A prediction as JSON: the numbers of the tables, in USD, seconds and ratios; null where nothing supports a number."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from jpo.optimizer.prediction import Answer, Expected, Prediction, Row

SCHEMA_VERSION = 1


def render(prediction: Prediction) -> str:
    """`{"schema_version", "workload", "finished_runs", "rows": [...], "answer", "notes", "reason_codes"}`."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "config": str(prediction.path),
        "workload": asdict(prediction.identity),
        "finished_runs": prediction.runs,
        "rows": [_row(row) for row in prediction.rows],
        "answer": _answer(prediction.answer) if prediction.answer else None,
        "notes": list(prediction.notes),
        "reason_codes": list(prediction.codes),
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _row(row: Row) -> dict[str, Any]:
    return {
        "parameters": dict(row.parameters),
        "differs": dict(row.differs),
        "spot": row.spot,
        **_expected(row.expected),
        "beside": [_expected(one) for one in row.beside],
        "measured_runs": row.runs,
        "admissible": not row.why_not,
        "why_not": list(row.why_not),
        "sla": [asdict(check) for check in row.sla],
    }


def _expected(one: Expected) -> dict[str, Any]:
    return {"basis": {"kind": one.kind, "words": one.words}, "forecast": asdict(one.forecast)}


def _answer(answer: Answer) -> dict[str, Any]:
    """`row` and those of the options count from 0 in `rows`."""
    return asdict(answer)
