"""Waiting ends, whatever the other side does."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from threading import Event

import pytest

from jpo.errors import StoreError
from jpo.history.postgres.watchdog import Watchdog, in_time


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_an_answer_that_does_not_come_ends_the_wait(pair: tuple[socket.socket, socket.socket]) -> None:
    watchdog, began = Watchdog(pair[0].fileno(), answer_seconds=0.2, all_seconds=60.0), time.monotonic()
    with watchdog.watching():
        assert pair[0].recv(1) == b""
    assert 0.2 <= time.monotonic() - began < 20
    assert watchdog.bitten == "the server has not answered for 0.2 s"
    watchdog.end()


def test_slow_answers_end_where_all_of_them_took_too_long(pair: tuple[socket.socket, socket.socket]) -> None:
    watchdog, began = Watchdog(pair[0].fileno(), answer_seconds=30.0, all_seconds=0.6), time.monotonic()
    while watchdog.bitten is None and time.monotonic() - began < 60:
        with watchdog.watching():
            time.sleep(0.2)
    assert time.monotonic() - began < 20
    assert watchdog.bitten == "the server's slow answers took 0.6 s in all"
    watchdog.end()


def test_fast_answers_may_be_many(pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jpo.history.postgres.watchdog.AT_ONCE_SECONDS", 5.0)  # on a machine that does other things as well
    watchdog = Watchdog(pair[0].fileno(), answer_seconds=30.0, all_seconds=0.4)
    for _ in range(50):
        with watchdog.watching():
            time.sleep(0.01)
    pair[1].sendall(b"x")
    assert (watchdog.bitten, pair[0].recv(1)) == (None, b"x")
    watchdog.end()


def test_time_that_nobody_waits_does_not_count(pair: tuple[socket.socket, socket.socket]) -> None:
    watchdog = Watchdog(pair[0].fileno(), answer_seconds=0.1, all_seconds=0.1)
    time.sleep(0.4)
    assert watchdog.bitten is None
    watchdog.end()


def test_a_call_that_hangs_is_left_behind_and_its_late_result_disposed_of() -> None:
    go_on, disposed = Event(), Event()

    def hangs() -> str:
        go_on.wait(60)
        return "late"

    with pytest.raises(TimeoutError):
        in_time(hangs, 0.1, lambda _: disposed.set())
    go_on.set()
    assert disposed.wait(60)


def test_a_call_in_time_returns_or_raises_as_it_would_here() -> None:
    def refuses() -> str:
        raise StoreError("db", "says no", code="JPO-E513")

    assert in_time(lambda: "answer", 5, str) == "answer"
    with pytest.raises(StoreError, match="says no"):
        in_time(refuses, 5, str)
