from __future__ import annotations

import jsonschema
import pytest
from pydantic import ValidationError

from jpo.settings import Settings, seconds, weights


@pytest.mark.parametrize(
    ("text", "expected"), [("10s", 10), ("5m", 300), ("6h", 21600), ("90d", 7776000), (7, 7), ("1.5h", 5400)]
)
def test_durations_become_seconds(text: object, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "h", "10 x", "-5s", True, "1e3"])
def test_other_texts_are_no_durations(text: object) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        seconds(text)


def test_a_preference_needs_names_with_weights() -> None:
    with pytest.raises(ValueError, match="is not a preference"):
        weights("cheap")


def test_the_published_schema_accepts_what_the_models_accept() -> None:
    tables = {"agent": {"explore": "on"}, "parameters": {"epochs": {"min": 1, "freeze": True}}, "prometheus": {"timeout": "10s"}}
    assert Settings.model_validate(tables).prometheus.timeout == 10
    jsonschema.validate(tables, Settings.model_json_schema())


def test_the_published_schema_refuses_unknown_keys() -> None:
    tables = {"agent": {"explor": "on"}}
    with pytest.raises(ValidationError):
        Settings.model_validate(tables)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tables, Settings.model_json_schema())
