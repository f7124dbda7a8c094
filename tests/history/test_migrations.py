import sqlite3
from pathlib import Path

import pytest

from jpo.errors import StoreError
from jpo.history import open_store, verify
from jpo.history.audit import chain
from jpo.history.migrations import APPLICATION_ID, MIGRATIONS, migrate
from jpo.records import MEASURED, Identity


def a_database(path: Path, *statements: str) -> str:
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return f"sqlite:///{path}"


def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jpo.db"
    open_store(url).close()
    a_database(tmp_path / "jpo.db", "PRAGMA user_version = 99")
    before = (tmp_path / "jpo.db").read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError, match="schema 99") as caught:
            open_store(url, read_only=read_only)
        assert caught.value.code == "JPO-E505"
    assert (tmp_path / "jpo.db").read_bytes() == before


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    url = a_database(tmp_path / "places.sqlite", "CREATE TABLE bookmarks (url TEXT)")
    before = (tmp_path / "places.sqlite").read_bytes()
    with pytest.raises(StoreError, match="another program") as caught:
        open_store(url)
    assert caught.value.code == "JPO-E510"
    assert (tmp_path / "places.sqlite").read_bytes() == before


def test_a_migration_that_fails_leaves_the_version_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, "memory")
    broken = (*MIGRATIONS, ("CREATE TABLE extra (a)", "CREATE TABLE runs (a)"))
    monkeypatch.setattr("jpo.history.migrations.MIGRATIONS", broken)
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(connection, "memory")
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'extra'").fetchone() == (0,)
    connection.close()


def test_everything_that_a_source_can_report_has_a_column_of_its_name() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, "memory")
    columns = {row[1] for row in connection.execute("PRAGMA table_info(runs)")}
    connection.close()
    assert set(MEASURED) <= columns


def test_every_table_is_strict() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, "memory")
    tables = connection.execute("SELECT name, strict FROM pragma_table_list WHERE name NOT LIKE 'sqlite_%'").fetchall()
    connection.close()
    assert {strict for _, strict in tables} == {1}
    assert {name for name, _ in tables} == {"runs", "suggestions", "watermarks", "agents", "audit", "series"}


def test_a_store_of_the_first_version_gets_the_new_columns_and_keeps_its_rows(tmp_path: Path) -> None:
    statements = (*MIGRATIONS[0], f"PRAGMA application_id = {APPLICATION_ID}", "PRAGMA user_version = 1")
    columns = "INSERT INTO suggestions (suggestion_id, dataset, model, framework, created_at, document)"
    rows = [f"{columns} VALUES ('s{n}', 'a', 'b', 'c', {n}, '{text}')" for n, text in enumerate(DOCUMENTS)]
    url = a_database(tmp_path / "jpo.db", *statements, *rows)
    open_store(url).close()
    connection = sqlite3.connect(tmp_path / "jpo.db")
    assert [row[0] for row in connection.execute("SELECT status FROM suggestions ORDER BY number")] == ["changed", "kept", "kept"]
    connection.close()


DOCUMENTS = ('{"status":"changed"}', '{"status":"kept"}', "damaged")


def test_a_store_from_before_hardware_keeps_its_runs_series_and_audit_log(tmp_path: Path) -> None:
    path = tmp_path / "jpo.db"
    first = chain(None, 5.0, "observed", Identity("a", "b", "c"), "{}")
    statements = (*MIGRATIONS[0], *MIGRATIONS[1], f"PRAGMA application_id = {APPLICATION_ID}", "PRAGMA user_version = 2")
    rows = (
        """INSERT INTO suggestions (suggestion_id, dataset, model, framework, created_at, document)
           VALUES ('s', 'a', 'b', 'c', 1, '{}')""",
        """INSERT INTO runs (number, dataset, model, framework, run_id, status, source, ended_at, recorded_at, suggestion_id,
           parameters, val_loss) VALUES (7, 'a', 'b', 'c', 'r', 'succeeded', 'csv', 9, 10, 's', '{"gpus":2.0}', 0.5)""",
        "INSERT INTO series VALUES (7, 'cpu_cores', x'00')",
        "INSERT INTO watermarks VALUES ('a', 'b', 'c', 'csv', 11)",
        "INSERT INTO audit VALUES (1, 5.0, 'observed', 'a', 'b', 'c', '{}', 'PREVIOUS', 'HASH')".replace(
            "PREVIOUS", first.previous
        ).replace("HASH", first.hash),
    )
    with open_store(a_database(path, *statements, *rows)) as store:
        identity = Identity("a", "b", "c")
        (recorded,) = store.recorded_runs(identity)
        assert (recorded.run.identity, recorded.run.outcome.val_loss, recorded.suggestion_id) == (identity, 0.5, "s")
        assert (recorded.run.outcome.loss_slope, recorded.run.outcome.loss_slope_error) == (None, None)
        assert (store.readings(identity)["csv"].read_until, verify(store).records) == (11.0, 1)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert connection.execute("SELECT run FROM series").fetchall() == [(7,)]
    assert {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql NOT NULL")} == {
        *("runs_by_end", "runs_by_time", "runs_by_suggestion", "runs_by_id", "suggestions_by_workload")
    }
    connection.close()


def test_a_store_from_before_addresses_keeps_its_watermarks(tmp_path: Path) -> None:
    path = tmp_path / "jpo.db"
    statements = (*(statement for step in MIGRATIONS[:4] for statement in step), f"PRAGMA application_id = {APPLICATION_ID}")
    row = """INSERT INTO watermarks (dataset, model, framework, source, read_until) VALUES ('a', 'b', 'c', 'prometheus', 7)"""
    with open_store(a_database(path, *statements, "PRAGMA user_version = 4", row)) as store:
        assert store.readings(Identity("a", "b", "c")) == {"prometheus": (7.0, {})}
