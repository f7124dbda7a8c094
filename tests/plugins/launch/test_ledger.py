"""The ledger keeps what was intended and what came of it, whole."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest

from jpo.errors import LaunchError
from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob, Needs
from jpo.plugins.launch.ledger import Entry, entries, folder_of, locked, make_folder, read, write
from jpo.plugins.launch.project.finished import logs_of
from jpo.records import Identity, RunStatus, Word

JOB = LaunchJob(
    "night-1",
    Identity("digits", "cnn", "pytorch", "a100"),
    ("python", "train.py"),
    Path("/srv/digits"),
    {"JPO_RUN_ID": "night-1"},
    Needs(gpus=4, nodes=2, cpus=8.0),
    {"batch_size": 64.0, "optimizer": Word("adam")},
    3600.0,
)
END = JobStatus(JobState.ENDED, 1, RunStatus.OOM_KILLED, "OUT_OF_MEMORY", "node-7", 10.0, 20.0, memory_gib=31.5)


def put(ledger: Path, entry: Entry) -> None:
    with locked(folder_of(ledger, entry.job.run_id)):
        write(ledger, entry)


def test_an_entry_comes_back_as_it_was_written(tmp_path: Path) -> None:
    for entry in (Entry(JOB, "slurm", 1.5), Entry(JOB, "slurm", 1.5, "4711", END, recorded=True)):
        put(tmp_path, entry)
        assert read(tmp_path, "night-1") == entry
    assert list(entries(tmp_path)) == [entry]


def test_what_was_never_launched_has_no_entry(tmp_path: Path) -> None:
    assert read(tmp_path, "night-2") is None
    assert list(entries(tmp_path / "none")) == []


@pytest.mark.parametrize("run_id", ["", "..", "../x", "a/b", ".hidden", "x" * 64, "a b"])
def test_an_id_never_leads_out_of_the_ledger(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(LaunchError, match="is not a run id"):
        read(tmp_path, run_id)
    with pytest.raises(ValueError, match="run id"):
        replace(JOB, run_id=run_id)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda t: t[:50],
        lambda t: "[]",
        lambda t: t.replace('"schema_version": 1', '"schema_version": 2'),
        lambda t: "\0",
        lambda t: t.replace("1.5", "NaN"),
        lambda t: t.replace("1.5", '"soon"'),
    ],
)
def test_a_damaged_entry_is_named_and_left_alone(tmp_path: Path, spoil) -> None:  # type: ignore[no-untyped-def]
    put(tmp_path, Entry(JOB, "slurm", 1.5))
    file = tmp_path / "night-1" / "launch.json"
    file.write_text(spoiled := spoil(file.read_text()))
    with pytest.raises(LaunchError, match=r"launch\.json: .*; move its folder away") as caught:
        read(tmp_path, "night-1")
    assert caught.value.code == "JPO-E752"
    assert file.read_text() == spoiled


def test_what_blocks_under_the_lock_is_not_taken_for_the_lock(tmp_path: Path) -> None:
    with pytest.raises(BlockingIOError), locked(folder_of(tmp_path, "night-1")):
        raise BlockingIOError


def test_only_the_user_reads_it(tmp_path: Path) -> None:
    put(tmp_path, Entry(JOB, "slurm", 1.5))
    assert (tmp_path / "night-1").stat().st_mode & 0o077 == 0
    assert (tmp_path / "night-1" / "launch.json").stat().st_mode & 0o077 == 0
    json.loads((tmp_path / "night-1" / "launch.json").read_text())


def test_what_cannot_be_read_keeps_nobody_from_the_rest(tmp_path: Path) -> None:
    put(tmp_path, good := Entry(JOB, "slurm", 1.5))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "launch.json").write_text("{")
    told = list[LaunchError]()
    assert list(entries(tmp_path, told.append)) == [good]
    assert [error.code for error in told] == ["JPO-E752"]


def test_a_disk_that_is_full_is_the_ledgers_error(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="nothing is lost") as caught:
        write(tmp_path, Entry(JOB, "slurm", 1.5))  # no folder to write into
    assert caught.value.code == "JPO-E752"


def test_a_lock_that_the_file_system_refuses_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFS without its lock daemon, or a disk that fails."""

    def refused(_handle: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refused)
    open_before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(LaunchError, match="No locks available") as caught, locked(folder_of(tmp_path, "night-1")):
        pass
    assert caught.value.code == "JPO-E752"
    assert len(list(Path("/proc/self/fd").iterdir())) == open_before


def test_a_folder_that_cannot_be_listed_is_no_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs would be forgotten, or go on record without their logs."""

    def fails(*_: object) -> object:
        raise OSError(errno.EIO, "Input/output error")

    put(tmp_path, entry := Entry(JOB, "slurm", 1.5))
    monkeypatch.setattr(Path, "glob", fails)
    for listed in (lambda: [*entries(tmp_path)], lambda: [*logs_of(entry, tmp_path)]):
        with pytest.raises(LaunchError, match="Input/output error") as caught:
            listed()
        assert caught.value.code == "JPO-E752"


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(LaunchError, match="cannot be written") as raised:
        make_folder(tmp_path / "run" / "runs")
    assert (raised.value.code, raised.value.place) == ("JPO-E752", str(tmp_path / "run" / "runs"))
