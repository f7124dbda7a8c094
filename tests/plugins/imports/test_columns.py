"""Columns: as jpo.toml says, as the format knows, as names and values suggest."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest

from jpo.errors import TelemetryError
from jpo.plugins.imports.columns import FIELDS, USUAL, as_toml, columns_of, not_there
from jpo.plugins.imports.foreign import ForeignColumn, ForeignRun, ForeignRuns
from jpo.plugins.imports.settings import ImportsTable


def source(*rows: dict[str, str], known: dict[str, ForeignColumn] | None = None) -> ForeignRuns:
    runs = tuple(ForeignRun(f"a.csv:{line}", None, cells) for line, cells in enumerate(rows, start=2))
    return ForeignRuns("table", "a.csv", runs, known or {})


def guessed(**cells: str) -> dict[str, tuple[str, str | None]]:
    return {field: (column.name, column.unit) for field, column in columns_of(source(cells), {}).items()}


@pytest.mark.parametrize(
    ("name", "text", "field", "unit"),
    [
        ("params.lr", "0.1", "learning_rate", None),
        ("config/learning_rate", "0.1", "learning_rate", None),
        ("Batch Size", "32", "batch_size", None),
        ("per_device_train_batch_size", "8", "batch_size_per_device", None),
        ("duration_min", "5", "duration_seconds", "min"),
        ("Train time [h]", "5", "duration_seconds", "h"),
        ("Runtime", "5", "duration_seconds", "s"),
        ("start_time", "1700000000000", "started_at", "ms"),
        ("Created", "2026-01-01T00:00:00Z", "started_at", "ISO 8601"),
        ("peak_memory_mb", "900", "peak_memory_gib", "MB"),
        ("GPU util (%)", "0.9", "gpu_utilisation", "percent"),
        ("gpu_utilization", "93", "gpu_utilisation", "percent"),
        ("cost (USD)", "9", "cost_usd", "USD"),
        ("val/loss", "0.1", "val_loss", None),
        ("metrics.eval_loss", "0.1", "val_loss", None),
        ("val_0_loss", "0.1", "val_loss", None),
    ],
)
def test_a_name_that_many_use_is_known(name, text, field, unit):
    assert guessed(**{name: text}) == {field: (name, unit)}


@pytest.mark.parametrize(
    "name", ["loss_scale", "lr_scheduler", "notes", "warmup_epochs", "train_accuracy", "batch_size_h", "model_h"]
)
def test_another_name_is_left_alone(name):
    assert guessed(**{name: "5"}) == {}


def test_the_likeliest_of_several_names_counts():
    assert guessed(test_loss="0.3", val_loss="0.2")["val_loss"] == ("val_loss", None)


def test_what_was_measured_is_no_parameter():
    """The last rate of a schedule is not the rate that a run was given."""
    assert guessed(**{"metrics.learning_rate": "5e-6", "params.lr": "2e-5"})["learning_rate"] == ("params.lr", None)
    assert guessed(**{"metrics.lr": "5e-6", "summary/batch_size": "3"}) == {}


def test_numbers_of_rows_are_no_run_ids():
    rows = source({"id": "0", "lr": "1"}, {"id": "1", "lr": "1"})
    assert "run_id" not in columns_of(rows, {})
    assert "run_id" not in columns_of(source({"name": "a"}, {"name": "a"}), {})
    assert columns_of(source({"name": "a"}, {"name": "b"}), {})["run_id"].name == "name"


def test_jpo_toml_decides_then_the_format_then_the_guess():
    rows = source({"lr": "1", "rate": "2", "bs": "3", "size": "4"}, known={"batch_size": ForeignColumn("size", None, "mlflow")})
    found = columns_of(rows, {"learning_rate": ForeignColumn("rate", None, "jpo.toml")})
    assert {field: column.name for field, column in found.items()} == {"batch_size": "size", "learning_rate": "rate"}
    assert "learning_rate" not in columns_of(rows, {"learning_rate": ForeignColumn("", None, "jpo.toml")})


def test_a_named_column_that_is_missing_is_an_error():
    with pytest.raises(TelemetryError) as caught:
        columns_of(source({"lr": "1"}), {"learning_rate": ForeignColumn("rate")})
    assert (caught.value.code, str(caught.value)) == (
        "JPO-E151",
        "a.csv: has no column 'rate', which [imports.columns] learning_rate names; it has lr",
    )


def test_the_map_of_tables_is_no_error_where_another_tool_wrote_the_runs():
    theirs = replace(
        source({"bs": "3", "size": "4"}, known={"batch_size": ForeignColumn("size", None, "mlflow")}), format="mlflow"
    )
    given = {"batch_size": ForeignColumn("batch"), "metrics.f1": ForeignColumn("F1"), "learning_rate": ForeignColumn("")}
    assert {field: column.name for field, column in columns_of(theirs, given).items()} == {"batch_size": "size"}
    assert "has no 'batch' (batch_size), 'F1' (f1), named in [imports]" in not_there(theirs, given)
    assert not_there(theirs, {"batch_size": ForeignColumn("size")}) == ""


def test_the_shown_map_is_one_that_jpo_toml_can_have():
    found = columns_of(source({'a "b"': "1", "lr": "2", "time [h]": "3"}), {"samples": ForeignColumn('a "b"')})
    found["duration_seconds"] = ForeignColumn("time [h]", "h")
    columns = ImportsTable.model_validate(tomllib.loads("\n".join(as_toml(found)))["imports"]).columns
    assert columns == {"duration_seconds": {"column": "time [h]", "unit": "h"}, "samples": 'a "b"', "learning_rate": "lr"}


def test_every_quantity_has_usual_names():
    assert set(USUAL) == set(FIELDS)
