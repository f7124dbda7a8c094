"""Who may send a secret where. Two write settings: who runs JPO (environment, command line), and whoever may change a branch.

jpo.toml belongs to the branch. What the runner alone knows goes to an address that the runner has named, and to no other; files
that jpo.toml names lie in the project, the store too. JPO_SECRETS_TO in the environment lists addresses that may have secrets all
the same: though jpo.toml names them, or though they are spoken to without encryption.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import zip_longest
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from jpo.errors import StoreError, UsageError
from jpo.files.links import project_of
from jpo.project.load import LoadedSettings, without_credentials
from jpo.wording.printable import printable

VARIABLE = "JPO_SECRETS_TO"
NAMED_BY_RUNNER = ("environment", "command line")
OF_THE_RUNNER = ("built in", *NAMED_BY_RUNNER)
"""Sources of settings that no branch can change."""
PORTS = {"http": 80, "https": 443, "postgresql": 5432}
FILES = ("auth.token_file", "auth.password_file", "ca_file", "cert_file", "key_file")
"""Keys of [prometheus] that name files; their content is used, or shown when it is not what it should be."""
FILES_OF_LIBPQ = {
    "passfile": ("PGPASSFILE", ".pgpass"),
    "servicefile": ("PGSERVICEFILE", ".pg_service.conf"),
    "sslcert": ("PGSSLCERT", ".postgresql/postgresql.crt"),
    "sslkey": ("PGSSLKEY", ".postgresql/postgresql.key"),
    "sslrootcert": ("PGSSLROOTCERT", ".postgresql/root.crt"),
    "sslcrl": ("PGSSLCRL", ".postgresql/root.crl"),
    "sslcrldir": ("PGSSLCRLDIR", ""),
}
"""Options of a PostgreSQL URL that name files: the variable of each, and the file that is looked for in the home folder."""
SECRETS_OF_LIBPQ = ("PGPASSWORD", "PGSERVICE", "PGSSLKEY", "PGSSLPASSWORD")
"""Variables by which libpq gets a secret, or the name of one, for any host."""


def set_by_runner(settings: LoadedSettings, key: str) -> bool:
    """Whether a setting is the runner's word; what no file of the branch says either is nobody's, and harmless."""
    return settings.said_by(key) in OF_THE_RUNNER


def check_prometheus(settings: LoadedSettings) -> None:
    """Refuse to read a file or to send a secret that is not for this server to have.

    Raises UsageError: JPO-E321 the address is the branch's and the secret is not; JPO-E322 a file outside of the project;
    JPO-E323 the secret would travel unencrypted.
    """
    table = settings.values.prometheus
    for key in FILES:
        _check_file(settings, f"prometheus.{key}", attrgetter(key)(table))
    ours = [secret.words for secret in secrets_sent(settings) if secret.of_runner]
    url = str(table.url)
    if _server(url) is None:
        return  # nothing can be sent there: Endpoint says why
    if ours and not set_by_runner(settings, "prometheus.url"):
        _check_address(settings, "prometheus.url", url, ours[0], f"set PROMETHEUS_URL={_base(url)}")
    if ours and table.insecure and not set_by_runner(settings, "prometheus.insecure"):
        finding = f"[prometheus] insecure would send {ours[0]} to any server that answers"
        remedy = "set ca_file instead, or JPO_PROMETHEUS__INSECURE=true where the secret is set"
        raise UsageError(str(settings.origins["prometheus.insecure"]), finding, remedy, code="JPO-E321")
    if secret := unencrypted(settings):
        check_encrypted(url, secret)


def check_encrypted(url: str, secret: str) -> None:
    """Refuse (JPO-E323) to send a secret, named in words, over http:// to another machine which the runner has not listed."""
    if travels_openly(url) and not _allowed(url):
        remedy = f"use https://, or allow it in the environment: {VARIABLE}={_base(url)}"
        raise UsageError(_base(url), f"would get {secret} unencrypted", remedy, code="JPO-E323")


def check_store(settings: LoadedSettings) -> None:
    """The same for a store that jpo.toml names: an SQLite file lies in the project, and libpq finds passwords by itself.

    Only who runs JPO may name another file: a branch would make files and folders anywhere, and read another project's history.

    Raises UsageError: as `check_prometheus`; JPO-E509, libpq cannot read the URL. StoreError: JPO-E513, libpq would read what is
    no file.
    """
    if settings.store_file:
        if settings.said_by("store.url") not in NAMED_BY_RUNNER:  # a branch may commit a link in the usual place, too
            _check_inside(settings, "store.url", settings.store_file)
        return
    options: Mapping[str, str] = {}
    with suppress(ImportError):  # without the client nothing can be sent: opening the store says so
        from jpo.history.postgres.session import parameters_of

        # no other reading says where a password goes (postgresql:///a#?host=b)
        options = parameters_of(settings.values.store.url)
    _check_libpqs_files(options, settings.store_place)
    if set_by_runner(settings, "store.url"):
        return
    for name in FILES_OF_LIBPQ:
        if name in options:
            _check_file(settings, "store.url", options[name])
    secrets = ["what its service file contains"] if "service" in options else list(_libpqs_secrets("hostaddr" in options))
    for server in _servers(options) if secrets else ():
        _check_address(settings, "store.url", server, secrets[0], "set JPO_STORE__URL")


def check_mlflow(url: str, secret: str | None) -> None:
    """The same for an MLflow server of the command line, and the secret, in words, that it would get.

    What MLFLOW_TRACKING_URI stands next to is for the server that it names. Raises UsageError: as `check_prometheus`; JPO-E155,
    it is not an address.
    """
    server = _server(url)
    if server is None or server[0] == "postgresql" or "@" in urlsplit(url).netloc.rpartition("@")[0] + urlsplit(url).path:
        raise UsageError("jpo import", "names no address of a server", "write e.g. https://mlflow.example.com", code="JPO-E155")
    if not secret or _allowed(url):
        return
    meant = os.environ.get("MLFLOW_TRACKING_URI", "")
    if _server(meant) not in (None, _server(url)):
        finding = f"would get {secret}, which is for MLFLOW_TRACKING_URI={_base(meant)}"
        raise UsageError(_base(url), finding, f"name that one, or allow this one: {VARIABLE}={_base(url)}", code="JPO-E321")
    check_encrypted(url, secret)


def check_config(settings: LoadedSettings) -> None:
    """Refuse a config.ini outside of the project, if jpo.toml names it."""
    _check_file(settings, "workload.config", settings.values.workload.config)


class SentSecret(NamedTuple):
    """A secret that Prometheus gets, in words."""

    words: str
    of_runner: bool = True  # in the environment, or in a file that it names
    usable: bool = True  # to whoever reads it on the way; a signature or a proof is not


def secrets_sent(settings: LoadedSettings) -> list[SentSecret]:
    """What Prometheus gets that is secret."""
    table, found = settings.values.prometheus, list[SentSecret]()
    auth = table.auth
    name = {"bearer": "token", "basic": "password"}.get(auth.type)
    if name and getattr(auth, name):
        found.append(SentSecret(f"the {name} of JPO_PROMETHEUS__AUTH__{name.upper()}"))
    elif name:
        key = f"{name}_file"
        found.append(SentSecret(f"the {name} in {key} {getattr(auth, key)}", set_by_runner(settings, f"prometheus.auth.{key}")))
    elif auth.type == "sigv4":
        found.append(SentSecret("a signature with this machine's AWS credentials", usable=False))
    if "@" in urlsplit(str(table.url)).netloc:
        found.append(SentSecret("the user and password in its URL", set_by_runner(settings, "prometheus.url")))
    for header in table.headers:
        if set_by_runner(settings, f"prometheus.headers.{header}"):
            found.append(SentSecret(f"the header {header}"))
    if table.cert_file:
        key = "key_file" if table.key_file else "cert_file"
        proof = f"proof of the client certificate {table.cert_file}"
        found.append(SentSecret(proof, set_by_runner(settings, f"prometheus.{key}"), usable=False))
    return found


def unencrypted(settings: LoadedSettings) -> str | None:
    """The secret, in words, that whoever is on the way to Prometheus can read and use; None where there is none."""
    if not travels_openly(str(settings.values.prometheus.url)):
        return None
    return next((secret.words for secret in secrets_sent(settings) if secret.usable), None)


def travels_openly(url: str) -> bool:
    """Whether what is sent to an address can be read by whoever is on the way."""
    from ipaddress import ip_address  # here: only servers without https need it

    parts = urlsplit(url)
    if parts.scheme != "http":
        return False
    host = parts.hostname or ""
    try:
        return not ip_address(host).is_loopback
    except ValueError:
        return host != "localhost" and not host.endswith(".localhost")


def _check_address(settings: LoadedSettings, key: str, url: str, secret: str, instead: str) -> None:
    """Refuse an address of the branch for a secret of the runner, unless the runner allows it."""
    if not _allowed(url):
        table, _, name = key.partition(".")
        finding = f"[{table}] {name} says who gets {secret}, and anyone who may change this file could name another address"
        remedy = f"{instead} where the secret is set, or allow this address there: {VARIABLE}={_base(url)}"
        raise UsageError(str(settings.origins[key]), finding, remedy, code="JPO-E321")


def _check_file(settings: LoadedSettings, key: str, file: str | None) -> None:
    """Refuse a file that the branch names and that is not the project's."""
    if file is None or set_by_runner(settings, key) or "\0" in file:  # which no file can be called: reading it says so
        return
    _check_inside(settings, key, settings.root / file)


def _check_inside(settings: LoadedSettings, key: str, file: Path) -> None:
    """Refuse a file outside of the project, links followed, or Git's own (credentials may be in it)."""
    project, target = project_of(settings.root / "jpo.toml"), Path(os.path.realpath(file))
    if not target.is_relative_to(project) or ".git" in target.relative_to(project).parts:
        table, _, name = key.partition(".")
        finding = f"[{table}] {name} names a file outside of the project {project}"
        variable = f"JPO_{table.upper()}__{name.upper().replace('.', '__')}"
        remedy = f"only who runs JPO may name it: {variable} in the environment, or the command line"
        raise UsageError(str(settings.origins.get(key, file)), finding, remedy, code="JPO-E322")


def _allowed(url: str) -> bool:
    """Whether the runner has listed this server, by scheme, host and port; UsageError JPO-E321: an entry is not an address."""
    listed = [entry for entry in re.split(r"[\s,]+", os.environ.get(VARIABLE, "")) if entry]
    for entry in listed:
        if _server(entry) is None:
            finding = f"{without_credentials(entry)!r:.80} is not an address"
            raise UsageError(VARIABLE, finding, "write e.g. https://prometheus.example.com", code="JPO-E321")
    return _server(url) is not None and _server(url) in map(_server, listed)


def _server(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port; None for what is not an address."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    scheme = "postgresql" if parts.scheme == "postgres" else parts.scheme
    if scheme not in PORTS or not parts.hostname:
        return None
    return scheme, parts.hostname, port or PORTS[scheme]


def _base(url: str) -> str:
    """The address without path and credentials, as one would list it."""
    parts = urlsplit(without_credentials(url))
    return f"{parts.scheme}://{parts.netloc}"


def _check_libpqs_files(options: Mapping[str, str], place: str) -> None:
    """Refuse files for which libpq would let all of Python wait, or of which it would complain by a name that commands a CI.

    It writes to stderr itself, past the gate: WARNING: password file "..." has group or world access.
    """
    for option, (variable, usual) in FILES_OF_LIBPQ.items():
        path = Path(options.get(option) or os.environ.get(variable) or _home() / usual)
        remedy = f"name another one, or unset {variable}"
        if printable(str(path)) != str(path):
            raise StoreError(place, f"{option} {str(path)!r:.200} has a name that does not print", remedy, code="JPO-E513")
        if _is_no_file(path):
            raise StoreError(place, f"{option} {path} is not a regular file", remedy, code="JPO-E513")


def _is_no_file(path: Path) -> bool:
    """Whether it is a pipe, a socket or a device, but for /dev/null, by which people say "none"."""
    try:
        return path.exists() and not (path.is_file() or path.is_dir() or path.samefile(os.devnull))
    except OSError:  # a folder on the way is closed, to libpq too
        return False


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a container's user without a name; libpq finds nothing either
        return Path("/nonexistent")


def _servers(options: Mapping[str, str]) -> Iterator[str]:
    """Addresses that libpq would try, as URLs; none where the runner's environment or this machine says the host."""
    named, numeric, ports = (options.get(key, "").split(",") for key in ("host", "hostaddr", "port"))
    for number, (name, address) in enumerate(zip_longest(named, numeric, fillvalue="")):
        if host := address or name:
            port = ports[number] if len(ports) > number else ports[0]
            yield f"postgresql://{f'[{host}]' if ':' in host else host}" + (f":{port}" if port else "")


def _libpqs_secrets(by_another_name: bool) -> Iterator[str]:
    """What libpq would show to whatever server a URL names.

    `by_another_name`: the URL has a hostaddr. A line of a password file is for the host that it names, but libpq compares that
    with the URL's host, and sends the password to its hostaddr.
    """
    for variable in SECRETS_OF_LIBPQ:
        if os.environ.get(variable):
            yield f"the content of {variable}"
    passfile = Path(os.environ.get("PGPASSFILE") or _home() / ".pgpass")
    try:
        lines = passfile.read_text("utf-8", "replace").splitlines() if passfile.is_file() else []  # libpq takes no pipe either
    except OSError:
        return
    if any(line.startswith("*:") for line in lines):
        yield f"the password for every host in {passfile}"
    elif by_another_name and lines:
        yield f"a password of {passfile}"
