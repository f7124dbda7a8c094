"""Nobody waits for ever: not for a server that is silent, and not for another writer that stands still."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from jpo.errors import StoreError
from jpo.history import AuditEvent, open_store, verify
from jpo.history.archive import export_lines, import_lines
from jpo.history.postgres.transactions import WRITERS
from jpo.records import Finished, Identity, Outcome, Run, RunStatus

DIGITS, LETTERS = Identity("digits", "cnn", "pytorch"), Identity("letters", "cnn", "pytorch")
Start = Callable[..., subprocess.Popen[str]]
PAUSES = """
import os, signal, sys
from jpo.errors import StoreError
from jpo.history import open_store
from jpo.history.retention import forget
from jpo.records import Finished, Identity, Outcome, Run, RunStatus

run = Run("paused", Identity("digits", "cnn", "pytorch"), {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv")
with open_store(sys.argv[1], timeout_seconds=8) as store:
    move = forget.move_reading
    def pause(*told):
        print("paused", flush=True)
        os.kill(os.getpid(), signal.SIGSTOP)
        return move(*told)
    forget.move_reading = pause
    try:
        store.record(Finished((run,), watermark=1.0), now=2.0, identity=run.identity, source="csv")
    except StoreError as error:
        print(error.code)
"""
"""A runner whose machine stops in the middle of a transaction."""

READS = """
import signal, sys
from jpo.history import open_store
from jpo.records import Identity

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what runs in the background ignore it
with open_store(sys.argv[1]) as store:
    print("open", flush=True)
    sys.stdin.readline()
    print("reads", flush=True)
    store.runs_of(Identity("digits", "cnn", "pytorch"))
"""


def a_run(identity: Identity) -> Finished:
    return Finished((Run("r", identity, {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv"),))


@pytest.fixture
def url(postgres: Any) -> str:
    return str(postgres.new_database())


def test_a_paused_runner_holds_up_its_own_workload_for_a_while_and_no_other(url: str, start_python: Start) -> None:
    open_store(url).close()
    paused = start_python(PAUSES, url)
    assert paused.stdout is not None
    assert paused.stdout.readline() == "paused\n"
    with open_store(url, timeout_seconds=16) as store:
        began = time.monotonic()
        store.record(a_run(LETTERS), now=2.0)
        store.audit(AuditEvent("learnt", 3.0))
        assert time.monotonic() - began < 7
        store.record(a_run(DIGITS), now=2.0)  # the server takes the lock from who is silent for half of the timeout
        assert time.monotonic() - began < 14
    os.kill(paused.pid, signal.SIGCONT)
    assert paused.communicate(timeout=120)[0] == "JPO-E513\n"
    with open_store(url) as store:
        assert (verify(store).ok, verify(store).records, store.run("paused")) == (True, 3, None)


def test_a_lock_that_is_never_given_back_is_waited_for_within_the_timeout(url: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with open_store(url, timeout_seconds=2.5) as store, psycopg.connect(url) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", (WRITERS,))
        began = time.monotonic()
        with pytest.raises(StoreError, match="locked by another process") as caught:
            store.audit(AuditEvent("learnt", 1.0))
        assert (caught.value.code, time.monotonic() - began < 5) == ("JPO-E501", True)
        other.rollback()
        assert store.audit(AuditEvent("learnt", 2.0)).number == 1


def backend_of(postgres: Any, url: str) -> int:
    """The server's process for the one session of a database."""
    sessions = "SELECT pid FROM pg_stat_activity WHERE application_name = 'jpo' AND datname = current_database()"
    return int(postgres.sql(sessions, url.partition("@/")[2].partition("?")[0]))


def test_ctrl_c_does_not_wait_for_a_frozen_server(postgres: Any, url: str, start_python: Start) -> None:
    open_store(url).close()
    reader = start_python(READS, url)
    assert reader.stdin is not None
    assert reader.stdout is not None
    assert reader.stdout.readline() == "open\n"
    backend = backend_of(postgres, url)
    os.kill(backend, signal.SIGSTOP)
    try:
        reader.stdin.write("\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == "reads\n"
        time.sleep(0.2)
        began = time.monotonic()
        reader.send_signal(signal.SIGINT)
        assert reader.communicate(timeout=120)[1].endswith("KeyboardInterrupt\n")
        assert time.monotonic() - began < 5
    finally:
        os.kill(backend, signal.SIGCONT)


def test_a_server_process_that_is_frozen_is_left_within_the_timeout(postgres: Any, url: str) -> None:
    with open_store(url, timeout_seconds=2.0) as store:
        backend = backend_of(postgres, url)
        os.kill(backend, signal.SIGSTOP)
        try:
            began = time.monotonic()
            with pytest.raises(StoreError, match=r"has not answered for 2 s") as caught:
                store.runs_of(DIGITS)
            assert (caught.value.code, time.monotonic() - began < 4) == ("JPO-E522", True)
            with pytest.raises(StoreError):
                store.runs_of(DIGITS)  # and there is no second wait
            assert time.monotonic() - began < 4
        finally:
            os.kill(backend, signal.SIGCONT)


def test_an_import_that_pauses_gives_the_store_back(url: str) -> None:
    with open_store("sqlite://") as source:
        source.audit(AuditEvent("learnt", 1.0))
        exported = [line.encode() for line in export_lines(source, written_by="test")]

    def pauses() -> Iterator[bytes]:
        yield exported[0]
        with open_store(url, timeout_seconds=2) as other:
            other.audit(AuditEvent("learnt", 2.0))  # waits until the server has ended the import
        yield from exported[1:]

    with open_store(url, timeout_seconds=0.8) as store, pytest.raises(StoreError) as caught:
        import_lines(store, pauses(), "export")
    assert caught.value.code == "JPO-E513"
    with open_store(url) as store:
        assert [record.at for record in store.audit_records()] == [2.0]


def test_a_long_transaction_takes_several_messages_and_is_whole(url: str) -> None:
    runs = tuple(Run(f"r{n}", DIGITS, {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv") for n in range(450))
    with open_store(url) as store:
        assert len(store.record(Finished((*runs, *runs)), now=2.0)) == 450
        assert (verify(store).ok, verify(store).records, len(store.runs_of(DIGITS))) == (True, 450, 450)
        with pytest.raises(StoreError):
            store.record(Finished((*(r for r in runs), a_run(LETTERS).runs[0], _unstorable())), now=3.0)
        assert verify(store).records == 450


def _unstorable() -> Run:
    return Run("\ud800", LETTERS, {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv")
