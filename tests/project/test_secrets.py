"""Who may send a secret where: the runner's secrets go to addresses of the runner, never to one that a branch can write."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from jpo.errors import StoreError, UsageError
from jpo.project.load import LoadedSettings, load
from jpo.project.secrets import check_config, check_prometheus, check_store
from jpo.project.sources import caveats, prometheus_of
from jpo.records import codes_of

Settings = Callable[..., LoadedSettings]
TOKEN = {"JPO_PROMETHEUS__AUTH__TOKEN": "s3cret-token", "JPO_PROMETHEUS__AUTH__TYPE": "bearer"}
PASSWORD = {
    "JPO_PROMETHEUS__AUTH__PASSWORD": "s3cret",
    "JPO_PROMETHEUS__AUTH__TYPE": "basic",
    "JPO_PROMETHEUS__AUTH__USERNAME": "jpo",
}
HEADER = {"JPO_PROMETHEUS__HEADERS__X-API-KEY": "s3cret"}
SIGV4 = {"JPO_PROMETHEUS__AUTH__TYPE": "sigv4", "JPO_PROMETHEUS__AUTH__REGION": "eu-central-1"}
ELSEWHERE = 'url = "https://evil.example"'


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """`settings("[prometheus]...", VARIABLE="...")`: those of a jpo.toml in a project, started with these variables."""
    for name in [name for name in os.environ if name.startswith(("PG", "JPO_", "PROMETHEUS_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "project").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "id").write_text("s3cret\n")

    def loaded(toml: str, variables: Mapping[str, str] | None = None, **flags: object) -> LoadedSettings:
        for name, value in (variables or {}).items():
            monkeypatch.setenv(name, value)
        file = tmp_path / "project" / "jpo.toml"
        file.write_text(toml)
        return load(None, file, os.environ, flags)

    return loaded


def refused(check: Callable[[LoadedSettings], object], given: LoadedSettings) -> UsageError:
    with pytest.raises(UsageError) as caught:
        check(given)
    assert "s3cret" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("secret", [TOKEN, PASSWORD, HEADER, SIGV4], ids=["token", "password", "header", "sigv4"])
def test_a_secret_of_the_environment_goes_to_no_address_of_the_branch(settings: Settings, secret: Mapping[str, str]) -> None:
    error = refused(prometheus_of, settings(f"[prometheus]\n{ELSEWHERE}\n", secret))
    assert (error.code, error.place.endswith("jpo.toml")) == ("JPO-E321", True)
    assert error.remedy.endswith("where the secret is set, or allow this address there: JPO_SECRETS_TO=https://evil.example")


@pytest.mark.parametrize("secret", [TOKEN, PASSWORD, HEADER, SIGV4], ids=["token", "password", "header", "sigv4"])
def test_it_goes_to_an_address_of_the_runner(settings: Settings, secret: Mapping[str, str]) -> None:
    trusted = {**secret, "PROMETHEUS_URL": "https://prometheus.example"}
    assert prometheus_of(settings(f"[prometheus]\n{ELSEWHERE}\n", trusted)).shown_url == "https://prometheus.example"


def test_the_command_line_is_the_runners_word_too(settings: Settings) -> None:
    check_prometheus(settings(f"[prometheus]\n{ELSEWHERE}\n", TOKEN, prometheus={"url": "https://prometheus.example"}))


@pytest.mark.parametrize(
    ("listed", "may"),
    [
        ("https://evil.example", True),
        ("postgresql://db, https://EVIL.example:443/prefix", True),
        ("https://evil.example:8443", False),
        ("http://evil.example", False),
        ("https://evil.example.org https://example", False),
    ],
)
def test_an_address_of_the_branch_may_be_allowed_by_scheme_host_and_port(settings: Settings, listed: str, may: bool) -> None:
    given = settings(f"[prometheus]\n{ELSEWHERE}\n", {**TOKEN, "JPO_SECRETS_TO": listed})
    if may:
        check_prometheus(given)
    else:
        assert refused(check_prometheus, given).code == "JPO-E321"


@pytest.mark.parametrize(
    "entry", ["evil.example", "*", "https://", "https://evil.example:port", "https://u:hunter2@evil.example:port"]
)
def test_a_list_with_something_else_than_addresses_is_refused(settings: Settings, entry: str) -> None:
    error = refused(check_prometheus, settings(f"[prometheus]\n{ELSEWHERE}\n", {**TOKEN, "JPO_SECRETS_TO": entry}))
    assert (error.place, error.code) == ("JPO_SECRETS_TO", "JPO-E321")
    assert "hunter2" not in str(error)


def test_a_branch_may_not_switch_off_the_look_at_the_certificate_for_a_secret_of_the_runner(settings: Settings) -> None:
    trusted = {**TOKEN, "PROMETHEUS_URL": "https://prometheus.example"}
    toml = "[prometheus]\ninsecure = true\n"
    assert "JPO_PROMETHEUS__INSECURE" in refused(check_prometheus, settings(toml, trusted)).remedy
    check_prometheus(settings(toml, {**trusted, "JPO_PROMETHEUS__INSECURE": "true"}))


@pytest.mark.parametrize("folder", ["environment JPO_STORE__URL", "command line", "environment PROMETHEUS_URL"])
def test_a_folder_of_the_branch_is_not_taken_for_the_runner(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    settings("", TOKEN)
    monkeypatch.chdir(tmp_path)
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "jpo.toml").write_text(f"[prometheus]\n{ELSEWHERE}\n")
    assert refused(check_prometheus, load(Path(folder) / "config.ini", None, os.environ, {})).code == "JPO-E321"


# --- files ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        'auth = { type = "bearer", token_file = "FILE" }',
        'auth = { type = "basic", username = "u", password_file = "FILE" }',
        'ca_file = "FILE"',
        'cert_file = "FILE"',
        'cert_file = "own.pem"\nkey_file = "FILE"',
    ],
)
@pytest.mark.parametrize("file", ["../home/id", "HOME/id", "link", "folder/id", ".git/config"])
def test_a_branch_names_no_file_outside_of_the_project(settings: Settings, tmp_path: Path, lines: str, file: str) -> None:
    project = tmp_path / "project"
    (project / "link").symlink_to("../home/id")
    (project / "folder").symlink_to("../home")
    (project / ".git").mkdir()
    (project / ".git/config").write_text("s3cret\n")
    (project / "own.pem").touch()
    named = file.replace("HOME", str(tmp_path / "home"))
    error = refused(prometheus_of, settings(f"[prometheus]\n{ELSEWHERE}\n{lines.replace('FILE', named)}\n"))
    assert (error.code, "JPO_PROMETHEUS__" in error.remedy) == ("JPO-E322", True)


def test_a_file_that_the_runner_names_is_a_secret_of_the_runner(settings: Settings, tmp_path: Path) -> None:
    file = {"JPO_PROMETHEUS__AUTH__TYPE": "bearer", "JPO_PROMETHEUS__AUTH__TOKEN_FILE": str(tmp_path / "home/id")}
    assert refused(check_prometheus, settings(f"[prometheus]\n{ELSEWHERE}\n", file)).code == "JPO-E321"
    assert prometheus_of(settings("", {**file, "PROMETHEUS_URL": "https://p.example"})).bearer_token == "s3cret"


def test_a_file_of_the_project_goes_where_the_project_says(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "project/token").write_text("the-projects-own\n")
    given = settings(f'[prometheus]\n{ELSEWHERE}\nauth = {{ type = "bearer", token_file = "token" }}\n')
    assert prometheus_of(given).bearer_token == "the-projects-own"


@pytest.mark.parametrize("config", ["../home/config.ini", "/etc/hosts", "link"])
def test_a_branch_names_no_config_ini_outside_of_the_project(settings: Settings, tmp_path: Path, config: str) -> None:
    (tmp_path / "project/link").symlink_to("../home/id")
    toml = f'[workload]\nconfig = "{config}"\n'
    assert refused(check_config, settings(toml)).code == "JPO-E322"
    check_config(settings(toml, {"JPO_WORKLOAD__CONFIG": config}))


@pytest.mark.parametrize("url", ["sqlite:///HOME/new/jpo.db", "sqlite:///../home/jpo.db", "sqlite:///link/jpo.db", ""])
def test_a_branch_names_no_store_outside_of_the_project(settings: Settings, tmp_path: Path, url: str) -> None:
    """Not in jpo.toml, and not by a link that it commits, not even in the usual place."""
    for link in ("link", ".jpo"):
        (tmp_path / "project" / link).symlink_to("../home")
    named = url.replace("HOME", str(tmp_path / "home"))
    refusal = refused(check_store, settings(f'[store]\nurl = "{named}"\n' if named else ""))
    assert (refusal.code, "JPO_STORE__URL" in refusal.remedy) == ("JPO-E322", True)
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["id"]
    check_store(settings("", {"JPO_STORE__URL": named or "sqlite:///.jpo/jpo.db"}))
    check_store(settings('[store]\nurl = "sqlite:///new/jpo.db"\n'))


# --- without encryption -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url", ["http://prometheus:9090", "http://10.0.0.7", "http://user:s3cret@prometheus", "http://127.example"]
)
def test_no_secret_travels_unencrypted_unless_it_is_allowed_and_then_every_report_says_so(settings: Settings, url: str) -> None:
    variables = {"PROMETHEUS_URL": url, **({} if "@" in url else TOKEN)}
    error = refused(check_prometheus, settings("", variables))
    allowed = error.remedy.rpartition("JPO_SECRETS_TO=")[2]
    assert (error.code, "@" in allowed) == ("JPO-E323", False)
    given = settings("", {**variables, "JPO_SECRETS_TO": allowed})
    assert codes_of(caveats(prometheus_of(given), given)) == ("JPO-W323",)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9090", "http://[::1]:9090", "http://localhost", "https://prometheus:9090"])
def test_loopback_and_https_need_no_word(settings: Settings, url: str) -> None:
    given = settings("", {**TOKEN, "PROMETHEUS_URL": url})
    assert caveats(prometheus_of(given), given) == ()


def test_a_secret_of_the_project_travels_no_more_openly(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "project/token").write_text("the-projects-own\n")
    toml = '[prometheus]\nurl = "http://prometheus:9090"\nauth = { type = "bearer", token_file = "token" }\n'
    assert refused(check_prometheus, settings(toml)).code == "JPO-E323"


def test_without_a_secret_anything_may_be_asked(settings: Settings) -> None:
    check_prometheus(settings('[prometheus]\nurl = "http://prometheus:9090"\nheaders = { X-Scope-OrgID = "team-7" }\n'))


# --- the store --------------------------------------------------------------------------------------------------------------

EVIL_STORE = '[store]\nurl = "postgresql://jpo@evil.example/jpo"\n'


@pytest.mark.parametrize("variable", ["PGPASSWORD", "PGSERVICE", "PGSSLKEY"])
@pytest.mark.parametrize(
    "url",
    [
        "postgresql://jpo@evil.example/jpo",
        "postgres://evil.example:5432/jpo",
        "postgresql:///jpo?host=evil.example",
        "postgresql://db.example/jpo?hostaddr=192.0.2.1",
        "postgresql://db.example,evil.example/jpo",
        "postgresql:///jpo#?host=evil.example",  # libpq knows no fragments
        "postgresql://db.example/jpo#?hostaddr=192.0.2.1",
        "postgresql:///jpo?host=db.example&port=6666",
        "postgresql://db.example,evil.example/jpo?hostaddr=,192.0.2.1",
        "postgresql://[2001:db8::1]/jpo",
        "postgresql:///jpo?host=/tmp/evil",
    ],
)
def test_libpqs_secrets_go_to_no_host_of_the_branch(settings: Settings, variable: str, url: str) -> None:
    given = settings(f'[store]\nurl = "{url}"\n', {variable: "s3cret", "JPO_SECRETS_TO": "postgresql://db.example"})
    error = refused(check_store, given)
    assert (error.code, variable in error.finding, "JPO_STORE__URL" in error.remedy) == ("JPO-E321", True, True)


def test_they_go_to_a_host_of_the_runner_or_one_that_it_allows(settings: Settings) -> None:
    check_store(settings(EVIL_STORE, {"PGPASSWORD": "s3cret", "JPO_SECRETS_TO": "postgresql://evil.example"}))
    check_store(settings(EVIL_STORE, {"JPO_SECRETS_TO": "", "JPO_STORE__URL": "postgresql://db.example/jpo"}))
    check_store(settings('[store]\nurl = "postgresql:///jpo"\n', {"PGHOST": "db.example"}))


def test_a_password_file_is_for_the_hosts_that_it_names(settings: Settings, tmp_path: Path) -> None:
    passfile = tmp_path / "home/.pgpass"
    passfile.write_text("db.example:*:*:jpo:s3cret\n")
    check_store(settings(EVIL_STORE))
    passfile.write_text("db.example:*:*:jpo:s3cret\n*:*:*:jpo:s3cret\n")
    assert "password for every host" in refused(check_store, settings(EVIL_STORE)).finding
    assert refused(check_store, settings(EVIL_STORE, {"HOME": "/", "PGPASSFILE": str(passfile)})).code == "JPO-E321"


def test_a_password_for_one_host_is_not_sent_to_another_address_by_its_name(settings: Settings, tmp_path: Path) -> None:
    store = '[store]\nurl = "postgresql://jpo@db.example/jpo?hostaddr=192.0.2.1"\n'
    check_store(settings(store))
    passfile = tmp_path / "home/.pgpass"
    passfile.write_text("db.example:*:*:jpo:s3cret\n")
    error = refused(check_store, settings(store))
    assert (error.code, error.remedy.endswith("JPO_SECRETS_TO=postgresql://192.0.2.1")) == ("JPO-E321", True)
    check_store(settings(store, {"JPO_SECRETS_TO": "postgresql://192.0.2.1:5432"}))


@pytest.mark.parametrize("option", ["passfile", "sslkey", "sslcert", "sslrootcert", "servicefile"])
def test_no_option_of_the_url_names_a_file_outside_of_the_project(settings: Settings, option: str) -> None:
    codes = ["JPO-E322", *(["JPO-E509"] if option == "servicefile" else [])]  # which libpq has from 18 on
    for mark in ("?", "#?"):
        url = f"postgresql://evil.example/jpo{mark}{option}=/home/user/file"
        assert refused(check_store, settings(f'[store]\nurl = "{url}"\n')).code in codes


def test_a_service_of_this_machine_keeps_its_own_host(settings: Settings) -> None:
    check_store(settings('[store]\nurl = "postgresql:///?service=history"\n'))
    assert refused(check_store, settings('[store]\nurl = "postgresql://evil.example/?service=history"\n')).code == "JPO-E321"


def test_an_sqlite_store_knows_no_secrets(settings: Settings) -> None:
    check_store(settings("", {"PGPASSWORD": "s3cret"}))


@pytest.mark.parametrize("variable", ["PGPASSFILE", "PGSERVICEFILE", "PGSSLKEY"])
def test_a_file_of_libpq_that_is_a_pipe_is_refused_before_all_of_python_waits_for_its_writer(
    settings: Settings, tmp_path: Path, variable: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    given = settings("", {"JPO_STORE__URL": "postgresql://127.0.0.1:1/jpo", variable: str(tmp_path / "pipe")})
    with pytest.raises(StoreError, match="is not a regular file") as caught:
        check_store(given)
    assert (caught.value.code, variable in caught.value.remedy) == ("JPO-E513", True)


@pytest.mark.parametrize("name", ["a%0A::error::b", "%23%23vso[x]", "%1b[2J"])
def test_libpq_gets_no_file_whose_name_would_command_the_ci_where_it_warns_of_its_mode(settings: Settings, name: str) -> None:
    with pytest.raises(StoreError, match="does not print"):
        check_store(settings(f'[store]\nurl = "postgresql://127.0.0.1:1/jpo?passfile={name}"\n'))


def test_a_user_without_a_home_or_with_a_closed_one_has_no_files_of_libpq(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = settings("", {"JPO_STORE__URL": "postgresql://127.0.0.1:1/jpo"})

    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    def closed(_: Path) -> bool:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr(Path, "home", unknown)
        check_store(given)
    monkeypatch.setattr(Path, "exists", closed)
    check_store(given)
