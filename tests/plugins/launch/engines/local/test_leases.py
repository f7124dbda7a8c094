from __future__ import annotations

import errno
import fcntl
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.local.leases import free, give_back, taken


def test_what_is_leased_is_not_free_until_it_is_given_back(tmp_path: Path) -> None:
    held = taken(tmp_path / "leases", ["a", "b", "c"], 2)
    assert list(held) == ["a", "b"]
    assert free(tmp_path / "leases", ["a", "b", "c"]) == ["c"]
    assert taken(tmp_path / "leases", ["a", "b", "c"], 2) == {}
    rest = taken(tmp_path / "leases", ["a", "b", "c"], 1)
    assert list(rest) == ["c"]
    give_back([*held.values(), *rest.values()])
    assert free(tmp_path / "leases", ["a", "b"]) == ["a", "b"]


def test_who_only_looks_takes_nothing_away_from_who_starts_a_run_meanwhile(tmp_path: Path) -> None:
    """Two `jpo run` of one CI job at the same instant: each asks what is free, and both GPUs are."""
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            free(tmp_path / "leases", ["a", "b", "c", "d"])

    with ThreadPoolExecutor() as pool:
        looking = [pool.submit(look) for _ in range(2)]
        try:
            for _ in range(200):
                held = taken(tmp_path / "leases", ["a", "b", "c", "d"], 4)
                assert list(held) == ["a", "b", "c", "d"]
                give_back(held.values())
        finally:
            over.set()
        assert [each.result() for each in looking] == [None, None]


def test_a_folder_of_somebody_else_or_a_link_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(LaunchError, match="cannot be used"):
        taken(tmp_path / "link", ["a"], 1)
    if os.getuid() == 0:
        (tmp_path / "theirs").mkdir()
        os.chown(tmp_path / "theirs", 12345, 12345)
        with pytest.raises(LaunchError) as caught:
            taken(tmp_path / "theirs", ["a"], 1)
        assert caught.value.code == "JPO-E752"


def test_a_lock_that_the_file_system_refuses_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFS without its lock daemon, or a disk that fails."""

    def refused(_handle: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refused)
    open_before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(LaunchError, match="No locks available") as caught:
        taken(tmp_path / "leases", ["a"], 1)
    assert caught.value.code == "JPO-E752"
    assert len(list(Path("/proc/self/fd").iterdir())) == open_before


def test_what_was_taken_before_a_lock_is_refused_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = fcntl.flock

    def refused(handle: int, how: int) -> None:
        if Path(f"/proc/self/fd/{handle}").readlink().name == "b.lock":
            raise OSError(errno.EIO, "Input/output error")
        lock(handle, how)

    with monkeypatch.context() as patch:
        patch.setattr("fcntl.flock", refused)
        with pytest.raises(LaunchError):
            taken(tmp_path / "leases", ["a", "b"], 2)
    assert free(tmp_path / "leases", ["a", "b"]) == ["a", "b"]
