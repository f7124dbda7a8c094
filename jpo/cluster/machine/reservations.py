"""Conservative backfilling on a platform: every waiting job has a reservation of particular processors.

Reservations are made anew at each event, in the order of the queue: each job gets the earliest moment from which a placement is
free for as long as it would take there, as requested. A job that overran is expected to end just after now. It is slow where
queues are long: each job is placed at many moments.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from jpo.cluster.machine.occupancy import Holding, Need, Occupancy
from jpo.cluster.machine.placement import Placement
from jpo.cluster.machine.simulation import Simulation

FEW = 4
"""Reservations after which it is seen for the first time whether any further job could begin now."""


class Timetable:
    """What is free from each moment on, as far as requests say."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._times, self._states = [simulation.now], [simulation.state.copy()]
        soon = math.nextafter(simulation.now, math.inf)
        expected = sorted((max(simulation.expected[job], soon), job) for job in simulation.running)
        for end, job in expected:
            if end != self._times[-1]:
                self._times.append(end)
                self._states.append(self._states[-1].copy())
            allocation = simulation.allocations[job]
            assert allocation is not None
            self._states[-1].take(allocation, simulation.need[job], sign=-1)

    def reserve(self, job: int, placement: Placement) -> tuple[float, Holding]:
        """The earliest moment at which a job can start and what it gets then, which is taken."""
        need = self._simulation.need[job]
        for place, moment in enumerate(self._times):
            found = self._from(place, job, need, placement)
            if found is not None:
                allocation, seconds = found
                last = self._split(moment + seconds)
                for state in self._states[place:last]:
                    state.take(allocation, need)
                return moment, allocation
        raise AssertionError("every job fits the empty platform")

    def could_begin(self, in_turn: Sequence[int], placement: Placement) -> int:
        """How many of the jobs, in their order, there are up to the last one that could begin now if it were the next."""
        simulation, until = self._simulation, {}
        narrowed = [self._states[0]]  # what stays free from now on up to each moment
        last = 0
        for place, job in enumerate(in_turn, start=1):
            need = simulation.need[job]
            if id(need) not in until:
                until[id(need)] = self._until(need, narrowed, placement)
            if self._times[0] + simulation.requested[job] / simulation.fastest <= until[id(need)]:
                last = place
        return last

    def _until(self, need: Need, narrowed: list[Occupancy], placement: Placement) -> float:
        """Up to when a job could stay where it fits now; `narrowed` is lengthened as far as needed. -inf: it does not fit."""
        low, high = 0, len(self._times)  # it fits all states before low, and not all up to high
        while low < high:
            middle = (low + high) // 2
            while len(narrowed) <= middle:
                narrowed.append(in_both(narrowed[-1], self._states[len(narrowed)]))
            if placement.place(narrowed[middle], need) is None:
                high = middle
            else:
                low = middle + 1
        return -math.inf if not low else math.inf if low == len(self._times) else self._times[low]

    def _from(self, place: int, job: int, need: Need, placement: Placement) -> tuple[Holding, float] | None:
        """A placement that stays free from a moment on for as long as the job takes there, and how long that is."""
        state, after = self._states[place], place + 1
        while True:
            allocation = placement.place(state, need)
            if allocation is None:
                return None
            seconds = self._simulation.requested[job] / self._simulation.speed_on(job, allocation)
            end = self._times[place] + seconds
            if after == len(self._times) or self._times[after] >= end:
                return allocation, seconds
            while after < len(self._times) and self._times[after] < end:
                state = in_both(state, self._states[after])
                after += 1

    def _split(self, moment: float) -> int:
        """The place of a moment, made one at which something may change."""
        place = bisect_left(self._times, moment)
        if place == len(self._times) or self._times[place] != moment:
            self._times.insert(place, moment)
            self._states.insert(place, self._states[place - 1].copy())
        return place


def in_both(one: Occupancy, other: Occupancy) -> Occupancy:
    """What is free in both of two states."""
    both = one.copy()
    both.free = [min(pair) for pair in zip(one.free, other.free, strict=True)]
    both.memory = [min(pair) for pair in zip(one.memory, other.memory, strict=True)]
    both.bandwidth = [min(pair) for pair in zip(one.bandwidth, other.bandwidth, strict=True)]
    both.free_cpus = [sum(both.free[place] for place in places) for places in one.cpu_processors]
    both.left = [0, 0]
    for free, gpu in zip(both.free, both.is_gpu, strict=True):
        both.left[gpu] += free
    return both


def startable(simulation: Simulation, placement: Placement, in_turn: Sequence[int]) -> list[tuple[int, Holding]]:
    """The jobs whose reservation begins now, with what they get. The first of them does not fit by now, or places are drawn.

    The others' are made anew next time, so that none is made where no job that follows could begin now even if it were the next.
    Where places are drawn all are made, as each draws.
    """
    drawn = placement.name == "random"
    if not drawn:
        fits = {id(need): need for need in map(simulation.need.__getitem__, in_turn[1:])}
        if all(placement.place(simulation.state, need) is None for need in fits.values()):
            return []
    timetable = Timetable(simulation)
    found = []
    turn, look, final = 0, -1 if drawn else FEW, len(in_turn)
    while turn < final:
        if turn == look:
            final = turn + timetable.could_begin(in_turn[turn:], placement)
            look = 2 * turn + 1
            continue
        moment, allocation = timetable.reserve(in_turn[turn], placement)
        if moment == simulation.now:
            found.append((in_turn[turn], allocation))
        turn += 1
    return found
