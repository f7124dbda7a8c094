"""Session on a PostgreSQL server: from a URL, with all that libpq knows, to an open connection within a time."""

import logging
import os
import re
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.string import StrDumperUnknown, TextLoader

from jpo.errors import StoreError, UsageError
from jpo.history.postgres.watchdog import in_time
from jpo.wording.printable import printable

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # what it warns of while a wait is cut is said by our error

PAUSE_SECONDS = 0.2
"""Pause between two attempts to reach a server that is starting."""
GRACE_SECONDS = 0.3
"""For libpq to say itself that the time is over, and why."""
CANCEL_SECONDS = 0.3
"""For a server to hear that the command was interrupted."""
CHECK = "check the server, JPO_STORE__URL, and the password in PGPASSFILE"


def parameters_of(url: str) -> dict[str, Any]:
    """Connection parameters of a URL, parsed by libpq. A password with a bare @ or / ends up in host, port or name: refused."""
    try:
        parameters = conninfo_to_dict(url)
    except (psycopg.Error, UnicodeError):
        parameters = {"port": "?"}  # libpq's own message would quote the URL
    names = [str(parameters.get(key, "")) for key in ("host", "dbname", "hostaddr")]
    if any("@" in name for name in names) or not re.fullmatch(r"[0-9,]*", str(parameters.get("port", ""))):
        remedy = "write postgresql://user@host:5432/database; in user and password, @ is %40, / is %2F and % is %25"
        raise UsageError("store url", "is not a PostgreSQL URL", remedy, code="JPO-E509") from None
    return parameters


def place_of(parameters: Mapping[str, Any]) -> str:
    """The URL without user, password and options."""
    port = f":{parameters['port']}" if parameters.get("port") else ""
    host = str(parameters.get("host") or parameters.get("hostaddr") or "")
    return f"postgresql://{host}{port}/{parameters.get('dbname', '')}"


def connect(parameters: Mapping[str, Any], place: str, timeout_seconds: float) -> psycopg.Connection[Any]:
    """A connection; waits for a server that is starting or restarting. One that is up is tried twice at most.

    Raises StoreError: JPO-E513, there was none within the timeout, no matter what hangs: name server, network, TLS, login.
    """
    attempts = partial(_attempts, parameters, place, timeout_seconds)
    try:
        connection = in_time(attempts, timeout_seconds + GRACE_SECONDS, psycopg.Connection.close)
    except TimeoutError as error:
        finding = f"cannot be opened (no answer within {timeout_seconds:g} s)"
        raise StoreError(place, finding, CHECK, code="JPO-E513") from error
    connection.adapters.register_dumper(str, _TextDumper)
    connection.adapters.register_loader("text", _EscapedLoader)
    return connection


def _attempts(parameters: Mapping[str, Any], place: str, timeout_seconds: float) -> psycopg.Connection[Any]:
    deadline, was_up = time.monotonic() + timeout_seconds, False
    keepalives = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    keepalives["tcp_user_timeout"] = round(1000 * timeout_seconds)  # what was sent and is not acknowledged ends a connection
    while True:
        left = max(1, round(deadline - time.monotonic()))
        options = {**keepalives, "connect_timeout": left, "fallback_application_name": "jpo", **parameters}
        options["client_encoding"] = "UTF8"
        try:
            return Connection.connect(**options, autocommit=True)
        except (psycopg.Error, OSError) as error:
            over = time.monotonic() + PAUSE_SECONDS > deadline
            state = pq.Ping.NO_ATTEMPT if over else pq.PGconn.ping(make_conninfo(**options).encode())
            if state == pq.Ping.NO_ATTEMPT or (state == pq.Ping.OK and was_up):
                raise StoreError(place, f"cannot be opened ({_message(error)})", CHECK, code="JPO-E513") from error
            was_up = state == pq.Ping.OK  # perhaps it came up between the two attempts
        if not was_up:
            time.sleep(PAUSE_SECONDS)


def _message(error: psycopg.Error | OSError) -> str:
    """The end of libpq's message: the beginning repeats host and port."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = next((line.rpartition("FATAL:")[2] for line in lines if "FATAL:" in line), lines[0] if lines else "no answer")
    return printable(text.strip())[:200]  # names of servers and files that settings have, nothing of a file's text


class Connection(psycopg.Connection[Any]):
    """A connection that does not hold up who presses Ctrl-C: psycopg would wait for a frozen server for ten seconds more."""

    def cancel_safe(self, *, timeout: float = CANCEL_SECONDS) -> None:
        """What psycopg calls when it is interrupted: the server is asked to stop, and then left, no matter what it says.

        Raises KeyboardInterrupt: always; the interruption goes on.
        """

        def ask() -> None:
            with suppress(psycopg.Error):  # a server that is gone has stopped
                super(Connection, self).cancel_safe(timeout=timeout)

        with suppress(TimeoutError):
            in_time(ask, min(timeout, CANCEL_SECONDS), id)
        with socket.socket(fileno=os.dup(self.fileno())) as server, suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        raise KeyboardInterrupt


class _TextDumper(StrDumperUnknown):
    """Writes text."""

    def dump(self, obj: str) -> Any:
        return super().dump(escaped(obj))


def escaped(text: str) -> str:
    """Text in which the character 0, which PostgreSQL cannot hold but names may, is two others."""
    return text.replace("\x1a", "\x1a1").replace("\0", "\x1a0") if "\0" in text or "\x1a" in text else text


class _EscapedLoader(TextLoader):
    """Reads text that is escaped."""

    def load(self, data: Any) -> str:
        text = str(super().load(data))
        return text.replace("\x1a0", "\0").replace("\x1a1", "\x1a") if "\x1a" in text else text
