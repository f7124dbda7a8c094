"""Discipline: a heterogeneous platform managed by a job selection, a resource selection and backfilling.

EASY as in queueing/ranked.py, on particular processors: the first of the queue has a reservation of those that it would get at
the earliest moment at which it fits, if running jobs end as expected. Another job may start before it if it ends by then, or if
what it takes is left over there at that moment.
"""

import gc
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from jpo.plugins.cluster.machine.backlog import Alike, Backlog
from jpo.plugins.cluster.machine.elastic import Resizing, at_least
from jpo.plugins.cluster.machine.occupancy import Holding, Occupancy, needs
from jpo.plugins.cluster.machine.placement import Placement
from jpo.plugins.cluster.machine.reservations import startable
from jpo.plugins.cluster.machine.shadow import Shadow
from jpo.plugins.cluster.machine.simulation import Schedule, Simulation
from jpo.plugins.cluster.platform.platform import Platform
from jpo.plugins.cluster.queueing.selection import JobSelection, ranked, waiting_rows
from jpo.plugins.cluster.queueing.simulate import Backfilling
from jpo.plugins.cluster.workload.demand import DemandTable
from jpo.plugins.cluster.workload.jobs import NEVER, JobTable


@dataclass(frozen=True, slots=True)
class Discipline:
    """How a heterogeneous platform is managed.

    Attributes:
        resources: the resource selection, of placement.RESOURCES.
        backfilling: as in queueing/simulate.py.
        kill: end jobs at their requested time.
        seed: of random selections.
        elastic: change the number of tasks of running jobs that have a range of them.
        keep: by job how many devices of its kind must stay free when it starts, for others to come; with EASY. While that is all
            that the first of the queue waits for, it has no reservation. Empty: none.
    """

    selection: JobSelection
    resources: str = "first"
    backfilling: Backfilling = "none"
    kill: bool = False
    seed: int = 0
    elastic: bool = False
    keep: Sequence[int] = ()


def run(jobs: JobTable, demand: DemandTable, platform: Platform, discipline: Discipline) -> Schedule:
    """Simulate jobs on a platform. Raises ValueError: a job could never run, even on the empty platform."""
    if misfits := never_fitting(demand, platform):
        raise ValueError(f"job {jobs.ids[misfits[0]]} could never run on {platform.name}")
    asked = jobs, demand  # keys of the queue look at this, also where jobs are resized
    ranges = demand.elasticity
    elastic = discipline.elastic and ranges is not None and ranges.resizable.any()
    if elastic:
        jobs, demand, ranges = at_least(jobs, demand, platform.elastic)
    simulation = Simulation(jobs, demand, platform, kill=discipline.kill)
    manager = Manager(simulation, *asked, discipline)
    resizing = Resizing(simulation, manager, ranges, platform.elastic) if elastic and ranges else None
    with collecting_no_cycles():
        while True:
            try:
                ended, came = simulation.advance(resizing.wake if resizing else NEVER)
            except StopIteration:
                return (resizing or simulation).schedule()
            (resizing or manager).decide(came, ended)


@contextmanager
def collecting_no_cycles() -> Iterator[None]:
    """Python looks for garbage in cycles again and again, among millions of records of which none is any: a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Manager:
    """Starts waiting jobs by a discipline. What did not fit is not tried again until a job has ended."""

    def __init__(self, simulation: Simulation, jobs: JobTable, demand: DemandTable, discipline: Discipline) -> None:
        """`jobs`, `demand`: what keys of the queue look at."""
        self._simulation, self._jobs, self._selection = simulation, jobs, discipline.selection
        self.placement = Placement(discipline.resources, simulation.state, seed=discipline.seed)
        self._timed, self._drawn = discipline.selection.timed, self.placement.name == "random"
        self._conservative = discipline.backfilling == "conservative"
        keys = jobs.submit_seconds if self._timed else self._selection.key(waiting_rows(jobs, demand=demand), 0.0)
        order, self._rank = ranked(keys)
        self._job: list[int] = order.tolist()
        self._queue: list[int] = []  # ranks
        # By id of a need, which all jobs share that need the same:
        self._misfits: set[int] = set()  # as long as no job ends
        self._fitting: dict[int, Holding] = {}  # as long as no job ends or starts
        self._speeds: dict[int, float] = {}  # there, by number of a kind
        self._backlog: Backlog | None = None  # for EASY, as what follows
        if discipline.backfilling == "easy":
            self._backlog = Backlog(simulation)
            self._shadow = Shadow(simulation, self.placement)
        self._head = -1  # the first of the queue, which waits and may be passed by others
        self._reserved = False  # whether its reservation has been made since the last end
        self._keep = discipline.keep

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def decide(self, came: Sequence[int], ended: Sequence[int], *, anew: bool = False) -> None:
        """Take in the jobs that came, and start those that may; `anew`: what running jobs hold may have changed."""
        queue = self._queue
        if ended or anew:
            self._misfits.clear()
            self._fitting.clear()
            self._speeds.clear()
            if self._backlog is not None:
                for job in ended:
                    self._shadow.ended(job)
                if anew:
                    self._shadow.forget()
        elif len(came) == 1 and not (self._timed or self._conservative):
            job = came[0]
            if not queue or queue[0] < self._rank[job]:  # nothing has changed for those that wait
                if not (self._may_pass(job) if queue else self._start(job)):
                    self._wait(job)
                    if len(queue) == 1:
                        self._head, self._reserved = job, False
                return
        for job in came:
            self._wait(job)
        if not queue:
            return
        if self._conservative:
            self._decide_all()
            return
        in_turn = self._in_turn() if self._timed else []
        begun = 0
        while queue:
            job = in_turn[begun] if in_turn else self._job[queue[0]]
            if not self._start(job):
                break
            self._leave(job)
            begun += 1
        if self._backlog is None:
            return
        if not queue:
            self._shadow.forget()
        else:
            self._head, self._reserved = job, False
            if len(queue) == 1:
                return
            if self._drawn or in_turn or self._keep:
                later = in_turn[begun + 1 :] if in_turn else [self._job[place] for place in queue[1:]]
                self._backfill_each(later if self._drawn else self._that_might_end_in_time(self._backlog, later))
            else:
                self._backfill(self._backlog)

    def _decide_all(self) -> None:
        """Start those whose reservation begins now; conservative backfilling."""
        in_turn = self._in_turn()
        if not self._drawn:  # where places are drawn, each reservation draws
            while in_turn and self._start(in_turn[0]):
                self._leave(in_turn.pop(0))
        if in_turn:
            for job, allocation in startable(self._simulation, self.placement, in_turn):
                self._begin(job, allocation)
                self._leave(job)

    def _in_turn(self) -> list[int]:
        """All that wait, the first to go first."""
        jobs = [self._job[place] for place in self._queue]
        if not self._timed or len(jobs) == 1:
            return jobs
        keys = self._selection.key(waiting_rows(self._jobs, np.array(jobs)), self._simulation.now)
        return [jobs[place] for place in np.argsort(keys, kind="stable").tolist()]

    def _wait(self, job: int) -> None:
        rank = self._rank[job]
        insort(self._queue, rank)
        if self._backlog is not None:
            self._backlog.come(job, rank)

    def _leave(self, job: int) -> None:
        rank = self._rank[job]
        del self._queue[bisect_left(self._queue, rank)]
        if self._backlog is not None:
            self._backlog.go(job, rank)

    def _fits(self, job: int) -> Holding | None:
        need = self._simulation.need[job]
        known = id(need)
        if known in self._misfits:
            return None
        if known in self._fitting:
            return self._fitting[known]
        allocation = self.placement.place(self._simulation.state, need)
        if allocation is None:
            self._misfits.add(known)
        elif self._backlog is not None and not self._drawn:
            self._fitting[known] = allocation
        return allocation

    def _start(self, job: int) -> bool:
        allocation = self._fits(job)
        if allocation is None or not self._leaves_enough(job):
            return False
        self._begin(job, allocation, in_turn=True)
        return True

    def _leaves_enough(self, job: int) -> bool:
        """Whether as many devices stay free as a job must leave."""
        if not self._keep:
            return True
        need = self._simulation.need[job]
        return self._simulation.state.left[need.gpus > 0] - need.tasks * (need.gpus or need.cpus) >= self._keep[job]

    def _held_back(self) -> bool:
        """Whether the first of the queue fits and would leave too few devices free: it has no reservation then."""
        return bool(self._keep) and self._fits(self._head) is not None

    def _begin(self, job: int, allocation: Holding, *, in_turn: bool = False) -> None:
        if self._backlog is None:
            self._simulation.start(job, allocation)
        else:
            self._simulation.start(job, allocation, self._speeds.get(self._backlog.of[job].number))
            self._fitting.clear()
            self._speeds.clear()
            self._shadow.started(job, in_turn=in_turn)

    def _may_pass(self, job: int) -> bool:
        """Start a job before its turn if it does not delay the first of the queue."""
        if self._backlog is None:
            return False
        allocation = self._fits(job)
        if allocation is None or not self._leaves_enough(job):
            return False
        if self._held_back():
            self._begin(job, allocation, in_turn=True)
            return True
        self._reserve()
        simulation, shadow = self._simulation, self._shadow
        ends = simulation.now + simulation.requested[job] / self._speed_there(job, allocation)
        if ends > shadow.moment and not (shadow.leaves_devices(simulation.need[job]) and shadow.leaves(allocation)):
            return False
        self._begin(job, allocation)
        return True

    def _that_might_pass(self, backlog: Backlog) -> list[Alike]:
        """The kinds of waiting jobs of which one might start before its turn."""
        misfits = self._misfits
        kinds = backlog.want_at_most(self._simulation.state.left)
        return [kind for kind in kinds if id(kind.need) not in misfits and self._might_pass(kind)]

    def _that_might_end_in_time(self, backlog: Backlog, candidates: Sequence[int]) -> list[int]:
        """Those of some jobs, in their order, that might start before their turn."""
        if self._held_back():
            return list(candidates)
        kinds = self._that_might_pass(backlog)
        longest = {kind.number: NEVER if self._shadow.leaves_devices(kind.need) else self._shadow.moment for kind in kinds}
        of, now, requested, fastest = backlog.of, self._simulation.now, self._simulation.requested, self._simulation.fastest
        return [job for job in candidates if now + requested[job] / fastest <= longest.get(of[job].number, -NEVER)]

    def _might_pass(self, kind: Alike) -> bool:
        """Whether the first one leaves devices for one of a kind, or the shortest of them would end in time at its best."""
        self._reserve()
        if not kind.ranks:
            return False
        shadow = self._shadow
        ends = self._simulation.now + kind.lengths[0] / self._simulation.fastest
        return ends <= shadow.moment or shadow.leaves_devices(kind.need)

    def _reserve(self) -> None:
        if not self._reserved:
            self._shadow.reserve(self._head)
            self._reserved = True

    def _speed_there(self, job: int, allocation: Holding) -> float:
        """How fast a job would run where all of its kind would by now."""
        assert self._backlog is not None
        if self._drawn:
            return self._simulation.speed_on(job, allocation)
        number = self._backlog.of[job].number
        speed = self._speeds.get(number)
        if speed is None:
            speed = self._speeds[number] = self._simulation.speed_on(job, allocation)
        return speed

    def _backfill_each(self, candidates: Iterable[int]) -> None:
        """Start what does not delay the first of the queue, looking at one after the other."""
        for job in candidates:
            if self._may_pass(job):
                self._leave(job)

    def _backfill(self, backlog: Backlog) -> None:
        """The same, looking at the first of each kind of jobs, in the order of the queue.

        A kind whose first one may not go is looked at again from where the queue has come to when another job has started: what
        it would get may be something else by then.
        """
        simulation, shadow = self._simulation, self._shadow
        turns = [(kind.ranks[0], kind.number, kind) for kind in self._that_might_pass(backlog)]
        heapify(turns)
        passed_over: dict[int, Alike] = {}
        while turns:
            rank, _, kind = heappop(turns)
            if kind.first_from(rank) != rank:  # started meanwhile
                continue
            job = self._job[rank]
            allocation = self._fits(job)
            if allocation is None:
                continue
            speed = self._speed_there(job, allocation)
            ends = simulation.now + simulation.requested[job] / speed
            if ends <= shadow.moment or (shadow.leaves_devices(kind.need) and shadow.leaves(allocation)):
                self._begin(job, allocation)
                self._leave(job)
                passed_over[kind.number] = kind
                for other in passed_over.values():
                    if self._might_pass(other) and (following := other.first_from(rank)) is not None:
                        heappush(turns, (following, other.number, other))
                passed_over = {}
            else:
                passed_over[kind.number] = kind
                if (later := kind.first_that_ends(rank, simulation.now, speed, shadow.moment)) is not None:
                    heappush(turns, (later, kind.number, kind))


def never_fitting(demand: DemandTable, platform: Platform) -> list[int]:
    """The rows of jobs whose tasks do not fit even the empty platform."""
    empty = Occupancy(platform)
    placement = Placement("first", empty)
    of_jobs = needs(demand)
    never = {id(need) for need in set(of_jobs) if placement.place(empty, need) is None}
    return [place for place, need in enumerate(of_jobs) if id(need) in never] if never else []
