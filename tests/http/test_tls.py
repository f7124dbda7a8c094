"""Certificates of both sides, against a server that asks for one."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import threading
import warnings
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from jpo.errors import TelemetryError, UsageError
from jpo.http.endpoint import Endpoint
from jpo.http.tls import check_files, why_refused
from jpo.telemetry.prometheus.client import Client

EMPTY = b'{"status":"success","data":{"resultType":"vector","result":[]}}'


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(307 if self.server.leads_to else 200)
        if self.server.leads_to:
            self.send_header("Location", self.server.leads_to + self.path)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(EMPTY)

    def log_message(self, *arguments):
        """Quiet."""


class Server(ThreadingHTTPServer):
    leads_to = None

    def handle_error(self, request, client_address):
        """Handshakes that fail are what these tests are about."""


@contextmanager
def served(certificate=None, *, clients_of=None, leads_to=None):
    with Server(("127.0.0.1", 0), Handler) as server:
        server.leads_to = leads_to
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            if clients_of:
                context.maximum_version = ssl.TLSVersion.TLSv1_2  # with 1.3 it depends on chance how much the client sees
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(clients_of)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def pem(tmp_path_factory) -> Path:
    """A folder: server.pem and client.pem (certificate and key), client-cert.pem, client-key.pem, locked-key.pem (encrypted)."""
    if shutil.which("openssl") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("openssl not found: apt-get install openssl")
    folder = tmp_path_factory.mktemp("tls")
    for name in ("server", "client"):
        key, certificate = folder / f"{name}-key.pem", folder / f"{name}-cert.pem"
        request = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        request += ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
        subprocess.run(request, check=True, capture_output=True)
        (folder / f"{name}.pem").write_bytes(key.read_bytes() + certificate.read_bytes())
    lock = ["openssl", "ec", "-in", folder / "client-key.pem", "-aes256", "-passout", "pass:x", "-out", folder / "locked-key.pem"]
    subprocess.run(lock, check=True, capture_output=True)
    return folder


def ask(url, **options):
    with Client(Endpoint(url, timeout_seconds=5, **options)) as client:
        return client.query("up", 1e9)


def test_an_authority_of_ones_own_is_trusted(pem):
    with served(pem / "server.pem") as url:
        assert ask(url, ca_file=pem / "server-cert.pem") == []


def test_a_certificate_for_another_host_is_not_trusted(pem):
    with served(pem / "server.pem") as url, pytest.raises(TelemetryError, match="it names another host") as caught:
        ask(url.replace("127.0.0.1", "localhost"), ca_file=pem / "server-cert.pem")
    assert caught.value.code == "JPO-E106"


def test_insecure_trusts_any_certificate_and_silences_urllib3_for_this_look_alone(pem):
    with served(pem / "server.pem") as url, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert ask(url, verify=False) == []
        warnings.warn("of others", stacklevel=1)
    assert [str(one.message) for one in heard] == ["of others"]


@pytest.mark.parametrize("files", [("client-cert.pem", "client-key.pem"), ("client.pem", "client.pem")])
def test_a_server_that_asks_for_a_client_certificate_gets_it(pem, files):
    with served(pem / "server.pem", clients_of=pem / "client-cert.pem") as url:
        certificate = (pem / files[0], pem / files[1])
        assert ask(url, ca_file=pem / "server-cert.pem", client_cert=certificate) == []


@pytest.mark.parametrize(
    ("certificate", "says"),
    [
        (None, "asks for a client certificate; set cert_file and key_file"),
        ("server.pem", "does not trust our client certificate"),
    ],
)
def test_a_server_that_does_not_know_us_says_so(pem, certificate, says):
    given = (pem / certificate, pem / certificate) if certificate else None
    with served(pem / "server.pem", clients_of=pem / "client-cert.pem") as url, pytest.raises(TelemetryError) as caught:
        ask(url, ca_file=pem / "server-cert.pem", client_cert=given)
    assert (caught.value.code, says in str(caught.value)) == ("JPO-E106", True), caught.value


@pytest.mark.parametrize("reason", ["TLSV13_ALERT_CERTIFICATE_REQUIRED", "UNEXPECTED_EOF_WHILE_READING"])
def test_what_tls_1_3_says_of_a_missing_certificate_names_the_remedy(reason):
    assert "set cert_file and key_file" in why_refused(reason)[1]


def test_http_may_lead_to_https_on_the_same_host(pem):
    with served(pem / "server.pem") as safe, served(leads_to=safe) as url:
        assert ask(url, ca_file=pem / "server-cert.pem") == []


def test_https_never_leads_back_to_http(pem):
    with served() as plain, served(pem / "server.pem", leads_to=plain) as url, pytest.raises(TelemetryError) as caught:
        ask(url, ca_file=pem / "server-cert.pem")
    assert caught.value.code == "JPO-E104"


@pytest.mark.parametrize(
    ("authorities", "certificate", "says"),
    [
        ("client-key.pem", None, "ca_file cannot be used: OpenSSL finds no certificate"),
        (None, ("client-cert.pem", "server-key.pem"), "the key belongs to another certificate"),
        (None, ("client-cert.pem", "locked-key.pem"), "the key is encrypted"),
        (None, ("client-key.pem", "client-key.pem"), "OpenSSL finds no certificate"),
    ],
)
def test_files_that_openssl_cannot_use_are_named_before_any_request(pem, authorities, certificate, says):
    with pytest.raises(UsageError, match=says) as caught:
        check_files(authorities and pem / authorities, certificate and (pem / certificate[0], pem / certificate[1]))
    assert (caught.value.code, str(pem) in caught.value.place) == ("JPO-E114", True)
