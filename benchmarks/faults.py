"""Every system call by which a command touches config.ini or its store fails once, in turn: does JPO keep what it promises?

For `jpo suggest`, `observe`, `rollback` and `state gc`, on SQLite and on PostgreSQL: each call ends with an I/O error, a full
disk, or the death of the process. Afterwards config.ini is the old one or the new one, the exit code says which, the audit log
verifies, and the next `jpo suggest` works. Needs strace; PostgreSQL is left out where it is not installed.

    python benchmarks/faults.py [--every N] [--count] [--json]

Exit code 1 if anything is not as promised.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import runpy
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from apparatus.faults import Fault, faults, missing, suffered, wrong  # noqa: E402

POSTGRESQL = runpy.run_path(str(ROOT / "benchmarks" / "apparatus" / "postgresql.py"))
SUGGEST = ("suggest", "config.ini", "--no-learn", "--explore", "off")
COMMANDS = {"suggest": SUGGEST, "observe": ("observe",), "rollback": ("rollback",), "gc": ("state", "gc")}
OLD_RUNS = 2600
"""On record before `state gc`, which keeps the newest 2,300 and those that tell something."""
READERS = {"history": ("history",), "explain": ("explain",), "audit verify": ("audit", "verify")}
"""For benchmarks/freezes.py."""
STORES = ("SQLite", "PostgreSQL")


SETTINGS = ("JPO_STORE__URL", "JPO_STORE__TIMEOUT", "JPO_STORE__KEEP_RUNS", "JPO_STORE__KEEP_SERIES")
"""In the environment while there is a bench."""


@dataclass
class Bench:
    """A place where a command can be begun again and again from the same state.

    Attributes:
        folder: the project; `prepared`: a copy of it as it is before the command.
    """

    folder: Path
    prepared: Path
    server: object | None
    databases: list[str] = field(default_factory=list)

    def renew(self) -> None:
        """The project and its store as they were."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.prepared, self.folder)
        if self.server is not None:
            self._copy_database("prepared", "jpo_now")
            os.environ["JPO_STORE__URL"] = self.server.url("jpo_now")  # type: ignore[attr-defined]

    def keep(self) -> None:
        """Make what is there now the state to begin from."""
        shutil.rmtree(self.prepared, ignore_errors=True)
        shutil.copytree(self.folder, self.prepared)
        if self.server is not None:
            self._copy_database("jpo_now", "prepared")

    def _copy_database(self, source: str, target: str) -> None:
        for statement in (f"DROP DATABASE IF EXISTS {target} WITH (FORCE)", f"CREATE DATABASE {target} TEMPLATE {source}"):
            self.server.sql(statement, "postgres")  # type: ignore[union-attr, attr-defined]

    @property
    def config(self) -> bytes:
        return (self.folder / "config.ini").read_bytes()

    def jpo(self, *arguments: str) -> tuple[int, str]:
        """Run a command in this process; its exit code, and all that it said."""
        from jpo.__main__ import run

        with chdir(self.folder), redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
            return run([*arguments]), said.getvalue()


@contextmanager
def bench(store: str, command: str, *, login: bool = False) -> Iterator[Bench]:
    """The quickstart's project, in the state before this command, with all that it imports imported; `login`: see freezes.py."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        start = POSTGRESQL["with_login" if login else "server"]
        server = stack.enter_context(start("-c fsync=off")) if store == "PostgreSQL" else None
        for name in SETTINGS:
            os.environ.pop(name, None)
            stack.callback(os.environ.pop, name, None)
        shutil.copytree(ROOT / "examples" / "quickstart", folder / "project")
        place = Bench(folder / "project", folder / "prepared", server)
        if server is not None:
            server.sql("CREATE DATABASE jpo_now", "postgres")
            os.environ["JPO_STORE__URL"] = server.url("jpo_now")
            os.environ["JPO_STORE__TIMEOUT"] = "4s"  # a message that the kernel did not take is never answered
        if command not in ("suggest", "observe"):
            place.jpo(*SUGGEST)
        if command == "gc":
            with_what_is_old(place)
        place.keep()
        place.jpo(*(COMMANDS | READERS)[command])  # what it imports is imported before the first fork
        place.renew()
        yield place


def with_what_is_old(place: Bench) -> None:
    """Time series and runs on record that `state gc` forgets; on a server series alone: how many reads 2,600 runs take varies."""
    from jpo.history import open_store
    from jpo.records import Finished, Series

    os.environ |= {"JPO_STORE__KEEP_RUNS": "2300", "JPO_STORE__KEEP_SERIES": "1s"}
    with open_store(os.environ.get("JPO_STORE__URL", f"sqlite:///{place.folder}/.jpo/jpo.db")) as store:
        run = store.recorded_runs()[-1].run
        runs = OLD_RUNS if place.server is None else 0
        old = [replace(run, run_id=f"old-{at}", started_at=None, ended_at=run.ended_at - 1e6 + at) for at in range(runs)]
        series = Series(run.run_id, "cpu_cores", (1.0, 2.0), (0.5, 0.6))
        store.record(Finished((*old, run), (series,)), now=run.ended_at)


def possible(place: Bench, command: str) -> tuple[list[Fault], bytes]:
    """All faults that can befall the command, and the config.ini that it would have written."""
    place.renew()
    return faults(COMMANDS[command], place.folder), place.config


def befall(place: Bench, command: str, fault: Fault, wanted: bytes) -> list[str]:
    """Let it happen; what was not as promised."""
    place.renew()
    before = place.config
    ended = suffered(COMMANDS[command], place.folder, fault)
    found = wrong(ended, before, wanted, place.config)
    held = place.config == wanted != before
    if (last := place.jpo(*SUGGEST))[0] != 0:
        found.append(f"the next suggest ended with {last[0]}: {last[1]}")
    code, said = place.jpo("audit", "verify")
    if code != 0 or (held and "not on record" in said):
        found.append(f"audit verify ended with {code}: {said}")
    return [f"{fault.about} {fault.error}: {one}; {ended.err.strip()}" for one in found]


def stores() -> tuple[str, ...]:
    return STORES if POSTGRESQL["missing"]() is None else STORES[:1]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each Nth fault (default: 1, all)")
    parser.add_argument("--count", action="store_true", help="only count what can fail")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    if package := missing():
        sys.exit(f"faults.py: strace not found: apt-get install {package}")
    counts: dict[str, dict[str, int]] = {}
    bad: list[str] = []
    for store in stores():
        counts[store] = {}
        for command in COMMANDS:
            with bench(store, command) as place:
                all_faults, wanted = possible(place, command)
                counts[store][command] = len(all_faults[:: options.every])
                for fault in () if options.count else all_faults[:: options.every]:
                    bad += [f"{store} {command} {one}" for one in befall(place, command, fault, wanted)]
    print(json.dumps({"faults": counts, "bad": bad}) if options.json else table(counts, bad))
    return 1 if bad else 0


def table(counts: dict[str, dict[str, int]], bad: list[str]) -> str:
    lines = [
        "## Faults of the operating system",
        "",
        "| store | " + " | ".join(COMMANDS) + " | in all |",
        "|---|" + "---|" * (len(COMMANDS) + 1),
    ]
    lines += [f"| {store} | {' | '.join(map(str, by.values()))} | {sum(by.values())} |" for store, by in counts.items()]
    return "\n".join([*lines, "", f"Ended otherwise than promised: {len(bad)}.", *(f"- {one}" for one in bad)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
