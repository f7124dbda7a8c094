"""Simulation of a heterogeneous platform: arrivals, ends, and speeds that change while jobs share memory bandwidth.

A job runs at the speed of its slowest processor for its class, divided by the slow-down of being scattered, times what a conflict
of memory bandwidth leaves. Schedulers expect it to end after its requested time at that speed, without conflicts. Whatever
happens at one instant happens before they look: ends first, then arrivals.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from jpo.plugins.cluster.machine.occupancy import NOTHING, Holding, Need, Occupancy, needs
from jpo.plugins.cluster.platform.platform import UNLIMITED, Platform
from jpo.plugins.cluster.workload.demand import DemandTable
from jpo.plugins.cluster.workload.jobs import NEVER, JobTable, Seconds, Whole


class Expansion(NamedTuple):
    """One more task of a job for a while; also what it held from start to end."""

    job: int
    begin: float
    end: float
    holding: Holding


@dataclass(frozen=True, slots=True)
class Schedule:
    """When each job ran, and where.

    Attributes:
        allocations: what each job held from start to end.
        killed: whether it was ended at its requested time.
        expansions: what jobs that were resized held besides; resizes: how often that changed after a start.
        least_tasks: of each job, with its allocation; None: as many as its demand says.
    """

    starts: Seconds
    ends: Seconds
    allocations: tuple[Holding, ...]
    killed: tuple[bool, ...]
    expansions: tuple[Expansion, ...] = ()
    resizes: int = 0
    least_tasks: Whole | None = None

    def stays(self) -> Iterator[Expansion]:
        """Who held what when: the allocation of each job, then its expansions."""
        rows = zip(self.starts.tolist(), self.ends.tolist(), self.allocations, strict=True)
        yield from (Expansion(job, *row) for job, row in enumerate(rows))
        yield from self.expansions


class Simulation:
    """The state of a platform while jobs come and go. discipline.py manages it; an environment steps it by itself."""

    def __init__(self, jobs: JobTable, demand: DemandTable, platform: Platform, *, kill: bool = False) -> None:
        self.jobs, self.platform = jobs, platform
        self.state = Occupancy(platform)
        self.fastest = max(max(kind.speed, *kind.speeds.values(), 0.0) for kind in self.state.types)
        self.need = needs(demand)
        self.classes = demand.classes
        self._speeds: dict[tuple[bool, str], list[float]] = {}  # of processors, by whether GPUs are needed and class
        self._apart = platform.slowdowns.nodes > 1 or platform.slowdowns.clusters > 1
        self.submit = [*jobs.submit_seconds.tolist(), NEVER]
        self.requested: list[float] = jobs.requested_seconds.tolist()
        self._work: list[float] = np.minimum(jobs.run_seconds, jobs.requested_seconds if kill else np.inf).tolist()
        self._whole: list[float] = self._work.copy()
        self.killed = (jobs.run_seconds > jobs.requested_seconds).tolist() if kill else [False] * len(jobs)
        count = len(jobs)
        self.starts, self.ends = [0.0] * count, [NEVER] * count
        self.allocations = [NOTHING] * count
        self.expected = [NEVER] * count  # the end that schedulers expect
        self.running: dict[int, None] = {}  # in the order of starts
        self._due: list[tuple[float, int]] | None = None  # kept from when somebody asks on
        self.coming, self.now = 0, 0.0
        self._ends: list[tuple[float, int, int]] = []  # end, job, version
        self._version = [0] * count
        self._limited = bool(demand.bandwidth_gbps.any()) and any(limit < UNLIMITED for limit in self.state.bandwidth)
        self._limits = self.state.bandwidth.copy()
        self._share = [1.0] * len(self._limits)  # of its speed that each processor has
        self._on: list[dict[int, None]] = [{} for _ in self._limits]
        self._phase, self._phase_left, self._turns = [0] * count, [NEVER] * count, [False] * count
        if self._limited:
            self.state.outlook = self._outlook
        self._speed, self._rate, self._since = [0.0] * count, [0.0] * count, [0.0] * count

    def advance(self, until: float = NEVER) -> tuple[list[int], list[int]]:
        """Go to the next moment at which something happens, and let all of it happen: the jobs that ended, and that came.

        If nothing happens before `until`, nothing does, and the clock is there then.

        Raises StopIteration: nothing will happen any more.
        """
        ends, version = self._ends, self._version
        while ends and ends[0][2] != version[ends[0][1]]:
            heappop(ends)
        now = self.submit[self.coming]
        if ends and ends[0][0] < now:
            now = ends[0][0]
        if until < now:
            self.now = until
            return [], []
        if now == NEVER:
            raise StopIteration
        self.now = now
        ended: list[int] = []
        while ends and ends[0][0] <= now:
            _, job, known = heappop(ends)
            if known == version[job]:
                if self._turns[job]:
                    self._next_phase(job)
                else:
                    ended.append(job)
                    self._end(job)
        begun = self.coming
        while self.submit[self.coming] <= now:
            self.coming += 1
        if ended and self._limited:
            self._share_bandwidth(ended)
        return ended, list(range(begun, self.coming))

    def _end(self, job: int) -> None:
        allocation = self.allocations[job]
        if self._phase[job]:
            self._want(job, 0)
        self.state.take(allocation, self.need[job], sign=-1)
        self.ends[job] = self.now
        del self.running[job]
        if self._due is not None:
            del self._due[bisect_left(self._due, (self.expected[job], job))]
        if self._limited:
            for place, _ in allocation.cores:
                self._on[place].pop(job, None)

    @property
    def due(self) -> Sequence[tuple[float, int]]:
        """The running jobs, each behind the end that schedulers expect, sorted."""
        if self._due is None:
            self._due = sorted((self.expected[job], job) for job in self.running)
        return self._due

    def speeds(self, need: Need, model_class: str) -> list[float]:
        """The speed of each processor for a job of a class; infinite where it does not count: that of CPU cores beside GPUs."""
        known = need.gpus > 0, model_class
        if known not in self._speeds:
            self._speeds[known] = [
                kind.speeds.get(model_class, kind.speed) if gpu or not known[0] else UNLIMITED
                for kind, gpu in zip(self.state.types, self.state.is_gpu, strict=True)
            ]
        return self._speeds[known]

    def speed_on(self, job: int, allocation: Holding) -> float:
        """The speed at which a job would run there without conflicts, relative to the reference."""
        state = self.state
        speeds = self.speeds(self.need[job], self.classes[job])
        if len(speeds) == 1:
            return speeds[0]
        cores = allocation.cores
        slowest = min([speeds[place] for place, _ in cores])
        if self._apart and len(cores) > 1:
            nodes = {state.node[place] for place, _ in cores}
            if len(nodes) > 1:
                scattered = len({state.clusters[node] for node in nodes}) > 1
                slowest /= self.platform.slowdowns.clusters if scattered else self.platform.slowdowns.nodes
        return slowest

    def start(self, job: int, allocation: Holding, speed: float | None = None) -> None:
        """Start a job where it fits. `speed`: that of `speed_on`, where it is known."""
        self.state.take(allocation, self.need[job])
        now = self.now
        if speed is None:
            speed = self.speed_on(job, allocation)
        self.starts[job], self.allocations[job] = now, allocation
        self.expected[job] = now + self.requested[job] / speed
        self.running[job] = None
        if self._due is not None:
            insort(self._due, (self.expected[job], job))
        self._speed[job] = speed
        if not self._limited:
            heappush(self._ends, (now + self._work[job] / speed, job, 0))
            return
        self._rate[job], self._since[job] = 0.0, now
        if phases := self.need[job].phases:
            self._phase_left[job] = phases[0][0]
        for place, _ in allocation.cores:
            self._on[place][job] = None
        self._share_bandwidth([job])

    def _share_bandwidth(self, touched: Sequence[int]) -> None:
        """Find out at which speed jobs go on whose processors jobs have left or joined."""
        self.share_on([self.allocations[job] for job in touched], {job: None for job in touched if job in self.running})

    def share_on(self, held: Iterable[Holding], changed: dict[int, None]) -> None:
        """Find out what the processors of some holdings leave to jobs on them, and go on with those and with `changed` ones."""
        if not self._limited:
            return
        conflict = self.platform.slowdowns.conflict
        for holding in held:
            for place, _ in holding.cores:
                left, limit = self.state.bandwidth[place], self._limits[place]
                share = 1.0 if left >= -1e-9 * limit else (limit / (limit - left) if conflict is None else conflict)
                if share != self._share[place]:
                    self._share[place] = share
                    changed.update(self._on[place])
        for job in changed:
            self._go_on(job)

    def _go_on(self, job: int) -> None:
        """Take account of the work done so far, and when the rest will be done."""
        self._count_done(job)
        self._rate[job] = self._speed[job] * min(self._share[place] for place, _ in self.allocations[job].cores)
        self._version[job] += 1
        self._turns[job] = self._phase_left[job] < self._work[job]
        end = self._since[job] + max(min(self._work[job], self._phase_left[job]), 0.0) / self._rate[job]
        heappush(self._ends, (end, job, self._version[job]))

    def _count_done(self, job: int) -> None:
        """Take account of the work done so far; a job that pauses does none."""
        done = self._rate[job] * max(self.now - self._since[job], 0.0)
        self._work[job] -= done
        self._phase_left[job] -= done
        self._since[job] = max(self._since[job], self.now)

    def resize(self, job: int, before: Holding, after: Holding, *, factor: float, pause_seconds: float) -> None:
        """A running job pauses, then goes on with other devices, which the state knows already.

        `factor`: how much faster its tasks are by then than those it began with, on equal devices.
        """
        self._note_rate(job)
        expected = self.end_with(job, after, factor=factor, pause_seconds=pause_seconds)
        if self._due is not None:
            del self._due[bisect_left(self._due, (self.expected[job], job))]
            insort(self._due, (expected, job))
        self._count_done(job)
        self.expected[job] = expected
        self._since[job] = max(self._since[job], self.now + pause_seconds)
        self.allocations[job], self._speed[job] = after, factor * self.speed_on(job, after)
        if not self._limited:
            self._go_on(job)
            return
        for place, _ in before.cores:
            self._on[place].pop(job, None)
        for place, _ in after.cores:
            self._on[place][job] = None
        self.share_on((before, after), {job: None})

    def end_with(self, job: int, allocation: Holding, *, factor: float, pause_seconds: float) -> float:
        """When schedulers would expect a running job to end if it went on so."""
        self._note_rate(job)
        done = self._rate[job] * max(self.now - self._since[job], 0.0)
        left = self.requested[job] - self._whole[job] + self._work[job] - done
        return max(self._since[job], self.now + pause_seconds) + left / (factor * self.speed_on(job, allocation))

    def _note_rate(self, job: int) -> None:
        """What nobody needs of a job whose speed never changes."""
        if not self._limited and not self._version[job]:
            self._rate[job], self._since[job] = self._speed[job], self.starts[job]

    def wants_gbps(self, job: int) -> float:
        """What each CPU core of a running job wants of memory bandwidth by now."""
        need = self.need[job]
        return need.phases[self._phase[job]][1] if need.phases else need.bandwidth_gbps

    def _next_phase(self, job: int) -> None:
        phases = self.need[job].phases
        phase = (self._phase[job] + 1) % len(phases)
        self._count_done(job)
        self._phase_left[job] = phases[phase][0]
        self._want(job, phase)
        self._share_bandwidth([job])

    def _want(self, job: int, phase: int) -> None:
        phases = self.need[job].phases
        more = phases[phase][1] - phases[self._phase[job]][1]
        self._phase[job] = phase
        self.state.want_more(self.allocations[job], more)

    def _outlook(self, place: int) -> list[tuple[Need, int, float]]:
        found = []
        for job in self._on[place]:
            need, position = self.need[job], 0.0
            if need.phases:
                done = self._rate[job] * max(self.now - self._since[job], 0.0)
                behind = sum(seconds for seconds, _ in need.phases[: self._phase[job] + 1])
                position = behind - self._phase_left[job] + done
            held = sum(count for where, count in self.allocations[job].cores if where == place)
            found.append((need, held, position))
        return found

    def schedule(self) -> Schedule:
        return Schedule(np.array(self.starts), np.array(self.ends), tuple(self.allocations), tuple(self.killed))
