"""A cgroup as a run that is followed: v2 in its folder, v1 in the folders of its name that each controller has.

cpu.max and memory.high follow (v1: cpu.cfs_quota_us and memory.soft_limit_in_bytes). memory.max stays as it is: what a run
uses above its request is slowed down and reclaimed, and never a reason to kill it, whoever ends before whom.
"""

import errno
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path

from jpo.errors import UsageError
from jpo.plugins.phases.following.follower import UsageSample

CODE = "JPO-E737"
V1 = {"cpu", "cpuacct", "memory"}
UNLIMITED_BYTES = 2.0**60
"""From which on v1 means that there is no limit."""
LEAST_MICROSECONDS = 1000
"""Of a period that the kernel takes as a quota."""


class Cgroup:
    """A cgroup; `clock`: Unix seconds. UsageError JPO-E737: it is none, or, to `apply`, its limits cannot be written."""

    least = (0.0, 0.0)

    def __init__(self, folder: Path, clock: Callable[[], float], *, apply: bool) -> None:
        self.name, self._clock = str(folder), clock
        self._before: tuple[float, float] | None = None
        self._v2 = (folder / "cgroup.events").exists()
        at = dict.fromkeys(V1, folder) if self._v2 else _folders(folder.resolve())
        self._usage = at["cpuacct"] / ("cpu.stat" if self._v2 else "cpuacct.usage")
        self._memory, self._alive = at["memory"], at["memory"] / ("cgroup.events" if self._v2 else "cgroup.procs")
        self._cpu, self._period = at["cpu"] / ("cpu.max" if self._v2 else "cpu.cfs_quota_us"), at["cpu"] / "cpu.cfs_period_us"
        self._high = at["memory"] / ("memory.high" if self._v2 else "memory.soft_limit_in_bytes")
        try:
            self._texts = self._cpu.read_text(), self._high.read_text()
            self.first = self._found = self.held()
            self._counters()
        except (OSError, ValueError, LookupError) as error:
            why = getattr(error, "filename", None) or error
            finding = f"lacks files of a cgroup with CPU and memory ({type(error).__name__}: {why})"
            raise UsageError(self.name, finding, "name its folder, e.g. /sys/fs/cgroup/NAME", code=CODE) from error
        closed = [str(file) for file in (self._cpu, self._high) if not os.access(file, os.W_OK)]
        if apply and closed:
            finding = f"{' and '.join(closed)} cannot be written"
            remedy = "run as its owner, or have it delegated (systemd: Delegate=yes); without --apply nothing is written"
            raise UsageError(self.name, finding, remedy, code=CODE)

    def samples(self) -> Sequence[UsageSample] | None:
        now = self._clock()
        with suppress(OSError, ValueError, LookupError):
            alive, seconds, memory_bytes = self._counters()
            before, self._before = self._before, (now, seconds)
            if not alive:
                return None
            if before is None:
                return ()
            return (UsageSample(now, (seconds - before[1]) / (now - before[0]) if now != before[0] else inf, memory_bytes),)
        return None  # it vanished

    def held(self) -> tuple[float, float]:
        said = self._cpu.read_text().split()
        cores = inf if said[0] in ("max", "-1") else float(said[0]) / float(said[1] if self._v2 else self._period.read_text())
        most = self._memory / ("memory.max" if self._v2 else "memory.limit_in_bytes")
        return cores, min(_bytes(self._high.read_text()), _bytes(most.read_text()))

    def give(self, request: tuple[float, float]) -> None:
        period = int(self._texts[0].split()[1] if self._v2 else self._period.read_text())
        quota = max(LEAST_MICROSECONDS, round(request[0] * period)) if request[0] < inf else "max" if self._v2 else -1
        size = round(request[1]) if request[1] < inf else "max" if self._v2 else -1
        texts = f"{quota} {period}" if self._v2 else str(quota), str(size)
        again = (wanted == found for wanted, found in zip(request, self._found, strict=True))
        for file, text, first, as_found in zip((self._cpu, self._high), texts, self._texts, again, strict=True):
            try:
                file.write_text(first if as_found else text)
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENODEV):  # it vanished
                    finding = f"{file.name} takes no {text} ({error.strerror})"
                    raise UsageError(self.name, finding, "follow it without --apply", code=CODE) from error

    def _counters(self) -> tuple[bool, float, float]:
        """Whether it has processes, CPU seconds so far, and its working set in bytes."""
        said = self._alive.read_text()
        alive = "populated 1" in said if self._v2 else bool(said.strip())
        usage = self._usage.read_text()
        seconds = _of(usage, "usage_usec") * 1e-6 if self._v2 else float(usage) * 1e-9
        current = float((self._memory / ("memory.current" if self._v2 else "memory.usage_in_bytes")).read_text())
        unused = _of((self._memory / "memory.stat").read_text(), "inactive_file" if self._v2 else "total_inactive_file")
        return alive, seconds, max(0.0, current - unused)


def _folders(folder: Path) -> dict[str, Path]:
    """The folder of each controller of v1 for a cgroup that was named by one of them."""
    at = next((at for at, part in enumerate(folder.parts) if V1 & {*part.split(",")}), None)
    root, rest = (folder, ()) if at is None else (Path(*folder.parts[:at]), folder.parts[at + 1 :])
    return {name: root.joinpath(name, *rest) for name in V1}


def _bytes(text: str) -> float:
    value = inf if text.strip() == "max" else float(text)
    return value if value < UNLIMITED_BYTES else inf


def _of(text: str, key: str) -> float:
    found = re.search(rf"^{key} (\d+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0.0
