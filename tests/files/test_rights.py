"""Rights of a file that is replaced: mode, owner, group, ACL and attributes stay, or it is not replaced."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jpo.errors import UsageError
from jpo.files import NotKept, rights, successor, whole

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to someone else")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that an unprivileged user reaches, too: pytest's own belong to root alone."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def file(folder: Path, setfacl: str) -> Path:
    """A file on a file system that has ACLs and attributes."""
    file = folder / "config.ini"
    file.write_bytes(b"old")
    try:
        os.setxattr(file, "user.jpo", b"1")
    except OSError as error:
        pytest.skip(f"the file system of {folder} has no attributes: {error.strerror}")
    if (done := subprocess.run([setfacl, "-m", "u:1:r", str(file)], capture_output=True, text=True, check=False)).returncode:
        pytest.skip(f"the file system of {folder} has no ACLs: {done.stderr.strip()}")
    return file


def replace(file: Path, content: bytes = b"new") -> None:
    with successor(file) as new:
        new.write(content)


def anew(file: Path) -> None:
    file.unlink(missing_ok=True)
    file.write_bytes(b"old")


def all_of(file: Path) -> tuple[object, ...]:
    """Everything that a file has besides its content."""
    found = file.stat()
    acl = subprocess.run(["getfacl", "-cpnE", str(file)], capture_output=True, text=True, check=True).stdout
    attributes = {name: os.getxattr(file, name) for name in os.listxattr(file)}
    return stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, acl, attributes


NAMES = st.text("abcdefghij.-_", min_size=1, max_size=12).map(lambda text: f"user.{text}")
ENTRIES = st.tuples(st.sampled_from("ug"), st.integers(1, 60000), st.sampled_from(["r", "rw", "rwx", "-"]))


@settings(max_examples=40)
@given(
    mode=st.integers(0, 0o777).map(lambda mode: mode | 0o200),
    entries=st.lists(ENTRIES, max_size=4, unique_by=lambda entry: entry[:2]),
    attributes=st.dictionaries(NAMES, st.binary(max_size=60), max_size=4),
    owner=st.sampled_from([(-1, -1), (12345, 54321)]),
)
def test_whatever_a_file_has_its_successor_has(
    file: Path,
    mode: int,
    entries: list[tuple[str, int, str]],
    attributes: dict[str, bytes],
    owner: tuple[int, int],
) -> None:
    anew(file)
    os.chown(file, *owner if os.geteuid() == 0 else (-1, -1))
    file.chmod(mode)
    if entries:
        subprocess.run(
            ["setfacl", "-m", ",".join(f"{who}:{number}:{may}" for who, number, may in entries), str(file)], check=True
        )
    for name, value in attributes.items():
        os.setxattr(file, name, value)
    before = all_of(file)
    replace(file)
    assert (all_of(file), file.read_bytes()) == (before, b"new")


def test_what_a_folder_hands_down_is_not_added(file: Path) -> None:
    inner = file.parent / "with default ACL"
    inner.mkdir()
    plain = inner / "config.ini"
    plain.write_bytes(b"old")
    subprocess.run(["setfacl", "-d", "-m", "u:12345:rwx", str(inner)], check=True)
    before = all_of(plain)
    replace(plain)
    assert all_of(plain) == before
    with whole(inner / "result.json") as new:
        new.write(b"{}")
    (inner / "as any program").write_bytes(b"{}")
    assert all_of(inner / "result.json") == all_of(inner / "as any program")


def as_user(number: int, file: Path) -> str:
    """What comes of a replacement by another user: "" or what is not kept."""
    reading, writing = os.pipe()
    if not (child := os.fork()):
        try:
            os.setgroups([])
            os.setgid(number)
            os.setuid(number)
            replace(file)
        except NotKept as error:
            os.write(writing, str(error.strerror).encode())
        except OSError as error:
            os.write(writing, f"error: {error.strerror}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with open(reading, "rb") as answer:  # noqa: PTH123 - it is a descriptor
        return answer.read().decode()


@root_only
@pytest.mark.parametrize(
    ("mode", "acl", "lost"),
    [
        (0o666, None, ""),  # nobody loses anything: the checkout of a GitLab runner
        (0o644, None, "error: is write-protected"),  # it may be read, not written
        (0o646, None, "replacing it would not keep its group (gid 54321)"),
        (0o666, "u:4711:rw", "replacing it would not keep its group (gid 54321)"),
        (0o600, "u:4711:rw", "replacing it would not keep its owner (uid 12345), its group (gid 54321)"),
    ],
)
def test_another_owner_loses_nothing_or_the_file_stays(file: Path, mode: int, acl: str | None, lost: str) -> None:
    anew(file)
    os.chown(file, 12345, 54321)
    file.chmod(mode)
    if acl:
        subprocess.run(["setfacl", "-m", acl, str(file)], check=True)
    before = all_of(file)
    assert as_user(4711, file) == lost
    if lost:
        assert (all_of(file), file.read_bytes()) == (before, b"old")
    assert [path.name for path in file.parent.glob(".jpo-*")] == []


@root_only
def test_an_attribute_that_only_root_can_set_is_named(file: Path) -> None:
    anew(file)
    os.chown(file, 4711, 4711)
    os.setxattr(file, "security.capability", bytes.fromhex("0100000202000000000000000000000000000000"))
    assert as_user(4711, file) == "replacing it would not keep the attribute security.capability"
    assert file.read_bytes() == b"old"


def test_a_file_system_without_attributes_is_no_hindrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: object) -> list[str]:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(rights.os, "listxattr", unsupported)
    file = tmp_path / "config.ini"
    file.write_bytes(b"old")
    file.chmod(0o640)
    replace(file)
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", 0o640)


def test_a_result_that_cannot_keep_its_rights_is_an_error_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "result.json"
    file.write_bytes(b"old")

    def lose(old: Path, new: int) -> None:
        raise NotKept(("its ACL",), old)

    monkeypatch.setattr("jpo.files.writer.hand_on", lose)
    with pytest.raises(UsageError, match=r"result.json: cannot be written \(replacing it would not keep its ACL\)"), whole(file):
        pass
    assert file.read_bytes() == b"old"


def test_signatures_of_the_content_are_left_to_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.ini"
    file.write_bytes(b"old")
    monkeypatch.setattr(rights.os, "listxattr", lambda _: ["security.ima"])
    replace(file)
    assert file.read_bytes() == b"new"


@root_only
def test_a_file_that_must_not_change_is_recognised(tmp_path: Path) -> None:
    file = tmp_path / "config.ini"
    file.write_bytes(b"old")
    assert not rights.immutable(file)
    if subprocess.run(["chattr", "+i", str(file)], capture_output=True, check=False).returncode:
        pytest.skip("chattr +i is not possible on this file system")
    try:
        assert rights.immutable(file)
    finally:
        subprocess.run(["chattr", "-i", str(file)], check=True)
    assert not rights.immutable(tmp_path / "no file")
