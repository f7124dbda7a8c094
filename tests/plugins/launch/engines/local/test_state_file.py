from __future__ import annotations

import errno
import math
from dataclasses import replace
from pathlib import Path

import pytest

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.local.state_file import STATE_BYTES, Place, RunEnd, RunState, read_state, supervised, write_state
from jpo.records import RunStatus

ENDED = RunState("t", Place.here(), 1, 5, 1.0, 0, 0.5, 2.0, 2.0, RunEnd(RunStatus.FAILED, "exit code 3", 3))


def test_a_state_is_read_as_it_was_written_and_stays_one_block(tmp_path: Path) -> None:
    for state in (ENDED, RunState("t", Place("h" * 200, "b", "n"), end=RunEnd(RunStatus.FAILED, "\U0001f600\ud800" * 5000))):
        write_state(tmp_path, state)
        assert (tmp_path / "local.json").stat().st_size == STATE_BYTES
    write_state(tmp_path, ENDED)
    assert read_state(tmp_path) == ENDED


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"token": 1}', b"\xff" * 4096])
def test_no_state_is_read_from_what_is_none(tmp_path: Path, content: bytes) -> None:
    assert read_state(tmp_path) is None
    (tmp_path / "local.json").write_bytes(content)
    assert read_state(tmp_path) is None


def test_what_a_branch_puts_in_the_place_of_a_state_is_neither_read_nor_written(tmp_path: Path) -> None:
    for moment in ("soon", math.nan):
        write_state(tmp_path, replace(ENDED, started_at=moment))  # type: ignore[arg-type]
        assert read_state(tmp_path) is None
    (tmp_path / "local.json").unlink()
    (tmp_path / "local.json").symlink_to("/dev/zero")
    assert read_state(tmp_path) is None
    with pytest.raises(LaunchError, match="cannot be written"):
        write_state(tmp_path, ENDED)


def test_only_one_holds_the_lock(tmp_path: Path) -> None:
    with supervised(tmp_path) as first, supervised(tmp_path) as second:
        assert first is not None
        assert second is None
    with supervised(tmp_path) as again:
        assert again is not None


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(LaunchError, match="cannot be written") as caught, supervised(tmp_path / "none"):
        pass
    assert caught.value.code == "JPO-E752"
    with pytest.raises(LaunchError):
        write_state(tmp_path / "none", ENDED)


def test_a_lock_that_the_file_system_refuses_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NFS without its lock daemon, or a disk that fails."""

    def refused(_handle: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refused)
    open_before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(LaunchError, match="No locks available") as caught, supervised(tmp_path):
        pass
    assert caught.value.code == "JPO-E752"
    assert len(list(Path("/proc/self/fd").iterdir())) == open_before
