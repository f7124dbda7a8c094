"""A run on this machine as it goes on, for `jpo phases follow`: what its processes use, and the cgroup that is theirs alone."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.local.processes import CGROUPS, memory_bytes, used_and_waited_seconds


class LiveProcesses:
    """The processes of a run, which has this machine. `pids`: those that live now.

    `cgroup`: the folder of one that holds nothing else; None: it shares its own, or there is none.
    """

    pod, first, least = None, (inf, inf), (0.0, 0.0)

    def __init__(self, name: str, pids: Callable[[], Collection[int]], clock: Callable[[], float]) -> None:
        self.name, self._pids, self._clock = name, pids, clock
        self.cgroup = own_cgroup(pids())
        self._before: tuple[float, float] | None = None

    def samples(self) -> Sequence[tuple[float, float, float]] | None:
        pids, now = self._pids(), self._clock()
        if not pids:
            return None
        before, self._before = self._before, (now, used_and_waited_seconds(pids)[0])
        if before is None or now == before[0]:
            return ()
        return ((now, max(0.0, self._before[1] - before[1]) / (now - before[0]), float(memory_bytes(pids))),)

    def held(self) -> tuple[float, float]:
        return self.first

    def give(self, request: tuple[float, float]) -> None:
        finding, remedy = "shares its cgroup with others", "start it in its own: systemd-run --scope -p Delegate=yes TRAIN"
        raise LaunchError(f"run {self.name}", finding, f"{remedy}; or follow it without --apply", code="JPO-E753")


def own_cgroup(pids: Collection[int]) -> Path | None:
    """The folder of the cgroup with memory that these processes have for themselves."""
    with suppress(OSError, StopIteration):
        lines = Path(f"/proc/{next(iter(pids))}/cgroup").read_text(encoding="utf-8").splitlines()
        for _, controllers, group in sorted((line.split(":", 2) for line in lines), key=lambda each: each[1] != "memory"):
            folder = Path(f"{CGROUPS}/{controllers}{group}")
            if controllers in ("memory", "") and group != "/" and folder.is_dir():
                held = {*map(int, (folder / "cgroup.procs").read_text(encoding="ascii").split())}
                return folder if held and held <= {*pids} else None
    return None
