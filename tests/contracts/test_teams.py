"""Several teams in one PostgreSQL store (teams.sql): JPO works for each, and none reaches what is another's."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from made import a_suggestion

import jpo.history
from jpo.__main__ import run
from jpo.errors import StoreError
from jpo.history import AuditEvent, Store, open_store, verify
from jpo.records import Finished, Identity, Outcome, Run, RunStatus, Series

psycopg = pytest.importorskip("psycopg", reason='pip install "jpo[postgres]"')

TEAMS_SQL = Path(jpo.history.__file__).parent / "postgres" / "teams.sql"
DIGITS = Identity("digits", "cnn", "pytorch")
TABLES = ("suggestions", "runs", "series", "watermarks", "agents", "audit")


def a_run(run_id: str, batch_size: float = 32.0) -> Run:
    outcome = Outcome(duration_seconds=100.0)
    return Run(run_id, DIGITS, {"batch_size": batch_size}, RunStatus.SUCCEEDED, 1.0, 101.0, outcome, "csv")


@dataclass(frozen=True)
class Shared:
    """A database of two teams; `url(role)` is what a team's JPO_STORE__URL is."""

    server: Any
    database: str
    a: str
    b: str

    def url(self, role: str) -> str:
        return str(self.server.url(self.database)).replace("//jpo@", f"//{role}@")

    def sql(self, role: str, statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url(role), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else [(cursor.rowcount,)]


@pytest.fixture(scope="module")
def shared_store(postgres: Any) -> Iterator[Shared]:
    """A store with a run of before there were teams, which belongs to the first; each team has the same things in it."""
    url = postgres.new_database()
    database = url.partition("@/")[2].partition("?")[0]
    store = Shared(postgres, database, f"{database}_a", f"{database}_b")
    with open_store(url) as there:
        there.record(Finished((a_run("old"),)), now=1.0)
    for _ in range(2):  # it may run as often as one likes
        store.sql("jpo", f"SET jpo.first_team = '{store.a}'; {TEAMS_SQL.read_text(encoding='utf-8')}")
    for team in (store.a, store.b):
        store.sql("jpo", f"CREATE ROLE {team} LOGIN IN ROLE jpo_teams")
        with open_store(store.url(team)) as mine:
            fill(mine, batch_size=32.0 if team == store.a else 64.0)
    yield store
    with psycopg.connect(store.url("jpo"), autocommit=True) as connection:  # roles are the server's, not the database's
        for team in (store.a, store.b):
            connection.execute(f"DROP OWNED BY {team}; DROP ROLE {team}".encode())


def fill(store: Store, *, batch_size: float) -> None:
    """The same run, series, watermark, agent and policy, with other values in them."""
    series = Series("nightly-1", "cpu_cores", (1.0, 2.0), (batch_size, batch_size))
    finished = Finished((a_run("nightly-1", batch_size),), series=(series,), watermark=batch_size)
    store.record(finished, now=2.0, identity=DIGITS, source="prometheus")
    store.append(a_suggestion(), config="config.ini", source_digest="0" * 64)
    store.save_agent("agent", str(batch_size).encode(), expected_version=0)
    release(store, str(batch_size).encode())


def release(store: Store, file: bytes) -> None:
    event = AuditEvent("tested", 3.0, None, {"file_digest": hashlib.sha256(file).hexdigest()})
    loaded = store.load_agent("policy")
    store.save_agent("policy", file, expected_version=loaded[1] if loaded else 0, event=event)


def test_each_team_has_its_own_history_and_chain_though_all_names_are_the_same(shared_store: Shared) -> None:
    for team, batch_size, ids in ((shared_store.a, 32.0, ["old", "nightly-1"]), (shared_store.b, 64.0, ["nightly-1"])):
        with open_store(shared_store.url(team)) as store:
            runs = store.runs_of(DIGITS)
            assert sorted(run.run_id for run in runs) == sorted(ids)
            assert {run.parameters["batch_size"] for run in runs if run.run_id == "nightly-1"} == {batch_size}
            assert store.readings(DIGITS)["prometheus"].read_until == batch_size
            assert [series.values for series in store.series_of(a_run("nightly-1"))] == [(batch_size, batch_size)]
            assert store.load_agent("agent") == (str(batch_size).encode(), 1)
            verification = verify(store)
            assert (verification.ok, verification.records) == (True, len(ids) + 2)


@pytest.mark.parametrize("table", TABLES)
def test_a_team_reads_no_row_of_another(shared_store: Shared, table: str) -> None:
    rows = shared_store.sql(shared_store.b, f"SELECT DISTINCT team FROM jpo.{table}")  # noqa: S608
    assert rows == [(shared_store.b,)]


ATTACKS = {
    "replace runs": "UPDATE jpo.runs SET parameters = '{}'",
    "replace agents": "UPDATE jpo.agents SET state = 'x' WHERE name = 'agent'",
    "move watermarks": "UPDATE jpo.watermarks SET read_until = 1e11",
    "withdraw suggestions": "UPDATE jpo.suggestions SET withdrawn = 1",
    "delete series": "DELETE FROM jpo.series",
    "delete runs": "WITH gone AS (DELETE FROM jpo.series) DELETE FROM jpo.runs",  # what `jpo state gc` does with a team's own
}
FORBIDDEN = {
    "change the log": "UPDATE jpo.audit SET data = '{}'",
    "shorten the log": "DELETE FROM jpo.audit",
    "empty the log": "TRUNCATE jpo.audit",
    "delete agents": "DELETE FROM jpo.agents",
    "delete watermarks": "DELETE FROM jpo.watermarks",
    "delete suggestions": "DELETE FROM jpo.suggestions",
    "rewrite suggestions": "UPDATE jpo.suggestions SET document = '{}'",
    "take off the locks": "ALTER TABLE jpo.runs DISABLE ROW LEVEL SECURITY",
    "take off the trigger": "ALTER TABLE jpo.audit DISABLE TRIGGER ALL",
    "make a table": "CREATE TABLE jpo.mine (n INT)",
    "become the owner": "SET ROLE jpo",
    "change the version": "UPDATE jpo.schema_version SET version = 99",
    "replace a function": (
        "CREATE OR REPLACE FUNCTION jpo.audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_a_team_may_change_is_its_own_alone(shared_store: Shared, attack: str) -> None:
    with psycopg.connect(shared_store.url(shared_store.b)) as connection:
        changed = connection.execute(f"{ATTACKS[attack]} RETURNING team").fetchall()
        connection.rollback()
    assert {team for (team,) in changed} == {shared_store.b}


@pytest.mark.parametrize("attack", FORBIDDEN)
def test_what_no_team_may_do(shared_store: Shared, attack: str) -> None:
    with pytest.raises(psycopg.Error, match=r"permission denied|must be owner|append-only"):
        shared_store.sql(shared_store.b, FORBIDDEN[attack])


@pytest.mark.parametrize("table", TABLES)
def test_nobody_writes_in_the_name_of_another_team(shared_store: Shared, table: str) -> None:
    role = shared_store.b
    with pytest.raises(psycopg.Error, match=r"row-level security|append-only|permission denied"):
        shared_store.sql(role, f"UPDATE jpo.{table} SET team = '{shared_store.a}'")  # noqa: S608
    columns = {
        "agents": "(name, version, state, team) VALUES ('agent', 9, 'x', '{a}')",
        "watermarks": "(dataset, model, framework, source, read_until, team) VALUES ('d', 'm', 'f', 's', 1, '{a}')",
        "series": "(run, quantity, packed, team) VALUES (1, 'cpu_cores', 'x', '{a}')",
        "audit": "(number, at, kind, data, previous, hash, team) VALUES (99, 1, 'observed', '{{}}', '', '', '{a}')",
        "runs": (
            "(number, dataset, model, framework, run_id, status, source, ended_at, recorded_at, parameters, team) "
            "VALUES (99, 'digits', 'cnn', 'pytorch', 'forged', 'succeeded', 'csv', 1, 1, '{{}}', '{a}')"
        ),
        "suggestions": (
            "(number, suggestion_id, dataset, model, framework, created_at, status, document, team) "
            "VALUES (99, 'forged', 'digits', 'cnn', 'pytorch', 1, 'kept', '{{}}', '{a}')"
        ),
    }[table].format(a=shared_store.a)
    with pytest.raises(psycopg.Error, match=r"row-level security|grows at its end"):
        shared_store.sql(role, f"INSERT INTO jpo.{table} {columns}")


def test_no_policy_decides_without_its_release_test_on_record(shared_store: Shared) -> None:
    with open_store(shared_store.url(shared_store.b)) as store:
        _, version = store.load_agent("policy") or (b"", 0)
        with pytest.raises(StoreError, match="no release test on record"):
            store.save_agent("policy", b"swapped", expected_version=version)
        event = AuditEvent("tested", 4.0, None, {"file_digest": hashlib.sha256(b"another").hexdigest()})
        with pytest.raises(StoreError, match="no release test on record"):
            store.save_agent("policy", b"swapped", expected_version=version, event=event)
        assert store.load_agent("policy") == (b"64.0", version)
        release(store, b"tested")
        assert store.load_agent("policy") == (b"tested", version + 1)
        assert verify(store).ok


def test_every_table_of_the_store_is_a_teams(shared_store: Shared) -> None:
    tables = shared_store.sql("jpo", "SELECT relname FROM pg_class WHERE relnamespace = 'jpo'::regnamespace AND relkind = 'r'")
    guarded = shared_store.sql("jpo", "SELECT tablename FROM pg_policies WHERE schemaname = 'jpo'")
    assert {name for (name,) in tables} == {name for (name,) in guarded} | {"schema_version"}


def test_a_role_that_belongs_to_no_team_reads_nothing(shared_store: Shared) -> None:
    outsider = f"{shared_store.database}_outsider"
    shared_store.sql("jpo", f"CREATE ROLE {outsider} LOGIN")
    try:
        with pytest.raises(psycopg.Error, match=r"permission denied"):
            shared_store.sql(outsider, "SELECT * FROM jpo.audit")
    finally:
        shared_store.sql("jpo", f"DROP ROLE {outsider}")


@pytest.fixture
def as_team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_store: Shared) -> Callable[[str], None]:
    config = "[w]\ndataset = mnist\nmodel = cnn\nframework = pytorch\n[t]\nbatch_size = 16\n"

    def change(team: str) -> None:
        folder = tmp_path / team
        folder.mkdir(exist_ok=True)
        (folder / "config.ini").write_text(config)
        monkeypatch.chdir(folder)
        monkeypatch.setenv("JPO_STORE__URL", shared_store.url(team))

    return change


def test_the_commands_work_in_both_teams(
    as_team: Callable[[str], None], shared_store: Shared, capsys: pytest.CaptureFixture[str]
) -> None:
    for team in (shared_store.a, shared_store.b):
        as_team(team)
        for command in (
            "observe mnist-1 --metric duration_seconds=60 --metric val_loss=0.2",
            "suggest config.ini --offline --no-learn",
            "explain",
            "history",
            "audit verify",
            "state export export.jsonl",
            "state gc",
        ):
            assert run(command.split()) == 0, (team, command, capsys.readouterr().err)
