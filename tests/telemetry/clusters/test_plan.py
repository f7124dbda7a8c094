"""How many requests a look takes, and what happens where a server's limits bite."""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from jpo.errors import TelemetryError
from jpo.records import Identity, RunStatus
from jpo.telemetry import PrometheusSource, finished_runs

DAY = 86400.0
FORM = "application/x-www-form-urlencoded"
MOST_REQUESTS = 15
"""Discovery, descriptions, names (2), lives, silent runs, the jobs' own words, what kind of server it is, use of pods (2, for so
many pods), single samples (3); of VictoriaMetrics also the losses that it did not store."""


def test_new_runs_take_a_dozen_requests_however_many_they_are(look):
    found = look("exported", until=7.0)
    assert len(found.runs) >= 12
    assert found.requests <= MOST_REQUESTS


def test_nothing_new_takes_one(look):
    first = look("exported", until=10.0)
    again = look("exported", until=10.1, watermark=(first.watermark - 1_700_000_000) / 3600)
    assert (again.runs, again.series, again.requests) == ((), (), 1)


def test_a_long_window_is_read_in_chunks_and_a_run_over_their_border_is_whole(look):
    found = look("months", until=75 * 24.0)
    assert [run.run_id for run in found.runs] == ["first", "border", "last"]
    assert [run.status for run in found.runs] == [RunStatus.SUCCEEDED] * 3
    border = found.runs[1].outcome
    assert (border.duration_seconds, border.samples) == (pytest.approx(1200, rel=0.02), pytest.approx(120_000, rel=0.02))
    assert border.energy_joules == pytest.approx(360_000, rel=0.02)
    assert found.watermark == found.runs[-1].ended_at


def test_series_of_the_newest_runs_come_with_them(look):
    found = look("exported")
    plain = {series.quantity: series for series in found.series if series.run_id == "plain"}
    assert set(plain) == {"cpu_cores", "memory_gib", "gpu_utilisation"}
    assert plain["cpu_cores"].times[0] == pytest.approx(1_700_000_000 + 600, abs=16)
    assert (plain["cpu_cores"].values[3], plain["memory_gib"].values[3]) == (pytest.approx(2), 1)
    assert {series.run_id for series in found.series} == {run.run_id for run in found.runs}
    assert not [series for series in found.series if series.run_id == "cpu-only" and series.quantity == "gpu_utilisation"]


@contextmanager
def limited(most_days: float):
    """A server without runs, which refuses to look at more than some days at once."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            query = parse_qs(urlsplit(self.path).query)["query"][0]
            days = max(int(ms) for ms in re.findall(r"\[(\d+)ms\]", query)) / 1000 / DAY
            self.server.asked.append(days)
            refused = {"status": "error", "errorType": "execution", "error": "query processing would load too many samples"}
            empty = {"status": "success", "data": {"resultType": "vector", "result": []}}
            body = json.dumps(refused if days > most_days else empty).encode()
            self.send_response(422 if days > most_days else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            """Quiet."""

    with serving(Handler) as server:
        server.asked = []
        yield server


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def without_index(url: str):
    """What a proxy shows that lets through queries and nothing else."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, answer = 403, b"no"
            if self.path.startswith("/api/v1/query"):
                real = requests.request(self.command, url + self.path, data=body, headers={"Content-Type": FORM}, timeout=10)
                status, answer = real.status_code, real.content
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_GET  # noqa: N815 (named by the base class)

        def log_message(self, *arguments):
            """Quiet."""

    with serving(Handler) as server:
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.mark.parametrize("serve", ["prometheus"], indirect=True)
def test_a_server_that_hides_its_index_is_asked_for_all_that_may_be_there(cluster, look):
    with without_index(cluster) as url:
        identity = Identity("digits", "honoured", "pytorch")
        found = finished_runs(PrometheusSource(url), identity, since=1.7e9, until=1.7e9 + DAY / 2, watermark=None)
    assert found.runs == look("honoured").runs


@contextmanager
def repeating(*labels):
    """A server with one answer for everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            rows = [{"metric": one, "value": [1e9, "NaN"]} for one in labels]
            body = json.dumps({"status": "success", "data": {"resultType": "vector", "result": rows}}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 (named by the base class)

        def log_message(self, *arguments):
            """Quiet."""

    with serving(Handler) as server:
        yield server


def test_rows_that_nobody_asked_for_are_no_runs():
    with repeating({"run_id": "x"}, {"run_id": "x", "quantity": "y"}, {"quantity": ""}) as server:
        assert look_at(server, 1).runs == ()


def test_a_server_that_answers_nan_to_everything_has_no_runs():
    marks = [{"run_id": "x", "quantity": mark} for mark in ("run", "start", "end", "pushed", "info")]
    with repeating(*marks) as server:
        assert look_at(server, 1).runs == ()


def look_at(server, days):
    source = PrometheusSource(f"http://127.0.0.1:{server.server_port}")
    return finished_runs(source, Identity("d", "m", "f"), since=1e9, until=1e9 + days * DAY, watermark=None)


def test_a_chunk_is_halved_until_the_server_can_answer():
    with limited(most_days=5) as server:
        found = look_at(server, 60)
    assert (found.runs, found.complete) == ((), True)
    answered = [days for days in server.asked if days <= 5]
    assert sum(answered) == pytest.approx(60, abs=0.5)  # with an overlap of minutes


def test_a_server_that_cannot_answer_for_a_day_is_an_error():
    with limited(most_days=0.1) as server, pytest.raises(TelemetryError, match="too many samples") as caught:
        look_at(server, 60)
    assert caught.value.code == "JPO-E105"
    assert len(server.asked) < 10
