from __future__ import annotations

import json

import jsonschema

from jpo.report import suggestion
from tests.report.test_suggestion import shown


def test_json_is_valid_against_its_schema_and_unknown_is_null() -> None:
    document = json.loads(shown(form="json"))
    jsonschema.validate(document, suggestion.schema())
    assert document["forecast"]["duration_seconds"]["next"] == {"mean": 10680, "low": 9660, "high": 12000}
    assert document["forecast"]["cost_usd"] == {"now": None, "next": None}
    assert document["reason_codes"] == ["JPO-I603"]
