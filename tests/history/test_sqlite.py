"""What only real processes show, next to tests/contracts: a writer killed at work, a disk that is full, a locked folder."""

import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Timer

import pytest

from jpo.errors import StoreError
from jpo.history import AuditEvent, open_store, verify
from jpo.records import Identity

DIGITS = Identity("digits", "cnn", "pytorch")
Start = Callable[..., subprocess.Popen[str]]

SETUP = """
import os, resource, sys
from jpo.errors import JpoError
from jpo.history import AuditEvent, open_store, verify
from jpo.records import Finished, Identity, Outcome, Run, RunStatus

url = sys.argv[1]
identity = Identity("digits", "cnn", "pytorch")

def look(number):
    runs = (Run(f"{number}-{one}", identity, {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv") for one in range(5))
    return Finished(tuple(runs))
"""


@pytest.fixture
def start(start_python: Start) -> Start:
    """`start(program, *arguments)`: a process that has the names of SETUP."""
    return lambda program, *arguments: start_python(SETUP + program, *arguments)


def output_of(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out.strip()


def test_a_writer_killed_inside_its_transaction_leaves_nothing_of_it(tmp_path: Path, start: Start) -> None:
    program = """
import signal
class Deadly(tuple):
    def __iter__(self):
        yield from tuple.__iter__(self)
        os.kill(os.getpid(), signal.SIGKILL)
with open_store(url) as store:
    store.record(look(0), now=2.0)
    store.record(Finished(Deadly(look(1).runs)), now=2.0)
"""
    url = f"sqlite:///{tmp_path}/jpo.db"
    assert start(program, url).wait(timeout=120) == -signal.SIGKILL
    with open_store(url) as store:
        assert (len(store.runs_of(DIGITS)), verify(store).records, verify(store).ok) == (5, 5, True)


def test_a_full_disk_is_reported_and_earlier_records_are_whole(tmp_path: Path, start: Start) -> None:
    program = """
with open_store(url) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        for number in range(1_000):
            store.record(look(number), now=2.0)
    except JpoError as error:
        print(number, type(error).__name__, error.code)
    assert len(store.runs_of(identity)) == 5 * number and verify(store).ok
"""
    url = f"sqlite:///{tmp_path}/jpo.db"
    looks, kind, code = output_of(start(program, url)).split()
    assert (kind, code) == ("StoreError", "JPO-E503")
    with open_store(url) as store:
        assert len(store.runs_of(DIGITS)) == 5 * int(looks) > 0
        assert verify(store).ok


def test_a_store_that_cannot_be_made_for_lack_of_space_is_reported(tmp_path: Path, start: Start) -> None:
    program = """
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
try:
    open_store(url)
except JpoError as error:
    print(error.code)
"""
    url = f"sqlite:///{tmp_path}/jpo.db"
    assert output_of(start(program, url)) == "JPO-E503"
    with open_store(url) as store:
        assert verify(store).ok


def test_opening_a_store_twice_in_one_process_keeps_the_locks_of_the_first(tmp_path: Path, start: Start) -> None:
    url = f"sqlite:///{tmp_path}/jpo.db"
    with open_store(url) as first:
        first.audit(AuditEvent("learnt", 1.0))
        open_store(url).close()
        output_of(start("open_store(url).close()", url))  # would think itself the last one, and remove the -wal file
        assert (tmp_path / "jpo.db-wal").exists()


AS_NOBODY = """
os.umask(0o022)
if os.getuid() == 0:  # the superuser may write everywhere
    os.setgid(65534), os.setuid(65534)
"""


@pytest.fixture
def locked_folder() -> Iterator[Path]:
    """A folder that cannot be written, with a store that others may read; not in tmp_path, which only its owner may enter."""
    with tempfile.TemporaryDirectory() as folder:
        with open_store(f"sqlite:///{folder}/jpo.db") as store:
            store.audit(AuditEvent("learnt", 1.0))
        Path(folder, "jpo.db").chmod(0o444)
        Path(folder).chmod(0o555)
        yield Path(folder)
        Path(folder).chmod(0o755)


def test_a_folder_that_cannot_be_written_is_reported(locked_folder: Path, start: Start) -> None:
    program = """
for name in ("jpo.db", "new.db"):
    try:
        with open_store(f"{url}/{name}") as store:
            store.audit(AuditEvent("learnt", 2.0))
    except JpoError as error:
        print(error.code)
"""
    assert output_of(start(AS_NOBODY + program, f"sqlite:///{locked_folder}")).split() == ["JPO-E504", "JPO-E504"]


def test_a_store_in_a_folder_that_cannot_be_written_can_be_read(locked_folder: Path, start: Start) -> None:
    program = "with open_store(f'{url}/jpo.db', read_only=True) as store: print(verify(store).records)"
    assert output_of(start(AS_NOBODY + program, f"sqlite:///{locked_folder}")) == "1"


def test_locks_of_others_are_waited_for_no_longer_than_the_deadline_in_all(tmp_path: Path) -> None:
    path, waited, codes = tmp_path / "jpo.db", list[float](), list[str | None]()
    with (
        open_store(f"sqlite:///{path}", timeout_seconds=0.5, deadline_seconds=0.7) as store,
        closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other,
    ):
        while len(waited) < 10:
            other.execute("BEGIN IMMEDIATE")
            release = Timer(0.3, other.execute, ["ROLLBACK"])
            release.start()
            began = time.monotonic()
            try:
                store.audit(AuditEvent("learnt", 1.0))
            except StoreError as error:
                codes.append(error.code)
                break
            finally:
                waited.append(time.monotonic() - began)
                release.join()
        assert codes == ["JPO-E501"], waited  # each lock alone is held for less than is waited for one
        other.execute("SELECT 1")
        store.audit(AuditEvent("learnt", 2.0))  # what is free is not waited for


def test_ctrl_c_does_not_wait_for_a_lock(tmp_path: Path, start: Start) -> None:
    program = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what runs in the background ignore it
with open_store(url) as store:
    print("open", flush=True)
    store.audit(AuditEvent("learnt", 1.0))
"""
    path = tmp_path / "jpo.db"
    open_store(f"sqlite:///{path}").close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waits = start(program, f"sqlite:///{path}")
        assert waits.stdout is not None
        assert waits.stdout.readline() == "open\n"
        time.sleep(0.2)
        began = time.monotonic()
        waits.send_signal(signal.SIGINT)
        assert waits.communicate(timeout=120)[1].endswith("KeyboardInterrupt\n")
        assert time.monotonic() - began < 5


def test_what_is_on_record_is_on_disk(start_python: Start, tmp_path: Path) -> None:
    """Asked of a process of its own: this one is spared the wait for the disk (conftest.py)."""
    program = """
import sys
from pathlib import Path
from jpo.history.sqlite import open_database
database = open_database(Path(sys.argv[1]), "here", 1.0)
print(database._connection.execute("PRAGMA synchronous").fetchone()[0])
database.close()
"""
    assert start_python(program, str(tmp_path / "history.db")).communicate() == ("2\n", ""), "FULL"
