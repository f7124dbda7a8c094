"""From [prometheus] in jpo.toml to a source that can be asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.layers import Loaded, load
from jpo.sources import UNVERIFIED, caveats, names_of, prometheus_of

URL = 'url = "https://prometheus:9090"\n'
Settings = Callable[..., Loaded]


@pytest.fixture
def prometheus(tmp_path: Path) -> Settings:
    """`prometheus("insecure = true", **environment) -> Loaded`: settings of a jpo.toml with these lines under [prometheus]."""

    def loaded(lines: str = "", **environment: str) -> Loaded:
        (tmp_path / "jpo.toml").write_text(f"[prometheus]\n{URL}{lines}\n")
        return load(None, tmp_path / "jpo.toml", environment, {})

    for name in ("ca.pem", "own.pem", "own-key.pem"):
        (tmp_path / name).touch()
    return loaded


def test_certificates_lie_beside_jpo_toml(prometheus: Settings, tmp_path: Path) -> None:
    source = prometheus_of(prometheus('ca_file = "ca.pem"\ncert_file = "own.pem"\nkey_file = "own-key.pem"'))
    assert (source.ca_file, source.client_cert) == (tmp_path / "ca.pem", (tmp_path / "own.pem", tmp_path / "own-key.pem"))


def test_certificate_and_key_may_lie_in_one_file(prometheus: Settings, tmp_path: Path) -> None:
    assert prometheus_of(prometheus('cert_file = "own.pem"')).client_cert == (tmp_path / "own.pem", tmp_path / "own.pem")


def test_a_key_without_a_certificate_is_half_of_something(prometheus: Settings) -> None:
    with pytest.raises(UsageError, match="key_file: has no cert_file") as caught:
        prometheus_of(prometheus('key_file = "own-key.pem"'))
    assert caught.value.code == "JPO-E107"


def test_a_token_file_is_read_anew_each_time(prometheus: Settings, tmp_path: Path) -> None:
    loaded = prometheus('auth = { type = "bearer", token_file = "token" }')
    for token in ("first", "second"):
        (tmp_path / "token").write_text(f"{token}\n")
        assert prometheus_of(loaded).bearer_token == token


def test_headers_and_passwords_come_from_the_environment(prometheus: Settings) -> None:
    environment = {"JPO_PROMETHEUS__AUTH__PASSWORD": "secret", "JPO_PROMETHEUS__HEADERS__X-Scope-OrgID": "team-7"}
    source = prometheus_of(prometheus('auth = { type = "basic", username = "me" }', **environment))
    assert (source.credentials, source.headers) == (("me", "secret"), {"x-scope-orgid": "team-7"})


def test_sigv4_signs_for_its_region(prometheus: Settings) -> None:
    assert prometheus_of(prometheus('auth = { type = "sigv4", region = "eu-central-1" }')).sigv4_region == "eu-central-1"
    assert prometheus_of(prometheus('auth = { region = "eu-central-1" }')).sigv4_region is None


def test_insecure_trusts_any_server_and_every_report_that_asked_one_says_so(prometheus: Settings) -> None:
    insecure = prometheus("insecure = true")
    assert not prometheus_of(insecure).verify
    assert caveats(insecure, offline=False) == {UNVERIFIED: "JPO-W114"}
    assert caveats(insecure, offline=True) == caveats(prometheus(), offline=False) == {}


def test_insecure_beside_an_authority_to_trust_is_a_contradiction(prometheus: Settings) -> None:
    with pytest.raises(UsageError, match="keep one of them"):
        prometheus('insecure = true\nca_file = "ca.pem"')


def test_names_of_a_site_replace_the_usual_ones(prometheus: Settings) -> None:
    loaded = prometheus('container = "main"\n[prometheus.metrics]\ngpu_utilisation_percent = "gpu_busy"')
    assert (names_of(loaded).metric("gpu_utilisation_percent"), names_of(loaded).container) == ("gpu_busy", "main")
