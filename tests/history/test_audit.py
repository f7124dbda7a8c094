"""The hash chain against someone who edits the database with the triggers taken off."""

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jpo.errors import StoreError
from jpo.history import AuditEvent, open_store, verify
from jpo.history.audit import GENESIS, AuditRow, chain, hash_of
from jpo.records import Identity

DIGITS = Identity("digits", "cnn", "pytorch")
OFF = ("DROP TRIGGER audit_is_never_changed", "DROP TRIGGER audit_is_never_shortened", "DROP TRIGGER audit_grows_at_its_end")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "jpo.db"
    with open_store(f"sqlite:///{path}") as store:
        for number in range(1, 9):
            store.audit(AuditEvent("observed", float(number), DIGITS if number % 2 else None, {"run_id": f"r{number}"}))
    return path


def tamper(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        for statement in (*OFF, *statements):
            connection.execute(statement)
    connection.close()


def test_a_hash_can_be_computed_by_anyone_from_the_canonical_json() -> None:
    row = chain(None, 1.5, "written", DIGITS, '{"a":[1,2.0]}')
    record = {"at": 1.5, "kind": "written", "dataset": "digits", "model": "cnn", "framework": "pytorch", "number": 1}
    text = json.dumps({**record, "data": {"a": [1, 2.0]}}, sort_keys=True, separators=(",", ":"))
    assert row.hash == hashlib.sha256((GENESIS + text).encode()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        "at = at + 0.0000001",
        "kind = 'observeD'",
        "dataset = 'digitS'",
        "model = 'cNn'",
        "framework = NULL",
        'data = \'{"run_id":"r6"}\'',
        "data = data || ' '",
        "data = CAST(x'ff' AS TEXT)",
        "previous = replace(previous, 'a', 'b') || '0'",
        "hash = lower(hex(randomblob(32)))",
    ],
)
def test_a_changed_column_is_named(database: Path, change: str) -> None:
    tamper(database, f"UPDATE audit SET {change} WHERE number = 5")  # noqa: S608
    with open_store(f"sqlite:///{database}") as store:
        verification = verify(store)
    assert (verification.ok, verification.first_bad, verification.records) == (False, 5, 4)


def test_a_record_removed_from_the_middle_is_named(database: Path) -> None:
    tamper(database, "DELETE FROM audit WHERE number = 3")
    with open_store(f"sqlite:///{database}") as store:
        assert verify(store).first_bad == 3
        assert verify(store).reason == "record 3 is missing; the next one on record is 4"


def test_removing_a_record_and_closing_the_gap_is_noticed(database: Path) -> None:
    tamper(
        database,
        "DELETE FROM audit WHERE number = 3",
        "UPDATE audit SET number = -number + 1 WHERE number > 3",
        "UPDATE audit SET number = -number WHERE number < 0",
    )
    with open_store(f"sqlite:///{database}") as store:
        assert verify(store).first_bad == 3


def test_records_in_another_order_are_noticed(database: Path) -> None:
    tamper(
        database,
        "UPDATE audit SET number = -1 WHERE number = 4",
        "UPDATE audit SET number = 4 WHERE number = 5",
        "UPDATE audit SET number = 5 WHERE number = -1",
    )
    with open_store(f"sqlite:///{database}") as store:
        assert verify(store).first_bad == 4


def test_a_missing_end_is_noticed_only_with_an_anchor(database: Path) -> None:
    with open_store(f"sqlite:///{database}") as store:
        anchor = verify(store).head
    tamper(database, "DELETE FROM audit WHERE number > 6")
    with open_store(f"sqlite:///{database}") as store:
        assert verify(store).ok
        verification = verify(store, expected_head=anchor)
    assert (verification.ok, verification.first_bad, verification.records) == (False, None, 6)


def test_an_anchor_stays_good_while_the_log_grows(database: Path) -> None:
    with open_store(f"sqlite:///{database}") as store:
        anchor = verify(store).head
        store.audit(AuditEvent("learnt", 10.0))
        assert verify(store, expected_head=anchor).ok


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET kind = 'x'",
        "DELETE FROM audit",
        "INSERT OR REPLACE INTO audit SELECT * FROM audit WHERE number = 2",
        "INSERT INTO audit SELECT 12, at, kind, dataset, model, framework, data, previous, hash FROM audit WHERE number = 8",
    ],
)
def test_the_database_itself_refuses_to_alter_the_log(database: Path, statement: str) -> None:
    connection = sqlite3.connect(database)
    with pytest.raises(sqlite3.IntegrityError, match="the audit log"):
        connection.execute(statement)
    connection.close()
    with open_store(f"sqlite:///{database}") as store:
        assert verify(store).records == 8


def test_a_byte_flipped_in_the_file_is_named(database: Path) -> None:
    content = database.read_bytes()
    place = content.index(b'{"run_id":"r7"}') + 12
    database.write_bytes(content[:place] + b"R" + content[place + 1 :])
    with open_store(f"sqlite:///{database}") as store:
        assert verify(store).first_bad == 7


def test_a_damaged_record_is_shown_as_damaged_and_never_as_something_else(database: Path) -> None:
    tamper(database, "UPDATE audit SET data = '{' WHERE number = 5")
    with open_store(f"sqlite:///{database}") as store, pytest.raises(StoreError, match="record 5 is damaged"):
        store.audit_records()


class Log:
    """A hundred thousand chained records, without a database."""

    def __init__(self, records: int) -> None:
        self.rows: list[AuditRow] = []
        for _ in range(records):
            data = '{"changes":[{"key":"training.batch_size","new":"64","old":"32"}],"suggestion_id":"0123456789abcdef"}'
            self.rows.append(chain(self.rows[-1] if self.rows else None, 1.7e9, "suggested", DIGITS, data))

    def audit_rows(self) -> Iterator[AuditRow]:
        return iter(self.rows)


def test_a_long_log_is_verified_in_a_moment() -> None:
    log = Log(20_000)
    start = time.process_time()
    assert verify(log).records == 20_000
    assert time.process_time() - start < 0.6  # 100,000 records within 3 seconds


def test_a_row_whose_hash_is_right_in_itself_must_still_follow_its_predecessor() -> None:
    log = Log(5)
    forged = log.rows[2]._replace(previous="f" * 64)
    log.rows[2] = forged._replace(hash=hash_of(forged))
    assert verify(log).first_bad == 3


@pytest.mark.parametrize(("kind", "at"), [("", 1.0), ("written", float("nan"))])
def test_an_event_without_kind_or_time_cannot_be_built(kind: str, at: float) -> None:
    with pytest.raises(ValueError, match=r"kind|unix seconds"):
        AuditEvent(kind, at)
