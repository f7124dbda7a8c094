"""A queue whose keys change with time, without backfilling or with EASY.

At each pass at which something is free every waiting job gets its key. The smallest is looked for, and only those are sorted that
may go before their turn. Where the queue is long, a Tournament knows who is first without a look at all of them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np

from jpo.plugins.cluster.queueing.selection import JobSelection, Key, waiting_rows
from jpo.plugins.cluster.queueing.tournament import Tournament
from jpo.plugins.cluster.workload.jobs import NEVER, JobTable, Whole

SHORT = 256
"""Waiting jobs up to which it is faster to sort all than to look first for those that may go before their turn."""
LONG = 1024
"""Waiting jobs from which on a tournament is faster."""


class ProcessorPool:
    """Equal processors, and what runs on them."""

    def __init__(self, jobs: JobTable, processors: int) -> None:
        self.free = processors
        self.needed, self.requested = jobs.processors.tolist(), jobs.requested_seconds.tolist()
        self._run = jobs.run_seconds.tolist()
        self.starts = [0.0] * len(jobs)
        self._running: list[tuple[float, int]] = []  # end, job
        self._ends: list[float] = []  # expected ends of running jobs, sorted
        self._held: list[int] = []  # their processors

    def next_end(self) -> float:
        """When the next job ends."""
        return self._running[0][0] if self._running else NEVER

    def begin(self, job: int, now: float) -> None:
        """Start a job that fits."""
        self.free -= self.needed[job]
        self.starts[job] = now
        place = bisect_right(self._ends, now + self.requested[job])
        self._ends.insert(place, now + self.requested[job])
        self._held.insert(place, self.needed[job])
        heappush(self._running, (now + self._run[job], job))

    def end_until(self, now: float) -> None:
        """Let jobs end whose time has come."""
        running, ends, held = self._running, self._ends, self._held
        while running and running[0][0] <= now:
            job = heappop(running)[1]
            count = self.needed[job]
            self.free += count
            place = bisect_left(ends, self.starts[job] + self.requested[job])
            while held[place] != count:  # of equal ends any with as many processors will do
                place += 1
            del ends[place], held[place]

    def reservation(self, first: int) -> tuple[float, int]:
        """When a job can start that needs more than is free, if requests hold, and what it leaves over then."""
        available, place = self.free, -1
        while available < first:
            place += 1
            available += self._held[place]
        shadow = self._ends[place]
        return shadow, available + sum(self._held[place + 1 : bisect_right(self._ends, shadow)]) - first


def timed(jobs: JobTable, processors: int, selection: JobSelection, *, backfilling: bool) -> list[float]:
    """When each job starts; with `backfilling` by the rules of EASY, see ranked.py."""
    submit = [*jobs.submit_seconds.tolist(), NEVER]
    machine = ProcessorPool(jobs, processors)
    queue = array("q")  # in the order of arrival, which settles ties
    coming, last = 0, len(jobs)
    tournament: Tournament | None = None
    entered = -1  # the last job that has come to the tournament; -1: the queue is short
    while coming < last or queue:
        now = min(submit[coming], machine.next_end())
        machine.end_until(now)
        while submit[coming] <= now:
            queue.append(coming)
            coming += 1
        if not (queue and machine.free):
            continue
        if len(queue) == 1:
            if machine.needed[queue[0]] > machine.free:
                continue
            begun = [queue[0]]
            machine.begin(queue[0], now)
        elif entered < 0 and (len(queue) <= LONG or selection.slope is None):
            begun = _with_all_keys(jobs, np.array(queue), selection.key, machine, now, backfilling=backfilling)
        else:
            tournament = tournament or Tournament(jobs, selection)
            tournament.go_to(now)
            for job in queue[bisect_right(queue, entered) :]:
                tournament.come(job)
            entered = coming - 1
            begun = _by_tournament(tournament, machine, now, backfilling=backfilling)
        for job in begun:
            del queue[bisect_left(queue, job)]
        if entered >= 0 and len(queue) < LONG // 4:
            assert tournament is not None
            tournament.clear()
            entered = -1
    return machine.starts


def _with_all_keys(jobs: JobTable, queue: Whole, key: Key, machine: ProcessorPool, now: float, *, backfilling: bool) -> list[int]:
    """Start what may start; the jobs."""
    waiting = waiting_rows(jobs, queue)
    keys = key(waiting, now)
    begun: list[int] = []
    places: list[int] = []
    count = 0
    while machine.free and len(begun) < len(queue):
        place = int(keys.argmin())
        job = int(queue[place])
        count = machine.needed[job]
        if count > machine.free:
            break
        machine.begin(job, now)
        begun.append(job)
        places.append(place)
        keys[place] = NEVER
    if not (backfilling and machine.free and len(begun) < len(queue)):
        return begun
    shadow, extra = machine.reservation(count)
    if len(queue) <= SHORT:
        turns = keys.argsort(kind="stable")[: len(queue) - len(begun)]  # those that have begun are last
    else:
        may = (waiting.processors <= machine.free) & ((now + waiting.requested_seconds <= shadow) | (waiting.processors <= extra))
        may[places] = False
        turns = np.flatnonzero(may)
        turns = turns[keys[turns].argsort(kind="stable")]
    for job in queue[turns].tolist():
        count = machine.needed[job]
        if count > machine.free:
            continue
        if now + machine.requested[job] > shadow:
            if count > extra:
                continue
            extra -= count
        machine.begin(job, now)
        begun.append(job)
    return begun


def _by_tournament(tournament: Tournament, machine: ProcessorPool, now: float, *, backfilling: bool) -> list[int]:
    """The same, without a look at every job."""
    begun: list[int] = []
    while machine.free and (job := tournament.first()) >= 0 and machine.needed[job] <= machine.free:
        machine.begin(job, now)
        tournament.go(job)
        begun.append(job)
    if not (backfilling and machine.free and job >= 0):
        return begun
    shadow, extra = machine.reservation(machine.needed[job])
    while machine.free and (job := tournament.first_that_fits(machine.free, extra, shadow)) >= 0:
        if now + machine.requested[job] > shadow:
            extra -= machine.needed[job]
        machine.begin(job, now)
        tournament.go(job)
        begun.append(job)
    return begun


def sorted_by(key: Key, jobs: JobTable, queue: Sequence[int], now: float) -> list[int]:
    """The waiting jobs, the smallest key first."""
    if len(queue) == 1:
        return [queue[0]]
    rows = np.array(queue)
    sorted_rows: list[int] = rows[np.argsort(key(waiting_rows(jobs, rows), now), kind="stable")].tolist()
    return sorted_rows
