"""What only a PostgreSQL server can do to its callers: crash, start up, refuse, hold something else."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from made import a_suggestion

from jpo.errors import StoreError
from jpo.history import AuditEvent, open_store, verify
from jpo.history.postgres import transactions
from jpo.records import Finished, Identity, Outcome, Run, RunStatus

DIGITS = Identity("digits", "cnn", "pytorch")


def refusal(url: str, **options: Any) -> StoreError:
    with pytest.raises(StoreError) as caught, open_store(url, **options) as store:
        store.audit(AuditEvent("learnt", 1.0))
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.fixture
def url(postgres: Any) -> str:
    return str(postgres.new_database())


def database_of(url: str) -> str:
    return url.partition("@/")[2].partition("?")[0]


WRITER = """
import sys, time
from jpo.errors import StoreError
from jpo.history import open_store
from jpo.records import Finished, Identity, Outcome, Run, RunStatus

url, writer = sys.argv[1:]
identity = Identity("digits", "cnn", "pytorch")
number = lost = 0
while number < 1000 and lost < 2:
    try:
        with open_store(url) as store:
            while number < 1000:
                run = Run(f"{writer}-{number}", identity, {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv")
                store.record(Finished((run,)), now=2.0)
                print(run.run_id, flush=True)
                number += 1
                if lost and number % 10 == 0:
                    sys.exit(0)
    except StoreError as error:
        assert error.code in ("JPO-E513", "JPO-E523"), error
        lost += 1
"""


def test_a_server_that_crashes_and_comes_back_lost_nothing_that_it_acknowledged(
    own_postgres: Any, start_python: Callable[..., subprocess.Popen[str]]
) -> None:
    url = own_postgres.new_database()
    own_postgres.sql(f"ALTER DATABASE {database_of(url)} SET synchronous_commit = off", "postgres")
    writers = [start_python(WRITER, url, f"w{number}") for number in range(3)]
    told = [writer.stdout.readline().strip() for writer in writers for _ in range(20) if writer.stdout]
    own_postgres.stop("immediate")
    own_postgres.start()
    for writer in writers:  # they open the store anew, and wait for the server meanwhile
        assert writer.stdout is not None
        told += writer.stdout.read().split()
        assert writer.wait(timeout=60) == 0
    with open_store(url) as store:
        recorded = [run.run_id for run in store.runs_of(DIGITS)]
        assert set(told) <= set(recorded)
        assert len(recorded) - len(told) <= 3  # a commit whose answer the crash swallowed
        assert (verify(store).ok, verify(store).records, len(set(recorded))) == (True, len(recorded), len(recorded))


def test_a_lost_connection_is_reported_and_a_restarting_server_waited_for(own_postgres: Any) -> None:
    url = own_postgres.new_database()
    with open_store(url) as store:
        own_postgres.stop("fast")
        with pytest.raises(StoreError, match="connection to the server is lost") as caught:
            store.audit(AuditEvent("learnt", 1.0))
        assert caught.value.code == "JPO-E513"
    later = threading.Timer(0.7, own_postgres.start)
    later.start()
    with open_store(url, timeout_seconds=20) as store:
        assert verify(store).records == 0
    later.join()


def test_a_server_that_ends_idle_sessions_leaves_ours_alone(postgres: Any, url: str) -> None:
    postgres.sql(f"ALTER DATABASE {database_of(url)} SET idle_session_timeout = '50ms'", "postgres")
    with open_store(url) as store:
        time.sleep(0.2)
        assert store.audit(AuditEvent("learnt", 1.0)).number == 1


def test_a_server_that_ends_idle_transactions_leaves_a_dry_run_alone(postgres: Any, url: str) -> None:
    open_store(url).close()
    postgres.sql(f"ALTER DATABASE {database_of(url)} SET idle_in_transaction_session_timeout = '50ms'", "postgres")
    with open_store(url, read_only=True) as preview:
        preview.audit(AuditEvent("learnt", 1.0))
        time.sleep(0.2)
        assert preview.audit(AuditEvent("learnt", 2.0)).number == 2


def test_what_a_dry_run_refuses_is_refused_in_the_name_of_its_store(url: str) -> None:
    with open_store(url) as store:
        store.append(a_suggestion(), config="config.ini", source_digest="ab" * 32)
    with open_store(url, read_only=True) as preview, pytest.raises(StoreError) as caught:
        preview.append(a_suggestion(), config="config.ini", source_digest="ab" * 32)
    assert (caught.value.code, caught.value.place) == ("JPO-E508", preview.database.place)


def test_a_database_with_a_smaller_alphabet_takes_what_it_can_and_says_why_not_more(postgres: Any, url: str) -> None:
    name = f"{database_of(url)}_latin"
    postgres.sql(f"CREATE DATABASE {name} ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'", "postgres")
    with open_store(postgres.url(name)) as store:
        assert store.audit(AuditEvent("learnt", 1.0, Identity("ä", "ö", "ü"), {"🦀": "🦀"})).number == 1
        with pytest.raises(StoreError, match="ENCODING 'UTF8'") as caught:
            store.audit(AuditEvent("learnt", 2.0, Identity("🦀", "m", "f")))
        assert (caught.value.code, verify(store).records) == ("JPO-E508", 1)


@pytest.mark.parametrize("state", ["26000", "42P05"])
def test_a_pooler_that_keeps_no_sessions_is_named_and_not_taken_for_damage(state: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    from jpo.history.postgres.server_failures import reported

    with pytest.raises(StoreError, match="pool_mode = session") as caught, reported("postgresql://db/jpo"):
        raise psycopg.errors.lookup(state)('prepared statement "_pg3_1" does not exist')
    assert caught.value.code == "JPO-E513"


def test_a_server_that_is_not_there_is_reported_within_the_timeout(url: str) -> None:
    with socket.socket() as silent:  # accepts, and never says a word
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        port = silent.getsockname()[1]
        for address in (f"127.0.0.1:{port}", "127.0.0.1:1"):
            begun = time.monotonic()
            error = refusal(f"postgresql://jpo:hunter2@{address}/jpo?password=hunter2", timeout_seconds=2)
            assert time.monotonic() - begun < 6
            assert (error.code, error.place) == ("JPO-E513", f"postgresql://{address}/jpo")
            assert "hunter2" not in str(error)


def test_a_wrong_password_is_reported_at_once_and_not_shown(own_postgres: Any) -> None:
    url = own_postgres.new_database()
    own_postgres.sql("CREATE ROLE locked LOGIN PASSWORD 'right'", "postgres")
    hba = own_postgres.sql("SHOW hba_file", "postgres")
    with open(hba, "r+", encoding="utf-8") as file:  # noqa: PTH123
        rules = file.read()
        file.seek(0)
        file.write("local all locked scram-sha-256\n" + rules)
    own_postgres.sql("SELECT pg_reload_conf()", "postgres")
    error = refusal(url.replace("jpo@", "locked:hunter2@"), timeout_seconds=60)
    assert (error.code, "password authentication failed" in str(error), "hunter2" in str(error)) == ("JPO-E513", True, False)


def test_a_role_that_may_not_create_the_schema_gets_what_to_ask_for(postgres: Any, url: str) -> None:
    postgres.sql("CREATE ROLE visitor LOGIN", "postgres")
    error = refusal(url.replace("jpo@", "visitor@"))
    assert (error.code, "CREATE SCHEMA jpo AUTHORIZATION" in error.remedy) == ("JPO-E514", True)
    postgres.sql("CREATE SCHEMA jpo AUTHORIZATION visitor", database_of(url))
    with open_store(url.replace("jpo@", "visitor@")) as store:
        assert store.audit(AuditEvent("learnt", 1.0)).number == 1


def test_who_may_only_read_can_make_a_dry_run(postgres: Any, url: str) -> None:
    with open_store(url) as store:
        store.audit(AuditEvent("learnt", 1.0))
    name = database_of(url)
    postgres.sql("CREATE ROLE reader LOGIN", "postgres")
    postgres.sql("GRANT USAGE ON SCHEMA jpo TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA jpo TO reader", name)
    with open_store(url.replace("jpo@", "reader@"), read_only=True) as copy:
        assert copy.audit(AuditEvent("learnt", 2.0)).number == 2
    assert refusal(url.replace("jpo@", "reader@")).code == "JPO-E514"
    postgres.sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on", "postgres")
    assert refusal(url).code == "JPO-E514"  # as on a standby


def test_a_missing_store_read_only_is_empty_and_stays_missing(postgres: Any, url: str) -> None:
    with open_store(url, read_only=True) as store:
        assert store.audit(AuditEvent("learnt", 1.0)).number == 1
    assert postgres.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'jpo'", database_of(url)) == "0"


def test_a_newer_schema_and_another_programs_are_refused_and_left_alone(postgres: Any, url: str) -> None:
    open_store(url).close()
    postgres.sql("UPDATE jpo.schema_version SET version = 99", database_of(url))
    assert {refusal(url).code, refusal(url, read_only=True).code} == {"JPO-E505"}
    postgres.sql("UPDATE jpo.schema_version SET version = 1", database_of(url))
    assert refusal(url, read_only=True).code == "JPO-E505"
    postgres.sql("DROP SCHEMA jpo CASCADE; CREATE SCHEMA jpo; CREATE TABLE jpo.songs (a TEXT)", database_of(url))
    assert {refusal(url).code, refusal(url, read_only=True).code} == {"JPO-E510"}


def test_other_schemas_of_the_database_are_left_alone(postgres: Any, url: str) -> None:
    postgres.sql("CREATE TABLE runs (a TEXT)", database_of(url))
    with open_store(f"{url}&options=-csearch_path%3Dpublic") as store:
        store.audit(AuditEvent("learnt", 1.0))
        assert store.recorded_runs() == ()
    assert postgres.sql("SELECT count(*) FROM public.runs", database_of(url)) == "0"


def test_a_table_that_is_gone_is_reported_as_damage(postgres: Any, url: str) -> None:
    open_store(url).close()
    postgres.sql("DROP TABLE jpo.audit", database_of(url))
    assert refusal(url).code == "JPO-E502"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE jpo.audit SET kind = 'kept'",
        "DELETE FROM jpo.audit",
        "TRUNCATE jpo.audit",
        "INSERT INTO jpo.audit SELECT number + 2, at, kind, dataset, model, framework, data, previous, hash FROM jpo.audit",
        "INSERT INTO jpo.audit SELECT * FROM jpo.audit ON CONFLICT (number) DO UPDATE SET kind = 'kept'",
    ],
)
def test_the_audit_log_only_grows(postgres: Any, url: str, statement: str) -> None:
    with open_store(url) as store:
        store.audit(AuditEvent("learnt", 1.0))
    with pytest.raises(subprocess.CalledProcessError) as caught:
        postgres.sql(statement, database_of(url))
    assert "the audit log" in caught.value.stderr


def test_who_takes_the_triggers_off_is_found_by_the_chain(postgres: Any, url: str) -> None:
    with open_store(url) as store:
        for number in range(3):
            store.audit(AuditEvent("learnt", float(number)))
        postgres.sql(
            "ALTER TABLE jpo.audit DISABLE TRIGGER ALL; UPDATE jpo.audit SET kind = 'kept' WHERE number = 2", database_of(url)
        )
        assert verify(store).first_bad == 2


def test_psycopg_is_imported_for_such_a_url_alone() -> None:
    program = (
        "import sys; from jpo.history import open_store; open_store('sqlite://').close(); sys.exit('psycopg' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_store_from_before_hardware_keeps_its_runs_and_tells_hardware_apart(
    postgres: Any, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run("r", DIGITS, {}, RunStatus.SUCCEEDED, None, 9.0, Outcome(), "csv")
    with monkeypatch.context() as before:
        before.setattr(transactions, "MIGRATIONS", transactions.MIGRATIONS[:2])
        open_store(url).close()
        postgres.sql(
            """INSERT INTO jpo.runs
               (number, dataset, model, framework, run_id, status, source, ended_at, recorded_at, parameters)
               VALUES (1, 'digits', 'cnn', 'pytorch', 'r', 'succeeded', 'csv', 9, 10, '{}')""",
            database_of(url),
        )
    with open_store(url) as store:
        assert store.runs_of(DIGITS) == (run,)
        elsewhere = replace(run, identity=replace(DIGITS, hardware="a100"))
        assert store.record(Finished((run, elsewhere)), now=11.0) == (elsewhere,)
        assert verify(store).ok


def test_a_store_from_before_addresses_keeps_its_watermarks(postgres: Any, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before:
        before.setattr(transactions, "MIGRATIONS", transactions.MIGRATIONS[:4])
        open_store(url).close()
        postgres.sql(
            """INSERT INTO jpo.watermarks (dataset, model, framework, source, read_until)
               VALUES ('digits', 'cnn', 'pytorch', 'prometheus', 7)""",
            database_of(url),
        )
    with open_store(url) as store:
        assert store.readings(DIGITS) == {"prometheus": (7.0, {})}
