"""Watchdog: no wait for a server that has stopped answering is longer than its limit.

A frozen server, a pooler that hangs or a path that a firewall dropped says nothing, and TCP keeps such a connection for minutes
or for ever. So a thread looks at the clock while an answer is awaited, and cuts the connection when its time is up: the wait ends
with an error. Opening a connection has no socket to cut; it happens in a thread that is left behind (`in_time`).
"""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TypeVar

from jpo.timeouts import NoAnswerInTime, within

AT_ONCE_SECONDS = 0.05
"""An answer within this time does not count: many fast answers to a long history are no sign of a server in trouble."""
Result = TypeVar("Result")


class Watchdog:
    """Limits of waiting for one connection: for each answer, and for all slow answers together.

    `bitten`: why the connection was cut, in words; None while it was not.
    """

    def __init__(self, descriptor: int, *, answer_seconds: float, all_seconds: float) -> None:
        self._socket = socket.socket(fileno=os.dup(descriptor))
        self._answer_seconds, self._all_seconds, self._left = answer_seconds, all_seconds, all_seconds
        self._until: float | None = None
        self._over = Event()
        self.bitten: str | None = None
        Thread(target=self._watch, args=(min(0.2, answer_seconds / 10),), daemon=True).start()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """An answer is awaited inside the block."""
        began = time.monotonic()
        self._until = began + min(self._answer_seconds, self._left)
        try:
            yield
        finally:
            self._until = None
            self._left -= max(0.0, time.monotonic() - began - AT_ONCE_SECONDS)

    def _watch(self, period_seconds: float) -> None:
        while not self._over.wait(period_seconds):
            until = self._until
            if until is not None and time.monotonic() > until:
                answer = self._left >= self._answer_seconds
                self.bitten = (
                    f"the server has not answered for {self._answer_seconds:g} s"
                    if answer
                    else f"the server's slow answers took {self._all_seconds:g} s in all"
                )
                with suppress(OSError):  # the server was faster
                    self._socket.shutdown(socket.SHUT_RDWR)
                return

    def end(self) -> None:
        self._over.set()
        self._socket.close()


def in_time(call: Callable[[], Result], seconds: float, dispose: Callable[[Result], object]) -> Result:
    """The result of a call that may hang where nothing interrupts it, such as a name server that does not answer.

    `dispose`: what is done with a result that comes too late.

    Raises NoAnswerInTime: there was none in time; the call goes on in a thread that ends with the program.
    """
    late = Event()

    def called() -> Result:
        result = call()
        if late.is_set():
            dispose(result)
        return result

    try:
        return within(seconds, [called])[0]
    except NoAnswerInTime:
        late.set()
        raise
