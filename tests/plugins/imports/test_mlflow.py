"""A file store and a database as mlflow 3.17 wrote them (data/make.py), and what breaks them."""

from __future__ import annotations

import math
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from jpo.errors import TelemetryError
from jpo.plugins.imports import mlflow
from jpo.plugins.imports.columns import columns_of
from jpo.plugins.imports.recognise import read_sources
from jpo.plugins.imports.translate import Said, translated
from jpo.records import Identity

DATA = Path(__file__).parent / "data" / "mlflow"
SAID = Said(otherwise={"model": "cnn", "framework": "pytorch"})


@pytest.fixture
def mlruns(tmp_path):
    return Path(shutil.copytree(DATA / "mlruns", tmp_path / "mlruns"))


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "mlflow.db"
    with closing(sqlite3.connect(path)) as new, new:
        new.executescript((DATA / "mlflow.sql").read_text())
    return path


def read(path):
    (source,) = read_sources([path], None)
    return translated(source, columns_of(source, {}), SAID, now=4e9)


@pytest.mark.parametrize("store", ["mlruns", "database"])
def test_runs_of_a_store(store, request):
    found = read(request.getfixturevalue(store))
    good, failed = sorted(found.runs, key=lambda run: run.parameters["batch_size"])
    assert good.identity == Identity("digits", "cnn", "pytorch")
    assert (good.status.value, failed.status.value) == ("succeeded", "failed")
    assert good.parameters == {"batch_size": 32, "learning_rate": 2e-5, "epochs": 4}
    assert (good.outcome.val_loss, good.outcome.train_loss, good.outcome.gpu_utilisation) == (0.25, 0.5, pytest.approx(0.65))
    assert good.outcome.loss_slope == pytest.approx(-1, abs=0.01)
    assert 0 < good.outcome.duration_seconds < 60
    assert len(good.run_id) == 32
    assert sorted(skipped.reason for skipped in found.skipped) == [
        "it is running: its run is not over",
        "it was deleted in MLflow",
    ]


def test_a_table_of_search_runs_says_the_same(mlruns):
    """data/mlflow/search_runs.csv is what mlflow.search_runs().to_csv() made of the file store; it has no GPU's mean."""
    stored, table = read(mlruns).runs, read(DATA / "search_runs.csv").runs
    assert {run.run_id: (run.parameters, run.status, run.outcome.val_loss, run.ended_at) for run in table} == {
        run.run_id: (run.parameters, run.status, run.outcome.val_loss, run.ended_at) for run in stored
    }


def test_the_parent_of_other_runs_is_none(mlruns):
    children = [path.parent for path in mlruns.glob("*/*/tags")]
    parent, child = (
        next(path for path in children if (path / "params" / "batch_size").exists() and text in (path / "meta.yaml").read_text())
        for text in ("night-32", "night-64")
    )
    (child / "tags" / "mlflow.parentRunId").write_text(parent.name)
    found = read(mlruns)
    assert [run.run_id for run in found.runs] == [child.name]
    assert any("parent of other runs" in skipped.reason for skipped in found.skipped)


def test_a_loss_that_is_nan_has_diverged(database):
    with closing(sqlite3.connect(database)) as store, store:
        store.execute("UPDATE latest_metrics SET is_nan = 1, value = 0 WHERE key = 'val_loss'")
        store.execute("UPDATE metrics SET is_nan = 1, value = 0 WHERE key = 'val_loss' AND step = 4")
    assert "diverged" in {run.status.value for run in read(database).runs}


@pytest.mark.parametrize("text", ["1 low 3", "1", "\n", "1 0_5 1"])
def test_a_metric_that_is_none_is_an_error_with_its_line(mlruns, text):
    metric = next(mlruns.glob("*/*/metrics/val_loss"))
    metric.write_text(metric.read_text() + text + "\n")
    with pytest.raises(TelemetryError, match=r"val_loss:5: .* is not 'milliseconds value step'"):
        read(mlruns)


@pytest.mark.parametrize("text", ["run_id: [", "- 1", "lifecycle_stage: active", "run_id: [1]"])
def test_a_description_that_is_none_is_refused(mlruns, text):
    next(mlruns.glob("*/*/params")).with_name("meta.yaml").write_text(text)
    with pytest.raises(TelemetryError, match=r"meta.yaml"):
        read(mlruns)


def test_another_database_is_refused(tmp_path):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE runs (run_id TEXT)")
    with pytest.raises(TelemetryError, match=r"cannot be read as a database of MLflow \(no such column: run_uuid\)"):
        read(path)


def test_a_damaged_database_is_refused(database):
    data = database.read_bytes()
    database.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    with pytest.raises(TelemetryError, match="cannot be read as a database of MLflow"):
        read(database)


@pytest.mark.parametrize("table", ["runs", "Metrics"])
def test_a_view_in_place_of_a_table_is_refused(database, table):
    with closing(sqlite3.connect(database)) as other, other:
        other.execute(f"DROP TABLE {table}")
        endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
        other.execute(f"CREATE VIEW {table} AS " + endless)
    with pytest.raises(TelemetryError, match=f"has a view in place of the table {table.lower()}"):
        read(database)


def test_a_database_that_takes_too_long_is_given_up(database, monkeypatch):
    monkeypatch.setattr(mlflow, "MOST_SECONDS", 0.0)
    monkeypatch.setattr(mlflow, "AT_ONCE", 1)
    with pytest.raises(TelemetryError, match=r"interrupted"):
        read(database)


def test_the_store_is_not_written(database):
    before = database.read_bytes()
    read(database)
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == ["mlflow.db"]


def test_values_that_are_nan_are_no_utilisation(mlruns):
    for metric in mlruns.glob("*/*/metrics/system/gpu_0_utilization_percentage"):
        metric.write_text("1 nan 1\n")
    assert {run.outcome.gpu_utilisation for run in read(mlruns).runs} == {None}
    assert math.isfinite(read(mlruns).runs[0].outcome.val_loss)


@pytest.mark.parametrize(
    "column", ["latest_metrics.value", "latest_metrics.step", "metrics.value", "params.value", "metrics.key"]
)
def test_values_of_another_type_are_no_metrics(database, column):
    """SQLite keeps what it is given."""
    table, _, name = column.partition(".")
    with closing(sqlite3.connect(database)) as store, store:
        store.execute(f"UPDATE {table} SET {name} = CAST('x' || rowid AS BLOB)")  # noqa: S608 - our own names
    assert len(read(database).runs) == 2


def test_a_run_without_an_id_is_refused(database):
    with closing(sqlite3.connect(database)) as store, store:
        store.execute("UPDATE runs SET run_uuid = '' WHERE name = 'night-32'")
    with pytest.raises(TelemetryError, match="has a run without an id"):
        read(database)
