"""Discipline: a heterogeneous platform managed by a job selection, a resource selection and backfilling.

EASY as in queueing/ranked.py, on particular processors: the first of the queue has a reservation of those that it would get at
the earliest moment at which it fits, if running jobs end as expected. Another job may start before it if it ends by then, or if
what it takes is left over there at that moment.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import merge

import numpy as np

from jpo.cluster.machine.occupancy import Holding, Need, Occupancy, needs
from jpo.cluster.machine.placement import Placement
from jpo.cluster.machine.reservations import startable
from jpo.cluster.machine.simulation import Schedule, Simulation
from jpo.cluster.platform.platform import Platform
from jpo.cluster.queueing.selection import JobSelection
from jpo.cluster.queueing.simulate import Backfilling
from jpo.cluster.queueing.timed import sorted_by
from jpo.cluster.workload.demand import DemandingJobs, DemandTable
from jpo.cluster.workload.jobs import NEVER, JobTable

FEW = 32
"""Waiting jobs up to which looking at each is faster than leaving out all that need what does not fit."""


@dataclass(frozen=True, slots=True)
class Discipline:
    """How a heterogeneous platform is managed.

    Attributes:
        resources: the resource selection, of placement.RESOURCES.
        backfilling: as in queueing/simulate.py.
        kill: end jobs at their requested time.
        seed: of random selections.
    """

    selection: JobSelection
    resources: str = "first"
    backfilling: Backfilling = "none"
    kill: bool = False
    seed: int = 0


def run(jobs: JobTable, demand: DemandTable, platform: Platform, discipline: Discipline) -> Schedule:
    """Simulate jobs on a platform.

    Raises:
        ValueError: a job could never run, even on the empty platform.
    """
    if misfits := never_fitting(demand, platform):
        raise ValueError(f"job {jobs.ids[misfits[0]]} could never run on {platform.name}")
    simulation = Simulation(jobs, demand, platform, kill=discipline.kill)
    manager = Manager(simulation, DemandingJobs(jobs, demand), discipline)
    while True:
        try:
            ended, came = simulation.advance()
        except StopIteration:
            return simulation.schedule()
        manager.decide(came, ended=bool(ended))


class Manager:
    """Starts waiting jobs by a discipline. What did not fit is not tried again until a job has ended."""

    def __init__(self, simulation: Simulation, waiting: DemandingJobs, discipline: Discipline) -> None:
        jobs = waiting.jobs
        self._simulation, self._jobs, self._selection = simulation, jobs, discipline.selection
        self._placement = Placement(discipline.resources, simulation.state, seed=discipline.seed)
        self._backfilling, self._timed = discipline.backfilling == "easy", discipline.selection.timed
        self._conservative = discipline.backfilling == "conservative"
        order = np.arange(len(jobs)) if self._timed else np.argsort(discipline.selection.key(waiting, 0.0), kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        self._job, self._rank = order.tolist(), rank.tolist()
        self._queue: list[int] = []  # ranks
        self._drawn = discipline.resources == "random"
        # By id of a need, which all jobs share that need the same:
        self._misfits: set[int] = set()  # as long as no job ends
        self._fitting: dict[int, Holding] = {}  # as long as no job ends or starts
        self._alike: dict[int, list[int]] = {}  # ranks of waiting jobs, sorted; for EASY
        self._shadow: float = NEVER
        self._spare: Occupancy | None = None
        self._head: int | None = None  # waits at the front, passed by others; None: nobody may pass

    def decide(self, came: Sequence[int], *, ended: bool) -> None:
        """Take in the jobs that came, and start those that may."""
        queue, rank = self._queue, self._rank
        if ended:
            self._misfits.clear()
            self._fitting.clear()
        for job in came:
            insort(queue, rank[job])
            if self._backfilling:
                insort(self._alike.setdefault(id(self._simulation.need[job]), []), rank[job])
        if not queue:
            return
        if self._conservative:
            in_turn = self._in_turn()
            if self._placement.name != "random":  # where places are drawn, each reservation draws
                while in_turn and self._start(in_turn[0]):
                    del in_turn[0]
            if in_turn:
                for job, allocation in startable(self._simulation, self._placement, in_turn):
                    self._begin(job, allocation)
            return
        if len(came) == 1 and not ended and not self._timed and queue[0] != rank[came[0]]:
            self._backfill(came)
            return
        self._spare = self._head = None
        in_turn = self._in_turn() if self._timed else []
        begun = 0
        while queue:
            job = in_turn[begun] if in_turn else self._job[queue[0]]
            if not self._start(job):
                break
            begun += 1
        if queue and self._backfilling:
            self._head = job
            self._backfill(in_turn[begun + 1 :] if in_turn else self._that_fit())

    def _that_fit(self) -> Iterable[int]:
        """All that wait but the first of them, in their order, without those that do not fit as it is now."""
        if self._drawn or len(self._queue) <= FEW:
            return [self._job[place] for place in self._queue[1:]]
        fitting = [ranks.copy() for ranks in self._alike.values() if ranks and self._fits(self._job[ranks[0]]) is not None]
        return map(self._job.__getitem__, merge(*fitting))

    def _in_turn(self) -> list[int]:
        """All that wait, the first to go first."""
        waiting = [self._job[place] for place in self._queue]
        return sorted_by(self._selection.key, self._jobs, waiting, self._simulation.now) if self._timed else waiting

    def _fits(self, job: int) -> Holding | None:
        need = self._simulation.need[job]
        known = id(need)
        if known in self._misfits:
            return None
        if known in self._fitting:
            return self._fitting[known]
        allocation = self._placement.place(self._simulation.state, need)
        if allocation is None:
            self._misfits.add(known)
        elif self._backfilling and not self._drawn:
            self._fitting[known] = allocation
        return allocation

    def _start(self, job: int) -> bool:
        allocation = self._fits(job)
        if allocation is None:
            return False
        self._begin(job, allocation)
        return True

    def _begin(self, job: int, allocation: Holding) -> None:
        self._simulation.start(job, allocation)
        del self._queue[bisect_left(self._queue, self._rank[job])]
        if self._backfilling:
            known = id(self._simulation.need[job])
            alike = self._alike[known]
            del alike[bisect_left(alike, self._rank[job])]
            if not alike:
                del self._alike[known]
            self._fitting.clear()

    def _backfill(self, candidates: Iterable[int]) -> None:
        """Start what does not delay the first of the queue, whose reservation is made when somebody could go before it."""
        simulation, head = self._simulation, self._head
        if head is None:
            return
        for job in candidates:
            allocation = self._fits(job)
            if allocation is None:
                continue
            if self._spare is None:
                self._shadow, self._spare = reservation(simulation, self._placement, simulation.need[head])
            if simulation.now + simulation.requested[job] / simulation.speed_on(job, allocation) > self._shadow:
                if not within(self._spare, allocation):
                    continue
                self._spare.take(allocation, simulation.need[job])
            self._begin(job, allocation)


def never_fitting(demand: DemandTable, platform: Platform) -> list[int]:
    """The rows of jobs whose tasks do not fit even the empty platform."""
    empty = Occupancy(platform)
    placement = Placement("first", empty)
    of_jobs = needs(demand)
    never = {id(need) for need in set(of_jobs) if placement.place(empty, need) is None}
    return [place for place, need in enumerate(of_jobs) if id(need) in never] if never else []


def reservation(simulation: Simulation, placement: Placement, head: Need) -> tuple[float, Occupancy]:
    """When the first of the queue can start, as far as running jobs end as expected, and what it leaves free then."""
    trial, due = simulation.state.copy(), simulation.due
    last = len(due) - 1
    for place, (shadow, job) in enumerate(due):
        allocation = simulation.allocations[job]
        assert allocation is not None
        trial.take(allocation, simulation.need[job], sign=-1)
        if place < last and due[place + 1][0] == shadow:
            continue
        found = placement.place(trial, head)
        if found is not None:
            trial.take(found, head)
            return shadow, trial
    raise AssertionError("every job fits the empty platform")


def within(spare: Occupancy, allocation: Holding) -> bool:
    """Whether what an allocation takes is free there."""
    memory: dict[int, float] = {}
    for node, gib in allocation.memory:
        memory[node] = memory.get(node, 0.0) + gib
    return all(spare.free[place] >= count for place, count in allocation.cores) and all(
        spare.memory[node] >= gib * (1 - 1e-9) for node, gib in memory.items()
    )
