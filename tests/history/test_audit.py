"""The hash chain against someone who edits the database with the triggers taken off."""

import hashlib
import json
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from jpo.errors import StoreError
from jpo.history import AuditEvent, open_store, verify
from jpo.history.audit import GENESIS, AuditRow, chain, hash_of, read_row
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
        "INSERT INTO audit SELECT 12, at, kind, dataset, model, framework, data, previous, hash, '' FROM audit WHERE number = 8",
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


def flipped(value: object, bit: int) -> object:
    """The stored value with one bit of it flipped; text where nothing was."""
    form = {int: ">q", float: ">d"}.get(type(value))
    stored = bytearray(struct.pack(form, value) if form else str(value or "x").encode())
    place = bit % (8 * len(stored))
    stored[place // 8] ^= 1 << place % 8
    return struct.unpack(form, stored)[0] if form else bytes(stored)


MANY = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@MANY
@given(number=st.integers(1, 8), column=st.sampled_from(AuditRow._fields), bit=st.integers(0, 1023))
def test_any_bit_flipped_in_any_column_is_found(database: Path, number: int, column: str, bit: int) -> None:
    copy = database.with_name("copy.db")
    copy.write_bytes(database.read_bytes())
    connection = sqlite3.connect(copy)
    (value,) = connection.execute(f"SELECT {column} FROM audit WHERE number = ?", (number,)).fetchone()  # noqa: S608
    new = flipped(value, bit)
    text = "CAST(:new AS TEXT)" if isinstance(new, bytes) else ":new"
    for statement in OFF:
        connection.execute(statement)
    try:
        connection.execute(f"UPDATE audit SET {column} = {text} WHERE number = :number", {"new": new, "number": number})  # noqa: S608
        connection.commit()
    except sqlite3.IntegrityError:
        assume(False)  # the number of another record, or no number at all: the database itself refuses it
    finally:
        connection.close()
    with open_store(f"sqlite:///{copy}", read_only=True) as store:
        verification = verify(store)
    assert not verification.ok
    assert verification.first_bad is not None
    assert verification.first_bad <= number


@MANY
@given(place=st.integers(0, 10**9), bit=st.integers(0, 7))
def test_any_bit_flipped_in_the_file_is_found_or_changes_no_record(database: Path, place: int, bit: int) -> None:
    with open_store(f"sqlite:///{database}", read_only=True) as store:
        before, head = list(store.audit_rows()), verify(store).head
    content = bytearray(database.read_bytes())
    written = [at for at, byte in enumerate(content) if byte]
    content[written[place % len(written)]] ^= 1 << bit
    copy = database.with_name("copy.db")
    copy.write_bytes(content)
    with suppress(StoreError), open_store(f"sqlite:///{copy}", read_only=True) as store:  # the database itself is damaged: found
        assert not verify(store, expected_head=head).ok or list(store.audit_rows()) == before


FIRST = chain(None, 0.0, "observed", DIGITS, '{"a":1.0,"b":[]}')
BARE = chain(None, 1.0, "learnt", None, "{}")


@pytest.mark.parametrize(
    "forged",
    [
        FIRST._replace(at=0),
        FIRST._replace(at=-0.0),
        FIRST._replace(data='{"b":[],"a":1.0}'),
        FIRST._replace(data='{"a":1,"b":[]}'),
        FIRST._replace(data='{"a":1.0, "b":[]}'),
        FIRST._replace(data='{"a":9,"a":1.0,"b":[]}'),
        FIRST._replace(data='{"\\u0061":1.0,"b":[]}'),
        FIRST._replace(hash=FIRST.hash.upper()),
        FIRST._replace(number=1.0),  # type: ignore[arg-type]
        FIRST._replace(number=True),
        FIRST._replace(kind=b"observed"),  # type: ignore[arg-type]
        FIRST._replace(data=FIRST.data.encode()),  # type: ignore[arg-type]
        FIRST._replace(previous=""),
        FIRST._replace(dataset="digits\udcff"),
        BARE._replace(dataset=""),
        BARE._replace(framework="null"),
        BARE._replace(dataset="", model="", framework=""),
        chain(None, 1.0, "learnt", Identity("b'x'", "m", "f"), "{}")._replace(dataset=b"x"),  # type: ignore[arg-type]
        chain(None, 1.0, "None", None, "{}")._replace(kind=None),  # type: ignore[arg-type]
    ],
)
def test_a_row_that_only_means_the_same_is_not_the_same(forged: AuditRow) -> None:
    log = Log(0)
    log.rows = [forged]
    assert verify(log).first_bad == 1


def test_a_time_before_which_there_is_a_minus_can_be_verified(database: Path) -> None:
    with open_store(f"sqlite:///{database}") as store:
        store.audit(AuditEvent("learnt", -0.0))
        assert verify(store).ok


def test_an_appended_row_with_a_right_hash_comes_after_the_anchor(database: Path) -> None:
    """A chain without a key does not show who appended; the anchor says which records are younger than it."""
    with open_store(f"sqlite:///{database}") as store:
        last, anchor = list(store.audit_rows())[-1], verify(store).head
    forged = chain(last, 99.0, "written", DIGITS, "{}")
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", forged)
    connection.close()
    with open_store(f"sqlite:///{database}") as store:
        verification = verify(store, expected_head=anchor)
    assert (verification.ok, verification.records, verification.anchored) == (True, 9, 8)


def test_a_damaged_record_is_shown_as_damaged_and_never_as_something_else(database: Path) -> None:
    tamper(database, "UPDATE audit SET data = '{' WHERE number = 5")
    with open_store(f"sqlite:///{database}") as store, pytest.raises(StoreError, match="record 5 is damaged"):
        store.audit_records()


class Log:
    """Chained records without a database."""

    def __init__(self, records: int) -> None:
        self.rows: list[AuditRow] = []
        for _ in range(records):
            data = '{"changes":[{"key":"training.batch_size","new":"64","old":"32"}],"suggestion_id":"0123456789abcdef"}'
            self.rows.append(chain(self.rows[-1] if self.rows else None, 1.7e9, "suggested", DIGITS, data))

    def audit_rows(self) -> Iterator[AuditRow]:
        return iter(self.rows)


def test_a_row_whose_hash_is_right_in_itself_must_still_follow_its_predecessor() -> None:
    log = Log(5)
    forged = log.rows[2]._replace(previous="f" * 64)
    log.rows[2] = forged._replace(hash=hash_of(forged))
    assert verify(log).first_bad == 3


@pytest.mark.parametrize(("kind", "at"), [("", 1.0), ("written", float("nan"))])
def test_an_event_without_kind_or_time_cannot_be_built(kind: str, at: float) -> None:
    with pytest.raises(ValueError, match=r"kind|unix seconds"):
        AuditEvent(kind, at)


@pytest.mark.parametrize("data", ["{", "[1]", "5", "null", "[" * 100_000])
def test_a_row_whose_data_are_no_table_is_damaged(data: str) -> None:
    with pytest.raises(StoreError, match="record 1 is damaged"):
        read_row(FIRST._replace(data=data))


@pytest.mark.parametrize("change", [{"at": None}, {"at": "noon"}, {"model": 5}, {"dataset": " "}])
def test_a_row_with_impossible_columns_is_damaged(change: dict[str, object]) -> None:
    with pytest.raises(StoreError, match="record 1 is damaged"):
        read_row(FIRST._replace(**change))  # type: ignore[arg-type]


def test_the_anchor_of_an_empty_log_is_always_there(database: Path) -> None:
    with open_store(f"sqlite:///{database}") as store:
        assert verify(store, expected_head=GENESIS).anchored == 0


def test_hardware_is_hashed_where_it_is_said_and_old_records_keep_their_hashes() -> None:
    old = chain(None, 1.0, "observed", DIGITS, "{}")
    assert old.hash == hash_of(old._replace(hardware=""))
    said = chain(None, 1.0, "observed", replace(DIGITS, hardware="a100"), "{}")
    assert said.hash != old.hash != hash_of(old._replace(hardware="a100"))
    assert said.hash == hash_of(said)
