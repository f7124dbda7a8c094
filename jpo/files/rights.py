"""Rights of a file and what else belongs to it, for the file that replaces it: owner, group, mode, POSIX ACL, attributes.

The rule is that a replacement takes nothing from anyone and gives no one more. Where the system does not let JPO hand something
on, it is an error that names it, but for an owner who loses nothing by it.
"""

import array
import errno
import fcntl
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

ACL = "system.posix_acl_access"
OF_THE_CONTENT = ("security.ima", "security.evm")
"""Signatures of the content, which the kernel makes: on another content they would say that someone tampered with it."""
GET_FLAGS, IMMUTABLE = 0x80086601, 0x00000010
"""FS_IOC_GETFLAGS and FS_IMMUTABLE_FL of linux/fs.h."""


class NotKept(PermissionError):
    """What a file has could not be handed on to the file that was to replace it."""

    def __init__(self, lost: tuple[str, ...], path: Path) -> None:
        super().__init__(errno.EPERM, f"replacing it would not keep {', '.join(lost)}", str(path))


def hand_on(old: Path, new: int) -> None:
    """Give an open file of this process what another one, followed through links, has besides its content.

    NotKept where some of it cannot be kept.
    """
    before = old.stat()
    for uid, gid in ((before.st_uid, before.st_gid), (-1, before.st_gid)):  # owner and group, as far as this process may
        with suppress(OSError):  # not permitted, or a number that this user namespace does not have
            os.fchown(new, uid, gid)
            break
    attributes = _attributes(old)
    lost = [*_hand_on_attributes(attributes, new)]
    os.fchmod(new, stat.S_IMODE(before.st_mode))  # last: a change of the owner clears bits of it
    after = os.fstat(new)
    if stat.S_IMODE(after.st_mode) != stat.S_IMODE(before.st_mode):
        lost.append(f"mode {stat.S_IMODE(before.st_mode):o}")
    lost += _lost_by_ownership(before, after, with_acl=ACL in attributes)
    if lost:
        raise NotKept(tuple(lost), old)


def immutable(path: Path) -> bool:
    """Whether a file or folder has the attribute that `chattr +i` sets; False where a file system has no such thing."""
    flags = array.array("l", [0])
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.ioctl(handle, GET_FLAGS, flags)
    except OSError:
        return False
    finally:
        os.close(handle)
    return bool(flags[0] & IMMUTABLE)


def _lost_by_ownership(before: os.stat_result, after: os.stat_result, *, with_acl: bool) -> Iterator[str]:
    """Owner or group, if with another one someone could do less than before, or others more."""
    mode = before.st_mode
    owner, group, others = (mode >> 6 & 7, mode >> 3 & 7, mode & 7)
    as_others = others if with_acl else group | others  # with an ACL, the bits of the group say what its entries may at most
    if after.st_uid != before.st_uid and owner & ~as_others & 6:
        yield f"its owner (uid {before.st_uid})"
    if after.st_gid != before.st_gid and (group != others or with_acl):
        yield f"its group (gid {before.st_gid})"


def _hand_on_attributes(wanted: Mapping[str, bytes | None], new: int) -> Iterator[str]:
    """Set these attributes and take away others, e.g. an ACL that the folder gave the new file; yields what did not work."""
    if sys.platform == "linux":
        present = _attributes(new)
        for name in present.keys() - wanted.keys():
            with suppress(OSError):  # what did not work is seen below
                os.removexattr(new, name)
        for name, value in wanted.items():
            if value is not None and present.get(name) != value:
                with suppress(OSError):
                    os.setxattr(new, name, value)
        after = _attributes(new)
        gained = [name for name in after.keys() - wanted.keys() if name.startswith("system.")]
        for name in sorted([name for name, value in wanted.items() if value is None or after.get(name) != value] + gained):
            yield "its ACL" if name == ACL else f"the attribute {name}"


def _attributes(file: Path | int) -> dict[str, bytes | None]:
    """Extended attributes, the ACL among them; None for one that must not be read. Empty where there are none."""
    found: dict[str, bytes | None] = {}
    if sys.platform == "linux":
        try:
            names = os.listxattr(file)
        except OSError as error:
            if error.errno in (errno.ENOTSUP, errno.ENOSYS):
                return found
            raise
        for name in names:
            if name not in OF_THE_CONTENT:
                try:
                    found[name] = os.getxattr(file, name)
                except OSError as error:
                    if error.errno != errno.ENODATA:  # which another process has removed meanwhile
                        found[name] = None
    return found
