"""Many processes on one store: losses, duplicates, broken order, and time, compared with naive use.

Each process observes runs one by one, half of them its own and half of them the same as everybody's. "Naively" is what a script
does that opens the database, looks whether the run is there, and inserts it and a chained log record, each statement for itself.
Then the same with a writer that is killed in the middle (and started again), and with a PostgreSQL server that crashes.

    python benchmarks/shared_store.py [--processes 8] [--observations 100] [--json]

Exit code 1 if JPO loses or doubles anything. PostgreSQL is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import runpy
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]

from jpo.errors import StoreError  # noqa: E402
from jpo.history import open_store, verify  # noqa: E402
from jpo.records import Finished, Identity, Outcome, Run, RunStatus  # noqa: E402

WORKLOAD = Identity("digits", "cnn", "pytorch")
POSTGRESQL = runpy.run_path(str(ROOT / "benchmarks" / "apparatus" / "postgresql.py"))
TABLES = ("CREATE TABLE naive_runs (run_id TEXT)", "CREATE TABLE naive_log (previous TEXT, hash TEXT)")


@dataclass(frozen=True)
class Result:
    """What came of one round.

    Attributes:
        lost: observations that were confirmed to a process as recorded, and are not.
        doubled: runs on record more than once.
        broken: links of the log that do not follow the record before them.
        seconds: from the first process's start to the last one's end.
    """

    lost: int
    doubled: int
    broken: int
    seconds: float


def main(argv: list[str]) -> int:
    if argv[:1] == ["--worker"]:
        return worker(*argv[1:])
    parser = argparse.ArgumentParser(description="Many processes on one store, SQLite and PostgreSQL, compared with naive use.")
    parser.add_argument("--processes", type=int, default=8, help="writers at once (default: 8)")
    parser.add_argument("--observations", type=int, default=100, help="observations of each (default: 100)")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    results = measure(options.processes, options.observations)
    holds = claim(results)
    if options.json:
        print(json.dumps({"results": {name: asdict(worker) for name, worker in results.items()}, "holds": holds}))
    else:
        print(table(results, holds, options.processes, options.observations))
    return 0 if holds else 1


def measure(processes: int, observations: int) -> dict[str, Result]:
    """Every round, by the name it has in the table."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        urls: dict[str, Callable[[], str]] = {"SQLite": lambda: f"sqlite:///{tempfile.mkdtemp(dir=folder)}/jpo.db"}
        if POSTGRESQL["missing"]() is None:
            server = stack.enter_context(POSTGRESQL["server"]())
            urls["PostgreSQL"] = server.new_database
        results: dict[str, Result] = {}
        for name, new in urls.items():
            results[f"{name}, naively"] = round_of("naive", new(), processes, observations)
            results[f"{name}, JPO"] = round_of("jpo", new(), processes, observations)
            results[f"{name}, JPO, a writer killed"] = round_of("jpo", new(), processes, observations, meanwhile=kill_first)
        if "PostgreSQL" in urls:

            def crash(_workers: Sequence[Worker]) -> None:
                server.stop("immediate")
                server.start()

            results["PostgreSQL, JPO, the server crashed"] = round_of(
                "jpo", server.new_database(), processes, observations, meanwhile=crash
            )
    return results


class Worker:
    """A process that observes; what was confirmed to it is in a file, so that it can be killed."""

    def __init__(self, way: str, url: str, name: str, observations: int, folder: str) -> None:
        self._arguments = ["--worker", way, url, name, str(observations)]
        self._confirmed = Path(folder, name)
        self.start()

    def start(self) -> None:
        with self._confirmed.open("ab") as out:
            self.process = subprocess.Popen([sys.executable, __file__, *self._arguments], stdout=out)

    def recorded(self) -> list[str]:
        return self._confirmed.read_text().split()


def kill_first(workers: Sequence[Worker]) -> None:
    """kill -9, and the same once more from the beginning."""
    os.kill(workers[0].process.pid, signal.SIGKILL)
    workers[0].process.wait()
    workers[0].start()


def round_of(
    way: str, url: str, processes: int, observations: int, meanwhile: Callable[[Sequence[Worker]], None] | None = None
) -> Result:
    """All processes at once; `meanwhile` happens when a quarter of the observations is on record."""
    prepare(way, url)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        workers = [Worker(way, url, f"w{number}", observations, folder) for number in range(processes)]
        if meanwhile:
            while sum(len(worker.recorded()) for worker in workers) < processes * observations / 4:
                time.sleep(0.01)
            meanwhile(workers)
        failed = [worker for worker in workers if worker.process.wait()]
        seconds = time.perf_counter() - begun
        if failed and way == "jpo":
            raise SystemExit(f"{len(failed)} processes failed on {url.partition('://')[0]}")
        confirmed = {run_id for worker in workers for run_id in worker.recorded()}
    recorded, broken = on_record(way, url)
    return Result(len(confirmed - set(recorded)), len(recorded) - len(set(recorded)), broken, seconds)


def prepare(way: str, url: str) -> None:
    if way == "jpo":
        open_store(url).close()
        return
    if url.startswith("sqlite"):
        Path(url.removeprefix("sqlite:///")).parent.mkdir(exist_ok=True)
    with_connection(url, lambda execute: [execute(statement) for statement in TABLES])


def on_record(way: str, url: str) -> tuple[list[str], int]:
    """The run ids on record, and the broken links of the log."""
    if way == "jpo":
        with open_store(url, read_only=True) as store:
            verification = verify(store)
            return [run.run_id for run in store.runs_of(WORKLOAD)], 0 if verification.ok else 1
    runs = with_connection(url, lambda execute: execute("SELECT run_id FROM naive_runs").fetchall())
    log = with_connection(url, lambda execute: execute("SELECT previous, hash FROM naive_log").fetchall())
    followed = [previous for previous, _ in log]
    return [run_id for (run_id,) in runs], len(followed) - len(set(followed))


def worker(way: str, url: str, name: str, observations: str) -> int:
    """Observe one run after the other and print each id that is on record."""
    ids = [f"{name}-{n}" if n % 2 else f"common-{n}" for n in range(int(observations))]
    if way == "naive":
        for run_id in ids:
            with_connection(url, lambda execute, run_id=run_id: naive(execute, run_id, url))
            print(run_id, flush=True)
        return 0
    done = 0
    for _ in range(3):  # as a pipeline that is run again after the server was lost
        try:
            with open_store(url, timeout_seconds=60) as store:
                for run_id in ids[done:]:
                    run = Run(run_id, WORKLOAD, {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv")
                    store.record(Finished((run,)), now=2.0)
                    print(run_id, flush=True)
                    done += 1
            return 0
        except StoreError as error:
            if error.code not in ("JPO-E513", "JPO-E523"):
                raise
    return 1


def naive(execute: Callable[..., Any], run_id: str, url: str) -> None:
    """Look, then insert: what is true when one process does it."""
    mark = "?" if url.startswith("sqlite") else "%s"
    if execute(f"SELECT 1 FROM naive_runs WHERE run_id = {mark}", (run_id,)).fetchone():  # noqa: S608
        return
    execute(f"INSERT INTO naive_runs VALUES ({mark})", (run_id,))  # noqa: S608
    order = "rowid" if url.startswith("sqlite") else "ctid"
    (previous,) = execute(f"SELECT hash FROM naive_log ORDER BY {order} DESC LIMIT 1").fetchone() or ("",)  # noqa: S608
    digest = hashlib.sha256(f"{previous}{run_id}".encode()).hexdigest()
    execute(f"INSERT INTO naive_log VALUES ({mark}, {mark})", (previous, digest))  # noqa: S608


def with_connection(url: str, use: Callable[[Callable[..., Any]], Any]) -> Any:
    """A connection of its own, each statement for itself."""
    if url.startswith("sqlite"):
        connection: Any = sqlite3.connect(url.removeprefix("sqlite:///"), timeout=60, isolation_level=None)
    else:
        import psycopg

        connection = psycopg.connect(url, autocommit=True)
    try:
        return use(connection.execute)
    finally:
        connection.close()


def claim(results: dict[str, Result]) -> bool:
    """JPO loses nothing, records nothing twice and keeps its chain."""
    return all(result.lost == result.doubled == result.broken == 0 for name, result in results.items() if "JPO" in name)


def table(results: dict[str, Result], holds: bool, processes: int, observations: int) -> str:
    rows = []
    for name, result in results.items():
        naively = results[f"{name.partition(',')[0]}, naively"].seconds
        ratio = result.seconds / naively
        rows.append(f"| {name} | {result.lost} | {result.doubled} | {result.broken} | {result.seconds:.2f} | {ratio:.2f} |")
    verdict = f"JPO loses nothing, doubles nothing, keeps the chain: {'holds' if holds else 'DOES NOT HOLD'}."
    title = f"{processes} processes, {observations} observations each"
    head = [
        "## Shared store",
        "",
        f"| {title} | lost | doubled | broken links | seconds | of naively |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    return "\n".join([*head, *rows, "", verdict])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
