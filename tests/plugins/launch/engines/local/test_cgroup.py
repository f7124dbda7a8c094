"""A run's own cgroup: what it takes to have one, on a tree of files; then the real kernel, wherever one can be made."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jpo.inventory.machine import Machine
from jpo.plugins.launch.engines.local import cgroup
from jpo.plugins.launch.engines.local.launcher import LocalLauncher
from jpo.plugins.launch.engines.local.state_file import read_state
from jpo.plugins.launch.job import JobStatus, LaunchJob, Needs
from jpo.records import Identity, RunStatus

HIDES = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-S", "-c", "import time; time.sleep(60)"], {})
    os._exit(0)
os.wait()
time.sleep(60)
"""
"""Leaves a process behind that carries no mark and has no parent of the run."""
HUNGRY = "held = bytearray(b'x') * 200_000_000; import time; time.sleep(60)"
READS = """
import sys, time
held, file = bytearray(b'x') * 30_000_000, open(sys.argv[1], 'wb')
file.write(held * 2)
time.sleep(2)
"""
SPINS = "import time; end = time.time() + 3\nwhile time.time() < end: pass"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What a container sees that was given a cgroup of its own."""
    (tmp_path / "cgroup").mkdir()
    for name, text in {"controllers": "cpu io memory\n", "events": "populated 1\n", "procs": "", "subtree_control": ""}.items():
        (tmp_path / "cgroup" / f"cgroup.{name}").write_text(text)
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "cgroup").write_text("1:name=systemd:/x\n0::/\n")
    return tmp_path


def why_not(tree: Path) -> str:
    found, why = cgroup.delegated(tree / "cgroup", tree / "proc", tree / "systemd")
    assert (found is None) == bool(why)
    return why


def test_a_container_with_a_cgroup_that_it_can_write_is_delegated_one(tree: Path) -> None:
    assert cgroup.delegated(tree / "cgroup", tree / "proc", tree / "systemd") == (tree / "cgroup", "")


def test_who_was_moved_into_the_leaf_finds_the_one_above(tree: Path) -> None:
    (tree / "proc" / "cgroup").write_text(f"0::/{cgroup.LEAF}\n")
    assert cgroup.delegated(tree / "cgroup", tree / "proc", tree / "systemd")[0] == tree / "cgroup"


def test_why_there_is_none_is_said(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "cgroup" / "cgroup.events").unlink()
    assert "root of all cgroups" in why_not(tree)
    (tree / "cgroup" / "cgroup.controllers").write_text("hugetlb\n")
    assert "no memory controller" in why_not(tree)
    (tree / "proc" / "cgroup").write_text("4:memory:/x\n")
    assert "no cgroups of version 2" in why_not(tree)


def test_what_cannot_be_written_is_not_delegated(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda file, _mode: file.name != "cgroup.subtree_control")
    assert "cannot be written" in why_not(tree)


def test_what_systemd_manages_is_left_alone_unless_it_delegated_it_or_one_above(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "cgroup").rename(tree / "app.scope")
    (tree / "cgroup").mkdir()
    (tree / "app.scope").rename(tree / "cgroup" / "app.scope")
    (tree / "proc" / "cgroup").write_text("0::/app.scope\n")
    assert why_not(tree) == ""
    (tree / "systemd").mkdir()
    assert "systemd manages it" in why_not(tree)
    monkeypatch.setattr(os, "listxattr", lambda folder: ["user.delegate"] if folder.name == "cgroup" else [])
    assert why_not(tree) == ""


def test_limits_are_the_kernels_own_units(tmp_path: Path) -> None:
    for file in ("memory.max", "memory.oom.group", "cpu.max"):
        (tmp_path / file).touch()
    cgroup.limit(tmp_path, Needs(cpus=0.5, memory_gib=1.5))
    assert (tmp_path / "memory.max").read_text() == "1610612736"
    assert (tmp_path / "memory.oom.group").read_text() == "1"
    assert (tmp_path / "cpu.max").read_text() == "50000 100000"


def test_a_cgroup_that_takes_no_limit_is_not_left_behind(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "delegated", lambda *_: (tree / "cgroup", ""))
    assert cgroup.made("1", Needs(memory_gib=1.0)) is None
    assert not (tree / "cgroup" / "jpo-run-1").exists()
    monkeypatch.setattr(cgroup, "delegated", lambda *_: (None, "why"))
    assert cgroup.made("1", Needs()) is None


def test_of_the_peak_and_of_now_the_cache_of_files_is_no_need_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    (tmp_path / "memory.stat").write_text("anon 50\nfile 40\nshmem 10\n")
    (tmp_path / "memory.current").write_text("100\n")
    assert cgroup.used(tmp_path, 0) == (1.5, 70, 100)
    (tmp_path / "memory.peak").write_text("500\n")
    assert cgroup.used(tmp_path, 400) == (1.5, 470, 500)
    assert cgroup.used(tmp_path, 500) == (1.5, 70, 500)


def test_the_cgroup_of_a_run_is_found_by_its_token_alone(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "HERE", (tree, tree, tree))
    (tree / "cgroup").rename(tree / "jpo-run-t")
    (tree / "jpo-run-t").rename(tree / "proc" / "jpo-run-t")
    assert cgroup.found("t") == tree / "proc" / "jpo-run-t"
    for token in ("*", "?", "", "run-t"):
        assert cgroup.found(token) is None


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A new cgroup of the kernel's, as if it had been delegated; the controllers of JPO where they can be had, else any."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    root = next((Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"), None)
    folder = Path(f"{root}/jpo-test-{os.getpid()}")
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup can be made here: {error}")
    there = (folder / "cgroup.controllers").read_text().split()
    if "memory" not in there:  # version 1 has it: any other one shows by which rules they are handed down
        monkeypatch.setattr(cgroup, "CONTROLLERS", tuple(there[:1]))
    monkeypatch.setattr(cgroup, "HERE", (root, Path("/proc/self"), Path("/run/systemd/system")))
    monkeypatch.setattr(cgroup, "delegated", lambda *_: (folder, ""))
    yield folder
    assert cgroup.ended(folder)


class Runs:
    """Runs of this machine; `needs` are limits only where the kernel takes them."""

    def __init__(self, folder: Path) -> None:
        here = Machine((), "", 4.0, 4, "", 8.0, 8.0)
        self.folder = folder
        self.launcher = LocalLauncher(folder, lambda: here, os.environ, detached=True, leases_in=folder / "leases")

    def start(self, code: str, needs: Needs | None = None) -> str:
        (self.folder / "run-1").mkdir()
        command = (sys.executable, "-S", "-c", code, str(self.folder / "file"))
        job = LaunchJob("run-1", Identity("digits", "cnn", "pytorch"), command, self.folder, needs=needs or Needs())
        return self.launcher.submit(job, self.folder / "run-1")

    def end(self, engine_id: str) -> JobStatus:
        until(lambda: self.launcher.status(engine_id).over)
        return self.launcher.status(engine_id)


def until(true: Callable[[], object]) -> None:
    for _ in range(1200):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("it did not become true")


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_bytes().rpartition(b")")[2].split()[0] != b"Z"


def inside(folder: Path) -> list[int]:
    found = next(folder.glob("jpo-run-*"), None)
    return [*map(int, (found / "cgroup.procs").read_text().split())] if found else []


@pytest.mark.parametrize("at_once", [True, False], ids=["cgroup.kill", "before Linux 5.14"])
def test_what_hides_from_its_run_ends_once_the_lost_run_is_settled(
    tmp_path: Path, real: Path, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(tmp_path)
    engine_id = runs.start(HIDES)
    until(lambda: len(inside(real)) == 2 and not Path(f"/proc/{inside(real)[-1]}/environ").read_bytes())
    hidden, state = inside(real)[-1], read_state(tmp_path / "run-1")
    assert state is not None
    assert state.supervisor is not None
    os.kill(state.supervisor, signal.SIGKILL)
    until(lambda: inside(real) == [hidden])  # its first process died with the supervisor
    if not at_once:
        write = cgroup._write
        monkeypatch.setattr(cgroup, "_write", lambda file, text: write(file.with_name(file.name.replace("kill", "none")), text))
    end = runs.end(engine_id)
    assert "lost" in end.reason
    assert not alive(hidden)
    assert not list(real.glob("jpo-run-*"))


def test_a_run_that_ends_leaves_no_cgroup_and_its_cpu_time_is_the_kernels(tmp_path: Path, real: Path) -> None:
    runs = Runs(tmp_path)
    end = runs.end(runs.start("sum(range(10**7))"))
    assert end.ended_as is RunStatus.SUCCEEDED
    assert end.cpu_seconds is not None
    assert end.cpu_seconds > 0.05
    until(lambda: not list(real.glob("jpo-run-*")))


def test_who_is_in_the_delegated_cgroup_is_moved_into_a_leaf_so_that_it_hands_controllers_down(real: Path) -> None:
    if not cgroup.CONTROLLERS:
        pytest.skip("no controller of cgroup version 2 here is handed down")
    with subprocess.Popen(["sleep", "60"]) as process:
        cgroup.enter(real, process.pid)
        with pytest.raises(OSError, match=os.strerror(errno.EBUSY)):
            cgroup._write(real / "cgroup.subtree_control", f"+{cgroup.CONTROLLERS[0]}")
        folder = cgroup.made("1", Needs())
        assert folder is not None
        assert cgroup.CONTROLLERS[0] in (folder / "cgroup.controllers").read_text()
        assert (real / cgroup.LEAF / "cgroup.procs").read_text().split() == [str(process.pid)]
        process.kill()


@pytest.fixture
def limited(real: Path) -> Path:
    if "memory" not in cgroup.CONTROLLERS:
        pytest.skip("memory is of cgroup version 1 here")
    return real


def test_memory_beyond_the_request_ends_the_run_and_nothing_is_guessed(tmp_path: Path, limited: Path) -> None:
    runs = Runs(tmp_path)
    end = runs.end(runs.start(HUNGRY, Needs(memory_gib=0.1)))
    assert end.ended_as is RunStatus.OOM_KILLED
    assert "the kernel killed it" in end.reason
    assert end.memory_gib == pytest.approx(0.1, rel=0.1)


def test_files_that_a_run_reads_are_none_of_its_memory(tmp_path: Path, limited: Path) -> None:
    runs = Runs(tmp_path)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # what lies in a tmpfs is memory
        end = runs.end(runs.start(f"import sys; sys.argv[1] = {folder + '/file'!r}\n{READS}", Needs(memory_gib=0.5)))
    assert end.ended_as is RunStatus.SUCCEEDED
    assert end.memory_gib is not None
    assert 0.02 < end.memory_gib < 0.12


def test_a_run_gets_no_more_cpu_than_it_asks_for(tmp_path: Path, limited: Path) -> None:
    runs = Runs(tmp_path)
    end = runs.end(runs.start(SPINS, Needs(cpus=0.25)))
    assert end.cpu_seconds is not None
    assert end.ended_at is not None
    assert end.started_at is not None
    assert 0.1 < end.cpu_seconds / (end.ended_at - end.started_at) < 0.4
