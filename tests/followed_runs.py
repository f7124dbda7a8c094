"""Runs that are followed: in a cgroup of files and virtual time, and in a real one, whose time goes faster."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from kubernetes_cluster import Cluster

from jpo.cost import Prices
from jpo.history import open_store
from jpo.plugins.phases.following.cgroup import Cgroup
from jpo.plugins.phases.story.follow import FollowTerms
from jpo.plugins.phases.traces import CPU, MEMORY, ExecutionTrace, Traces

PRICES = Prices(usd_per_cpu_hour=0.04, usd_per_gib_hour=0.005)


@dataclass
class FileCgroup:
    """A cgroup v2 of files: what a trace needs, slowed down by its cpu.max (`first`), killed above its
    memory.max (`most`); time is virtual.

    `meanwhile`: what happens at which sample besides.
    """

    folder: Path
    trace: ExecutionTrace
    first: str = "350000 100000"
    most: str = "4000000000"
    at: int = 0
    seconds: float = 0.0
    killed: int = 0
    meanwhile: dict[int, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        texts = {
            "cgroup.events": "populated 1\nfrozen 0\n",
            "cpu.max": self.first,
            "memory.high": "max",
            "memory.max": self.most,
        }
        for name, text in {**texts, "memory.stat": "anon 5\ninactive_file 1000\n"}.items():
            (self.folder / name).write_text(f"{text}\n")
        self.now = float(self.trace.times[0])
        self.write()

    def write(self) -> None:
        memory = int(self.trace.values[self.at, 1])
        self.killed += memory > float((self.folder / "memory.max").read_text())
        (self.folder / "cpu.stat").write_text(f"usage_usec {round(self.seconds * 1e6)}\nuser_usec 1\n")
        (self.folder / "memory.current").write_text(f"{memory + 1000}\n")

    def clock(self) -> float:
        return self.now

    def sleep(self, _seconds: float) -> None:
        self.at += 1
        if happens := self.meanwhile.get(self.at):
            happens()  # type: ignore[operator]
        if self.at == len(self.trace.times):
            with suppress(FileNotFoundError):
                (self.folder / "cgroup.events").write_text("populated 0\n")
            return
        quota, period = (self.folder / "cpu.max").read_text().split() if (self.folder / "cpu.max").exists() else ("max", "1")
        most = np.inf if quota == "max" else float(quota) / float(period)
        passed = float(self.trace.times[self.at] - self.trace.times[self.at - 1])
        self.now += passed
        self.seconds += passed * min(most, self.trace.values[self.at, 0])
        if self.folder.exists():
            self.write()

    def terms(self, *, apply: bool = True, store: str = "history.db") -> FollowTerms:
        url = f"sqlite:///{self.folder.parent / store}"
        return FollowTerms(apply, lambda: open_store(url), PRICES, self.clock, self.sleep)


WORK = """
import sys, time
held = bytearray()
for line in sys.stdin:
    seconds, cores, size = map(float, line.split())
    del held[int(size):]
    held.extend(b"x" * (int(size) - len(held)))
    until = time.monotonic() + seconds
    while (now := time.monotonic()) < until:
        slot, used = min(until, now + 0.02), time.process_time() + 0.02 * cores
        while time.process_time() < used and time.monotonic() < slot:
            pass
        time.sleep(max(0.0, slot - time.monotonic()))
"""
"""Uses so many cores and bytes for so many seconds, line by line."""
V1 = ("cpu", "cpuacct", "memory")


class FastCgroup(Cgroup):
    """A real cgroup whose seconds are `speed` as many."""

    speed = 1.0

    def _counters(self) -> tuple[bool, float, float]:
        alive, seconds, memory = super()._counters()
        return alive, seconds * self.speed, memory


@contextmanager
def real_cgroup(name: str) -> Iterator[tuple[Path, list[Path]] | None]:
    """A new cgroup of this machine, and its folders, v1 or v2; None where it lets nobody make one with CPU and memory."""
    root = Path("/sys/fs/cgroup")
    v2 = "memory" in (root / "cgroup.subtree_control").read_text() if (root / "cgroup.subtree_control").exists() else False
    folders = [root / name] if v2 else [root / controller / name for controller in V1]
    made = []
    try:
        for folder in folders:
            folder.mkdir()
            made.append(folder)
        yield folders[-1], folders
    except OSError:
        if len(made) == len(folders):
            raise
        yield None
    finally:
        for folder in made:
            folder.rmdir()


@contextmanager
def working(folders: list[Path], trace: ExecutionTrace, speed: float) -> Iterator[subprocess.Popen[str]]:
    """A process in these cgroups that uses what a trace did, `speed` times as fast."""
    with subprocess.Popen([sys.executable, "-S", "-c", WORK], stdin=subprocess.PIPE, text=True) as process:
        try:
            for folder in folders:
                (folder / "cgroup.procs").write_text(str(process.pid))
            assert process.stdin
            rows = zip(np.diff(trace.times), trace.values[1:], strict=True)
            process.stdin.writelines(f"{seconds / speed} {cores} {size}\n" for seconds, (cores, size) in rows)
            process.stdin.close()
            yield process
        finally:
            process.kill()
            process.wait()
            time.sleep(0.2)


def small(traces: Traces, cores: float, memory_bytes: float) -> Traces:
    """The same traces with other peaks, e.g. such as a small machine has."""
    scale = np.array([cores, memory_bytes]) / traces.stacked.max(0)
    made = (ExecutionTrace(one.name, one.times, one.values * scale) for one in traces.executions)
    return Traces((CPU, MEMORY), tuple(made))


def followed_pod(cpu: str) -> dict[str, Any]:
    """A pod ml/train-0 that runs, with room to grow above its request."""
    resources = {"requests": {"cpu": cpu, "memory": "3Gi"}, "limits": {"cpu": "4", "memory": "4Gi"}}
    return {
        "metadata": {"name": "train-0", "namespace": "ml", "uid": "u1"},
        "spec": {"containers": [{"name": "job", "resources": resources}]},
        "status": {"phase": "Running"},
    }


def measured_pod(
    cluster: Cluster, pod: dict[str, Any], trace: ExecutionTrace, *, interrupted: bool = False
) -> Callable[[float], None]:
    """Each sleep puts a pod's next sample on the cluster's metrics server; then it has ended, or Ctrl-C is pressed."""
    at = iter(range(len(trace.times) + 1))

    def sleep(_seconds: float) -> None:
        n = next(at, len(trace.times))
        if n == len(trace.times):
            if interrupted:
                raise KeyboardInterrupt
            pod["status"]["phase"] = "Succeeded"
            return
        (cores, size), when = trace.values[n], datetime.fromtimestamp(trace.times[n], UTC).isoformat()
        usage = {"cpu": f"{cores * 1e9:.0f}n", "memory": f"{size / 1024:.0f}Ki"}
        cluster.read_only["/apis/metrics.k8s.io/v1beta1/namespaces/ml/pods/train-0"] = {
            "timestamp": when,
            "containers": [{"name": "job", "usage": usage}],
        }

    sleep(0)
    return sleep
