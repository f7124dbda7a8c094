"""Services that tests of several parts need: real servers from the distribution, on loopback, gone after the session.

pytest-xdist runs the tests in several worker processes. What is expensive to start and only read, or cut into databases of one
test each, is started once by the worker that needs it first; the others are given its address.
"""

from __future__ import annotations

import fcntl
import gc
import importlib.util
import os
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from importlib.machinery import PathFinder
from itertools import count
from pathlib import Path
from typing import Any, cast

import hypothesis
import pytest
from mlflow_runs import server_command
from parts import PARTS, WithoutTorch, belongs, longest_first, may_hold, refused
from slurm_cluster import PACKAGES, PROGRAMS, SBIN, Cluster, cluster_in

from jpo.wording import hidden

StartPrometheus = Callable[..., str]
StartPython = Callable[..., subprocess.Popen[str]]
StartVictoria = Callable[[Path], str]
StartPostgres = Callable[..., AbstractContextManager[Any]]
os.environ.pop("COLUMNS", None)  # as in a pipe: pytest-xdist sets it in its workers
for variable in ("GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL"):
    os.environ.pop(variable, None)  # JPO tries nothing new in pipelines of other branches, and these tests may run in one
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a script's `make test &`: nothing that tests start could be interrupted
    signal.signal(signal.SIGINT, signal.default_int_handler)
hypothesis.settings.register_profile("jpo", deadline=None)  # a busy machine is no failure
hypothesis.settings.load_profile("jpo")
REPOSITORY = Path(__file__).parents[1]
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
"""Name of this process among the workers of pytest-xdist, e.g. "gw0"; empty where there is only one process."""
POSTGRESQL = REPOSITORY / "benchmarks" / "apparatus" / "postgresql.py"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", choices=PARTS, help="some of the tests (parts.py says which)")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("part") == "quick":
        sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutTorch


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    part = config.getoption("part")
    return True if part and collection_path.suffix == ".py" and not may_hold(part, collection_path) else None


@pytest.fixture(autouse=True)
def no_secrets_of_other_tests() -> None:
    """Commands run one in a process; here many do."""
    hidden._sent.clear()


def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> None:
    if refused(request.config.getoption("part"), fixturedef.argname):
        fixturedef.func = lambda **_: pytest.skip("needs a service")  # raised here, it would leave a module's fixture half set up


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if part := config.getoption("part"):
        others = [item for item in items if not belongs(part, item)]
        items[:] = [item for item in items if belongs(part, item)]
        config.hook.pytest_deselected(items=others)
    assert not (gone := longest_first(items)), f"LONGEST in tests/parts.py names {gone}"
    gc.set_threshold(50_000, 20, 20)  # what is imported stays to the end: looked through less often


class Shared:
    """Servers that all workers use: each is started by the first that asks for it, and stopped when no worker needs any."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._users = (folder / "users").open("w")
        fcntl.flock(self._users, fcntl.LOCK_SH)

    def __call__(self, name: str, start: Callable[[], str]) -> str:
        """The address that `start` returned where it was called, in this process or in another one."""
        address = self._folder / name
        with (self._folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not address.exists():
                address.write_text(start(), encoding="utf-8")
            return address.read_text(encoding="utf-8")

    def leave(self) -> None:
        """Wait until the other workers need no server any more, so that what this one started can be stopped."""
        fcntl.flock(self._users, fcntl.LOCK_EX)
        for lock in self._folder.glob("*.lock"):  # a worker that begins after this starts servers of its own
            lock.with_suffix("").unlink(missing_ok=True)
        fcntl.flock(self._users, fcntl.LOCK_UN)

    def close(self) -> None:
        self._users.close()


@pytest.fixture(scope="session", autouse=True)
def no_power_cut() -> Iterator[None]:
    """What this process writes need not be on disk before it goes on. What it starts waits for the disk as ever."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jpo.history.sqlite.ON_DISK", "PRAGMA synchronous = OFF")
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """`shared(name, start) -> address`: of one server for all workers. Who starts servers calls `leave` before it stops them."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if WORKER else own) / "shared"
    folder.mkdir(exist_ok=True)
    servers = Shared(folder)
    yield servers
    servers.close()


@pytest.fixture(scope="session")
def start_prometheus(shared: Shared) -> Iterator[StartPrometheus]:
    """`start_prometheus(folder, config="global: {}") -> url`: a server over folder/data, stopped at the end of the session."""
    _need("prometheus", "promtool", package="prometheus")
    with ExitStack() as servers:
        yield lambda folder, config="global: {}": servers.enter_context(_prometheus(folder, config))
        shared.leave()


@pytest.fixture(scope="session")
def start_victoria(shared: Shared) -> Iterator[StartVictoria]:
    """`start_victoria(folder) -> url`: an empty VictoriaMetrics in folder/data, stopped at the end of the session."""
    _need("victoria-metrics", package="victoria-metrics")
    with ExitStack() as servers:
        yield lambda folder: servers.enter_context(_served(folder, _victoria, "/health"))
        shared.leave()


@pytest.fixture(scope="session")
def start_postgres() -> StartPostgres:
    """`start_postgres(options="")`: a PostgreSQL (benchmarks/apparatus/postgresql.py) that runs as long as the context."""
    pytest.importorskip("psycopg", reason='pip install "jpo[postgres]"')
    postgresql = runpy.run_path(str(POSTGRESQL))
    if package := postgresql["missing"]():
        _missing("PostgreSQL", package)
    return cast(StartPostgres, postgresql["server"])


@dataclass(frozen=True)
class Databases:
    """A PostgreSQL whose databases this worker numbers by itself: no test sees another one's."""

    server: Any
    numbers: Iterator[int]

    def new_database(self) -> str:
        """The URL of a new, empty database."""
        name = f"d{WORKER}_{next(self.numbers)}"
        self.sql(f"CREATE DATABASE {name}", "postgres")
        return self.url(name)

    def url(self, database: str) -> str:
        return str(self.server.url(database))

    def sql(self, statement: str, database: str) -> str:
        """What psql prints for a statement."""
        return str(self.server.sql(statement, database))


@pytest.fixture(scope="session")
def postgres(start_postgres: StartPostgres, shared: Shared) -> Iterator[Databases]:
    """One for all workers, which need not survive a power cut; its `new_database()` is the URL of an empty store."""
    options = "-c fsync=off -c log_min_messages=fatal -c max_connections=400"
    with ExitStack() as servers:
        folder = shared("postgresql", lambda: servers.enter_context(start_postgres(options)).url("").partition("host=")[2])
        server = runpy.run_path(str(POSTGRESQL))["Server"](Path(folder), options)
        yield Databases(server, count(1))
        shared.leave()


@pytest.fixture(scope="session")
def slurm_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A SLURM cluster of two nodes (slurm_cluster.py), one for each worker that asks."""
    _need(*PROGRAMS, package=PACKAGES)
    with cluster_in(tmp_path_factory.mktemp("slurm")) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def chromium() -> str:
    """Debian's browser, for playwright to drive."""
    _need("chromium", package="chromium")
    return str(shutil.which("chromium"))


@pytest.fixture(scope="session")
def setfacl() -> str:
    """Debian's program that sets an ACL; next to it is getfacl."""
    _need("setfacl", "getfacl", package="acl")
    return "setfacl"


@pytest.fixture(scope="session")
def shellcheck() -> str:
    """Debian's reader of shell scripts."""
    _need("shellcheck", package="shellcheck")
    return "shellcheck"


@pytest.fixture(scope="session")
def zsh_and_fish() -> None:
    """Shells next to bash, which is there."""
    _need("zsh", package="zsh")
    _need("fish", package="fish")


@pytest.fixture(scope="session")
def gitlab_ci_local() -> str:
    """An interpreter of .gitlab-ci.yml, which copies files by rsync."""
    _need("rsync", package="rsync")
    return _of_npm(".bin/gitlab-ci-local")


@pytest.fixture(scope="session")
def kubectl() -> str:
    """kubectl, of any version since Debian's 1.20."""
    _need("kubectl", package="kubernetes-client")
    return "kubectl"


@pytest.fixture(scope="session")
def github_language() -> str:
    """The folder of GitHub's own language services, which node runs."""
    return _of_npm("@actions")


def _of_npm(name: str) -> str:
    found = Path(sys.prefix) / "npm" / "node_modules" / name
    if not found.exists():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"npm's {name} not found: make test installs it")
    return str(found)


def _need(*programs: str, package: str) -> None:
    missing = [name for name in programs if shutil.which(name, path=f"{os.environ['PATH']}:{SBIN}") is None]
    if missing:
        _missing(" and ".join(missing), package)


@pytest.fixture(scope="session")
def mlflow_server(shared: Shared, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an MLflow server, stopped at the end of the session; its tests have experiments of their own."""
    if importlib.util.find_spec("mlflow") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("mlflow not found: make test installs it")
    with ExitStack() as servers:
        folder = tmp_path_factory.mktemp("mlflow")
        yield shared("mlflow", lambda: servers.enter_context(_served(folder, server_command, "/health")))
        shared.leave()


def _missing(what: str, package: str) -> None:
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{what} not found: apt-get install {package}")


@contextmanager
def _prometheus(folder: Path, config: str) -> Iterator[str]:
    (folder / "prometheus.yml").write_text(config, encoding="utf-8")
    with _served(folder, _command, "/-/ready") as url:
        yield url


@contextmanager
def _served(folder: Path, command: Callable[[Path, str], list[str]], path: str, seconds: float = 600) -> Iterator[str]:
    """The address of a server that runs as long as the context; `path` of it answers when it is ready."""
    with (folder / "server.log").open("wb") as log:
        for _ in range(5):  # another process may take the free port first
            url = f"http://127.0.0.1:{_free_port()}"
            process = subprocess.Popen(command(folder, url), stdout=log, stderr=log)
            try:
                if _ready(url + path, process, seconds):
                    yield url
                    return
            finally:
                process.terminate()
                process.wait(timeout=120)
    pytest.fail("the server did not start: " + (folder / "server.log").read_text(encoding="utf-8")[-2000:])


def _command(folder: Path, url: str) -> list[str]:
    return [
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--storage.tsdb.retention.time=100y",  # the default of 15 days would delete a backfilled history
        f"--web.listen-address={url.removeprefix('http://')}",
        "--log.level=warn",
    ]


def _victoria(folder: Path, url: str) -> list[str]:
    return [
        "victoria-metrics",
        f"-storageDataPath={folder / 'data'}",
        f"-httpListenAddr={url.removeprefix('http://')}",
        "-retentionPeriod=100y",
        "-search.latencyOffset=0s",  # by default the newest 30 s are not shown
        "-search.disableCache",
        "-loggerLevel=ERROR",
    ]


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _ready(url: str, process: subprocess.Popen[bytes], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=1) as answer:  # noqa: S310 (our own address)
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    return False


@pytest.fixture
def start_python() -> Iterator[StartPython]:
    """Starts `python -c program arguments...` from the repository; what still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(program: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", program, *arguments]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=Path(__file__).parents[1], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
