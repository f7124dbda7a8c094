"""The client, against a server of the test."""

from __future__ import annotations

import pytest
from answering import NOTHING, now, sends, served, tells

from jpo.errors import TelemetryError
from jpo.http.endpoint import Endpoint
from jpo.records import Identity
from jpo.telemetry.prometheus.client import Client
from jpo.telemetry.prometheus.runs import finished_runs

SECRET = "s3cret-of-the-test"
WORK = Identity("digits", "cnn", "pytorch")


def reading(source):
    return finished_runs(source, WORK, since=0.0, until=1000.0, watermark=None)


def test_the_clock_of_a_server_is_asked_past_its_cache():
    with served(tells(now(1795255200.5))) as server, Client(Endpoint(server.url)) as client:
        assert client.clock() == 1795255200.5
    assert server.asked == ["GET /api/v1/query?query=vector%28time%28%29%29&nocache=1"]


def test_a_server_without_a_clock_answered_without_data():
    with served(tells(NOTHING)) as server, Client(Endpoint(server.url)) as client, pytest.raises(TelemetryError) as error:
        client.clock()
    assert error.value.finding == "answered without data"


def test_values_of_a_label_are_asked_for_a_selector_and_a_window():
    with served(tells(["a", 'b"'])) as server, Client(Endpoint(server.url)) as client:
        assert client.label_values("a/b", '{x="1"}', 1.0, 2.5) == ("a", 'b"')
    assert server.asked == ["GET /api/v1/label/a%2Fb/values?start=1.000&end=2.500&match%5B%5D=%7Bx%3D%221%22%7D"]


@pytest.mark.parametrize(
    "nothing",
    [
        sends(b"404 page not found", 404, "text/plain"),
        sends(b'unsupported path requested: "/api/v1/status/runtimeinfo"', 400, "text/plain"),  # VictoriaMetrics
        sends(b"Forbidden", 403, "text/plain"),  # kube-rbac-proxy
        tells([]),
    ],
)
def test_a_server_without_a_status_is_no_error(nothing):
    with served(nothing) as server, Client(Endpoint(server.url)) as client:
        assert client.status("runtimeinfo") == {}


def test_a_server_that_is_down_has_no_status_to_tell():
    with Client(Endpoint("http://127.0.0.1:1")) as client, pytest.raises(TelemetryError) as error:
        client.status("runtimeinfo")
    assert error.value.code == "JPO-E102"


@pytest.mark.parametrize("data", [{}, [], {"result": None}, {"result": "x"}, {"result": [{"metric": {}, "value": [1]}]}])
def test_data_of_another_shape_is_no_series(data):
    with served(tells(data)) as server, pytest.raises(TelemetryError) as caught:
        reading(Endpoint(server.url))
    assert caught.value.code == "JPO-E104"


def test_labels_of_another_shape_are_no_values():
    with served(tells(NOTHING)) as server, Client(Endpoint(server.url)) as client, pytest.raises(TelemetryError) as error:
        client.label_values("job", None, 0.0, 1.0)
    assert error.value.code == "JPO-E104"
