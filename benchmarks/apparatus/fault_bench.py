"""A place where a command can be begun again and again from the same state, on SQLite and on PostgreSQL.

For benchmarks/faults.py and freezes.py; what each command begins from and must leave is in fault_commands.py.
"""

from __future__ import annotations

import io
import os
import runpy
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from apparatus.faults import NOT_OURS, Held

ROOT = Path(__file__).parents[2]
POSTGRESQL = runpy.run_path(str(ROOT / "benchmarks" / "apparatus" / "postgresql.py"))
STORES = ("SQLite", "PostgreSQL")
SETTINGS = ("JPO_STORE__URL", "JPO_STORE__TIMEOUT", "JPO_STORE__KEEP_RUNS", "JPO_STORE__KEEP_SERIES")
"""In the environment while there is a bench."""


@dataclass
class Bench:
    """A project that is put back to where a command begins.

    Attributes:
        folder: the project; `prepared`: a copy of it as it is before the command.
        closing: what ends with the bench.
        begin: what cannot be copied: done anew each time.
    """

    folder: Path
    prepared: Path
    server: object | None
    closing: ExitStack
    begin: Callable[[Bench], object] = lambda _: None
    databases: list[str] = field(default_factory=list)

    def renew(self) -> None:
        """The project and its store as they were; no run goes on any more."""
        end_runs(self.folder / ".jpo" / "launches")
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.prepared, self.folder)
        if self.server is not None:
            self._copy_database("prepared", "jpo_now")
            os.environ["JPO_STORE__URL"] = self.server.url("jpo_now")  # type: ignore[attr-defined]
        self.begin(self)

    def keep(self) -> None:
        """Make what is there now the state to begin from."""
        shutil.rmtree(self.prepared, ignore_errors=True)
        shutil.copytree(self.folder, self.prepared)
        if self.server is not None:
            self._copy_database("jpo_now", "prepared")

    def empty_store(self) -> None:
        """No store any more."""
        shutil.rmtree(self.folder / ".jpo", ignore_errors=True)
        if self.server is not None:
            self.server.sql("DROP SCHEMA IF EXISTS jpo CASCADE", "jpo_now")  # type: ignore[attr-defined]

    def _copy_database(self, source: str, target: str) -> None:
        for statement in (f"DROP DATABASE IF EXISTS {target} WITH (FORCE)", f"CREATE DATABASE {target} TEMPLATE {source}"):
            self.server.sql(statement, "postgres")  # type: ignore[union-attr, attr-defined]

    @property
    def config(self) -> bytes:
        return (self.folder / "config.ini").read_bytes()

    @property
    def store_url(self) -> str:
        return os.environ.get("JPO_STORE__URL", f"sqlite:///{self.folder}/.jpo/jpo.db")

    def set(self, **variables: str) -> None:
        """Set variables of the environment for as long as there is this bench."""
        for name, value in variables.items():
            self.closing.callback(os.environ.pop, name, None)
            os.environ[name] = value

    def jpo(self, *arguments: str) -> tuple[int, str]:
        """Run a command in this process; its exit code, and all that it said."""
        from jpo.__main__ import run

        with chdir(self.folder), redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
            return run([*arguments]), said.getvalue()


def end_runs(ledger: Path) -> None:
    """End what was launched, the supervisors first, which would write into the folder of the next run."""
    from jpo.plugins.launch.engines.local.processes import kill_marked, send_if_born
    from jpo.plugins.launch.engines.local.state_file import read_state

    for folder in ledger.glob("[!.]*"):
        if (state := read_state(folder)) is not None:
            if state.supervisor is not None and state.born is not None:
                send_if_born(state.supervisor, state.born, signal.SIGKILL)
            kill_marked(state.token)


def nothing(_: Bench) -> None:
    """What most commands need besides."""


@dataclass(frozen=True)
class Command:
    """A command that writes, and what it promises.

    Attributes:
        words: its command line; `following`: that of the command which must work afterwards; empty: the same again.
        prepare: what there is before it, once; `begin`: each time, which cannot be copied.
        facts: what it changes, by name: each is as before or as after the undisturbed command; new after exit code 0.
        undone: of `facts`, those that are as before after every other exit code.
        promise: what is wrong besides, given how the command ended, and whether it is the one that follows.
        codes: how it may end; `following_codes`: and the command after it.
        processes: whose system calls fail, one after the other.
        not_ours: files of the project that it does not promise anything about.
        has_store: whether there is an audit log to verify.
    """

    words: tuple[str, ...]
    prepare: Callable[[Bench], object] = nothing
    begin: Callable[[Bench], object] = nothing
    facts: Callable[[Bench], Mapping[str, object]] = lambda place: {"config.ini": place.config}
    undone: Sequence[str] = ()
    promise: Callable[[Bench, int | None, bool], Sequence[str]] = lambda *_: ()
    codes: Sequence[int] = (0, 2, 3, 5, 6, -9)
    following: tuple[str, ...] = ()
    following_codes: Sequence[int] = (0,)
    processes: Sequence[Held] = ("jpo",)
    not_ours: str = NOT_OURS
    has_store: bool = True


def stores() -> tuple[str, ...]:
    return STORES if POSTGRESQL["missing"]() is None else STORES[:1]


@contextmanager
def bench(store: str, command: Command, *, login: bool = False) -> Iterator[Bench]:
    """The quickstart's project, in the state before this command, with all that it imports imported; `login`: see freezes.py."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        start = POSTGRESQL["with_login" if login else "server"]
        server = stack.enter_context(start("-c fsync=off")) if store == "PostgreSQL" else None
        for name in SETTINGS:
            os.environ.pop(name, None)
            stack.callback(os.environ.pop, name, None)
        shutil.copytree(ROOT / "examples" / "quickstart", folder / "project")
        place = Bench(folder / "project", folder / "prepared", server, stack)
        if server is not None:
            server.sql("CREATE DATABASE jpo_now", "postgres")
            os.environ["JPO_STORE__URL"] = server.url("jpo_now")
            os.environ["JPO_STORE__TIMEOUT"] = "4s"  # a message that the kernel did not take is never answered
        command.prepare(place)
        place.keep()
        place.begin = command.begin
        place.renew()
        place.jpo(*command.words)  # what it imports is imported before the first fork
        place.renew()
        stack.callback(end_runs, place.folder / ".jpo" / "launches")
        yield place
