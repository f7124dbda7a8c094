"""Failures of SQLite and the file system as StoreErrors: place, finding, remedy and a code for each cause."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from jpo.errors import StoreError, words_of
from jpo.wording.printable import printable

_LOCKED = ("is locked by another process", "wait for it to end, or raise the timeout", "JPO-E501")
_RESTORE = "move it away (with its -wal and -shm files) and restore a copy, or start a new one"
_DAMAGED = ("is damaged or not a JPO store", _RESTORE, "JPO-E502")
_FREE = "free space or quota and repeat; earlier records are whole"
_FULL = ("cannot be written: the disk is full or failing", _FREE, "JPO-E503")
_CLOSED = ("cannot be opened or written", "check that the folder exists, belongs to you and is writable", "JPO-E504")
REFUSED = ("refuses the record", "it is on record already, or a value is out of range", "JPO-E508")
UNSTORABLE = ("a value cannot be stored", "check run ids, names and numbers", "JPO-E508")
_CAUSES = {
    **dict.fromkeys((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED), _LOCKED),
    **dict.fromkeys((sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB), _DAMAGED),
    sqlite3.SQLITE_ERROR: _DAMAGED,  # our statements are right: a table or a column is gone
    **dict.fromkeys((sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR), _FULL),
    **dict.fromkeys((sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM), _CLOSED),
    **dict.fromkeys((sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG), REFUSED),
}


@contextmanager
def reported(place: str) -> Iterator[None]:
    """Turn every sqlite3.Error of the block into a StoreError.

    Raises StoreError: JPO-E501 to E504, E508 by cause; E599 for what SQLite alone can explain.
    """
    try:
        yield
    except sqlite3.Error as error:
        primary = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the higher bytes say which kind of e.g. I/O error
        finding, remedy, code = _CAUSES.get(primary, ("cannot be used", "", "JPO-E599"))
        raise StoreError(place, f"{finding} ({line_of(error)})", remedy, code=code) from error
    except UnicodeDecodeError as error:  # SQLite's own message would quote the damage
        finding, remedy, code = _DAMAGED
        raise StoreError(place, finding, remedy, code=code) from error
    except (UnicodeEncodeError, OverflowError) as error:  # raised before SQLite is called
        finding, remedy, code = UNSTORABLE
        raise StoreError(place, f"{finding}: {line_of(error)}", remedy, code=code) from error


@contextmanager
def reachable(place: str) -> Iterator[None]:
    """Turn errors of the file system into StoreErrors, while the store's file and folder are created."""
    try:
        yield
    except OSError as error:
        finding, remedy, code = _FULL if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else _CLOSED
        raise StoreError(place, f"{finding} ({error.strerror})", remedy, code=code) from error


@contextmanager
def readable(place: str) -> Iterator[None]:
    """Turn errors about rows that no longer match the records into StoreErrors: they are damaged, or another program's."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        finding, remedy, code = _DAMAGED
        raise StoreError(place, f"{finding} (a row cannot be read: {line_of(error)})", remedy, code=code) from error


def line_of(error: object) -> str:
    """An error's text on one line, safe even if it quotes a damaged file."""
    return printable(words_of(error))[:200]
