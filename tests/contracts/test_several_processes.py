"""What several processes on one store may expect, on each kind of database."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from jpo.errors import StoreError
from jpo.history import AuditEvent, open_store, verify
from jpo.history.archive import export_lines
from jpo.records import Finished, Identity, Outcome, Run, RunStatus

DIGITS = Identity("digits", "cnn", "pytorch")
Start = Callable[..., subprocess.Popen[str]]

SETUP = """
import os, sys
from jpo.errors import JpoError
from jpo.history import AuditEvent, open_store, verify
from jpo.records import Finished, Identity, Outcome, Run, RunStatus

url, *words = sys.argv[1:]
identity = Identity("digits", "cnn", "pytorch")

def look(*ids):
    return Finished(tuple(Run(one, identity, {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv") for one in ids))
"""


@pytest.fixture(params=["sqlite file", "postgresql"])
def url(request: pytest.FixtureRequest, url_of: Callable[[str], str]) -> str:
    return url_of(request.param)


def looks(first: int, number: int = 3) -> Finished:
    runs = (Run(f"{first}-{n}", DIGITS, {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv") for n in range(number))
    return Finished(tuple(runs))


@contextmanager
def writing(url: str) -> Iterator[None]:
    """Somebody is in the middle of a transaction that writes."""
    if url.startswith("sqlite"):
        holder = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        holder.execute("DELETE FROM runs")
        yield
        holder.execute("ROLLBACK")
        holder.close()
    else:
        import psycopg

        with psycopg.connect(url) as other:
            other.execute("SELECT pg_advisory_xact_lock(%s)", (0x4A504F31,))
            other.execute("DELETE FROM jpo.runs")
            yield
            other.rollback()


OBSERVER = """
with open_store(url) as store:
    for number in range(int(words[1])):
        print(*[run.run_id for run in store.record(look(f"{words[0]}-{number}", f"common-{number}"), now=2.0)], sep="\\n")
"""


def test_eight_processes_that_create_and_write_at_once_lose_nothing(url: str, start_python: Start) -> None:
    writers = [start_python(SETUP + OBSERVER, url, f"w{number}", "20") for number in range(8)]
    printed = [writer.communicate(timeout=300) for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 8, printed
    told = " ".join(out for out, _ in printed).split()
    with open_store(url) as store:
        recorded = [run.run_id for run in store.runs_of(DIGITS)]
        assert sorted(recorded) == sorted(told)  # each of the common runs was new to exactly one writer
        assert len(set(recorded)) == len(recorded) == 180
        assert (verify(store).ok, verify(store).records) == (True, 180)


@pytest.mark.parametrize("looks_before", [1, 7])
def test_a_killed_writer_leaves_whole_looks_and_a_good_chain(url: str, start_python: Start, looks_before: int) -> None:
    program = """
with open_store(url) as store:
    for number in range(1_000_000):
        store.record(look(*(f"{number}-{one}" for one in range(5))), now=2.0)
        print(number, flush=True)
"""
    writer = start_python(SETUP + program, url)
    assert writer.stdout is not None
    told = [int(writer.stdout.readline()) for _ in range(looks_before)][-1]
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait(timeout=120)
    with open_store(url) as store:
        store.audit(AuditEvent("learnt", 3.0))  # nobody holds a lock any more
        runs = store.runs_of(DIGITS)
        assert len(runs) % 5 == 0  # looks are recorded whole
        assert len(runs) >= 5 * (told + 1)  # and what was told is on record
        assert (verify(store).ok, verify(store).records) == (True, len(runs) + 1)


def test_of_two_learners_one_is_refused_and_overwrites_nothing(url: str, start_python: Start) -> None:
    program = """
with open_store(url) as store:
    version = (store.load_agent("digits") or (b"", 0))[1]
    print(version, flush=True)
    sys.stdin.readline()
    try:
        print(store.save_agent("digits", words[0].encode(), expected_version=version))
    except JpoError as error:
        print(error.code)
"""
    open_store(url).close()
    learners = [start_python(SETUP + program, url, f"learner {n}") for n in range(2)]
    assert [learner.stdout.readline() for learner in learners if learner.stdout] == ["0\n"] * 2
    answers = [learner.communicate("\n", timeout=120)[0].strip() for learner in learners]
    assert sorted(answers) == ["1", "JPO-E506"]
    with open_store(url) as store:
        assert store.load_agent("digits") == (f"learner {answers.index('1')}".encode(), 1)


def test_a_reader_does_not_delay_a_writer_and_reads_one_moment(url: str) -> None:
    with open_store(url) as reader, open_store(url, timeout_seconds=5) as writer:
        writer.record(looks(1), now=2.0)
        rows, lines = reader.audit_rows(), export_lines(reader, written_by="test")
        next(rows), next(lines), next(lines)
        writer.record(looks(2), now=2.0)
        assert len(list(rows)) == 2
        assert '"audit":3' in list(lines)[-1]
        assert verify(writer).records == 6


def test_a_writer_does_not_delay_readers_and_is_waited_for_only_so_long_by_writers(url: str) -> None:
    with open_store(url, timeout_seconds=2) as store:
        store.record(looks(1), now=2.0)
        with writing(url):
            assert len(store.runs_of(DIGITS)) == 3
            with open_store(url, read_only=True, timeout_seconds=5) as copy:
                assert len(copy.record(looks(2), now=2.0)) == 3
            with pytest.raises(StoreError, match="locked by another process") as caught:
                store.record(looks(3), now=2.0)
        assert caught.value.code == "JPO-E501"
        assert len(store.record(looks(3), now=2.0)) == 3


def test_a_reader_that_stops_early_takes_no_later_record_with_it(url: str) -> None:
    with open_store(url) as store:
        store.record(looks(1), now=2.0)
        rows = store.audit_rows()
        next(rows)
        store.record(looks(2), now=2.0)
        del rows
    with open_store(url) as store:
        assert (len(store.runs_of(DIGITS)), verify(store).records) == (6, 6)


def test_a_dry_run_delays_nobody_and_sees_what_was_there_when_it_first_wrote(url: str) -> None:
    with open_store(url, timeout_seconds=5) as store, open_store(url, read_only=True) as copy:
        store.record(looks(1), now=2.0)
        copy.audit(AuditEvent("learnt", 3.0))
        store.record(looks(2), now=2.0)
        assert {len(copy.runs_of(DIGITS)), verify(copy).records} <= {0, 1, 3, 4}  # a copy of the moment it was made
        assert (verify(copy).ok, len(store.runs_of(DIGITS)), verify(store).records) == (True, 6, 6)
