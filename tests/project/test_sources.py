"""From [prometheus] in jpo.toml to a source that can be asked."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from answering import Handler, now, served, tells

from jpo.errors import UsageError
from jpo.http.endpoint import Endpoint
from jpo.project.load import LoadedSettings, load
from jpo.project.sources import UNVERIFIED, caveats, names_of, own_names, prometheus_of, why_nothing
from jpo.records import Identity, Note, codes_of

URL = "https://prometheus:9090"
Settings = Callable[..., LoadedSettings]


@pytest.fixture
def prometheus(tmp_path: Path) -> Settings:
    """`prometheus("insecure = true", **environment) -> Loaded`: settings of a jpo.toml with these lines under [prometheus]."""

    def loaded(lines: str = "", **environment: str) -> LoadedSettings:
        (tmp_path / "jpo.toml").write_text(f"[prometheus]\n{lines}\n")
        return load(None, tmp_path / "jpo.toml", {"PROMETHEUS_URL": URL, **environment}, {})

    for name in ("ca.pem", "own.pem", "own-key.pem"):
        (tmp_path / name).touch()
    return loaded


def test_certificates_are_found_next_to_jpo_toml(prometheus: Settings, tmp_path: Path) -> None:
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


def test_a_token_may_have_any_letters(prometheus: Settings, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("pässwörd\n", encoding="utf-8")
    source = prometheus_of(prometheus('auth = { type = "basic", username = "me", password_file = "password" }'))
    assert source.credentials == ("me", "pässwörd")


@pytest.mark.parametrize(
    ("file", "says"), [("own.pem", "token_file is empty"), ("none", "cannot be read"), ("a\\u0000b", "cannot be read")]
)
def test_a_token_that_is_not_there_is_a_mistake_of_usage(prometheus: Settings, file: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        prometheus_of(prometheus(f'auth = {{ type = "bearer", token_file = "{file}" }}'))
    assert caught.value.code == "JPO-E303"


def test_headers_and_passwords_come_from_the_environment(prometheus: Settings) -> None:
    environment = {"JPO_PROMETHEUS__AUTH__PASSWORD": "secret", "JPO_PROMETHEUS__HEADERS__X-Scope-OrgID": "team-7"}
    source = prometheus_of(prometheus('auth = { type = "basic", username = "me" }', **environment))
    assert (source.credentials, source.headers) == (("me", "secret"), {"x-scope-orgid": "team-7"})


def test_sigv4_signs_for_its_region(prometheus: Settings) -> None:
    assert prometheus_of(prometheus('auth = { type = "sigv4", region = "eu-central-1" }')).sigv4_region == "eu-central-1"
    assert prometheus_of(prometheus('auth = { region = "eu-central-1" }')).sigv4_region is None


def test_insecure_trusts_any_server_and_every_report_that_asked_one_says_so(prometheus: Settings) -> None:
    insecure = prometheus("insecure = true")
    assert caveats(prometheus_of(insecure), insecure) == (Note("JPO-W114", UNVERIFIED),)
    assert caveats(prometheus_of(prometheus()), prometheus()) == caveats(None, prometheus()) == ()


def test_insecure_together_with_an_authority_to_trust_is_a_contradiction(prometheus: Settings) -> None:
    with pytest.raises(UsageError, match="keep one of them"):
        prometheus('insecure = true\nca_file = "ca.pem"')


def test_a_look_that_took_minutes_does_not_put_the_clock_wrong(prometheus: Settings) -> None:
    def reports_a_run(handler: Handler) -> None:
        tells(now(time.time()) if "/query" in handler.path else ["jpo_run_info", "r1"])(handler)

    with served(reports_a_run) as running:
        server, work = Endpoint(running.url), Identity("digits", "cnn", "pytorch")
        found = why_nothing(server, work, prometheus(), now=time.time() - 300, seconds_spent=300)
    assert codes_of(found) == ("JPO-I141",)


def test_the_question_why_keeps_to_the_deadline_of_the_look(prometheus: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_seconds=10)
        began = time.monotonic()
        assert why_nothing(server, Identity("digits", "cnn", "pytorch"), prometheus(), now=began, seconds_spent=10) == ()
    assert time.monotonic() - began < 3


def test_names_of_a_site_replace_the_usual_ones(prometheus: Settings) -> None:
    loaded = prometheus('container = "main"\n[prometheus.metrics]\ngpu_utilisation_percent = "gpu_busy"')
    assert (names_of(loaded).metric("gpu_utilisation_percent"), names_of(loaded).container) == ("gpu_busy", "main")


def test_runs_may_call_a_parameter_as_config_ini_does(prometheus: Settings) -> None:
    loaded = prometheus('\n[parameters]\nlearning_rate = { key = "Optim.Step-Size" }')
    spelt = own_names(loaded).spelt
    assert spelt["learning_rate"][0] == "step_size"
    assert {"lr", "base_lr"} <= {*spelt["learning_rate"]}
    assert "memory_gib" not in spelt


def test_runs_may_report_what_config_ini_calls_it_where_that_can_be_a_label(prometheus: Settings) -> None:
    """A query has these names as they stand: what is none, and what would end it, is left out."""
    loaded = prometheus('[parameters]\nlearning_rate = { key = "t.start-lr" }\ngpus = { key = "r.a)b" }\n')
    spelt = own_names(loaded).spelt
    assert spelt["learning_rate"][0] == "start_lr"
    assert all(word.isidentifier() for words in spelt.values() for word in words)
    assert all(words for words in spelt.values())
