"""Addresses and credentials: what is refused before any request, and what no text shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.http.endpoint import Endpoint

SECRET = "s3cret-of-the-test"


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": ""},
        {"url": "prometheus:9090"},
        {"url": f"me:{SECRET}@prometheus:9090"},
        {"url": "ftp://prometheus"},
        {"url": "http://"},
        {"url": f"http://me:{SECRET}@prometheus:port"},
        {"url": "http://prometheus:99999"},
        {"url": "http://[::1"},
        {"url": "http://prometheus/\nx"},
        {"url": "http://prometheus server"},
        {"url": f"http://me:{SECRET}@prometheus/?query=1"},
        {"url": f"http://me:12/{SECRET}@prometheus"},
        {"url": f"http://me:12?{SECRET}@prometheus"},
        {"url": f"http://me:12#{SECRET}@prometheus"},
        {"timeout_seconds": 0.0},
        {"timeout_seconds": float("nan")},
        {"bearer_token": f"{SECRET}\n"},
        {"bearer_token": f"{SECRET}€"},
        {"bearer_token": SECRET, "username": "me"},
        {"headers": {"X-Org": "a\r\nb"}},
        {"headers": {"X-Org": " a"}},
        {"headers": {"X Org": "a"}},
        {"headers": {"X-Org:\nX": "a"}},
        {"bearer_token": SECRET, "sigv4_region": "eu-central-1"},
        {"ca_file": Path("/no/such/file")},
        {"ca_file": Path("x" * 300)},
        {"client_cert": (Path(__file__), Path("/no/such/file"))},
    ],
)
def test_what_can_never_work_is_refused_with_a_remedy(arguments):
    with pytest.raises(UsageError) as caught:
        Endpoint(**{"url": "http://prometheus:9090", **arguments})
    assert caught.value.code == "JPO-E107"
    assert caught.value.remedy
    assert SECRET not in str(caught.value)


def test_credentials_never_appear_in_its_text():
    source = Endpoint(f"https://me:{SECRET}@prometheus:9090/path/", headers={"X-Key": SECRET})
    assert repr(source) == "Endpoint('https://prometheus:9090/path', timeout_seconds=10)"
    assert SECRET not in f"{source} {source!r}"
    assert SECRET not in repr(Endpoint("http://p", bearer_token=SECRET))


def test_credentials_come_from_the_url_unless_named():
    assert Endpoint("http://me:a%40b@p").credentials == ("me", "a@b")
    assert Endpoint("http://me:a@p", username="you", password="c").credentials == ("you", "c")
    assert Endpoint("http://:a%2Fb@p").credentials == ("", "a/b")
    assert Endpoint("http://p").credentials is None


def test_headers_carry_the_token():
    headers = Endpoint("http://p", bearer_token=SECRET, headers={"X-Scope-OrgID": "7"}).request_headers
    assert (headers["Authorization"], headers["X-Scope-OrgID"]) == (f"Bearer {SECRET}", "7")
