"""Signed requests, held against a verifier that follows AWS' description and is itself held against AWS' own example."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from urllib.parse import quote, unquote

import pytest

from jpo.errors import TelemetryError, UsageError
from jpo.http.endpoint import Endpoint
from jpo.telemetry.prometheus.client import Client

if find_spec("botocore") is None and os.environ.get("CI") != "true":
    pytest.skip('botocore not found: pip install "jpo[sigv4]"', allow_module_level=True)

KEY, SECRET, SESSION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "session-token-of-the-test"
EMPTY = b'{"status":"success","data":{"resultType":"vector","result":[]}}'


def encoded(text):
    """As AWS encodes what it decoded: everything but unreserved characters; a plus is a plus."""
    return quote(unquote(text), safe="-_.~")


def signature(method, target, headers, body, *, signed, scope, secret=SECRET):
    """AWS Signature Version 4: what the Authorization header must end in, from a request as it arrived."""
    path, _, query = target.partition("?")
    pairs = sorted(re.findall("([^=&]+)=([^&]*)", query))
    canonical_query = "&".join(f"{encoded(name)}={encoded(value)}" for name, value in pairs)
    canonical_headers = "".join(f"{name}:{headers[name].strip()}\n" for name in signed.split(";"))
    payload = hashlib.sha256(body).hexdigest()
    canonical = "\n".join([method, quote(path), canonical_query, canonical_headers, signed, payload])
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashed]).encode(), "sha256").hex()


@pytest.mark.parametrize(
    ("method", "target", "body", "expected"),
    [
        ("GET", "/", b"", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("GET", "/?Param2=value2&Param1=value1", b"", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        ("POST", "/", b"", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    ],
)
def test_the_verifier_agrees_with_the_published_test_suite(method, target, body, expected):
    """aws-sig-v4-test-suite: get-vanilla, get-vanilla-query-order-key-case, post-vanilla."""
    headers = {"host": "example.amazonaws.com", "x-amz-date": "20150830T123600Z"}
    scope = "20150830/us-east-1/service/aws4_request"
    assert signature(method, target, headers, body, signed="host;x-amz-date", scope=scope) == expected


class Amazon(BaseHTTPRequestHandler):
    """Verifies each request, and answers as Amazon does."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body after its head would wait 40 ms for the client

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        claim = re.fullmatch(
            r"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/(\S+), SignedHeaders=(\S+), Signature=(\w+)", headers["authorization"]
        )
        scope, signed, given = claim.groups()
        right = signature(self.command, self.path, headers, body, signed=signed, scope=scope)
        self.server.seen.append((self.command, self.path.partition("?")[0], scope.partition("/")[2], signed))
        redirect = self.path.startswith("/old/")
        repeated = f"{headers['authorization']} of {headers.get('x-amz-security-token')} is wrong"
        answer = EMPTY if right == given else json.dumps({"message": repeated}).encode()
        self.send_response((307 if redirect else 200) if right == given else 403)
        if redirect:
            self.send_header("Location", self.path.replace("/old/", "/new/"))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def do_POST(self):
        self.do_GET()

    def log_message(self, *arguments):
        """Quiet."""


@pytest.fixture
def amazon():
    with HTTPServer(("127.0.0.1", 0), Amazon) as server:
        server.seen = []
        server.url = f"http://127.0.0.1:{server.server_port}/workspaces/ws-1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def credentials(monkeypatch, tmp_path):
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
    }.items():
        monkeypatch.setenv(name, value)


def ask(url, query="up", region="eu-central-1"):
    with Client(Endpoint(url, sigv4_region=region)) as client:
        return client.query(query, 1e9)


@pytest.mark.parametrize("query", ["up", 'x{a="b c+d*e~f/g=h&i",b="ü\n%20\\\\"} or vector(1)'])
def test_a_query_is_signed_for_the_service_and_region(amazon, query):
    assert ask(amazon.url, query) == []
    assert amazon.seen == [("GET", "/workspaces/ws-1/api/v1/query", "eu-central-1/aps/aws4_request", "host;x-amz-date")]


def test_a_long_query_is_signed_with_its_body(amazon):
    assert ask(amazon.url, f'up{{run_id=~"{"a|" * 10_000}"}}') == []
    assert [(method, signed) for method, _, _, signed in amazon.seen] == [("POST", "content-type;host;x-amz-date")]


def test_each_hop_of_a_redirect_has_its_own_signature(amazon):
    assert ask(amazon.url.replace("/workspaces", "/old")) == []
    assert [path for _, path, _, _ in amazon.seen] == ["/old/ws-1/api/v1/query", "/new/ws-1/api/v1/query"]


def test_the_token_of_a_role_is_signed_and_a_refusal_repeats_nothing_secret(amazon, monkeypatch):
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION)
    assert ask(amazon.url) == []
    assert amazon.seen[0][3] == "host;x-amz-date;x-amz-security-token"
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    with pytest.raises(TelemetryError) as caught:
        ask(amazon.url)
    assert (caught.value.code, caught.value.finding[-31:]) == ("JPO-E101", ": [hidden] of [hidden] is wrong")


@pytest.mark.parametrize("profile", [None, "nobody"])
def test_without_credentials_the_remedy_names_aws_own_tool(amazon, monkeypatch, profile):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    if profile:
        monkeypatch.setenv("AWS_PROFILE", profile)
    with pytest.raises(TelemetryError, match=r"AWS credentials.*aws sts get-caller-identity") as caught:
        ask(amazon.url)
    assert (caught.value.code, amazon.seen) == ("JPO-E116", [])


def test_without_botocore_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "botocore.auth", None)
    with pytest.raises(UsageError, match=r'pip install "jpo\[sigv4\]"') as caught:
        ask("http://127.0.0.1:1")
    assert caught.value.code == "JPO-E115"
