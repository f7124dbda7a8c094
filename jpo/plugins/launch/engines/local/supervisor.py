"""Supervisor of one run: a process of its own that starts the command, holds it to its limits and ends all that it leaves behind.

    python -I -c ... ROOT OWNER      OWNER: a descriptor; lock and leases are held by being open. The order comes on
                                     standard input, and what came of it goes to standard output

It adopts whatever the command's processes leave behind, so that everything below it is the run's. When OWNER closes, because the
process that launched the run is dead, the run is ended. SIGTERM cancels it. Killed itself, its command dies with it (Linux), and
whoever asks next finds the rest by its mark. Standard library only, of JPO only its own folder's modules.
"""

import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.local import cgroup, processes
from jpo.plugins.launch.engines.local.leases import give_back
from jpo.plugins.launch.engines.local.output import RunOutput
from jpo.plugins.launch.engines.local.state_file import RunEnd, RunState, read_state, write_state
from jpo.plugins.launch.exits import in_words
from jpo.records import RunStatus

TICK_SECONDS = 0.25
"""How often limits are looked at, and processes counted."""
RENEWAL_SECONDS = 2.0
"""How often the state is renewed: after several of these without, a supervisor elsewhere counts as gone."""
REST_SECONDS = 3.0
"""How long what the command leaves behind may take to end by itself when it is asked to."""
STUCK_SECONDS = 60.0
"""After which what does not end is left: it waits for a disk that does not answer, or became another user's."""
STARTED = b"started\n"
BYTES_PER_GIB = 2.0**30
KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)
"""Exit of a process that the kernel ended, and of a shell whose last one was."""


@dataclass(frozen=True, slots=True)
class Order:
    """Order: what a supervisor is to start, and what it is held to.

    It passes through a pipe, never through a file: the environment of a job may hold secrets.

    Attributes:
        folder: of the run in the ledger.
        environment: all of it.
        cpus: numbers of those that it is bound to; empty: to none.
        leases: descriptors of what it holds; given back before its end is written down.
        longest_seconds, most_gib: beyond which it is ended; None: never.
        grace_seconds: between asking it to end and ending it.
        group: a cgroup of its own, with its limits; None: it is held to them here.
    """

    command: tuple[str, ...]
    folder: Path
    start_in: Path
    environment: Mapping[str, str]
    cpus: tuple[int, ...] = ()
    leases: tuple[int, ...] = ()
    longest_seconds: float | None = None
    most_gib: float | None = None
    grace_seconds: float = 10.0
    group: Path | None = None


def packed(order: Order) -> bytes:
    return json.dumps(asdict(order), default=str).encode()


def unpacked(sent: bytes) -> Order:
    found = json.loads(sent)
    paths = {name: Path(found[name]) for name in ("folder", "start_in")}
    lists = {name: tuple(found[name]) for name in ("command", "cpus", "leases")}
    group = found["group"] and Path(found["group"])
    return Order(**{**found, **paths, **lists, "group": group})


@dataclass(slots=True)
class Supervision:
    """One run as its supervisor sees it.

    Attributes:
        state: as it stands on disk.
        exit: of the command, negative for a signal; None: it goes on.
        stopping: why it is being ended, and what that makes of it.
        looked: when limits were looked at, how long threads had waited for a CPU until then, and the peak of its cgroup, bytes.
        asked_at: monotonic seconds at which it was asked to end, or at which what it left behind was.
    """

    order: Order
    state: RunState
    output: RunOutput
    pid: int
    began: float
    exit: int | None = None
    stopping: tuple[str, RunStatus] | None = None
    asked_at: float | None = None
    rest_asked_at: float | None = None
    looked: tuple[float, float, int] = (0.0, 0.0, 0)
    renewed: float = 0.0
    wanted: list[str] = field(default_factory=list)


def main() -> None:
    """Take the order, start, answer, and stay until all is over."""
    if os.fork():
        os._exit(0)  # whoever started this process need not wait for it
    processes.adopt_orphans()
    wanted: list[str] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: wanted.append("cancelled"))
    owner = int(sys.argv[1])
    order = unpacked(sys.stdin.buffer.read())
    state = read_state(order.folder)
    assert state is not None, "written by the process that started this one"
    kills, born = processes.oom_kills(order.group), processes.born(os.getpid())
    state = replace(state, supervisor=os.getpid(), born=born, started_at=time.time(), oom_kills=kills)
    write_state(order.folder, state)  # from here on the run counts as begun
    reader, writer = os.pipe()
    try:
        process = _started(order, writer)
    except OSError as error:
        cgroup.ended(order.group)
        write_state(order.folder, replace(state, supervisor=None, born=None, started_at=None))
        _answer(f"{error.strerror}: {error.filename or order.command[0]}\n".encode())
        return
    os.close(writer)
    _answer(STARTED)
    run = Supervision(order, state, RunOutput(reader, order.folder / "output.log"), process.pid, time.monotonic(), wanted=wanted)
    try:
        _watch(run, owner)
    finally:
        _kill(run)  # whatever went wrong here, nothing is left running
    process.returncode = run.exit or 0


def _started(order: Order, output: int) -> subprocess.Popen[bytes]:
    def in_the_child() -> None:
        processes.end_with_parent()
        if order.group is not None:
            cgroup.enter(order.group)
        if order.cpus and hasattr(os, "sched_setaffinity"):  # Linux
            with suppress(OSError):  # one of them was taken away meanwhile
                os.sched_setaffinity(0, order.cpus)

    return subprocess.Popen(  # noqa: S603 - the user's own command, word by word, without a shell
        order.command,
        cwd=order.start_in,
        env=dict(order.environment),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=in_the_child,
    )


def _answer(text: bytes) -> None:
    """Tell who started this process how that went; from then on nothing of it leaves that way."""
    with suppress(OSError):  # it is gone
        os.write(1, text)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _watch(run: Supervision, owner: int) -> None:
    """Go on until the command and all that it left behind are over, then write how it ended."""
    awake, wake = os.pipe()
    for end in (awake, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    watched = [awake, run.output.source, *([owner] if owner >= 0 else [])]
    while not _over(run):
        ready, _, _ = select.select(watched, [], [], TICK_SECONDS)
        if awake in ready:
            with suppress(BlockingIOError):
                os.read(awake, 512)
        _reap(run)  # first: what has ended by itself was not stopped
        if owner in ready:
            watched.remove(owner)
            _stop(run, "the process that launched it ended", RunStatus.STOPPED)
        if run.output.source in ready and not run.output.take():
            watched.remove(run.output.source)
        if run.wanted:
            _stop(run, run.wanted[0], RunStatus.STOPPED)
        if time.monotonic() - run.looked[0] > TICK_SECONDS:
            _hold_to_limits(run)
    run.output.take_rest()
    _close(run)


def _over(run: Supervision) -> bool:
    """Whether command and rest are over; what is left after the command is asked to end, then ended."""
    if run.exit is None:
        return False
    rest = processes.below(os.getpid())
    if not rest:
        return True
    now = time.monotonic()
    if run.rest_asked_at is None:
        run.rest_asked_at = now
        processes.send(rest, signal.SIGTERM)
    elif now - run.rest_asked_at > REST_SECONDS:
        _kill(run)
    return now - run.rest_asked_at > STUCK_SECONDS


def _reap(run: Supervision) -> None:
    """Take in what ended; whatever is not the command itself was left behind."""
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            if pid == run.pid:
                run.exit = os.waitstatus_to_exitcode(status)
                run.state = replace(run.state, ended_at=time.time(), exit=None if run.stopping else run.exit)
                with suppress(LaunchError):  # now: whoever kills this process does not make it a run that is lost
                    write_state(run.order.folder, run.state)


def _hold_to_limits(run: Supervision) -> None:
    """Measure, renew the state, and end what takes too long, too much, or does not end when asked."""
    order, its, before = run.order, processes.below(os.getpid()), run.state.cpu_seconds or 0.0
    used, waited = processes.used_and_waited_seconds(its)
    now = time.monotonic()  # what follows takes long on a busy machine
    memory = processes.memory_bytes(its) / BYTES_PER_GIB
    run.state, peak = _measured(run, memory, used)
    wanted = (run.state.cpu_seconds or 0.0) - before + max(0.0, waited - run.looked[1])
    run.state = replace(run.state, busy_cpus=max(run.state.busy_cpus or 0.0, wanted / (now - run.looked[0])))
    run.looked = now, waited, peak
    if order.most_gib is not None and memory > order.most_gib and run.exit is None and order.group is None:
        words = f"its processes took {memory:.3g} GiB, of {order.most_gib:.3g} that it may"
        _stop(run, words, RunStatus.OOM_KILLED)
        _kill(run)
    if order.longest_seconds is not None and now - run.began > order.longest_seconds:
        _stop(run, f"it took longer than the {order.longest_seconds:g} s that it may", RunStatus.STOPPED)
    if run.asked_at is not None and run.exit is None and now - run.asked_at > order.grace_seconds:
        _kill(run)
    if now - run.renewed > RENEWAL_SECONDS:
        run.renewed = now
        _give_back_cpus(run)
        with suppress(LaunchError):
            write_state(order.folder, run.state)
        run.state = replace(run.state, busy_cpus=0.0)


def _give_back_cpus(run: Supervision) -> None:
    """Give back the leases of CPUs on which the command may no longer run: it was confined, or confined itself."""
    order = run.order
    if order.cpus and run.exit is None:
        with suppress(OSError, AttributeError):  # it has just ended; not Linux
            kept = os.sched_getaffinity(run.pid)
            of_gpus, of_cpus = order.leases[: -len(order.cpus)], order.leases[-len(order.cpus) :]
            held = {number: lease for number, lease in zip(order.cpus, of_cpus, strict=True) if number in kept}
            give_back(lease for number, lease in zip(order.cpus, of_cpus, strict=True) if number not in kept)
            run.order = replace(order, cpus=tuple(held), leases=(*of_gpus, *held.values()))


def _measured(run: Supervision, memory_gib: float = 0.0, seconds: float = 0.0) -> tuple[RunState, int]:
    """The state with these and what has ended of CPU time and memory; of that the largest process counts between two looks.
    A cgroup of its own has both of all, and a peak, in bytes.
    """
    used, peak = resource.getrusage(resource.RUSAGE_CHILDREN), run.looked[2]
    memory_gib, seconds = max(memory_gib, used.ru_maxrss * 1024 / BYTES_PER_GIB), used.ru_utime + used.ru_stime + seconds
    if run.order.group is not None:
        with suppress(OSError):  # it is gone
            seconds, memory, peak = cgroup.used(run.order.group, peak)
            memory_gib = memory / BYTES_PER_GIB
    most = max(memory_gib, run.state.memory_gib or 0.0)
    return replace(run.state, memory_gib=most, cpu_seconds=max(run.state.cpu_seconds or 0.0, seconds)), peak


def _kill(run: Supervision) -> None:
    processes.send(processes.below(os.getpid()), signal.SIGKILL)
    if run.order.group is not None:
        cgroup.kill(run.order.group)


def _stop(run: Supervision, reason: str, ended_as: RunStatus) -> None:
    """Ask the command to end, once; its own processes are asked when it is over, or could not end them in order."""
    if run.stopping is None and run.exit is None:
        run.stopping, run.asked_at = (reason, ended_as), time.monotonic()
        processes.send([run.pid], signal.SIGTERM)


def _close(run: Supervision) -> None:
    assert run.exit is not None, "over"
    end = end_of(run.exit, run.state.oom_kills, run.order.group)
    if run.stopping is not None:
        end = replace(end, reason=run.stopping[0], ended_as=run.stopping[1])
    give_back(run.order.leases)  # whoever sees that it has ended may start the next one
    write_state(run.order.folder, replace(_measured(run)[0], end=end))
    cgroup.ended(run.order.group)


def end_of(exit_: int, kills_before: int | None, group: Path | None) -> RunEnd:
    """How a command ended by itself; `kills_before` it began, the kernel had ended so many processes for want of memory."""
    code = exit_ if exit_ >= 0 else None
    if exit_ == 0:
        return RunEnd(RunStatus.SUCCEEDED, "", code)
    if exit_ in KILLED and kills_before is not None and (processes.oom_kills(group) or 0) > kills_before:
        whose = "for it, or at all, and the kernel" if group else "and"
        return RunEnd(RunStatus.OOM_KILLED, f"the system had no memory left {whose} killed it", code)
    return RunEnd(RunStatus.FAILED, in_words(exit_), code)
