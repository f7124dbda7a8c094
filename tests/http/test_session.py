"""The guarded session, against a server of the test; whole faults are in tests/commands/test_faults.py."""

from __future__ import annotations

import pytest
from answering import NOTHING, cuts, echoes, refuses, sends, served, tells

from jpo.errors import TelemetryError
from jpo.http.endpoint import Endpoint
from jpo.records import Identity
from jpo.telemetry.prometheus.runs import finished_runs

SECRET = "s3cret-of-the-test"
WORK = Identity("digits", "cnn", "pytorch")


def reading(source):
    return finished_runs(source, WORK, since=0.0, until=1000.0, watermark=None)


@pytest.mark.parametrize("first", [sends(b"busy", 503, "text/plain"), sends(b'{"stat'), cuts], ids=["503", "truncated", "cut"])
def test_trouble_that_passes_is_survived(first):
    with served(first, tells(NOTHING)) as server:
        found = reading(Endpoint(server.url))
    assert (found.complete, found.requests) == (True, 2)


def test_warnings_make_the_answer_incomplete():
    with served(tells(NOTHING, warnings=["store 7 is\ndown", "store 7 is\ndown"])) as server:
        found = reading(Endpoint(server.url))
    assert (found.complete, found.watermark, found.warnings) == (False, None, ("store 7 is down",))


def test_incomplete_answers_do_not_move_a_watermark():
    with served(tells(NOTHING, warnings=["partial"])) as server:
        found = finished_runs(Endpoint(server.url), WORK, since=0.0, until=1000.0, watermark=50.0)
    assert found.watermark is None


def test_a_redirect_on_the_same_server_is_followed():
    with served(sends(b"", 307, Location="/prometheus/api/v1/query?query=1"), tells(NOTHING)) as server:
        assert reading(Endpoint(server.url)).complete
    assert server.asked[1] == "GET /prometheus/api/v1/query?query=1"


def test_the_same_server_may_be_written_otherwise():
    def elsewhere(handler):
        sends(b"", 307, Location=f"HTTP://LOCALHOST:{handler.server.server_port}/x?query=1")(handler)

    with served(elsewhere, sends({"status": "success", "data": NOTHING}, kind="Application/JSON")) as server:
        assert reading(Endpoint(server.url.replace("127.0.0.1", "localhost"))).complete


def test_a_port_that_does_not_speak_http_is_reported_at_once():
    """As Thanos' port for gRPC: the settings of HTTP/2, to any request."""
    with served(lambda handler: handler.wfile.write(bytes([0, 0, 6, 4, 0, 0, 0, 0, 0]) + b"settings\n")) as server:
        with pytest.raises(TelemetryError, match=r"does not answer in HTTP; check the port") as caught:
            reading(Endpoint(server.url))
        assert (caught.value.code, len(server.asked)) == ("JPO-E104", 1)


def test_a_host_name_that_cannot_be_looked_up_is_an_error_of_ours():
    with pytest.raises(TelemetryError) as caught:
        reading(Endpoint(f"http://{'x' * 70}.example:9090"))
    assert caught.value.code == "JPO-E104"


def test_credentials_in_the_url_are_sent_and_never_shown():
    with served(echoes) as server, pytest.raises(TelemetryError) as caught:
        reading(Endpoint(server.url.replace("//", f"//me:{SECRET}@")))
    assert "Authorization: Basic [hidden]" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert "me:" not in str(caught.value)


def test_a_secret_is_hidden_even_where_a_long_text_is_cut():
    text = "x" * 190 + SECRET
    with served(refuses(422, "execution", text)) as server, pytest.raises(TelemetryError) as caught:
        reading(Endpoint(server.url, bearer_token=SECRET))
    assert caught.value.finding.endswith("x[hidden]")


def test_a_secret_is_hidden_in_any_case_and_where_another_begins_like_it():
    headers = {"X-Org": "s3cret", "X-Key": SECRET}
    answer = refuses(400, "bad_data", f"{SECRET.upper()}, {SECRET}, s3cret")
    with served(answer) as server, pytest.raises(TelemetryError) as caught:
        reading(Endpoint(server.url, headers=headers))
    assert caught.value.finding.endswith(": [hidden], [hidden], [hidden]")


def test_headers_are_sent():
    with served(echoes) as server, pytest.raises(TelemetryError) as caught:
        reading(Endpoint(server.url, headers={"X-Org": "7"}))
    assert "X-Org: 7" in str(caught.value)


def test_a_proxy_of_the_environment_is_not_used(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with served(tells(NOTHING)) as server:
        assert reading(Endpoint(server.url)).complete


def test_credentials_of_a_netrc_file_are_not_used(monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text(f"machine 127.0.0.1 login me password {SECRET}\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with served(echoes) as server, pytest.raises(TelemetryError) as caught:
        reading(Endpoint(server.url))
    assert "Authorization" not in str(caught.value)


def test_a_secret_in_the_name_of_a_host_is_hidden():
    with served(sends(b"", 302, Location=f"http://{SECRET}.example/")) as server, pytest.raises(TelemetryError) as caught:
        reading(Endpoint(server.url, bearer_token=SECRET))
    assert caught.value.finding == "redirects to another server, [hidden].example (a sign-in page?)"
