"""A path to AWS on which one call of a story goes wrong: the answer is lost, late, cut or nonsense, or AWS refuses.

A call is what boto3 repeats under one invocation id: a fault holds for all its attempts, and the next call finds AWS well.
"""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from amazon import ERROR
from answering import answering

S3_ERROR = "<Error><Code>{}</Code><Message>{}</Message></Error>"
SIGN_IN = b"<html><body>Please sign in to the network</body></html>"


@dataclass(frozen=True)
class Wrong:
    """One way to go wrong.

    `carried_out`: AWS does what it is asked for; `answer`: code and status of an error instead of the answer; `body`: a text with
    status 200 instead of it; `cut`: half of the answer; none of them: the connection closes, `silent`: or stays open.
    """

    carried_out: bool
    answer: tuple[str, int] | None = None
    body: bytes | None = None
    cut: bool = False
    silent: bool = False
    only: str = ""


WAYS = {
    "the answer is lost": Wrong(carried_out=True),
    "the question is lost": Wrong(carried_out=False),
    "silence after it was done": Wrong(carried_out=True, silent=True),
    "silence": Wrong(carried_out=False, silent=True),
    "throttled": Wrong(carried_out=False, answer=("RequestLimitExceeded", 503)),
    "an error of AWS": Wrong(carried_out=False, answer=("InternalError", 500)),
    "an error after it was done": Wrong(carried_out=True, answer=("InternalError", 500)),
    "unavailable": Wrong(carried_out=False, answer=("ServiceUnavailable", 503)),
    "a page of a network that wants a login": Wrong(carried_out=False, body=SIGN_IN),
    "such a page after it was done": Wrong(carried_out=True, body=SIGN_IN),
    "nothing in the answer": Wrong(carried_out=True, body=b""),
    "half an answer": Wrong(carried_out=True, cut=True),
    "no capacity": Wrong(carried_out=False, answer=("InsufficientInstanceCapacity", 500), only="RunInstances"),
}


class Hop(BaseHTTPRequestHandler):
    """One request on its way."""

    server: Path
    protocol_version = "HTTP/1.1"

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        form = parse_qs(body.decode("latin-1")) if b"Action=" in body[:4000] else {}
        name = form["Action"][0] if form else f"{self.command} {_object(self.path)}"
        if "DryRun" in form:
            name = "RunInstances, dry"
        if "X-Amz-Target" in self.headers:
            name = self.headers["X-Amz-Target"].partition(".")[2]
        wrong = self.server.fault_of(name, self.headers.get("amz-sdk-invocation-id", ""))
        if wrong is None or wrong.carried_out:
            status, fields, content = self._passed_on(body, to_s3=not form and "X-Amz-Target" not in self.headers)
        if wrong is None:
            return self._send(content, status, fields)
        if wrong.silent:
            self.server.over.wait(30)
        if wrong.answer:
            code, status = wrong.answer
            text = (ERROR if form else S3_ERROR).format(code, "not now")
            return self._send(text.encode(), status, {})
        if wrong.body is not None:
            return self._send(wrong.body, 200, {})
        if wrong.cut:
            self._send(content, status, fields, most=max(1, len(content) // 2))
        self.close_connection = True
        self.connection.close()
        return None

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = handle_any  # noqa: N815 - the names of http.server

    def _passed_on(self, body: bytes, *, to_s3: bool) -> tuple[int, dict[str, str], bytes]:
        target = urlsplit(self.server.s3 if to_s3 else self.server.ec2)
        connection = http.client.HTTPConnection(str(target.hostname), target.port, timeout=30)
        connection.request(self.command, self.path, body, dict(self.headers.items()))
        reply = connection.getresponse()
        content = reply.read()
        connection.close()
        kept = ("content-type", "etag", "last-modified")
        return reply.status, {name: value for name, value in reply.getheaders() if name.lower() in kept}, content

    def _send(self, content: bytes, status: int, fields: dict[str, str], most: int | None = None) -> None:
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:most])
        self.wfile.flush()

    def log_message(self, *arguments: object) -> None:
        """Quiet."""


def _object(path: str) -> str:
    """What is asked of S3: "list", or the name of a file."""
    query, last = urlsplit(path).query, urlsplit(path).path.rpartition("/")[2]
    return "list" if "list-type" in query else last


class Path(ThreadingHTTPServer):
    """The path to EC2 and S3; `calls`: what was called, in order; `goes_wrong`: number of the call that does, and how."""

    daemon_threads = True

    def __init__(self, ec2: str, s3: str) -> None:
        super().__init__(("127.0.0.1", 0), Hop)
        self.ec2, self.s3, self.over = ec2, s3, threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.lock = threading.Lock()
        self.begin(None, None)

    def begin(self, at: int | None, wrong: Wrong | None) -> None:
        """A new story."""
        self.calls, self.numbers, self.goes_wrong = list[str](), dict[str, int](), (at, wrong)

    def fault_of(self, name: str, invocation: str) -> Wrong | None:
        with self.lock:
            if invocation not in self.numbers:
                self.numbers[invocation] = len(self.calls)
                self.calls.append(name)
            at, wrong = self.goes_wrong
            return wrong if self.numbers[invocation] == at else None

    def handle_error(self, *arguments: Any) -> None:
        """A connection that was cut is no news."""


@contextmanager
def path_to(ec2: str, s3: str) -> Iterator[Path]:
    with Path(ec2, s3) as server, answering(server):
        yield server
