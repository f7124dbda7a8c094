from __future__ import annotations

import jsonschema
import pytest
from pydantic import ValidationError

from jpo.project.durations import seconds
from jpo.project.settings import Settings, weights


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


@pytest.mark.parametrize("preference", ["night", "cost", {"time": 1.0}])
def test_a_preference_is_a_table_or_a_name_in_the_schema_too(preference: object) -> None:
    tables = {"preferences": {"night": {"cost": 1.0}}, "preference": preference}
    Settings.model_validate(tables)
    jsonschema.validate(tables, Settings.model_json_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"preference": 3}, Settings.model_json_schema())


def test_the_published_schema_refuses_unknown_keys() -> None:
    tables = {"agent": {"explor": "on"}}
    with pytest.raises(ValidationError):
        Settings.model_validate(tables)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tables, Settings.model_json_schema())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("time_max", "0h"),
        ("time_max", "9" * 400),
        ("cost_max", 0),
        ("cost_max", float("inf")),
        ("throughput_min", -1),
        ("memory_max_gib", float("nan")),
        ("gpu_util_min", 50),
        ("cpu_util_min", float("nan")),
        ("val_loss_max", float("inf")),
        ("time_max", "٦h"),
        ("cost_max", True),
        ("val_loss_max", False),
    ],
)
def test_what_no_run_can_be_held_to_is_no_sla_target(name: str, value: object) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate({"sla": {name: value}})


@pytest.mark.parametrize("gpus", [{"max": 0}, {"choices": [0]}])
def test_busy_gpus_are_no_sla_target_where_none_are_allowed(gpus: dict[str, object]) -> None:
    tables = {"parameters": {"gpus": gpus}, "sla": {"gpu_util_min": 0.5}}
    with pytest.raises(ValidationError, match="gpu_util_min asks for busy GPUs"):
        Settings.model_validate(tables)
    assert Settings.model_validate({**tables, "sla": {"gpu_util_min": 0}}).sla.targets == {"gpu_util_min": 0}


@pytest.mark.parametrize("memory", [{"min": 64}, {"choices": [64, 128]}])
def test_less_memory_is_no_sla_target_than_a_run_must_ask_for(memory: dict[str, object]) -> None:
    tables = {"parameters": {"memory_gib": memory}, "sla": {"memory_max_gib": 32}}
    with pytest.raises(ValidationError, match=r"memory_max_gib = 32, but .* less than 64"):
        Settings.model_validate(tables)
    assert Settings.model_validate({**tables, "sla": {"memory_max_gib": 64}}).sla.memory_max_gib == 64


def test_there_is_no_sla_target_by_default() -> None:
    assert Settings().sla.targets == {}
