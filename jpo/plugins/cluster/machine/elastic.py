"""Elastic jobs: started with what is free within their range, shrunk where others can start, grown where nobody waits.

The queue is managed as if each job had its smallest number of tasks; what a job holds besides is lent to it. At each event that
may start somebody, all that is lent counts as free, unless the job was resized within the cooldown; what nobody took is then
left where it was. A job takes as many further tasks as end it soonest, as its user said it lasts, the pause included.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import Protocol

import numpy as np

from jpo.plugins.cluster.machine.occupancy import Holding, Need, merged
from jpo.plugins.cluster.machine.placement import Placement
from jpo.plugins.cluster.machine.simulation import Expansion, Schedule, Simulation
from jpo.plugins.cluster.platform.platform import ResizeCosts
from jpo.plugins.cluster.workload.demand import DemandTable, Elasticity, speedup
from jpo.plugins.cluster.workload.jobs import NEVER, JobTable

Extra = tuple[float, Holding]
"""One more task: since when, and what it holds."""


class Starter(Protocol):
    """Who starts waiting jobs: discipline.Manager."""

    @property
    def placement(self) -> Placement: ...

    @property
    def waiting(self) -> int: ...

    def decide(self, came: Sequence[int], ended: Sequence[int], *, anew: bool = False) -> None: ...


def at_least(jobs: JobTable, demand: DemandTable, costs: ResizeCosts) -> tuple[JobTable, DemandTable, Elasticity]:
    """Jobs as they are with as few tasks as they can run with, and longer for it; rigid jobs as they were."""
    ranges = demand.elasticity
    assert ranges is not None
    shares = np.where(np.isnan(ranges.serial_shares), costs.serial_share, ranges.serial_shares)
    longer = speedup(demand.tasks, shares) / speedup(ranges.min_tasks, shares)
    slower = replace(jobs, run_seconds=jobs.run_seconds * longer, requested_seconds=jobs.requested_seconds * longer)
    return slower, replace(demand, tasks=ranges.min_tasks), replace(ranges, serial_shares=shares)


class Resizing:
    """Elastic jobs of a simulation of jobs `at_least`; `wake`: the next end of a cooldown; NEVER: there is none."""

    def __init__(self, simulation: Simulation, starter: Starter, ranges: Elasticity, costs: ResizeCosts) -> None:
        self._simulation, self._starter, self._costs = simulation, starter, costs
        self._least, self._most = ranges.min_tasks.tolist(), ranges.max_tasks.tolist()
        self._shares = ranges.serial_shares
        self._factors: dict[tuple[int, int, float], float] = {}
        self._extra: dict[int, list[Extra]] = {}  # of running elastic jobs, beside what they keep
        self._kept: dict[int, Holding] = {}
        self._rested: dict[int, float] = {}  # when the cooldown of a job ends
        self._wakes: list[float] = []
        self._past: list[Expansion] = []
        self._resizes = 0

    @property
    def wake(self) -> float:
        while self._wakes and self._wakes[0] <= self._simulation.now:
            heappop(self._wakes)
        return self._wakes[0] if self._wakes else NEVER

    def decide(self, came: Sequence[int], ended: Sequence[int]) -> None:
        """Take in who came and ended; start, shrink and grow who may."""
        starter = self._starter
        for job in ended:
            if job in self._extra:
                self._forget(job)
        if starter.waiting + len(came) < 2:  # nobody is passed by: what is not lent may do
            starter.decide(came, ended, anew=True)
            came = ended = ()
        if starter.waiting + len(came):
            lent = self._lend()
            if lent or came or ended:
                starter.decide(came, ended, anew=True)
                self._take_back(lent)
        self._enlarge(self._begun())

    def schedule(self) -> Schedule:
        found = self._simulation.schedule()
        return replace(found, expansions=tuple(self._past), resizes=self._resizes, least_tasks=np.array(self._least))

    def _forget(self, job: int) -> None:
        now = self._simulation.now
        self._past += [Expansion(job, begin, now, holding) for begin, holding in self._extra.pop(job) if begin < now]
        self._simulation.allocations[job] = self._kept.pop(job)
        self._rested.pop(job, None)

    def _begun(self) -> list[int]:
        """The elastic jobs that have just started; known from now on."""
        simulation, found = self._simulation, []
        for job in reversed(simulation.running):
            if simulation.starts[job] < simulation.now or job in self._extra:
                break
            if self._most[job] > self._least[job]:
                found.append(job)
        for job in reversed(found):
            self._extra[job], self._kept[job] = [], simulation.allocations[job]
        return found

    def _one(self, job: int) -> Need:
        simulation = self._simulation
        return simulation.need[job]._replace(tasks=1, bandwidth_gbps=simulation.wants_gbps(job), phases=())

    def _rests(self, job: int) -> bool:
        return self._rested.get(job, 0.0) > self._simulation.now

    def _lend(self) -> dict[int, Holding]:
        """Give back what jobs hold beyond what they need; what each of them held."""
        simulation, lent = self._simulation, {}
        for job, extra in self._extra.items():
            if extra and not self._rests(job):
                lent[job] = simulation.allocations[job]
                for _, holding in extra:
                    simulation.state.take(holding, self._one(job), sign=-1)
                self._holds(job, self._kept[job], 0)
        return lent

    def _take_back(self, lent: dict[int, Holding]) -> None:
        """Give each job again what nobody has taken, those with few tasks first; who lost some is resized."""
        simulation = self._simulation
        for job in sorted(lent, key=lambda job: len(self._extra[job])):
            left = []
            for begin, holding in self._extra[job]:
                if self._is_free(holding):
                    simulation.state.take(holding, self._one(job))
                    left.append((begin, holding))
                elif begin < simulation.now:
                    self._past.append(Expansion(job, begin, simulation.now, holding))
            if len(left) < len(self._extra[job]):
                self._extra[job] = left
                self._resize(job, lent[job])
            else:
                self._holds(job, lent[job], len(left))
        simulation.share_on(lent.values(), {})

    def _is_free(self, holding: Holding) -> bool:
        free, memory = self._simulation.state.free, self._simulation.state.memory
        return all(free[place] >= count for place, count in holding.cores) and all(
            memory[at] >= gib for at, gib in holding.memory
        )

    def _enlarge(self, begun: Iterable[int]) -> None:
        """Hand out what is left, task by task, to those with the fewest: who has begun, and all where nobody waits."""
        simulation, fresh = self._simulation, set(begun)
        growing = [job for job in self._extra if job in fresh or not (self._starter.waiting or self._rests(job))]
        turns = [
            (self._tasks(job), place, job)
            for place, job in enumerate(growing)
            if self._tasks(job) < self._most[job] and simulation.expected[job] > simulation.now  # who has overrun may end at once
        ]
        heapify(turns)
        more: dict[int, list[Extra]] = {}
        while turns:
            tasks, place, job = heappop(turns)
            one = self._one(job)
            holding = self._starter.placement.place(simulation.state, one)
            if holding is None:
                continue
            simulation.state.take(holding, one)
            more.setdefault(job, []).append((simulation.now, holding))
            if tasks + 1 < self._most[job]:
                heappush(turns, (tasks + 1, place, job))
        for job, extra in more.items():
            self._grow(job, extra)

    def _tasks(self, job: int) -> int:
        return int(self._least[job]) + len(self._extra[job])

    def _pause_seconds(self, job: int) -> float:
        """A job that has just started has done nothing yet, and needs no checkpoint."""
        return self._costs.resize_seconds if self._simulation.starts[job] < self._simulation.now else 0.0

    def _grow(self, job: int, more: list[Extra]) -> None:
        """Keep of some further tasks, which are taken, as many as end a job soonest."""
        simulation, pause_seconds = self._simulation, self._pause_seconds(job)
        best, soonest = 0, simulation.expected[job]
        for count in range(1, len(more) + 1):
            held = self._held(job, more[:count])
            end = simulation.end_with(job, held, factor=self._factor(job, count), pause_seconds=pause_seconds)
            if end < soonest:
                best, soonest = count, end
        for _, holding in more[best:]:
            simulation.state.take(holding, self._one(job), sign=-1)
        if best:
            self._extra[job] += more[:best]
            self._resize(job, simulation.allocations[job])

    def _resize(self, job: int, before: Holding) -> None:
        after = self._held(job, ())
        self._simulation.resize(job, before, after, factor=self._factor(job, 0), pause_seconds=self._pause_seconds(job))
        self._holds(job, after, len(self._extra[job]))
        if self._simulation.starts[job] < self._simulation.now:
            self._resizes += 1
            self._rested[job] = self._simulation.now + self._costs.cooldown_seconds
            heappush(self._wakes, self._rested[job])

    def _holds(self, job: int, held: Holding, extra: int) -> None:
        """Let schedulers know what a job holds, which they count by its tasks, too."""
        simulation = self._simulation
        simulation.allocations[job] = held
        simulation.need[job] = simulation.need[job]._replace(tasks=self._least[job] + extra)

    def _held(self, job: int, more: Sequence[Extra]) -> Holding:
        parts = (self._kept[job], *(holding for _, holding in (*self._extra[job], *more)))
        cores = [pair for part in parts for pair in part.cores]
        return Holding(merged(cores), tuple(pair for part in parts for pair in part.memory))

    def _factor(self, job: int, more: int) -> float:
        """How much faster a job is with so many tasks more than it has, than with its fewest."""
        asked = self._least[job], self._tasks(job) + more, float(self._shares[job])
        if asked not in self._factors:
            least, most = speedup(np.array(asked[:2]), self._shares[[job, job]]).tolist()
            self._factors[asked] = most / least
        return self._factors[asked]
