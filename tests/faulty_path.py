"""A path to a service on which one call of a story goes wrong: the answer is lost, late, cut or nonsense, or the service refuses.

A call is all that a client makes again by itself: a fault holds for all its attempts, and the next call finds the service well.
"""

from __future__ import annotations

import http.client
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol
from urllib.parse import urlsplit

from answering import answering

SIGN_IN = b"<html><body>Please sign in to the network</body></html>"
KEPT = ("content-type", "date", "etag", "last-modified")


@dataclass(frozen=True)
class Wrong:
    """One way to go wrong.

    `carried_out`: the service does what it is asked for; `answer`: code and status of an error instead of the answer; `body`: a
    text with status 200 instead of it; `cut`: half of the answer; none of them: the connection closes, `silent`: or stays open.
    `only`: the names of calls to which it happens, as a regular expression.
    """

    carried_out: bool
    answer: tuple[str, int] | None = None
    body: bytes | None = None
    cut: bool = False
    silent: bool = False
    only: str = ".*"

    def befalls(self, call: str) -> bool:
        return re.fullmatch(self.only, call) is not None


ON_THE_WAY = {
    "the answer is lost": Wrong(carried_out=True),
    "the question is lost": Wrong(carried_out=False),
    "silence after it was done": Wrong(carried_out=True, silent=True),
    "silence": Wrong(carried_out=False, silent=True),
    "a page of a network that wants a login": Wrong(carried_out=False, body=SIGN_IN),
    "such a page after it was done": Wrong(carried_out=True, body=SIGN_IN),
    "nothing in the answer": Wrong(carried_out=True, body=b""),
    "half an answer": Wrong(carried_out=True, cut=True),
}
"""What befalls the calls of any service; its own errors come besides."""


@dataclass(frozen=True)
class Request:
    """One request on its way."""

    method: str
    path: str
    headers: Message
    body: bytes


class Service(Protocol):
    """What the path leads to."""

    def call(self, request: Request) -> tuple[str, object]:
        """The name of a call, and what all its attempts have in common."""

    def address(self, request: Request) -> str:
        """URL of the server that answers it."""

    def error(self, request: Request, code: str, status: int) -> bytes:
        """The body of an error."""


class Hop(BaseHTTPRequestHandler):
    """One connection."""

    server: Path
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self.command, self.path, self.headers, body)
        wrong = self.server.fault_of(request)
        if wrong is None or wrong.carried_out:
            status, fields, content = passed_on(request, self.server.service.address(request))
        if wrong is None:
            return self._send(content, status, fields)
        if wrong.silent:
            self.server.silences.release()
            self.server.over.wait(30)
        if wrong.answer:
            return self._send(self.server.service.error(request, *wrong.answer), wrong.answer[1], {})
        if wrong.body is not None:
            return self._send(wrong.body, 200, {"Content-Type": "text/html"} if wrong.body else {})
        if wrong.cut:
            self._send(content, status, fields, most=max(1, len(content) // 2))
        self.close_connection = True
        self.connection.close()
        return None

    do_GET = do_POST = do_PUT = do_HEAD = do_PATCH = do_DELETE = handle_any  # noqa: N815 - the names of http.server

    def _send(self, content: bytes, status: int, fields: dict[str, str], most: int | None = None) -> None:
        self.send_response_only(status)
        for name, value in {**fields, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[:most])
        self.wfile.flush()

    def log_message(self, *arguments: object) -> None:
        """Quiet."""


def passed_on(request: Request, address: str) -> tuple[int, dict[str, str], bytes]:
    """Status, fields and content of what the service answers."""
    target = urlsplit(address)
    connection = http.client.HTTPConnection(str(target.hostname), target.port, timeout=30)
    connection.request(request.method, request.path, request.body, dict(request.headers.items()))
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    return reply.status, {name: value for name, value in reply.getheaders() if name.lower() in KEPT}, content


class Path(ThreadingHTTPServer):
    """The path to a service.

    `calls`: what was called, in order; `goes_wrong`: number of the call that does, and how; `silences`: how many attempts get no
    answer any more: the service has done what it was asked for, or will not.
    """

    daemon_threads = True

    def __init__(self, service: Service) -> None:
        super().__init__(("127.0.0.1", 0), Hop)
        self.service, self.over, self.silences = service, threading.Event(), threading.Semaphore(0)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.lock = threading.Lock()
        self.begin(None, None)

    def begin(self, at: int | None, wrong: Wrong | None) -> None:
        """A new story."""
        self.calls, self.numbers, self.goes_wrong = list[str](), dict[object, int](), (at, wrong)

    def fault_of(self, request: Request) -> Wrong | None:
        name, attempts = self.service.call(request)
        with self.lock:
            if attempts not in self.numbers:
                self.numbers[attempts] = len(self.calls)
                self.calls.append(name)
            at, wrong = self.goes_wrong
            return wrong if self.numbers[attempts] == at else None

    def is_silent(self, attempts: object) -> bool:
        """Whether a call, the next or one that is tried again, gets no answer: its client need not wait long to know."""
        at, wrong = self.goes_wrong
        return wrong is not None and wrong.silent and at == self.numbers.get(attempts, len(self.calls))

    def handle_error(self, *arguments: Any) -> None:
        """A connection that was cut is no news."""


@contextmanager
def path_to(service: Service) -> Iterator[Path]:
    with Path(service) as server, answering(server):
        yield server
