"""Conservative backfilling on a platform: every waiting job has a reservation of particular processors.

Reservations are made anew at each event, in the order of the queue: each job gets the earliest moment from which a placement is
free for as long as it would take there, as requested. A job that overran is expected to end just after now. It is slow where
queues are long: each job is placed at many moments.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence

from jpo.plugins.cluster.machine.occupancy import Holding, Need, Occupancy
from jpo.plugins.cluster.machine.placement import Placement
from jpo.plugins.cluster.machine.simulation import Simulation


class Timetable:
    """What is free from each moment on, as far as requests say. It only shrinks: what did not fit at a moment never will."""

    def __init__(self, simulation: Simulation, placement: Placement) -> None:
        self._simulation, self._placement = simulation, placement
        self._drawn = placement.name == "random"  # each look draws
        self._times, self._states = [simulation.now], [simulation.state.copy()]
        soon = math.nextafter(simulation.now, math.inf)
        expected = sorted((max(simulation.expected[job], soon), job) for job in simulation.running)
        for end, job in expected:
            if end != self._times[-1]:
                self._times.append(end)
                self._states.append(self._states[-1].copy())
            self._states[-1].take(simulation.allocations[job], simulation.need[job], sign=-1)
        self._misfits: list[set[int]] = [set() for _ in self._times]  # by moment: ids of needs

    def reserve(self, job: int) -> tuple[float, Holding]:
        """The earliest moment at which a job can start and what it gets then, which is taken."""
        need, times, states = self._simulation.need[job], self._times, self._states
        gpu, wanted = need.gpus > 0, need.tasks * (need.gpus or need.cpus)
        shortest = self._simulation.requested[job] / self._simulation.fastest
        place = checked = 0
        while True:
            while not self._drawn and checked < len(times) and (checked <= place or times[checked] < times[place] + shortest):
                if states[checked].left[gpu] < wanted:  # also for who would begin before and still be there
                    place = checked + 1
                checked += 1
            found = self._from(place, job, need)
            if found is not None:
                allocation, seconds = found
                moment = times[place]
                last = self._split(moment + seconds)
                for state in states[place:last]:
                    state.take(allocation, need)
                return moment, allocation
            place += 1

    def might_begin(self, job: int) -> bool:
        """Whether as many devices as a job needs stay free from now on for as long as it takes at its fastest."""
        need = self._simulation.need[job]
        gpu, wanted = need.gpus > 0, need.tasks * (need.gpus or need.cpus)
        end = bisect_left(self._times, self._simulation.now + self._simulation.requested[job] / self._simulation.fastest)
        return self._drawn or all(state.left[gpu] >= wanted for state in self._states[:end])

    def _from(self, place: int, job: int, need: Need) -> tuple[Holding, float] | None:
        """A placement that stays free from a moment on for as long as the job takes there, and how long that is."""
        if not self._drawn and id(need) in self._misfits[place]:
            return None
        times, states = self._times, self._states
        allocation, after = self._placement.place(states[place], need), place + 1
        if allocation is None:
            self._misfits[place].add(id(need))
        while allocation is not None:
            seconds = self._simulation.requested[job] / self._simulation.speed_on(job, allocation)
            before, after = after, max(after, bisect_left(times, times[place] + seconds))
            # A selection that no job changes finds the same later: it takes all that there is of each processor but the last.
            steady = self._placement.steady and not allocation.memory
            if before == after or (
                steady and all(state.free[at] >= count for state in states[before:after] for at, count in allocation.cores)
            ):
                return allocation, seconds
            allocation = self._placement.place(in_all(states[place:after]), need)
        return None

    def _split(self, moment: float) -> int:
        """The place of a moment, made one at which something may change."""
        place = bisect_left(self._times, moment)
        if place == len(self._times) or self._times[place] != moment:
            self._times.insert(place, moment)
            self._states.insert(place, self._states[place - 1].copy())
            self._misfits.insert(place, self._misfits[place - 1].copy())
        return place


def in_all(states: Sequence[Occupancy]) -> Occupancy:
    """What is free in all of several states."""
    found = states[0].copy()
    found.free = list(map(min, *[state.free for state in states]))
    if any(state.memory != found.memory for state in states):  # mostly nobody asks for any
        found.memory = list(map(min, *[state.memory for state in states]))
    if any(state.bandwidth != found.bandwidth for state in states):
        found.bandwidth = list(map(min, *[state.bandwidth for state in states]))
    found.free_cpus = [sum([found.free[place] for place in places]) for places in found.cpu_processors]
    cpus = sum(found.free_cpus)
    found.left = [cpus, sum(found.free) - cpus]
    return found


def startable(simulation: Simulation, placement: Placement, in_turn: Sequence[int]) -> list[tuple[int, Holding]]:
    """The jobs whose reservation begins now, with what they get. The first of them does not fit by now, or places are drawn.

    The others' are made anew next time, those behind the last that might begin not at all. Where places are drawn each
    reservation draws, whether it begins now or not.
    """
    if placement.name != "random":
        others = {id(need): need for need in map(simulation.need.__getitem__, in_turn[1:])}
        if not any(placement.fits(simulation.state, need) for need in others.values()):
            return []
    timetable, begin = Timetable(simulation, placement), list[tuple[int, Holding]]()
    last = len(in_turn)
    for turn, job in enumerate(in_turn):
        while last > turn and not timetable.might_begin(in_turn[last - 1]):
            last -= 1
        if last == turn:
            break
        moment, allocation = timetable.reserve(job)
        if moment == simulation.now:
            begin.append((job, allocation))
    return begin
