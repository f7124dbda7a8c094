"""The guard layer against a server that lies in every known way: the right code, in time, and no secret in the message."""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from urllib3.exceptions import InsecureRequestWarning

from jpo.errors import TelemetryError
from jpo.records import Identity
from jpo.telemetry import PrometheusSource, finished_runs

SECRET = "s3cret-of-the-test"
EMPTY = {"status": "success", "data": {"resultType": "vector", "result": []}}
WORK = Identity("digits", "cnn", "pytorch")


class Server(ThreadingHTTPServer):
    """Gives the answers in turn, the last one for ever; each is a function of the request handler."""

    def __init__(self, *answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.hits, self.over = list(answers), [], threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        """A client that hangs up is what these tests are about."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.hits.append(f"{self.command} {self.path}")
        answers = self.server.answers
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def log_message(self, *arguments):
        """Quiet."""

    def head(self, status=200, length=None, kind="application/json", **headers):
        self.send_response(status)
        fields = {"Content-Type": kind, "Content-Length": length, **headers}
        for name, value in fields.items():
            if value is not None:
                self.send_header(name, str(value))
        self.end_headers()


@contextmanager
def served(*answers):
    server = Server(*answers)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def sends(body, status=200, kind="application/json", **headers):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def answer(handler):
        handler.head(status, len(content), kind, **headers)
        handler.wfile.write(content)

    return answer


def hangs(handler):
    handler.server.over.wait(20)


def drips(handler):
    handler.head(length=100_000)
    while not handler.server.over.wait(0.05):
        handler.wfile.write(b" ")


def drips_head(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
    while not handler.server.over.wait(0.05):
        handler.wfile.write(b"x")


def cuts(handler):
    handler.head(length=1000)
    handler.wfile.write(b'{"status":"success"')
    handler.close_connection = True


def floods(handler):
    handler.head(length=10**9)
    handler.wfile.write(b'{"status":"success","data":{"result":["')
    while not handler.server.over.is_set():
        handler.wfile.write(b"x" * 2**20)


def echoes(handler):
    sends({"status": "error", "errorType": "bad_data", "error": str(handler.headers)}, 400)(handler)


def refuses(status, kind, reason="no"):
    return sends({"status": "error", "errorType": kind, "error": reason}, status)


FAULTS = {
    "401": (refuses(401, "unauthorized"), "JPO-E101", 1),
    "403": (sends(b"<html>", 403, "text/html"), "JPO-E101", 1),
    "503 twice": (sends(b"busy", 503, "text/plain"), "JPO-E102", 2),
    "500": (refuses(500, "internal"), "JPO-E102", 2),
    "hang": (hangs, "JPO-E103", 1),
    "drip": (drips, "JPO-E103", 1),
    "dripping head": (drips_head, "JPO-E103", 1),
    "query timeout": (refuses(503, "timeout", "query timed out"), "JPO-E103", 1),
    "HTML 200": (sends(b"<html>Sign in</html>", 200, "text/html"), "JPO-E104", 1),
    "wrong path": (sends(b"404 page not found", 404, "text/plain"), "JPO-E104", 1),
    "http to https": (sends(b"Client sent an HTTP request to an HTTPS server.", 400, "text/plain"), "JPO-E104", 1),
    "other JSON": (sends({"hello": 1}), "JPO-E104", 1),
    "list": (sends([]), "JPO-E104", 1),
    "no data": (sends({"status": "success"}), "JPO-E104", 1),
    "malformed": (sends({"status": "success", "data": {"result": [{"metric": {}, "value": [1]}]}}), "JPO-E104", 1),
    "not a number": (sends({"status": "success", "data": {"result": [{"metric": {}, "value": [1, "x"]}]}}), "JPO-E104", 1),
    "other host": (sends(b"", 302, Location="http://localhost:1/login"), "JPO-E104", 1),
    "redirect loop": (sends(b"", 302, Location="/loop"), "JPO-E104", 6),
    "status error": (refuses(200, "execution"), "JPO-E105", 1),
    "too many samples": (refuses(422, "execution", "query processing would load too many samples"), "JPO-E105", 1),
    "truncated JSON": (sends(b'{"status":"succ'), "JPO-E108", 2),
    "empty": (sends(b""), "JPO-E108", 2),
    "cut": (cuts, "JPO-E108", 2),
    "huge": (floods, "JPO-E109", 1),
    "echo": (echoes, "JPO-E105", 1),
}


def look(source):
    return finished_runs(source, WORK, since=0.0, until=1000.0, watermark=None)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_its_code_within_the_deadline(fault):
    answer, code, hits = FAULTS[fault]
    seconds = 8.0 if fault == "huge" else 1.2
    with served(answer) as server:
        began = time.monotonic()
        with pytest.raises(TelemetryError) as caught:
            look(PrometheusSource(server.url, timeout_seconds=seconds, bearer_token=SECRET))
        assert time.monotonic() - began < seconds + 0.5
    assert (caught.value.code, len(server.hits)) == (code, hits)
    message = str(caught.value)
    assert SECRET not in message
    assert message.startswith(server.url + ": ")
    assert caught.value.remedy
    assert len(message) < 500
    assert message.isprintable()


@pytest.mark.parametrize("first", [sends(b"busy", 503, "text/plain"), sends(b'{"stat'), cuts], ids=["503", "truncated", "cut"])
def test_trouble_that_passes_is_survived(first):
    with served(first, sends(EMPTY)) as server:
        found = look(PrometheusSource(server.url))
    assert (found.complete, found.requests) == (True, 2)


def test_warnings_make_the_answer_incomplete():
    partial = {**EMPTY, "warnings": ["store 7 is\ndown", "store 7 is\ndown"]}
    with served(sends(partial)) as server:
        found = look(PrometheusSource(server.url))
    assert (found.complete, found.watermark, found.warnings) == (False, None, ("store 7 is down",))


def test_incomplete_answers_do_not_move_a_watermark():
    with served(sends({**EMPTY, "warnings": ["partial"]})) as server:
        found = finished_runs(PrometheusSource(server.url), WORK, since=0.0, until=1000.0, watermark=50.0)
    assert found.watermark is None


def test_a_redirect_on_the_same_server_is_followed():
    with served(sends(b"", 307, Location="/prometheus/api/v1/query?query=1"), sends(EMPTY)) as server:
        assert look(PrometheusSource(server.url)).complete
    assert server.hits[1] == "GET /prometheus/api/v1/query?query=1"


def test_an_unknown_host_and_a_closed_port_are_unreachable():
    for url in ("http://jpo-no-such-host.invalid:9090", "http://127.0.0.1:1"):
        with pytest.raises(TelemetryError) as caught:
            look(PrometheusSource(url, timeout_seconds=5))
        assert caught.value.code == "JPO-E102"


def test_a_host_name_that_cannot_be_looked_up_is_an_error_of_ours():
    with pytest.raises(TelemetryError) as caught:
        look(PrometheusSource(f"http://{'x' * 70}.example:9090"))
    assert caught.value.code == "JPO-E104"


def test_credentials_in_the_url_are_sent_and_never_shown():
    with served(echoes) as server, pytest.raises(TelemetryError) as caught:
        look(PrometheusSource(server.url.replace("//", f"//me:{SECRET}@")))
    assert "Authorization: Basic ***" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert "me:" not in str(caught.value)


def test_a_secret_is_hidden_even_where_a_long_text_is_cut():
    text = "x" * 190 + SECRET
    with served(refuses(422, "execution", text)) as server, pytest.raises(TelemetryError) as caught:
        look(PrometheusSource(server.url, bearer_token=SECRET))
    assert caught.value.finding.endswith("x***")


def test_headers_are_sent():
    with served(echoes) as server, pytest.raises(TelemetryError) as caught:
        look(PrometheusSource(server.url, headers={"X-Org": "7"}))
    assert "X-Org: 7" in str(caught.value)


def test_a_proxy_of_the_environment_is_not_used(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with served(sends(EMPTY)) as server:
        assert look(PrometheusSource(server.url)).complete


@pytest.fixture
def tls_server(tmp_path):
    """A server with a certificate that nobody signed; `certificate` is its file."""
    if shutil.which("openssl") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("openssl not found: apt-get install openssl")
    certificate = tmp_path / "tls.pem"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    request += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(certificate), "-out", str(tmp_path / "cert.pem")]
    subprocess.run(request, check=True, capture_output=True)
    certificate.write_bytes(certificate.read_bytes() + (tmp_path / "cert.pem").read_bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with served(sends(EMPTY)) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.url = server.url.replace("http:", "https:")
        yield server, tmp_path / "cert.pem"


def test_an_untrusted_certificate_is_refused_at_once(tls_server):
    server, _ = tls_server
    began = time.monotonic()
    with pytest.raises(TelemetryError, match="certificate is not trusted") as caught:
        look(PrometheusSource(server.url))
    assert (caught.value.code, server.hits) == ("JPO-E106", [])
    assert time.monotonic() - began < 2


def test_a_certificate_is_trusted_by_ca_file_or_by_verify_false(tls_server):
    server, certificate = tls_server
    assert look(PrometheusSource(server.url, ca_file=certificate)).complete
    with pytest.warns(InsecureRequestWarning):
        assert look(PrometheusSource(server.url, verify=False)).complete


def test_https_to_a_plain_port_is_a_tls_error():
    with served(sends(EMPTY)) as server, pytest.raises(TelemetryError) as caught:
        look(PrometheusSource(server.url.replace("http:", "https:")))
    assert caught.value.code == "JPO-E106"
