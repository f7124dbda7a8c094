"""Supervisor of the team's checker: a small process between JPO and a program that the branch under review names.

    python -I -S supervisor.py ANSWER PROGRAM ARGUMENT...

ANSWER is a descriptor on which one line goes back: `exited 7`, `signalled 11`, or `refused 2` (errno: it cannot be started). When
standard input closes, because time is up or JPO is dead, everything that the checker started ends, also what has left its
group of processes; so it does when the checker ends.

JPO's environment may hold tokens, and a program may read environment and memory of other processes of its user. This process has
not got JPO's environment, and takes from itself and its children the right to look into other processes: by Landlock where the
kernel has it, and by giving up the capabilities that root has for it. Standard library only, and little of it.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

PR_SET_PDEATHSIG, PR_GET_DUMPABLE, PR_SET_DUMPABLE = 1, 3, 4
PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 24, 36, 38
"""linux/prctl.h."""
TO_LOOK = {
    "SYS_MODULE": 16,
    "SYS_RAWIO": 17,
    "SYS_PTRACE": 19,
    "SYS_ADMIN": 21,
    "PERFMON": 38,
    "BPF": 39,
    "CHECKPOINT_RESTORE": 40,
}
"""Capabilities by which root reads other processes no matter what else holds; linux/capability.h."""
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""System calls of Landlock, the same on all architectures but Alpha."""
ASK_VERSION, PATH_BENEATH, REFER = 1, 1, 1 << 13
FIRST_WITH_REFER = 2
"""Version of Landlock from which on files can still be moved between folders under it."""
POLL_SECONDS = 0.02


@contextmanager
def out_of_sight() -> Iterator[None]:
    """Let no other process of this user read this one's environment and memory meanwhile, as far as the system can."""
    before = _prctl(PR_GET_DUMPABLE)
    _prctl(PR_SET_DUMPABLE, 0)
    try:
        yield
    finally:
        _prctl(PR_SET_DUMPABLE, before)


def main(answer: int, command: Sequence[str]) -> None:
    """Run the command until it ends or JPO does; all that is left of it ends with it."""
    os.set_inheritable(answer, False)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    with out_of_sight():
        give_up_looking()
        ended = watched(command)
        end_all()
        with suppress(OSError):  # JPO does not listen any more
            os.write(answer, ended.encode())


def give_up_looking() -> None:
    """Give up, for this process and all it starts, the right to look into processes outside: as far as the kernel can."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    for capability in TO_LOOK.values():
        _prctl(PR_CAPBSET_DROP, capability)
    if _system_call(CREATE_RULESET, None, 0, ASK_VERSION) < FIRST_WITH_REFER:
        return
    right = struct.pack("Q", REFER)  # a ruleset must be about something: this one allows it everywhere
    ruleset, root = _system_call(CREATE_RULESET, right, len(right), 0), os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    if _system_call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", REFER, root), 0) == 0:
        _system_call(RESTRICT_SELF, ruleset, 0)
    os.close(root)
    os.close(ruleset)


def watched(command: Sequence[str]) -> str:
    """How the command ended; "" when JPO hung up before."""
    ready, failed = os.pipe()  # closed by exec; a number in it says why there was none
    child = os.fork()
    if not child:
        become(command, failed)
    os.close(failed)
    reason = os.read(ready, 16)
    os.close(ready)
    if reason:
        os.waitpid(child, 0)
        return f"refused {reason.decode()}"
    while not select.select([0], [], [], POLL_SECONDS)[0]:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            return f"exited {code}" if code >= 0 else f"signalled {-code}"
    return ""


def become(command: Sequence[str], failed: int) -> None:
    """Turn this child into the command; it dies with the supervisor."""
    try:
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in signal.valid_signals() - {
            signal.SIGKILL,
            signal.SIGSTOP,
        }:  # Python and nohup ignore some
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.execvp(command[0], [*command])  # noqa: S606 - no shell
    except OSError as error:
        os.write(failed, str(error.errno).encode())
    finally:
        os._exit(127)


def end_all() -> None:
    """Kill every descendant: whoever loses its parent becomes a child of this process, so at last none is left."""
    while sys.platform == "linux":  # elsewhere, JPO kills the process group
        for child in children():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def children() -> list[int]:
    """Processes whose parent this one is."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):  # noqa: PTH208 - pathlib takes longer to import than this to run
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            if int(file.read().rpartition(b")")[2].split()[1]) == os.getpid():
                found.append(int(name))
    return found


def _prctl(option: int, value: int = 0) -> int:
    if sys.platform != "linux":
        return 0
    nothing = ctypes.c_ulong(0)
    return int(ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), nothing, nothing, nothing))


def _system_call(number: int, *arguments: int | bytes | None) -> int:
    """The result of a system call that libc has no name for; -1 when it failed."""
    if sys.platform != "linux":
        return -1
    return int(ctypes.CDLL(None).syscall(*(ctypes.c_long(a) if isinstance(a, int) else a for a in (number, *arguments))))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
