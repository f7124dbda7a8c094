"""Failures of a PostgreSQL server as StoreErrors: place, finding, remedy and a code for each cause."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from jpo.errors import StoreError
from jpo.history.failures import REFUSED, UNSTORABLE, line_of

_LOCKED = ("is locked by another process, or too slow", "wait for it to end, or raise the timeout", "JPO-E501")
_DAMAGED = ("is damaged or not a JPO store", "restore a backup, or name another database", "JPO-E502")
_FREE = "free space on the server and repeat; earlier records are whole"
_FULL = ("cannot be written: the disk is full or failing", _FREE, "JPO-E503")
_REPEAT = "repeat the command; what was reported as done is on record, and `jpo audit show` has the last record"
_GONE = ("the connection to the server is lost", _REPEAT, "JPO-E513")
_GRANT = "as the database's owner: CREATE SCHEMA jpo AUTHORIZATION <role>; where it exists, GRANT <its owner> TO <role>"
_FORBIDDEN = ("the role may not do this", _GRANT, "JPO-E514")
_KEEP = "let each client keep its session (pgbouncer: pool_mode = session)"
_POOLED = ("a pooler shares its sessions among several clients", _KEEP, "JPO-E513")
_STANDBY = ("the server accepts no changes", "name the primary server, and a role that may write", "JPO-E514")
_CAUSES = {  # by SQLSTATE, the longest match; PostgreSQL's documentation, appendix A
    "08": _GONE,
    "22": UNSTORABLE,
    "22P05": ("the database's encoding has no such character", "create the database with ENCODING 'UTF8'", "JPO-E508"),
    "23": REFUSED,
    "25006": _STANDBY,
    "25P0": _GONE,  # ... since its transaction took too long
    "26": _POOLED,
    "40": _LOCKED,
    "42501": _FORBIDDEN,
    "42P05": _POOLED,
    "42": _DAMAGED,  # our statements are right: a table or a column is gone
    "3F": _DAMAGED,
    "53300": ("the server has no connection left", "repeat later, or raise its max_connections", "JPO-E513"),
    "53": _FULL,
    "54": UNSTORABLE,
    "55P03": _LOCKED,
    "57014": _LOCKED,
    "57": _GONE,
    "58": _FULL,
    "XX": _DAMAGED,
}


@contextmanager
def reported(place: str) -> Iterator[None]:
    """Turn every psycopg.Error of the block, and every error of its socket, into a StoreError.

    Raises StoreError: JPO-E501 to E503, E508, E513, E514 by cause; E599 for what only the server can explain.
    """
    try:
        yield
    except psycopg.Error as error:
        state = error.sqlstate or ("08" if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)) else "")
        state = "22" if isinstance(error, psycopg.DataError) and not error.sqlstate else state
        causes = (_CAUSES[state[:n]] for n in (5, 4, 2) if state[:n] in _CAUSES)
        finding, remedy, code = next(causes, ("cannot be used", "", "JPO-E599"))
        message = error.diag.message_primary or error
        raise StoreError(place, f"{finding} ({line_of(message)})", remedy, code=code) from error
    except OSError as error:
        finding, remedy, code = _GONE
        raise StoreError(place, f"{finding} ({line_of(error.strerror)})", remedy, code=code) from error
    except (UnicodeEncodeError, OverflowError) as error:  # raised before the server is called
        finding, remedy, code = UNSTORABLE
        raise StoreError(place, f"{finding}: {line_of(error)}", remedy, code=code) from error
