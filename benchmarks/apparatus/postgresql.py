"""A PostgreSQL server from Debian's package, while it is needed: on a Unix socket in a folder of its own, without a password.

For benchmarks/shared_store.py and for the tests of the store.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

BINARIES = Path("/usr/lib/postgresql")
UNPRIVILEGED = "nobody"
"""The user that runs the server when we are root, because PostgreSQL refuses to."""

PASSWORD = "rehearsal"  # noqa: S105
"""Of a server that is gone after its benchmark."""


class Server:
    """A running server; `url(database)` names a database on it for the role jpo, who may do everything."""

    def __init__(self, folder: Path, options: str) -> None:
        self._folder, self._options, self._numbers = folder, options, count(1)
        self.address = folder

    address: Path | tuple[str, int]
    """Where it listens: the folder of its socket, or host and port."""
    parameters = "sslmode=disable"
    """How a client connects there."""

    def url(self, database: str) -> str:
        return f"postgresql://jpo@/{database}?host={self._folder}"

    def new_database(self) -> str:
        """The URL of a new, empty database."""
        name = f"d{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name}", "postgres")
        return self.url(name)

    def sql(self, statement: str, database: str, role: str = "jpo") -> str:
        """The output of psql for a statement."""
        command = [
            _binary("psql"),
            "-XAtq",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            self._folder,
            "-U",
            role,
            "-d",
            database,
            "-c",
            statement,
        ]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def start(self) -> None:
        self._pg_ctl("start", "-l", str(self._folder / "log"), "-o", f"-k {self._folder} -c listen_addresses='' {self._options}")

    def restart_listening(self) -> None:
        """Start anew, at the address that its settings name."""
        self.stop()
        self._pg_ctl("start", "-l", str(self._folder / "log"), "-o", f"-k {self._folder} {self._options}")

    def stop(self, mode: str = "fast") -> None:
        """`immediate` is a crash: nothing is written any more, and the next start recovers from the log."""
        self._pg_ctl("stop", "-m", mode)

    def _pg_ctl(self, verb: str, *arguments: str) -> None:
        run_unprivileged([_binary("pg_ctl"), verb, "-s", "-w", "-D", str(self._folder / "data"), *arguments])


def missing() -> str | None:
    """The Debian package to install, None if it is there."""
    return None if (BINARIES.is_dir() and any(BINARIES.glob("*/bin/initdb"))) or shutil.which("initdb") else "postgresql"


@contextmanager
def server(options: str = "") -> Iterator[Server]:
    """A server with some options of `postgres`, removed at the end with its data."""
    with tempfile.TemporaryDirectory(prefix="jpo-pg-") as name:  # not in pytest's folder, which only its owner may enter
        folder = Path(name)
        if os.geteuid() == 0:
            os.chown(folder, pwd.getpwnam(UNPRIVILEGED).pw_uid, -1)
        folder.chmod(0o755)
        initdb = [_binary("initdb"), "-D", str(folder / "data"), "-U", "jpo", "-A", "trust", "-E", "UTF8", "--no-sync"]
        run_unprivileged([*initdb, "--no-instructions", "--locale=C.UTF-8"])
        running = Server(folder, options)
        running.start()
        try:
            yield running
        finally:
            running.stop("immediate")


@contextmanager
def with_login(options: str = "") -> Iterator[Server]:
    """A server that also listens on loopback, where it asks for TLS and a password. Needs openssl."""
    host = f"127.{os.getpid() % 250 + 1}.{os.getpid() // 250 % 250}.1"  # its own: every server's port is 5432
    with tempfile.TemporaryDirectory(prefix="jpo-tls-") as name, server(options) as running:
        folder = Path(name)
        folder.chmod(0o777)
        key, certificate, access = folder / "key", folder / "certificate", folder / "access"
        subject = ["-subj", "/CN=localhost", "-days", "1", "-keyout", str(key), "-out", str(certificate)]
        run_unprivileged(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject])
        access.write_text("local all all trust\nhostssl all all all scram-sha-256\n", encoding="utf-8")
        running.sql(f"ALTER ROLE jpo PASSWORD '{PASSWORD}'", "postgres")
        settings = {"ssl_cert_file": certificate, "ssl_key_file": key, "hba_file": access, "listen_addresses": host, "ssl": "on"}
        for setting, value in settings.items():
            running.sql(f"ALTER SYSTEM SET {setting} = '{value}'", "postgres")
        running.restart_listening()
        running.address, running.parameters = (host, 5432), f"sslmode=require&password={PASSWORD}"
        yield running


def run_unprivileged(command: list[str]) -> None:
    """Run a command as a user who is not root; its output is shown if it fails."""
    account = pwd.getpwnam(UNPRIVILEGED) if os.geteuid() == 0 else None
    identity = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False, **identity)  # type: ignore[call-overload]
        output.seek(0)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {output.read().decode(errors='replace')[-2000:]}")


def _binary(name: str) -> str:
    """Its path; Debian keeps the server's programs out of PATH."""
    newest = sorted(BINARIES.glob(f"*/bin/{name}"), key=lambda path: float(path.parts[-3]))
    return str(newest[-1]) if newest else name
