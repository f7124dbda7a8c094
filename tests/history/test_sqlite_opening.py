import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from jpo.errors import StoreError
from jpo.history import AuditEvent, open_store, verify
from jpo.records import Finished, Identity, Outcome, Run, RunStatus


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with 200 audit records and a run: some pages long. Each record is written to disk, so it is made once."""
    path = tmp_path_factory.mktemp("closed") / "jpo.db"
    with open_store(f"sqlite:///{path}") as store:
        for number in range(200):
            store.audit(AuditEvent("observed", float(number), None, {"run_id": f"r{number}" * 20}))
        run = Run("r1", Identity("digits", "cnn", "pytorch"), {}, RunStatus.SUCCEEDED, None, 1.0, Outcome(), "csv")
        store.record(Finished((run,)), now=2.0)
    return path


@pytest.fixture
def path(tmp_path: Path, closed: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copy(closed, tmp_path))


def read_all(path: Path, **options: object) -> None:
    with open_store(f"sqlite:///{path}", **options) as store:  # type: ignore[arg-type]
        verify(store)
        store.recorded_runs()


def refusal(path: Path, **options: object) -> StoreError:
    with pytest.raises(StoreError) as caught:
        read_all(path, **options)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return caught.value


def test_file_and_folder_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/a/b/jpo.db") as store:
        store.audit(AuditEvent("learnt", 1.0))
        modes = {file.name: file.stat().st_mode & 0o777 for file in (tmp_path / "a/b").iterdir()}
    assert modes == {"jpo.db": 0o600, "jpo.db-wal": 0o600, "jpo.db-shm": 0o600}
    assert (tmp_path / "a/b").stat().st_mode & 0o777 == 0o700


def test_only_the_database_is_left_when_it_is_closed(closed: Path) -> None:
    assert [file.name for file in closed.parent.iterdir()] == ["jpo.db"]


def test_a_file_of_zero_length_is_a_new_database(tmp_path: Path) -> None:
    (tmp_path / "jpo.db").touch()
    with open_store(f"sqlite:///{tmp_path}/jpo.db") as store:
        store.audit(AuditEvent("learnt", 1.0))
        assert verify(store).records == 1


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: os.urandom(len(content)),
        lambda content: content[: len(content) // 2 + 100],
        lambda content: content[:50],
        lambda content: content[:4096],
        lambda content: content[:100] + b"\xff" * 3996 + content[4096:],
        lambda content: content[: 3 * 4096] + os.urandom(len(content) - 3 * 4096),
        lambda content: content[:-4096] + os.urandom(4096),
        lambda content: content.replace(b"CREATE TABLE audit", b"CREATE\n\xff\xfeBLE audit"),
        lambda content: content.replace(b"previous  TEXT", b"previouX  TEXT"),
        lambda content: content.replace(b"cost_usd  ", b"cost_usX  "),
        lambda content: b"[store]\nurl = x\n" * 100,
    ],
    ids=[
        "random",
        "half",
        "50 bytes",
        "first page only",
        "schema page",
        "from page 4",
        "last page",
        "no statement",
        "audit column",
        "runs column",
        "a text file",
    ],
)
def test_a_damaged_file_is_reported_with_place_and_remedy(path: Path, damage: object, read_only: bool) -> None:
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    error = refusal(path, read_only=read_only)
    assert error.code == "JPO-E502"
    assert "restore a copy" in error.remedy


def test_a_folder_in_the_place_of_the_file_is_reported(tmp_path: Path) -> None:
    assert refusal(tmp_path).code == "JPO-E504"
    assert refusal(tmp_path, read_only=True).code == "JPO-E504"


def test_a_file_in_the_place_of_the_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert refusal(tmp_path / "file" / "jpo.db").code == "JPO-E504"


def test_a_name_that_the_file_system_refuses_is_reported(tmp_path: Path) -> None:
    assert refusal(tmp_path / ("x" * 300)).code == "JPO-E504"
    assert refusal(tmp_path / ("x" * 300), read_only=True).code == "JPO-E504"


def test_a_path_with_two_slashes_in_front_is_read_as_well(path: Path) -> None:
    with open_store(f"sqlite:////{path}", read_only=True) as copy:
        assert verify(copy).records == 201


def test_a_missing_store_read_only_is_empty_and_stays_missing(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/new/jpo.db", read_only=True) as store:
        store.audit(AuditEvent("learnt", 1.0))
        assert verify(store).records == 1
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_copy_leaves_folder_and_bytes_as_they_are(path: Path) -> None:
    before = path.read_bytes()
    with open_store(f"sqlite:///{path}", read_only=True) as store:
        store.audit(AuditEvent("learnt", 1.0))
        assert [file.name for file in path.parent.iterdir()] == ["jpo.db"]
    assert path.read_bytes() == before


def test_a_read_only_copy_sees_what_another_has_committed_and_not_yet_closed(path: Path) -> None:
    with open_store(f"sqlite:///{path}") as writer:
        writer.audit(AuditEvent("learnt", 1.0))
        with open_store(f"sqlite:///{path}", read_only=True) as copy:
            assert verify(copy).records == 202
        writer.audit(AuditEvent("learnt", 2.0))
        assert verify(writer).records == 203


def test_a_lock_held_past_the_timeout_is_reported(path: Path) -> None:
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with open_store(f"sqlite:///{path}", timeout_seconds=0.05) as store:
        assert verify(store).records == 201  # readers do not wait
        with pytest.raises(StoreError, match="locked by another process") as caught:
            store.audit(AuditEvent("learnt", 1.0))
    assert caught.value.code == "JPO-E501"
    holder.close()


def test_a_new_database_that_another_is_reading_is_used_without_switching_its_journal(path: Path) -> None:
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("PRAGMA journal_mode = DELETE")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM audit").fetchone()
    with open_store(f"sqlite:///{path}", timeout_seconds=0.05) as store:
        assert verify(store).records == 201
    reader.close()


def test_a_database_locked_whole_is_reported_and_not_waited_for(tmp_path: Path) -> None:
    holder = sqlite3.connect(tmp_path / "jpo.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    holder.execute("CREATE TABLE t (a)")
    for read_only in (False, True):
        assert refusal(tmp_path / "jpo.db", timeout_seconds=0.05, read_only=read_only).code == "JPO-E501"
    holder.close()
