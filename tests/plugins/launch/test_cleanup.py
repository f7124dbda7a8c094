"""Folders of runs that are long over go, and nothing else; what was known of them is found again."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from simulated_engine import SimulatedLauncher

from jpo.errors import LaunchError
from jpo.plugins.launch import ledger as accounts
from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob
from jpo.plugins.launch.ledger import Entry, clean_up, entries, folder_of, is_past, locked, read, write
from jpo.plugins.launch.lifecycle import start
from jpo.records import Identity, RunStatus

JOB = LaunchJob("old", Identity("digits", "cnn", "pytorch"), ("python", "train.py"), Path("/srv/digits"))
ENDED = JobStatus(JobState.ENDED, 0, RunStatus.SUCCEEDED, started_at=50.0, ended_at=90.0)
OLD = Entry(JOB, "local", 10.0, "old/1", ENDED, recorded=True)


def put(ledger: Path, entry: Entry) -> None:
    folder = folder_of(ledger, entry.job.run_id)
    (folder / "runs").mkdir(parents=True)
    (folder / "output.log").write_text("hello\n")
    write(ledger, entry)


def named(entry: Entry, run_id: str, **changes: object) -> Entry:
    return replace(entry, job=replace(JOB, run_id=run_id), **changes)  # type: ignore[arg-type]


def test_only_what_is_over_on_record_and_old_goes(tmp_path: Path) -> None:
    lost = JobStatus(JobState.UNKNOWN, reason="nobody knows")
    kept = [
        named(OLD, "goes-on", end=None, recorded=False),
        named(OLD, "never-noted", end=None, engine_id=None, recorded=False),
        named(OLD, "not-on-record", recorded=False),
        named(OLD, "new", end=replace(ENDED, ended_at=101.0)),
        named(OLD, "lost-lately", end=lost, asked_at=101.0),
        named(OLD, "on-a-node-with-a-slow-clock", asked_at=101.0),
    ]
    for entry in (OLD, named(OLD, "lost", end=lost), *kept):
        put(tmp_path, entry)
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "launch.json").write_text("{")
    (tmp_path / ".optimize" / "job").mkdir(parents=True)
    clean_up(tmp_path, entries(tmp_path), before=100.0)
    assert {entry.job.run_id for entry in entries(tmp_path)} == {entry.job.run_id for entry in kept}
    assert (tmp_path / "damaged").is_dir()
    assert (tmp_path / ".optimize" / "job").is_dir()
    assert not folder_of(tmp_path, "old").exists()
    assert (read(tmp_path, "old"), is_past(tmp_path, "old")) == (OLD, True)
    assert is_past(tmp_path, "new") is is_past(tmp_path, "never") is False


def test_its_id_is_not_started_again(tmp_path: Path) -> None:
    put(tmp_path, replace(OLD, engine="simulated"))
    clean_up(tmp_path, entries(tmp_path), before=100.0)
    launcher = SimulatedLauncher(lambda *_: pytest.fail("started"), lambda: 200.0)
    assert start(JOB, launcher, tmp_path, now=200.0).end == ENDED
    with pytest.raises(LaunchError, match="id of its own"):
        start(replace(JOB, command=("other",)), launcher, tmp_path, now=200.0)
    assert not folder_of(tmp_path, "old").exists()
    clean_up(tmp_path, [OLD], before=100.0)  # by a process that looked before the other one removed it
    assert not folder_of(tmp_path, "old").exists()


def test_a_folder_behind_a_link_stays(tmp_path: Path) -> None:
    put(tmp_path / "large", OLD)
    (tmp_path / "ledger").mkdir()
    (tmp_path / "ledger" / "old").symlink_to(tmp_path / "large" / "old")
    clean_up(tmp_path / "ledger", entries(tmp_path / "ledger"), before=100.0)
    assert [path.name for path in (tmp_path / "ledger").iterdir()] == ["old"]
    assert [*entries(tmp_path / "ledger")] == [OLD]


def test_what_another_process_is_at_stays(tmp_path: Path) -> None:
    put(tmp_path, OLD)
    with locked(folder_of(tmp_path, "old")):
        clean_up(tmp_path, entries(tmp_path), before=100.0)
    assert (folder_of(tmp_path, "old") / "output.log").exists()


@pytest.mark.parametrize("step", ["put", "rename", "rmtree"])
def test_killed_at_any_instant_it_is_found_and_the_next_clean_up_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def killed(*_all: object, **_named: object) -> None:
        raise KeyboardInterrupt

    put(tmp_path, OLD)
    with monkeypatch.context() as patch:
        patch.setattr({"put": accounts, "rename": Path, "rmtree": shutil}[step], step, killed)
        with pytest.raises(KeyboardInterrupt):
            clean_up(tmp_path, entries(tmp_path), before=100.0)
    assert read(tmp_path, "old") == OLD
    told = list[LaunchError]()
    assert len([*entries(tmp_path, told.append)]) == (step != "rmtree")
    assert not told
    clean_up(tmp_path, entries(tmp_path), before=100.0)
    assert read(tmp_path, "old") == OLD
    assert [path.name for path in tmp_path.iterdir()] == [".past"]


def test_a_ledger_that_cannot_be_written_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_all: object) -> None:
        raise LaunchError("disk", "is full", code="JPO-E752")

    put(tmp_path, OLD)
    monkeypatch.setattr(accounts, "put", full)
    clean_up(tmp_path, entries(tmp_path), before=100.0)
    assert (folder_of(tmp_path, "old") / "output.log").exists()
    clean_up(tmp_path / "none", entries(tmp_path / "none"), before=100.0)
