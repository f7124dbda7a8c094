"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from jpo.errors import UsageError
from jpo.files import whole, writer


def write(file: Path, *, over: bool = True, mode: int | None = None) -> None:
    with whole(file, over=over, mode=mode) as new:
        new.write(b"new")


def test_until_the_block_ends_the_old_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"old")
    with whole(file) as new:
        new.write(b"new")
        new.flush()
        assert file.read_bytes() == b"old"
    assert (file.read_bytes(), [path.name for path in tmp_path.iterdir()]) == (b"new", ["a"])


def test_an_error_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"old")
    with pytest.raises(TypeError), whole(file) as new:
        new.writelines([b"half", "no bytes"])  # type: ignore[list-item]
    assert (file.read_bytes(), len(list(tmp_path.iterdir()))) == (b"old", 1)


def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    write(link)
    assert (link.is_symlink(), target.read_bytes(), target.stat().st_mode & 0o777) == (True, b"new", 0o640)


def test_a_new_file_gets_the_permissions_of_any_other_or_those_that_are_asked_for(tmp_path: Path) -> None:
    usual, private = tmp_path / "usual", tmp_path / "private"
    before = os.umask(0o027)
    try:
        write(usual)
        write(private, mode=0o600)
    finally:
        os.umask(before)
    assert (usual.stat().st_mode & 0o777, private.stat().st_mode & 0o777) == (0o640, 0o600)


def test_what_must_be_new_replaces_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"theirs")
    with pytest.raises(FileExistsError):
        write(file, over=False)
    assert (file.read_bytes(), len(list(tmp_path.iterdir()))) == (b"theirs", 1)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        write(tmp_path / "no folder" / "a")
    assert (caught.value.code, "No such file" in str(caught.value)) == ("JPO-E307", True)


def test_the_reader_of_a_pipe_is_waited_for_a_little_and_not_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr(writer, "READER_SECONDS", 0.1)
    with pytest.raises(UsageError, match="nobody reads this pipe"), whole(pipe) as new:
        new.write(b"lost")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with whole(pipe) as new:
        new.write(b"read")
    assert os.read(reader, 100) == b"read"
    os.close(reader)


@pytest.mark.parametrize("over", [True, False])
def test_a_file_that_is_in_place_was_written_whatever_becomes_of_its_first_name(
    over: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_path: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "unlink", refused)
    write(tmp_path / "a", over=over)
    assert (tmp_path / "a").read_bytes() == b"new"
