"""Export and import: the same history in another database, or nothing."""

from __future__ import annotations

import base64
import gzip
import io
import json
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from made import DIGITS, a_suggestion

from jpo.errors import StoreError
from jpo.history import AuditEvent, Store, open_store, verify
from jpo.history.archive import MAX_LINE_BYTES, export_lines, import_lines, read_lines
from jpo.history.migrations import migrate
from jpo.history.postgres import schema
from jpo.history.rows import TABLES
from jpo.records import (
    Finished,
    Identity,
    Outcome,
    Run,
    RunStatus,
    Series,
)

ODD = Identity("a\0b", "🦀 \x1a0", "Z")
ALL = ("sqlite in memory", "sqlite file", "postgresql")


def fill(store: Store) -> None:
    """Something in every table, some of it odd."""
    suggestion = a_suggestion()
    store.append(suggestion, config="config.ini", source_digest="ab")
    store.withdraw("s1", AuditEvent("conflict", 101.0, DIGITS))
    outcome = Outcome(1 / 3, val_loss=-0.1, samples=1e15, converged=True)
    for identity in (DIGITS, ODD, Identity("z", "ä", "Z"), Identity("z", "a", "Z")):
        run = Run("r1", identity, {"batch_size": 64.0}, RunStatus.SUCCEEDED, None, 200.1, outcome, "csv")
        series = (Series("r1", "cpu_cores", (1.0, 2.0), (0.1, 0.2)), Series("r1", "memory_gib", (1.0,), (5.0,)))
        store.record(Finished((run,), series=series, watermark=7.7), now=300.0, identity=identity, source="prometheus")
    store.save_agent("agent a\0b", b"\0\xff" * 50, expected_version=0)


def exported(store: Store) -> list[bytes]:
    return [line.encode() for line in export_lines(store, written_by="test")]


@pytest.fixture(scope="module")
def lines() -> list[bytes]:
    with open_store("sqlite://") as store:
        fill(store)
        return exported(store)


@pytest.mark.parametrize("kind", ALL)
def test_a_history_goes_from_any_database_to_any_other_and_stays_the_same(kind: str, url_of: Callable[[str], str]) -> None:
    with open_store(url_of(kind)) as first:
        fill(first)
        begun = exported(first)
        anchor = verify(first).head
    assert {json.loads(line).get("table") for line in begun} == {None, *TABLES}
    for other in ALL:
        with open_store(url_of(other) if other != kind else "sqlite://") as second:
            counts = import_lines(second, begun, "backup")
            assert (counts["runs"], counts["series"], counts["audit"]) == (4, 8, 6)
            assert exported(second) == begun
            assert verify(second, expected_head=anchor).ok
            assert second.run("r1") is not None
            assert second.newest_change(DIGITS) is None  # it was withdrawn
            assert len(second.series_of(Run("r1", ODD, {}, RunStatus.FAILED, None, 1.0, Outcome(), "csv"))) == 2
            second.audit(AuditEvent("learnt", 400.0))
            assert second.save_agent("agent a\0b", b"", expected_version=1) == 2


@pytest.mark.parametrize("kind", ["sqlite file", "postgresql"])
def test_an_export_while_others_write_is_whole(kind: str, url_of: Callable[[str], str], start_python: Any) -> None:
    url = url_of(kind)
    with open_store(url) as store:
        fill(store)
    program = """
import sys
from jpo.history import AuditEvent, open_store
from jpo.records import *
with open_store(sys.argv[1]) as store:
    for n in range(100_000):
        run = Run(f"w{n}", Identity("digits", "cnn", "pytorch"), {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv")
        store.record(Finished((run,)), now=2.0)
        print(n, flush=True)
"""
    writer: subprocess.Popen[str] = start_python(program, url)
    for _ in range(3):
        assert writer.stdout is not None
        writer.stdout.readline()
        with open_store(url, read_only=True) as store:
            backup = exported(store)
        with open_store("sqlite://") as restored:
            counts = import_lines(restored, backup, "backup")
            assert counts["audit"] == counts["runs"] + 2 > 6  # each run came with its record
    assert writer.poll() is None


@pytest.mark.parametrize("kind", ALL)
def test_a_store_in_use_is_not_overwritten(kind: str, url_of: Callable[[str], str], lines: list[bytes]) -> None:
    with open_store(url_of(kind)) as store:
        store.audit(AuditEvent("learnt", 1.0))
        with pytest.raises(StoreError, match="not empty") as caught:
            import_lines(store, lines, "backup")
        assert (caught.value.code, len(store.audit_records())) == ("JPO-E515", 1)


def altered(lines: list[bytes], table: str, **columns: Any) -> tuple[list[bytes], int]:
    """The lines with other values in the last row of a table, and the number of that line."""
    number = max(n for n, line in enumerate(lines) if json.loads(line).get("table") == table)
    told = json.loads(lines[number])
    told["row"] |= columns
    return [*lines[:number], json.dumps(told).encode() + b"\n", *lines[number + 1 :]], number + 1


BOMB = base64.b64encode(b"1" + zlib.compress(bytes(1 << 26))).decode()
HOSTILE = [
    ("runs", {"ended_at": "soon"}),
    ("runs", {"ended_at": None}),
    ("runs", {"ended_at": 2**70}),
    ("runs", {"status": "great"}),
    ("runs", {"parameters": "[]"}),
    ("runs", {"parameters": "[" * 100_000}),
    ("runs", {"suggestion_id": "never"}),
    ("runs", {"run_id": {"a": 1}}),
    ("runs", {"run_id": "\udc80"}),
    ("runs", {"number": 1}),
    ("runs", {"extra); DROP TABLE runs; --": 1}),
    ("suggestions", {"withdrawn": 7}),
    ("suggestions", {"document": "{}"}),
    ("series", {"packed": "!"}),
    ("series", {"packed": BOMB}),
    ("series", {"packed": 5}),
    ("series", {"run": 99}),
    ("series", {"quantity": "mood"}),
    ("watermarks", {"read_until": 1e300}),
    ("watermarks", {"dataset": ""}),
    ("agents", {"name": 5}),
    ("agents", {"state": "ä"}),
    ("audit", {"number": 9}),
    ("audit", {"data": "["}),
    ("audit", {"hash": None}),
    ("audit", {"at": True}),
]


@pytest.mark.parametrize("kind", ["sqlite in memory", "postgresql"])
@pytest.mark.parametrize(("table", "columns"), HOSTILE, ids=lambda value: str(value)[:40])
def test_a_bad_row_is_refused_by_its_line_and_nothing_is_kept(
    kind: str, table: str, columns: dict[str, Any], url_of: Callable[[str], str], lines: list[bytes]
) -> None:
    bad, number = altered(lines, table, **columns)
    with open_store(url_of(kind)) as store:
        with pytest.raises(StoreError) as caught:
            import_lines(store, bad, "backup")
        assert (caught.value.code, caught.value.place) == ("JPO-E516", f"backup:{number}")
        assert "\n" not in str(caught.value)
        assert import_lines(store, lines, "backup")["audit"] == 6


@pytest.mark.parametrize("kind", ["sqlite in memory", "postgresql"])
@pytest.mark.parametrize("columns", [{"kind": "kept"}, {"data": "{} "}, {"hash": "0" * 64}, {"previous": "0" * 64}])
def test_an_audit_log_that_was_changed_is_refused(
    kind: str, columns: dict[str, Any], url_of: Callable[[str], str], lines: list[bytes]
) -> None:
    bad, _ = altered(lines, "audit", **columns)
    with open_store(url_of(kind)) as store:
        with pytest.raises(StoreError, match="audit log: record 6") as caught:
            import_lines(store, bad, "backup")
        assert (caught.value.code, store.audit_records()) == ("JPO-E511", ())


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda lines: [], 0),
        (lambda lines: lines[1:], 1),
        (lambda lines: [b'{"format":"jpo state","version":2,"jpo":"9","schema":2}\n', *lines[1:]], 1),
        (lambda lines: [b'{"format":"jpo state","version":1,"jpo":"9","schema":99}\n', *lines[1:]], 1),
        (lambda lines: lines[:-1], 25),
        (lambda lines: [*lines[:-2], lines[-1]], 25),
        (lambda lines: [*lines, lines[3]], 27),
        (lambda lines: [*lines[:3], b"[]\n", *lines[3:]], 4),
        (lambda lines: [*lines[:3], b"\n", *lines[3:]], 4),
        (lambda lines: [*lines[:3], b"[" * 200_000 + b"\n", *lines[3:]], 4),
        (lambda lines: [*lines[:3], b'{"table":"runs","row":[]}\n', *lines[3:]], 4),
        (lambda lines: [*lines[:3], b'{"table":["runs"],"row":{}}\n', *lines[3:]], 4),
        (lambda lines: [*lines[:3], b'{"table":"sqlite_master","row":{}}\n', *lines[3:]], 4),
        (lambda lines: [*lines[:3], lines[3].replace(b"200.1", b"NaN"), *lines[4:]], 4),
        (lambda lines: [*lines[:3], lines[3].replace(b"200.1", b"9" * 5000), *lines[4:]], 4),
        (lambda lines: [*lines[:3], b"\xff\xfe\n", *lines[4:]], 4),
    ],
)
def test_what_is_no_whole_export_is_refused_by_its_line(
    change: Callable[[list[bytes]], list[bytes]], line: int, lines: list[bytes]
) -> None:
    with open_store("sqlite://") as store:
        with pytest.raises(StoreError) as caught:
            import_lines(store, change(lines), "backup")
        assert (caught.value.code, caught.value.place) == ("JPO-E516", f"backup:{line}")
        assert store.recorded_runs() == ()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"x" * 5000 + b"\n", 1),
        (b"{}\n{}", 2),
        (gzip.compress(b"{}\n" * 10, mtime=0)[:-5], 11),
        (gzip.compress(b"{}\n", mtime=0) + b"rubbish", 2),
        (b"\x1f\x8b rubbish", 1),
    ],
)
def test_a_file_that_is_cut_off_or_no_lines_is_refused_by_its_line(content: bytes, line: int) -> None:
    with pytest.raises(StoreError) as caught:
        list(read_lines(io.BufferedReader(io.BytesIO(content)), "backup"))  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.place) == ("JPO-E516", f"backup:{line}")


def test_a_line_without_end_takes_no_more_memory_than_one_may(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "bomb.gz", "wb", compresslevel=1) as bomb:
        bomb.write(b"{}\n")
        for _ in range(8 * MAX_LINE_BYTES >> 20):
            bomb.write(b"x" * (1 << 20))
    program = f"""
import re
from pathlib import Path
from jpo.errors import StoreError
from jpo.history.archive import read_lines
try:
    list(read_lines(open({str(tmp_path / "bomb.gz")!r}, "rb"), "bomb"))
except StoreError as error:
    peak_kb = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])  # ru_maxrss has the parent's
    print(error.place, peak_kb < 300 << 10)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout == "bomb:2 True\n"


def test_the_same_columns_stand_in_both_schemas_and_in_the_archive(url_of: Callable[[str], str], postgres: Any) -> None:
    url = url_of("postgresql")
    open_store(url).close()
    statement = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'jpo'"
    pairs = [line.split("|") for line in postgres.sql(statement, url.partition("@/")[2].partition("?")[0]).splitlines()]
    found: dict[str, set[str]] = {}
    for table, column in pairs:
        found.setdefault(table, set()).add(column)
    del found["schema_version"]
    assert found == {name: set(table.columns) for name, table in TABLES.items()}
    assert postgres.sql("SELECT version FROM jpo.schema_version", url.partition("@/")[2].partition("?")[0]) == str(
        len(schema.MIGRATIONS)
    )
    for name, table in TABLES.items():
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            migrate(connection, "memory")
            assert {row[1] for row in connection.execute(f"PRAGMA table_info({name})")} == set(table.columns)


@pytest.mark.parametrize("schema", [2, 3])
def test_an_export_from_before_a_column_was_added_is_read(schema: int, lines: list[bytes]) -> None:
    added = ["loss_slope", "loss_slope_error", *(["hardware"] if schema == 2 else [])]

    def older(line: bytes) -> bytes:
        document = json.loads(line)
        if "schema" in document:
            document["schema"] = schema
        for name in added:
            document.get("row", {}).pop(name, None)
        return json.dumps(document).encode() + b"\n"

    with open_store("sqlite://") as store:
        import_lines(store, map(older, lines), "backup")
        assert exported(store)[1:] == lines[1:]
