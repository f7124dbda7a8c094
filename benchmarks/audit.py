"""Time to verify the audit log: 100,000 records as JPO writes them, compared with the naive way in the same run.

The log is stored in SQLite and is read from it both times. JPO hashes the stored text of a record as it is; the naive way
parses each record and writes its canonical JSON anew before it hashes it. Both find the same head. Each way runs in turn with the
other; a figure is the median.

    python benchmarks/audit.py [--records 100000] [--runs 3] [--json]

Exit code 1 if the claim does not hold.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from apparatus.stamp import stamp  # noqa: E402

from jpo.history import AuditEvent, AuditRow, Store, open_store, verify  # noqa: E402
from jpo.history.audit import GENESIS, chain  # noqa: E402
from jpo.history.canonical import canonical  # noqa: E402
from jpo.history.events import observed, suggested  # noqa: E402
from jpo.records import (  # noqa: E402
    Change,
    Evidence,
    Forecast,
    Guarded,
    Identity,
    Interval,
    Note,
    Outcome,
    Preference,
    Run,
    RunStatus,
    suggestion_from,
)

MOST_SECONDS = 3.0
"""For 100,000 records; promised in the guide."""
CIFAR = Identity("cifar10", "resnet18", "pytorch")
NOW = 1_795_000_000.125
BY = {
    "where": "github",
    "user": "octocat",
    "host": "runner-7",
    "repository": "octo/job",
    "url": "https://github.com/octo/job/actions/runs/77",
}
EXPECTED = Forecast(Interval(13920.5, 13100.0, 14800.25), Interval(9.3, 8.7, 9.9), Interval(0.401, 0.39, 0.42))
SUGGESTION = suggestion_from(
    suggestion_id="20261121-141229-8c6fcd",
    identity=CIFAR,
    status="changed",
    keys={"batch_size": "training.batch_size", "learning_rate": "training.learning_rate", "gpus": "resources.gpus"},
    current={"batch_size": 64.0, "learning_rate": 0.1, "gpus": 2.0},
    suggested={"batch_size": 128.0, "learning_rate": 0.14, "gpus": 2.0},
    changes=(
        Change("batch_size", "training.batch_size", 64, 128, "64", "128", "6 runs at 128; alone it takes 23% less time", 0.93),
    ),
    now=EXPECTED,
    next=EXPECTED,
    guard=Guarded(True),
    evidence=Evidence(18, (), 4, 0.1),
    decided_by="sac",
    confidence=0.93,
    reasons=(Note("JPO-I603", "6 runs with these values took 23% less time (median)"),),
    created_at=NOW,
    preference=Preference(),
    seed=0,
    policy="ab" * 32,
)
RUN = Run(
    "nightly-17",
    CIFAR,
    SUGGESTION.values.current,
    RunStatus.SUCCEEDED,
    NOW - 14000,
    NOW,
    Outcome(13920.5, 9.3, val_loss=0.401),
    "prometheus",
)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Verifying the audit log, compared with the naive way.")
    parser.add_argument("--records", type=int, default=100_000, help="length of the log (default: 100000)")
    parser.add_argument("--runs", type=int, default=3, help="measured runs of each way (default: 3)")
    parser.add_argument("--json", action="store_true", help="figures as JSON instead of a table")
    options = parser.parse_args(argv)
    figures = measure(options.records, options.runs)
    holds = figures["jpo"] * 100_000 / options.records <= MOST_SECONDS
    if options.json:
        print(json.dumps({**figures, "records": options.records, "most": MOST_SECONDS, "holds": holds}))
    else:
        print(table(figures, options.records, holds))
    return 0 if holds else 1


def measure(records: int, runs: int) -> dict[str, float]:
    """Median seconds of each way, and the log's size in MB."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "jpo.db"
        head = write(path, records)
        took = [{name: seconds(way, path, head) for name, way in (("jpo", by_jpo), ("naive", naively))} for _ in range(runs)]
        size = path.stat().st_size / 1e6
    return {**{name: statistics.median(seconds[name] for seconds in took) for name in ("jpo", "naive")}, "megabytes": size}


def write(path: Path, records: int) -> str:
    """A store with so many chained records, in one transaction; the head's hash."""
    with open_store(f"sqlite:///{path}"):
        pass  # made, with its tables
    rows = list(rows_of(records))
    columns, places = ", ".join(AuditRow._fields), ", ".join("?" * len(AuditRow._fields))
    connection = sqlite3.connect(path)
    with connection:
        connection.executemany(f"INSERT INTO audit ({columns}) VALUES ({places})", rows)  # noqa: S608 - names of our own
    connection.close()
    return rows[-1].hash


def rows_of(records: int) -> Iterator[AuditRow]:
    """Nights of a pipeline: a run is observed, learnt from, and a suggestion made and written."""
    last = None
    for number in range(records):
        event = night(number // 4)[number % 4]
        last = chain(last, event.at, event.kind, event.identity, canonical({**event.data, "by": BY}))
        yield last


def night(number: int) -> tuple[AuditEvent, ...]:
    at, suggestion_id = NOW + 86400.0 * number, f"{number:08}-141229-8c6fcd"
    written = {"suggestion_id": suggestion_id, "config": "config.ini", "source_digest": "cd" * 32, "written_digest": "ef" * 32}
    return (
        observed(replace(RUN, run_id=f"nightly-{number}"), suggestion_id, at),
        AuditEvent("learnt", at, CIFAR, {"runs": 1, "runs_in_all": number, "updates": 8 * number, "left": 0, "resets": 0}),
        suggested(replace(SUGGESTION, suggestion_id=suggestion_id, created_at=at), "config.ini", "cd" * 32),
        AuditEvent("written", at, CIFAR, written),
    )


def seconds(way: Callable[[Store], str], path: Path, head: str) -> float:
    """What one look takes from opening the store to the head, which must be the right one."""
    start = time.perf_counter()
    with open_store(f"sqlite:///{path}", read_only=True) as store:
        head_found = way(store)
    took = time.perf_counter() - start
    if head_found != head:
        raise SystemExit(f"found head {head_found}, not {head}")
    return took


def by_jpo(store: Store) -> str:
    return verify(store).head


def naively(store: Store) -> str:
    head = GENESIS
    for row in store.audit_rows():
        record = {name: value for name, value in row._asdict().items() if name not in ("previous", "hash")}
        if not record["hardware"]:
            del record["hardware"]
        text = json.dumps({**record, "data": json.loads(row.data)}, sort_keys=True, separators=(",", ":"))
        head = hashlib.sha256((head + text).encode()).hexdigest()
        if head != row.hash:
            raise SystemExit(f"record {row.number} does not fit")
    return head


def table(figures: dict[str, float], records: int, holds: bool) -> str:
    jpo, naive = figures["jpo"], figures["naive"]
    rows = [
        f"| `jpo audit verify`: the stored text is hashed | {jpo:.2f} | {records / jpo:,.0f} | 1.0 |",
        f"| parsed and written anew, then hashed | {naive:.2f} | {records / naive:,.0f} | {naive / jpo:.1f} |",
    ]
    verdict = f"100,000 records are verified within {MOST_SECONDS:g} s: {'holds' if holds else 'DOES NOT HOLD'}."
    about = f"{records:,} records, {figures['megabytes']:.0f} MB in SQLite, read from the store each time. {stamp()}."
    head = ["## Audit log", "", about, "", "| way | seconds | records per second | times JPO's |", "|---|---:|---:|---:|"]
    return "\n".join([*head, *rows, "", verdict])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
