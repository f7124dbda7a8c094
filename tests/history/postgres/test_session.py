"""Opening a session ends in time, also where no socket is there to cut."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

psycopg = pytest.importorskip("psycopg", reason='needs pip install "jpo[postgres]"')

from jpo.errors import StoreError  # noqa: E402
from jpo.history.postgres import session  # noqa: E402


def test_a_name_server_that_never_answers_does_not_hold_up_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(**_: Any) -> None:  # libpq resolves names inside a call of C
        time.sleep(3)
        raise psycopg.OperationalError("late")

    monkeypatch.setattr(session.Connection, "connect", hangs)
    began = time.monotonic()
    with pytest.raises(StoreError, match=r"no answer within 0\.2 s") as caught:
        session.connect({"host": "db"}, "postgresql://db/jpo", 0.2)
    assert (caught.value.code, time.monotonic() - began < 2) == ("JPO-E513", True)


def test_what_users_write_into_the_url_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def refuses(**options: Any) -> None:
        asked.update(options)
        raise psycopg.OperationalError("FATAL:  no")

    monkeypatch.setattr(session.Connection, "connect", refuses)
    with pytest.raises(StoreError):
        session.connect({"host": "db", "tcp_user_timeout": "7"}, "postgresql://db/jpo", 0.1)
    assert (asked["tcp_user_timeout"], asked["keepalives_idle"]) == ("7", 10)


def test_the_driver_prints_nothing_beside_our_errors() -> None:
    assert logging.getLogger("psycopg").handlers
