"""What SQLite and the file system raise, as StoreErrors."""

from __future__ import annotations

import errno
import sqlite3

import pytest

from jpo.errors import StoreError
from jpo.history.failures import line_of, reachable, readable, reported
from jpo.records import Identity


def sqlite_error(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("the words of SQLite")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (sqlite3.SQLITE_BUSY, "JPO-E501"),
        (sqlite3.SQLITE_BUSY | 2 << 8, "JPO-E501"),  # an extended code: which kind of busy
        (sqlite3.SQLITE_NOTADB, "JPO-E502"),
        (sqlite3.SQLITE_FULL, "JPO-E503"),
        (sqlite3.SQLITE_READONLY, "JPO-E504"),
        (sqlite3.SQLITE_CONSTRAINT, "JPO-E508"),
        (sqlite3.SQLITE_MISUSE, "JPO-E599"),
    ],
)
def test_each_cause_has_its_code_and_the_words_of_sqlite(number: int, code: str) -> None:
    with pytest.raises(StoreError) as caught, reported("jpo.db"):
        raise sqlite_error(number)
    assert (caught.value.code, caught.value.place) == (code, "jpo.db")
    assert caught.value.finding.endswith("(the words of SQLite)")


def test_text_that_sqlite_cannot_store_is_refused() -> None:
    with pytest.raises(StoreError, match="a value cannot be stored") as caught, reported("jpo.db"):
        sqlite3.connect(":memory:").execute("SELECT ?", (2**70,))
    assert caught.value.code == "JPO-E508"


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "JPO-E503"), (errno.EACCES, "JPO-E504")])
def test_a_full_disk_is_distinguished_from_a_closed_folder(number: int, code: str) -> None:
    with pytest.raises(StoreError) as caught, reachable("jpo.db"):
        raise OSError(number, "no")
    assert caught.value.code == code


def test_a_row_that_cannot_be_read_is_damage() -> None:
    with pytest.raises(StoreError, match="a row cannot be read: 'status'") as caught, readable("jpo.db"):
        raise KeyError("status")
    assert caught.value.code == "JPO-E502"


def test_an_errors_text_is_one_short_printable_line() -> None:
    assert line_of("a\nb\x1b") == "a b "
    assert len(line_of("x" * 1000)) == 200


def test_a_row_with_null_for_a_name_is_damage() -> None:
    with pytest.raises(StoreError, match="a row cannot be read") as damaged, readable("store"):
        Identity(None, "cnn", "pytorch")  # type: ignore[arg-type]  # what a damaged database returns
    assert damaged.value.code == "JPO-E502"
