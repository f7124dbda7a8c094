"""The guard layer's finer points, against a server of the test; whole faults are in tests/commands/test_faults.py."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from jpo.errors import TelemetryError
from jpo.records import Identity
from jpo.telemetry import PrometheusSource, finished_runs
from jpo.telemetry.client import Client

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


def cuts(handler):
    handler.head(length=1000)
    handler.wfile.write(b'{"status":"success"')
    handler.close_connection = True


def echoes(handler):
    sends({"status": "error", "errorType": "bad_data", "error": str(handler.headers)}, 400)(handler)


def refuses(status, kind, reason="no"):
    return sends({"status": "error", "errorType": kind, "error": reason}, status)


def look(source):
    return finished_runs(source, WORK, since=0.0, until=1000.0, watermark=None)


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


def test_credentials_of_a_netrc_file_are_not_used(monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text(f"machine 127.0.0.1 login me password {SECRET}\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with served(echoes) as server, pytest.raises(TelemetryError) as caught:
        look(PrometheusSource(server.url))
    assert "Authorization" not in str(caught.value)


def test_a_secret_in_the_name_of_a_host_is_hidden():
    with served(sends(b"", 302, Location=f"http://{SECRET}.example/")) as server, pytest.raises(TelemetryError) as caught:
        look(PrometheusSource(server.url, bearer_token=SECRET))
    assert caught.value.finding == "redirects to another server, ***.example (a sign-in page?)"


def test_values_of_a_label_are_asked_for_a_selector_and_a_window():
    with served(sends({"status": "success", "data": ["a", 'b"']})) as server, Client(PrometheusSource(server.url)) as client:
        assert client.label_values("a/b", '{x="1"}', 1.0, 2.5) == ("a", 'b"')
    assert server.hits == ["GET /api/v1/label/a%2Fb/values?start=1.000&end=2.500&match%5B%5D=%7Bx%3D%221%22%7D"]


@pytest.mark.parametrize(
    "nothing",
    [
        sends(b"404 page not found", 404, "text/plain"),
        sends(b'unsupported path requested: "/api/v1/status/runtimeinfo"', 400, "text/plain"),  # VictoriaMetrics
        sends(b"Forbidden", 403, "text/plain"),  # kube-rbac-proxy
        sends({"status": "success", "data": []}),
    ],
)
def test_a_server_without_a_status_is_no_error(nothing):
    with served(nothing) as server, Client(PrometheusSource(server.url)) as client:
        assert client.status("runtimeinfo") == {}


def test_a_server_that_is_down_has_no_status_to_tell():
    with Client(PrometheusSource("http://127.0.0.1:1")) as client, pytest.raises(TelemetryError) as caught:
        client.status("runtimeinfo")
    assert caught.value.code == "JPO-E102"


@pytest.mark.parametrize("data", [{}, [], {"result": None}, {"result": "x"}, {"result": [{"metric": {}, "value": [1]}]}])
def test_data_of_another_shape_is_no_series(data):
    with served(sends({"status": "success", "data": data})) as server, pytest.raises(TelemetryError) as caught:
        look(PrometheusSource(server.url))
    assert caught.value.code == "JPO-E104"


def test_labels_of_another_shape_are_no_values():
    with served(sends(EMPTY)) as server, Client(PrometheusSource(server.url)) as client, pytest.raises(TelemetryError) as caught:
        client.label_values("job", None, 0.0, 1.0)
    assert caught.value.code == "JPO-E104"
