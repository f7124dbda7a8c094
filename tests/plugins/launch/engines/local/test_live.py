from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
from followed_runs import real_cgroup

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.local.live import LiveProcesses, own_cgroup


@pytest.fixture
def busy():  # type: ignore[no-untyped-def]
    with subprocess.Popen([sys.executable, "-S", "-c", "held = bytearray(b'x') * 30_000_000\nwhile True: pass"]) as process:
        yield process
        process.kill()


def test_samples_are_what_the_processes_use(busy: subprocess.Popen[bytes]) -> None:
    live = LiveProcesses("run-1", lambda: [busy.pid], time.time)
    assert live.samples() == ()
    until = time.monotonic() + 60
    cores = size = 0.0
    while time.monotonic() < until and not (cores and size > 3e7):
        time.sleep(0.2)
        ((_, cores, size),) = live.samples() or ()
    assert 0 < cores < 2
    assert size > 3e7


def test_one_without_processes_has_ended() -> None:
    assert LiveProcesses("run-1", list, time.time).samples() is None


def test_its_request_cannot_be_changed_where_it_shares_a_cgroup(busy: subprocess.Popen[bytes]) -> None:
    live = LiveProcesses("run-1", lambda: [busy.pid], time.time)
    assert live.cgroup is None
    with pytest.raises(LaunchError, match=r"shares its cgroup.*Delegate=yes"):
        live.give((1.0, 1e9))
    assert live.held() == live.first


def test_a_cgroup_of_its_own_is_found(busy: subprocess.Popen[bytes]) -> None:
    with real_cgroup(f"jpo-live-{os.getpid()}") as found:
        if found is None:
            pytest.skip("no cgroup with CPU and memory can be made here")
        folder, folders = found
        for each in folders:
            (each / "cgroup.procs").write_text(str(busy.pid))
        assert own_cgroup([busy.pid]) == folder
        assert own_cgroup([busy.pid, os.getpid()]) == folder
        assert own_cgroup([os.getpid(), busy.pid]) is None
        busy.kill()
        busy.wait()
        time.sleep(0.2)
