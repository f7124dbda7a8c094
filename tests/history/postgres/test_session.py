"""Opening a session ends in time, also where no socket is there to cut."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import Any

import pytest

psycopg = pytest.importorskip("psycopg", reason='needs pip install "jpo[postgres]"')

from jpo.errors import StoreError  # noqa: E402
from jpo.history.postgres import session  # noqa: E402


def test_a_name_server_that_never_answers_does_not_hold_up_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(**_: Any) -> None:  # libpq resolves names inside a call of C
        time.sleep(3)
        raise psycopg.OperationalError("late")

    monkeypatch.setattr(psycopg, "connect", hangs)
    began = time.monotonic()
    with pytest.raises(StoreError, match=r"no answer within 0\.2 s") as caught:
        session.connect({"host": "db"}, "postgresql://db/jpo", 0.2)
    assert (caught.value.code, time.monotonic() - began < 2) == ("JPO-E513", True)


def test_what_users_write_into_the_url_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def refuses(**options: Any) -> None:
        asked.update(options)
        raise psycopg.OperationalError("FATAL:  no")

    monkeypatch.setattr(psycopg, "connect", refuses)
    with pytest.raises(StoreError):
        session.connect({"host": "db", "tcp_user_timeout": "7"}, "postgresql://db/jpo", 0.1)
    assert (asked["tcp_user_timeout"], asked["keepalives_idle"]) == ("7", 10)


def test_the_driver_prints_nothing_beside_our_errors() -> None:
    assert logging.getLogger("psycopg").handlers


def test_a_file_of_libpq_that_is_a_pipe_is_refused_before_all_of_python_waits_for_its_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for variable in ("PGPASSFILE", "PGSERVICEFILE", "PGSSLKEY"):
        monkeypatch.setenv(variable, str(pipe))
        with pytest.raises(StoreError, match="is no regular file") as caught:
            session.connect({"host": "127.0.0.1", "port": "1"}, "postgresql://127.0.0.1:1/jpo", 0.1)
        monkeypatch.delenv(variable)
        assert (caught.value.code, variable in caught.value.remedy) == ("JPO-E513", True)


@pytest.mark.parametrize("name", ["a\n::error::b", "##vso[x]", "\x1b[2J"])
def test_libpq_gets_no_file_whose_name_would_command_the_ci_where_it_warns_of_its_mode(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / name).write_text("*:*:*:*:s3cret")  # mode 644, as git has it
    with pytest.raises(StoreError, match="does not print"):
        session.connect({"host": "127.0.0.1", "port": "1", "passfile": str(tmp_path / name)}, "postgresql://127.0.0.1:1/jpo", 0.1)
    assert capfd.readouterr().err == ""
