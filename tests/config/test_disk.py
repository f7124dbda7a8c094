"""config.ini on the disk: whole or not at all, never over someone else's change, nothing left behind."""

from __future__ import annotations

import hashlib
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jpo.config import disk
from jpo.errors import ConflictError, EditError
from jpo.files import NotKept
from jpo.records import Edit

OLD = b"[t]\nbatch_size = 32\n" + b"# filler so that a torn write would show\n" * 200
NEW = OLD.replace(b"32", b"64")
EDIT = Edit("t.batch_size", 2, "32", "64")
BACK = Edit("t.batch_size", 2, "64", "32")
DONE, CONFLICT, REFUSED = 0, 3, 6


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write(path: Path, edit: Edit = EDIT, read: bytes = OLD) -> None:
    disk.write(path, [edit], expected_digest=digest(read))


def in_child(act: Callable[[], object]) -> int:
    """Start `act` in a process of its own; its exit status says how it ended."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        act()
        status = DONE
    except ConflictError:
        status = CONFLICT
    except EditError:
        status = REFUSED
    finally:
        os._exit(status)


def status_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "config.ini"
    path.write_bytes(OLD)
    return path


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder which also an unprivileged user reaches: pytest's own belong to root alone."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_write_replaces_the_value_and_leaves_no_other_file(path: Path) -> None:
    write(path)
    assert path.read_bytes() == NEW
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_write_keeps_the_mode(path: Path, mode: int) -> None:
    path.chmod(mode)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to someone else")
def test_write_keeps_the_owner(path: Path) -> None:
    os.chown(path, 12345, 54321)
    write(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_a_symlink_stays_one_and_its_target_changes(path: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    middle, link = tmp_path / "elsewhere" / "middle", tmp_path / "link.ini"
    middle.symlink_to("../config.ini")
    link.symlink_to(middle)
    write(link)
    assert path.read_bytes() == NEW
    assert all(p.is_symlink() for p in (link, middle))
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["config.ini", "elsewhere", "link.ini", "middle"]


def test_without_edits_the_file_is_not_touched(path: Path) -> None:
    before = path.stat()
    disk.write(path, [], expected_digest=digest(OLD))
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_file_changed_since_it_was_read_is_a_conflict(path: Path) -> None:
    path.write_bytes(OLD + b"\n")
    with pytest.raises(ConflictError, match="was changed by someone else") as conflict:
        write(path)
    assert (conflict.value.exit_code, conflict.value.code) == (6, "JPO-E220")
    assert path.read_bytes() == OLD + b"\n"


@pytest.mark.parametrize("instead", [lambda path: None, Path.mkdir, os.mkfifo, lambda path: path.symlink_to(path)])
def test_a_file_gone_or_replaced_is_a_conflict_or_refused(path: Path, instead: Callable[[Path], object]) -> None:
    path.unlink()
    instead(path)
    with pytest.raises(EditError):
        write(path)


def test_a_change_while_the_new_file_is_written_is_noticed(path: Path) -> None:
    def look_again() -> None:
        path.write_bytes(b"[t]\nbatch_size = 8\n")
        disk._expected(path, "config.ini", digest(OLD))

    with pytest.raises(ConflictError):
        disk._replace(path, NEW, look_again)
    assert (path.read_bytes(), list(path.parent.iterdir())) == (b"[t]\nbatch_size = 8\n", [path])


def test_a_vanished_folder_is_a_conflict(path: Path) -> None:
    shutil.rmtree(path.parent)
    with pytest.raises(ConflictError, match="was removed"):
        write(path)


def test_a_write_protected_file_is_refused(path: Path) -> None:
    path.chmod(0o444)
    with pytest.raises(EditError, match=r"is write-protected; chmod u\+w"):
        write(path)
    assert path.read_bytes() == OLD


def test_an_edit_that_does_not_fit_leaves_the_file(path: Path) -> None:
    with pytest.raises(EditError, match="is not '64' here"):
        write(path, BACK)
    assert (path.read_bytes(), list(path.parent.iterdir())) == (OLD, [path])


def test_a_full_disk_leaves_the_file_and_no_other(path: Path) -> None:
    def on_full_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # writing beyond it fails as on a full disk
        write(path)

    assert status_of(in_child(on_full_disk)) == REFUSED
    assert (path.read_bytes(), list(path.parent.iterdir())) == (OLD, [path])


def test_a_read_only_folder_leaves_the_file(open_folder: Path) -> None:
    path = open_folder / "config.ini"
    path.write_bytes(OLD)
    path.chmod(0o666)
    open_folder.chmod(0o555)

    def as_nobody() -> None:
        if os.geteuid() == 0:  # permissions do not bind root
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        write(path)

    assert status_of(in_child(as_nobody)) == REFUSED
    assert (path.read_bytes(), list(open_folder.iterdir())) == (OLD, [path])


@pytest.mark.parametrize("failure", [KeyboardInterrupt, SystemExit, OSError])
def test_an_interrupt_or_failure_in_between_removes_the_new_file(path: Path, failure: type[BaseException]) -> None:
    def fail() -> None:
        assert len(list(path.parent.iterdir())) == 2
        raise failure

    with pytest.raises(failure):
        disk._replace(path, NEW, fail)
    assert (path.read_bytes(), list(path.parent.iterdir())) == (OLD, [path])


def test_kill_at_any_instant_leaves_the_old_or_the_new_file(path: Path) -> None:
    def back_and_forth() -> None:
        while True:
            data = path.read_bytes()
            write(path, EDIT if data == OLD else BACK, data)

    rng, seen = random.Random(7), set()
    for _ in range(60):
        inode, patience = path.stat().st_ino, time.monotonic() + 5
        child = in_child(back_and_forth)
        while path.stat().st_ino == inode and time.monotonic() < patience:  # until the first write
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        assert status_of(child) == -signal.SIGKILL
        assert path.read_bytes() in (OLD, NEW)
        seen.add(path.read_bytes())
    assert seen == {OLD, NEW}
    write(path, EDIT if path.read_bytes() == OLD else BACK, path.read_bytes())
    assert list(path.parent.iterdir()) == [path], "what a killed write left is gone after the next one"


def test_leftovers_of_a_killed_write_are_removed(path: Path) -> None:
    def killed() -> None:
        with disk.successor(path, prefix=disk._prefix(path.parent)):
            os.kill(os.getpid(), signal.SIGKILL)

    assert status_of(in_child(killed)) == -signal.SIGKILL
    assert len(list(path.parent.iterdir())) == 2
    write(path)
    assert list(path.parent.iterdir()) == [path]


def test_leftovers_of_others_neither_block_nor_are_deleted(path: Path) -> None:
    """Anything may be called like that: a person's note, a folder, what another user writes or what was copied from elsewhere."""
    others = [path.with_name(f"{disk.TEMPORARY}{name}") for name in ("notes", "folder", "0" * 16 + "-" + "0" * 16)]
    others[1].mkdir()
    for file in (others[0], others[2]):
        file.write_bytes(b"theirs")
    ours = disk._prefix(path.parent)
    folder, link = path.with_name(f"{ours}{'1' * 16}"), path.with_name(f"{ours}{'2' * 16}")
    folder.mkdir()
    link.symlink_to(others[0])
    mine = path.with_name(f"{ours}my-notes")
    mine.write_bytes(b"mine")
    write(path)
    assert path.read_bytes() == NEW
    assert {*path.parent.iterdir()} == {path, *others, folder, link, mine}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can leave a file of another user")
def test_a_leftover_of_another_user_stays(path: Path) -> None:
    leftover = path.with_name(f"{disk._prefix(path.parent)}{'0' * 16}")
    leftover.write_bytes(NEW)
    os.chown(leftover, 12345, 12345)
    write(path)
    assert leftover.exists()


def test_a_link_out_of_the_project_is_refused(path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "config.ini"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    with pytest.raises(EditError, match=r"a link leads to .*elsewhere.*; name that file itself on the command line") as refused:
        write(path)
    assert (refused.value.code, elsewhere.read_bytes(), path.is_symlink()) == ("JPO-E225", OLD, True)


def test_what_cannot_be_kept_is_named_and_the_file_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(old: Path, new: int) -> None:
        raise NotKept(("its ACL", "the attribute user.team"), old)

    monkeypatch.setattr("jpo.files.writer.hand_on", lose)
    with pytest.raises(EditError, match=r"would not keep its ACL, the attribute user\.team; let its owner run jpo") as refused:
        write(path)
    assert (refused.value.code, path.read_bytes(), list(path.parent.iterdir())) == ("JPO-E224", OLD, [path])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file immutable")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_an_immutable_file_or_folder_is_named(path: Path, what: str) -> None:
    fixed = path if what == "file" else path.parent
    if subprocess.run(["chattr", "+i", str(fixed)], capture_output=True, check=False).returncode:
        pytest.skip("chattr +i is not possible on this file system")
    try:
        with pytest.raises(EditError, match=f"{fixed} has the attribute i, immutable.*; chattr -i {fixed}"):
            write(path)
    finally:
        subprocess.run(["chattr", "-i", str(fixed)], check=True)
    assert (path.read_bytes(), list(path.parent.iterdir())) == (OLD, [path])


def test_another_name_of_the_file_is_told_and_keeps_the_old_content(path: Path) -> None:
    assert disk.caveats(path) == disk.caveats(path.with_name("no file")) == ()
    other = path.with_name("other.ini")
    os.link(path, other)
    (told,) = disk.caveats(path)
    assert (told.text.partition(" has ")[2][:21], told.code) == ("2 names (hard links):", "JPO-W224")
    write(path)
    assert (path.read_bytes(), other.read_bytes()) == (NEW, OLD)


def test_of_many_writers_at_once_exactly_one_wins(path: Path) -> None:
    children = [in_child(lambda n=n: write(path, Edit("t.batch_size", 2, "32", str(n)))) for n in range(100, 108)]
    statuses = sorted(status_of(child) for child in children)
    assert statuses == [DONE] + [CONFLICT] * 7
    assert list(path.parent.iterdir()) == [path]


def test_a_writer_waits_for_its_turn_and_gives_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "LOCK_SECONDS", 0.1)
    with disk._turn(path.parent, "x"), pytest.raises(ConflictError, match="has locked its folder"):
        write(path)
    write(path)
    assert path.read_bytes() == NEW


def test_what_was_written_can_be_read_by_the_next_one(path: Path) -> None:
    write(path)
    write(path, BACK, NEW)
    assert path.read_bytes() == OLD
