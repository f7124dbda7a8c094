"""Calls are bounded, made again where that helps, and fail in the server's words without a credential in them."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from answering import cuts, drips, sends, served
from kubernetes_cluster import Cluster, Fault, kubeconfig, serving
from left_running import alive, end, hanging

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.kubernetes import session as module
from jpo.plugins.launch.engines.kubernetes.session import ATTEMPTS, Connected, Refused, Session

PODS = "/api/v1/namespaces/ml/pods"
NewSession = Callable[..., Session]


@pytest.fixture
def new_session(clock: Any, tmp_path: Path) -> NewSession:
    def make(url: str | None = None, context: str | None = None) -> Session:
        if url is not None:
            kubeconfig(tmp_path / "kubeconfig", url)
        return Session(lambda: Connected(context, str(tmp_path / "kubeconfig")), clock.sleep)

    return make


def listed(session: Session) -> Any:
    return session.ask("CoreV1Api", "list_namespaced_pod", "ml")


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 0])
def test_a_server_in_trouble_is_asked_again(cluster: Cluster, new_session: NewSession, status: int) -> None:
    cluster.faults.append(Fault("GET", PODS, status, times=ATTEMPTS - 1))
    assert listed(new_session())["items"] == []
    assert len(cluster.asked) == ATTEMPTS


@pytest.mark.parametrize(("status", "said"), [(503, "answers 503: trouble"), (500, "answers 500: trouble"), (0, "hung up")])
def test_a_server_that_stays_in_trouble_is_an_error_in_its_words(
    cluster: Cluster, new_session: NewSession, clock: Any, status: int, said: str
) -> None:
    cluster.faults.append(Fault("GET", PODS, status, times=99))
    before = clock.now
    with pytest.raises(LaunchError, match=said) as caught:
        listed(new_session())
    assert caught.value.code == "JPO-E754"
    assert clock.now - before < 30


@pytest.mark.parametrize(("said", "least", "most"), [("3", 3, 9), ("86400", 10, 60), ("soon", 0, 9)])
def test_retry_after_is_kept_within_bounds(
    cluster: Cluster, new_session: NewSession, clock: Any, said: str, least: float, most: float
) -> None:
    cluster.faults.append(Fault("GET", PODS, 429, fields={"Retry-After": said}))
    before = clock.now
    listed(new_session())
    assert least <= clock.now - before <= most


def test_an_expired_token_is_read_anew_once(cluster: Cluster, new_session: NewSession, tmp_path: Path) -> None:
    session = new_session(cluster.url)
    listed(session)
    cluster.tokens.add("new-token")
    kubeconfig(tmp_path / "kubeconfig", cluster.url, token="new-token")
    listed(session)
    cluster.tokens.clear()
    cluster.tokens.add("newer-token")
    with pytest.raises(Refused, match="log in to the cluster again") as caught:
        listed(session)
    assert caught.value.code == "JPO-E753"
    assert "token" not in str(caught.value)


def test_who_may_not_is_told_which_rule_it_takes(cluster: Cluster, new_session: NewSession) -> None:
    cluster.denied.add(("list", "pods"))
    with pytest.raises(Refused) as caught:
        listed(new_session())
    assert 'cannot list resource "pods"' in str(caught.value)
    assert '{apiGroups: [""], resources: [pods], verbs: [list]} in ml' in caught.value.remedy
    assert len(cluster.asked) == 1


NONE_OF_KUBERNETES = (b"<html>", b"[]", b"", b"{}", b'{"error": "sign in"}', b"[" * 100_000, b'{"kind": "Job"', b'{"kind": NaN}')


@pytest.mark.parametrize(("status", "body"), [(200, body) for body in NONE_OF_KUBERNETES])
def test_what_is_no_api_of_kubernetes(new_session: NewSession, status: int, body: bytes) -> None:
    with served(sends(body, status)) as server, pytest.raises(LaunchError, match="does not speak Kubernetes' API"):
        listed(new_session(server.url))


@pytest.mark.parametrize(("body", "kind"), [(b"<html>Please sign in</html>", "text/html"), (b"", "")])
def test_what_is_not_what_a_pod_printed(new_session: NewSession, body: bytes, kind: str) -> None:
    with served(sends(body, kind=kind)) as server, pytest.raises(LaunchError, match="does not speak Kubernetes' API"):
        [*new_session(server.url).lines("CoreV1Api", "read_namespaced_pod_log", "x", "ml")]


def test_a_sign_in_page_is_not_followed(new_session: NewSession) -> None:
    with served(sends(b"", 302, Location="https://login.example.com/?token=x")) as server:
        with pytest.raises(Refused, match=r"sends elsewhere \(302\)") as caught:
            listed(new_session(server.url))
        assert "login.example.com" not in str(caught.value)
        assert len(server.asked) == 1


def test_an_answer_that_ends_in_the_middle(new_session: NewSession) -> None:
    with served(cuts) as server, pytest.raises(LaunchError, match="ended too soon"):
        listed(new_session(server.url))


def test_a_body_that_is_none_of_a_status_is_not_repeated(new_session: NewSession) -> None:
    with served(sends(b"Authorization: Bearer secret-token", 403)) as server, pytest.raises(Refused) as caught:
        listed(new_session(server.url))
    assert "secret-token" not in str(caught.value)


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"message": ' * 9999, b"\xff\xfe", b'"x"'])
def test_a_refusal_that_cannot_be_read_is_one_all_the_same(new_session: NewSession, body: bytes) -> None:
    with served(sends(body, 403)) as server, pytest.raises(Refused) as caught:
        listed(new_session(server.url))
    assert caught.value.status == 403


def test_an_answer_without_end_is_not_taken_in(new_session: NewSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_ANSWER_BYTES", 2**20)
    with served(sends(b" " * (2**20 + 1))) as server, pytest.raises(LaunchError, match="larger than 1 MiB"):
        listed(new_session(server.url))


def test_a_token_that_the_server_repeats_is_hidden(new_session: NewSession, tmp_path: Path) -> None:
    said = json.dumps({"kind": "Status", "message": "no user for Bearer secret-token"}).encode()
    with served(sends(said, 403)) as server:
        kubeconfig(tmp_path / "kubeconfig", server.url, token="secret-token")
        with pytest.raises(Refused, match=r"no user for Bearer \[hidden\]"):
            listed(new_session())


def test_an_answer_that_trickles_in_ends_with_the_deadline(new_session: NewSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_SECONDS", 0.5)
    with served(drips) as server, pytest.raises(LaunchError, match=r"gives no answer within 0\.5 s") as caught:
        listed(new_session(server.url))
    assert caught.value.code == "JPO-E754"


def test_lines_that_trickle_in_end_too(new_session: NewSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_LINES_SECONDS", 0.5)
    with served(drips) as server, pytest.raises(LaunchError, match="does not end"):
        [*new_session(server.url).lines("CoreV1Api", "read_namespaced_pod_log", "x", "ml")]


def test_nobody_listens(new_session: NewSession) -> None:
    with pytest.raises(LaunchError, match="does not accept connections") as caught:
        listed(new_session("http://127.0.0.1:9"))
    assert caught.value.code == "JPO-E754"


def test_lines_come_whole_however_long(new_session: NewSession) -> None:
    body = b"a\n" + b"\r50%" * 400_000 + b"\nlast"
    with served(sends(body, kind="text/plain")) as server:
        lines = [*new_session(server.url).lines("CoreV1Api", "read_namespaced_pod_log", "x", "ml")]
    assert b"".join(lines) == body
    assert max(map(len, lines)) < 2**21


def test_the_namespace_is_the_contexts(cluster: Cluster, new_session: NewSession) -> None:
    assert new_session(cluster.url).namespace == "ml"
    assert new_session(cluster.url, "lab").namespace == "ml"
    assert Session(lambda: pytest.fail("not asked"), lambda _: None, "own").namespace == "own"


@pytest.mark.parametrize(
    ("text", "context"),
    [("", None), ("{", None), ("[]", None), ('{"current-context": "x"}', None), (None, None), (None, "prod"), ("", "prod")],
)
def test_a_kubeconfig_that_names_no_cluster(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None, context: str | None
) -> None:
    monkeypatch.setattr(module, "IN_POD", tmp_path / "none")
    if text is not None:
        (tmp_path / "kubeconfig").write_text(text)
    with pytest.raises(LaunchError, match="kubeconfig: ") as caught:
        Connected(context, str(tmp_path / "kubeconfig"))
    assert caught.value.code == "JPO-E764"


def test_a_context_that_is_not_there(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="no usable context 'prod'"):
        Connected("prod", str(tmp_path / "kubeconfig"))


def test_kubeconfig_is_read_and_never_written(cluster: Cluster, new_session: NewSession, tmp_path: Path) -> None:
    before = (tmp_path / "kubeconfig").read_bytes()
    listed(new_session())
    assert (tmp_path / "kubeconfig").read_bytes() == before


def test_in_a_pod_its_service_account_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    account = {"namespace": "ml\n", "token": "pod-token", "ca.crt": "-----BEGIN CERTIFICATE-----\n"}
    for name, text in account.items():
        (tmp_path / name).write_text(text)
    loader = importlib.import_module("kubernetes.config.incluster_config")
    places = {"SERVICE_TOKEN_FILENAME": "token", "SERVICE_CERT_FILENAME": "ca.crt"}
    real = loader.InClusterConfigLoader
    there = {key: str(tmp_path / name) for key, name in places.items()}

    def in_this_pod(**_: object) -> Any:
        environ = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "9"}
        return real(there["SERVICE_TOKEN_FILENAME"], there["SERVICE_CERT_FILENAME"], environ=environ)

    monkeypatch.setattr(loader, "InClusterConfigLoader", in_this_pod)
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "no-kubeconfig"))
    monkeypatch.setattr(module, "IN_POD", tmp_path / "namespace")
    connected = Connected()
    assert connected.namespace == "ml"
    assert connected.client.configuration.host == "https://127.0.0.1:9"
    with pytest.raises(LaunchError):  # KUBECONFIG means another cluster than this one
        Connected(None, str(tmp_path / "no-kubeconfig"))


def test_without_the_package_the_remedy_is_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(module.importlib, "import_module", missing)
    with pytest.raises(LaunchError, match="not installed") as caught:
        Connected()
    assert caught.value.remedy == 'pip install "jpo[kubernetes]"'


def test_words_of_a_status_are_cut_to_one_line(new_session: NewSession) -> None:
    said = json.dumps({"kind": "Status", "message": "a\nb \x1b[31m" + "x" * 9000}).encode()
    with served(sends(said, 422)) as server, pytest.raises(Refused) as caught:
        listed(new_session(server.url))
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 700


def test_what_the_client_logs_and_warns_of_is_not_seen(tls_cluster: str, tmp_path: Path) -> None:
    """A credential plugin that does not speak its protocol, and a kubeconfig that trusts everybody; in a process as of users."""
    config = json.loads(kubeconfig(tmp_path / "kubeconfig", tls_cluster).read_text())
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/echo", "args": ["secret-token"]}
    config["users"][0]["user"] = {"exec": {**plugin, "interactiveMode": "Never"}}
    config["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = True
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    lines = [
        "from jpo.plugins.launch.engines.kubernetes.session import Connected, Session",
        f"session = Session(lambda: Connected(None, {str(tmp_path / 'kubeconfig')!r}), print)",
        'assert session.ask("CoreV1Api", "list_namespaced_pod", "ml")["items"] == []',
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for this machine that nobody has signed, with its key in the same file."""
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    if shutil.which("openssl") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("openssl not found: apt-get install openssl")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    names = [
        "-subj",
        "/CN=lab",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        str(file),
        "-out",
        str(file.with_suffix(".crt")),
    ]
    subprocess.run([*command, *names], check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + file.with_suffix(".crt").read_bytes())
    return file


@pytest.fixture
def tls_cluster(cluster: Cluster, certificate: Path) -> Iterator[str]:
    with serving(cluster, certificate) as url:
        yield url


def test_a_certificate_that_nobody_signed_is_not_trusted(tls_cluster: str, new_session: NewSession) -> None:
    with pytest.raises(LaunchError, match="certificate that is not trusted") as caught:
        listed(new_session(tls_cluster))
    assert caught.value.code == "JPO-E754"


def test_a_kubeconfig_trusts_its_own_authority_or_none(
    tls_cluster: str, certificate: Path, tmp_path: Path, new_session: NewSession
) -> None:
    for trust in ({"certificate-authority": str(certificate.with_suffix(".crt"))}, {"insecure-skip-tls-verify": True}):
        config = json.loads(kubeconfig(tmp_path / "kubeconfig", tls_cluster).read_text())
        config["clusters"][0]["cluster"] |= trust
        (tmp_path / "kubeconfig").write_text(json.dumps(config))
        assert listed(new_session())["items"] == []


def test_a_login_that_hangs_is_ended_with_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOGIN_SECONDS", 0.5)
    file = kubeconfig(tmp_path / "kubeconfig", "http://127.0.0.1:9")
    config, mark = json.loads(file.read_text()), str(tmp_path / "mark")
    login = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(hanging(tmp_path / "login", mark))}
    config["users"][0]["user"] = {"exec": {**login, "interactiveMode": "Never"}}
    file.write_text(json.dumps(config))
    try:
        with pytest.raises(LaunchError, match=r"logs in gives no answer within 0\.5 s") as caught:
            Connected(None, str(file))
        assert (caught.value.code, alive(mark)) == ("JPO-E754", 0)
    finally:
        end(mark)


def test_a_login_that_has_expired_is_made_anew_where_the_server_says_so(
    cluster: Cluster, new_session: NewSession, tmp_path: Path
) -> None:
    file, counted = kubeconfig(tmp_path / "kubeconfig", cluster.url), tmp_path / "logins"
    config, login = json.loads(file.read_text()), tmp_path / "login"
    status = {"token": "secret-token", "expirationTimestamp": "2020-01-01T00:00:00Z"}
    credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    login.write_text(f"#!/bin/sh\necho >> {counted}\ncat <<'END'\n{json.dumps(credential)}\nEND\n")
    login.chmod(0o755)
    config["users"][0]["user"] = {
        "exec": {"apiVersion": credential["apiVersion"], "command": str(login), "interactiveMode": "Never"}
    }
    file.write_text(json.dumps(config))
    session = new_session()
    listed(session)
    before = len(counted.read_text())
    listed(session)
    assert len(counted.read_text()) == before  # by its own word it is over, and the server takes it
    cluster.faults.append(Fault("GET", PODS, 401, times=1))
    assert listed(session)["items"] == []
    assert len(counted.read_text()) > before
