"""An HTTP server of a test's own with scripted answers: a Prometheus in trouble, a proxy with notions of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol

Reply = Callable[["Handler"], None]
NOTHING = {"resultType": "vector", "result": []}
"""Data of an answer without any series."""


class Server(ThreadingHTTPServer):
    """Gives its answers in turn, the last one for ever.

    Attributes:
        asked: `GET /path?query` of each request.
        over: set when the test is; an answer that hangs waits for it.
    """

    daemon_threads = True

    def __init__(self, *answers: Reply) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked, self.over = list(answers), list[str](), threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what these tests are about."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body after its head would wait 40 ms for the client
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        answers = self.server.answers
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *arguments: object) -> None:
        """Quiet."""

    def head(self, status: int, fields: dict[str, object]) -> None:
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, str(value))
        self.end_headers()


class Ends(Protocol):
    """A server of a test; `over` is set when that is, for an answer that hangs."""

    over: threading.Event

    def serve_forever(self, poll_interval: float = 0.5) -> None: ...

    def shutdown(self) -> None: ...


@contextmanager
def answering(server: Ends) -> Iterator[None]:
    """Let a server answer, in a thread, as long as the context."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield
    finally:
        server.over.set()
        server.shutdown()
        thread.join()


@contextmanager
def served(*answers: Reply) -> Iterator[Server]:
    """A server that gives these answers, as long as the context."""
    with Server(*answers) as server, answering(server):
        yield server


def sends(body: object, status: int = 200, kind: str = "application/json", **fields: object) -> Reply:
    """A whole answer: bytes as they are, everything else as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def answer(handler: Handler) -> None:
        handler.head(status, {"Content-Type": kind, "Content-Length": len(content), **fields})
        handler.wfile.write(content)

    return answer


def tells(data: object, **more: object) -> Reply:
    """A good answer of Prometheus' API."""
    return sends({"status": "success", "data": data, **more})


def now(value: object) -> dict[str, object]:
    """An instant vector of one number."""
    return {"resultType": "vector", "result": [{"metric": {}, "value": [0, str(value)]}]}


def refuses(status: int, kind: str, reason: str = "no") -> Reply:
    """A bad answer of Prometheus' API."""
    return sends({"status": "error", "errorType": kind, "error": reason}, status)


def drips(handler: Handler) -> None:
    """Lines without end, one in a while."""
    handler.head(200, {"Content-Type": "text/plain"})
    while not handler.server.over.wait(0.05):
        handler.wfile.write(b"x\n" * 2**15)


def echoes(handler: Handler) -> None:
    """Repeats what it was sent, credentials included."""
    refuses(400, "bad_data", str(handler.headers))(handler)


def cuts(handler: Handler) -> None:
    """Hangs up in the middle."""
    handler.head(200, {"Content-Type": "application/json", "Content-Length": 1000})
    handler.wfile.write(b'{"status":"success"')
    handler.close_connection = True
