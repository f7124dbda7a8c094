"""Sizes: answers too large to take in, and questions too long for an address."""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
import threading
import zlib
from contextlib import contextmanager
from pathlib import Path

import pytest

from jpo.http.endpoint import Endpoint
from jpo.telemetry.prometheus.client import Client

ANSWER_MIB = 200
MEMORY_MIB = 300
OPENING = b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":"'
MIB = b"x" * 2**20
ASK = """
import pathlib, re, sys
from jpo.errors import TelemetryError
from jpo.http.endpoint import Endpoint
from jpo.http.answers import TooMuch
from jpo.telemetry.prometheus.client import Client
try:
    with Client(Endpoint(sys.argv[1], timeout_seconds=20)) as client:
        client.query("up", 1e9)
except TelemetryError as error:
    status = pathlib.Path("/proc/self/status").read_text()  # getrusage counts what the parent had before exec
    print(error.code, isinstance(error, TooMuch), int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) // 1024)
"""


def plain(send):
    send(b"Content-Length: %d\r\n\r\n" % (ANSWER_MIB * 2**20) + OPENING)
    for _ in range(ANSWER_MIB):
        send(MIB)


def until_it_closes(send):
    send(b"\r\n" + OPENING)
    for _ in range(ANSWER_MIB):
        send(MIB)


def chunked(send):
    send(b"Transfer-Encoding: chunked\r\n\r\n")
    for _ in range(ANSWER_MIB):
        send(b"%x\r\n%s\r\n" % (len(MIB), MIB))


def one_chunk(send):
    send(b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % (ANSWER_MIB * 2**20))
    for _ in range(ANSWER_MIB):
        send(MIB)


def packed():
    """200 MiB in 200 kB."""
    packer = zlib.compressobj(9, wbits=31)  # gzip
    return b"".join([packer.compress(OPENING), *(packer.compress(MIB) for _ in range(ANSWER_MIB)), packer.flush()])


def bomb(send):
    send(b"Content-Encoding: gzip\r\n\r\n" + packed())


def bomb_in_a_bomb(send):
    send(b"Content-Encoding: gzip, gzip\r\n\r\n" + gzip.compress(packed()))


@contextmanager
def listening(body):
    """A server of one answer, fast enough to flood a client."""

    def answer():
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            try:
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                body(connection.sendall)
            except OSError:
                """The client has seen enough."""

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            thread.join(timeout=20)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (plain, "JPO-E109"),
        (until_it_closes, "JPO-E109"),
        (chunked, "JPO-E109"),
        (one_chunk, "JPO-E109"),
        (bomb, "JPO-E109"),
        (bomb_in_a_bomb, "JPO-E104"),
    ],
)
def test_200_mib_are_refused_within_300(body, code):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with listening(body) as url:
        done = subprocess.run([sys.executable, "-c", ASK, url], env=environment, capture_output=True, text=True, check=True)
    found, narrower_helps, peak = done.stdout.split()
    assert (found, narrower_helps) == (code, str(code == "JPO-E109"))
    assert int(peak) < MEMORY_MIB


@pytest.mark.parametrize("length", [30_000, 150_000, 1_200_000])
def test_a_real_server_understands_queries_of_any_length(start_prometheus, tmp_path_factory, length):
    """In the address, Go refuses more than 1 MB and proxies more than 8 kB."""
    url = start_prometheus(tmp_path_factory.mktemp("prometheus"))
    names = "|".join(f"run-{n:05}" for n in range(length // 10))
    with Client(Endpoint(url)) as client:
        (row,) = client.query(f'count(up{{run_id=~"{names}"}}) or vector(7)', 1e9)
    assert row.value == 7


def test_a_real_server_describes_itself(start_prometheus, tmp_path_factory):
    url = start_prometheus(tmp_path_factory.mktemp("prometheus"))
    with Client(Endpoint(url)) as client:
        assert client.label_values("__name__", '{job="x"}', 0.0, 1e9) == ()
        assert client.status("runtimeinfo")["storageRetention"]
        assert client.status("no_such_thing") == {}
