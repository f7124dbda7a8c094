"""`jpo suggest` and a Prometheus whose certificate nobody signed."""

from __future__ import annotations

import os
import shutil
import sqlite3
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from user_project import Answer, Project


class Nothing(BaseHTTPRequestHandler):
    """A Prometheus without any series."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"status":"success","data":{"resultType":"vector","result":[]}}')

    def log_message(self, *arguments: object) -> None:
        """Quiet."""


class Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A handshake that fails is what these tests are about."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that nobody signed, with its key."""
    if shutil.which("openssl") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("openssl not found: apt-get install openssl")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    request = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x"]
    request += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(file), "-out", str(file.with_name("cert.pem"))]
    subprocess.run(request, check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + file.with_name("cert.pem").read_bytes())
    return file


@pytest.fixture
def url(certificate: Path) -> Iterator[str]:
    with Server(("127.0.0.1", 0), Nothing) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"https://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def suggest(project: Project, url: str, setting: str = "") -> Answer:
    toml = project.folder / "jpo.toml"
    toml.write_text(f"{toml.read_text()}[prometheus]\n{setting}\n")
    return project.jpo("suggest", "config.ini", "--no-learn", "--strict", "--prometheus-url", url)


def test_it_is_refused_and_nothing_changes(project: Project, url: str) -> None:
    def on_disk() -> tuple[bytes, list[str]]:
        with closing(sqlite3.connect(f"file:{project.folder}/.jpo/jpo.db?mode=ro", uri=True)) as store:
            return project.config.read_bytes(), list(store.iterdump())

    assert project.jpo("observe").code == 0
    before, answer = on_disk(), suggest(project, url)
    assert (answer.code, on_disk()) == (4, before)
    assert "certificate is not trusted; set ca_file to the server's certificate authority" in answer.err


def test_ca_file_trusts_it(project: Project, url: str, certificate: Path) -> None:
    shutil.copy(certificate, project.folder / "ca.pem")
    assert suggest(project, url, 'ca_file = "ca.pem"').code == 0


def test_insecure_trusts_any_without_a_word_of_urllib3(project: Project, url: str) -> None:
    answer = suggest(project, url, "insecure = true")
    assert (answer.code, answer.err) == (0, "")
    assert "certificate of Prometheus is not verified" in " ".join(answer.out.split())
    assert "note: The certificate of Prometheus is not verified" in project.jpo("observe", "--prometheus-url", url).out


def test_a_certificate_of_ones_own_that_is_none_is_a_mistake_of_usage(project: Project, url: str) -> None:
    answer = suggest(project, url, 'cert_file = "config.ini"')
    assert (answer.code, "JPO-E114" in answer.err) == (2, True)


def test_a_note_goes_to_no_such_server_either(
    project: Project, url: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.jpo("suggest", "config.ini", "--no-learn")
    variables = {"GITLAB_CI": "true", "CI_API_V4_URL": url, "CI_PROJECT_ID": "1", "CI_MERGE_REQUEST_IID": "5"}
    for name, value in (variables | {"JPO_COMMENT_TOKEN": "s3cret"}).items():
        monkeypatch.setenv(name, value)
    refused = project.jpo("comment", "--strict")
    assert (refused.code, "[JPO-E905]" in refused.err, "set JPO_COMMENT_CA_FILE" in refused.err) == (4, True, True)
    monkeypatch.setenv("JPO_COMMENT_CA_FILE", str(certificate.with_name("cert.pem")))
    assert "answered with something else than notes" in project.jpo("comment", "--strict").err
    monkeypatch.setenv("JPO_COMMENT_CA_FILE", "/nonexistent.pem")
    missing = project.jpo("comment", "--strict")
    assert (missing.code, missing.err.count("\n")) == (2, 1)
