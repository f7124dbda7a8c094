from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jpo.plugins.launch.engines.local import processes
from jpo.plugins.launch.engines.local.processes import (
    below,
    born,
    kill_marked,
    marked,
    memory_bytes,
    oom_kills,
    send_if_born,
    used_and_waited_seconds,
)

FORKS = "import os, time; child = os.fork(); held = bytearray(50_000_000); print('ready', flush=True); time.sleep(60)"


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "JPO_LAUNCH": "token-1"}
    words = [sys.executable, "-c", FORKS]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        for _ in range(2):
            process.stdout.readline()
        yield process
        kill_marked("token-1")


def test_processes_are_found_below_another_and_by_their_mark(parent: subprocess.Popen[bytes]) -> None:
    (child,) = below(parent.pid)
    assert {parent.pid, child} <= set(below(os.getpid()))
    assert sorted(marked("token-1")) == sorted([parent.pid, child])
    assert marked("token-10") == marked("token-") == []


def test_pages_that_several_share_count_once(parent: subprocess.Popen[bytes]) -> None:
    one, two = memory_bytes([parent.pid]), memory_bytes([parent.pid, *below(parent.pid)])
    assert one > 50_000_000
    assert 100_000_000 < two < 2 * one


def test_all_that_is_marked_is_ended(parent: subprocess.Popen[bytes]) -> None:
    assert kill_marked("token-1")
    assert parent.wait() == -signal.SIGKILL


def test_a_signal_reaches_only_the_process_that_was_meant(parent: subprocess.Popen[bytes]) -> None:
    ticks = born(parent.pid)
    assert ticks is not None
    send_if_born(parent.pid, ticks - 1, signal.SIGKILL)
    assert parent.poll() is None
    send_if_born(parent.pid, ticks, signal.SIGKILL)
    assert parent.wait() == -signal.SIGKILL
    send_if_born(2**22 + 1, ticks, signal.SIGKILL)
    assert born(2**22 + 1) is None


def test_the_first_kill_of_a_group_is_seen_on_a_machine_that_has_seen_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
    events = tmp_path / group.lstrip("/") / "memory.events"
    events.parent.mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(processes, "CGROUPS", tmp_path)
    for kills in (0, 1):
        events.write_text(f"low 0\noom_kill {kills}\n")
        assert oom_kills() == kills


def test_the_system_tells_how_often_memory_was_short() -> None:
    assert oom_kills() is None or oom_kills() >= 0  # type: ignore[operator]


def test_what_waits_for_a_cpu_is_counted() -> None:
    one_cpu = f"import os, time; os.sched_setaffinity(0, {{{min(os.sched_getaffinity(0))}}})"
    spins = f"{one_cpu}\nuntil = time.time() + 1\nwhile time.time() < until: pass\nprint(flush=True)\ninput()"
    both = [subprocess.Popen([sys.executable, "-c", spins], stdin=-1, stdout=-1) for _ in range(2)]
    for one in both:
        assert one.stdout is not None
        one.stdout.readline()
    pids = [one.pid for one in both]
    used, waited = used_and_waited_seconds(pids)
    for one in both:
        one.communicate(b"\n")
    assert used > 0
    assert waited > 0.2
    assert used_and_waited_seconds(pids) == (0, 0)
