"""A queue whose keys change with time, without backfilling or with EASY.

At each pass at which something is free every waiting job gets its key. The smallest is looked for, and only those are sorted that
may go before their turn, so that queues may be long.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from jpo.cluster.queueing.selection import Key
from jpo.cluster.workload.jobs import JobTable, Seconds, Whole

NEVER = float("inf")


@dataclass(slots=True)
class WaitingRows:
    """What a key sees of the waiting jobs."""

    submit_seconds: Seconds
    requested_seconds: Seconds
    processors: Whole

    @property
    def memory_gib(self) -> Seconds:
        """No key that changes with time looks at it."""
        return np.zeros(len(self.processors))

    @property
    def bandwidth_gbps(self) -> Seconds:
        """Nor at this."""
        return np.zeros(len(self.processors))


def timed(jobs: JobTable, processors: int, key: Key, *, backfilling: bool) -> list[float]:
    """When each job starts; with `backfilling` by the rules of EASY, see ranked.py."""
    submit, run = [*jobs.submit_seconds.tolist(), NEVER], jobs.run_seconds.tolist()
    requested, needed = jobs.requested_seconds.tolist(), jobs.processors.tolist()
    start = [0.0] * len(run)
    running: list[tuple[float, int]] = []  # end, job
    ends: list[float] = []  # expected ends of running jobs, sorted
    held: list[int] = []  # their processors
    queue = array("q")  # in the order of arrival, which settles ties
    free, coming, last = processors, 0, len(run)

    def begin(job: int) -> None:
        start[job] = now
        place = bisect_right(ends, now + requested[job])
        ends.insert(place, now + requested[job])
        held.insert(place, needed[job])
        heappush(running, (now + run[job], job))

    while coming < last or queue:
        now = submit[coming]
        if running and running[0][0] < now:
            now = running[0][0]
        while running and running[0][0] <= now:
            job = heappop(running)[1]
            free += needed[job]
            place = bisect_left(ends, start[job] + requested[job])
            while held[place] != needed[job]:
                place += 1
            del ends[place], held[place]
        while submit[coming] <= now:
            queue.append(coming)
            coming += 1
        if not (queue and free):
            continue
        if len(queue) == 1:
            if needed[queue[0]] <= free:
                free -= needed[queue[0]]
                begin(queue.pop())
            continue
        waiting = waiting_rows(jobs, np.array(queue))
        keys = key(waiting, now)
        begun: list[int] = []  # their places in the queue
        while free and len(begun) < len(queue):
            place = int(keys.argmin())
            count = needed[queue[place]]
            if count > free:
                break
            free -= count
            begin(queue[place])
            begun.append(place)
            keys[place] = NEVER
        if backfilling and free and len(begun) < len(queue):
            shadow, extra = reservation(ends, held, free, count)
            may = (waiting.processors <= free) & ((now + waiting.requested_seconds <= shadow) | (waiting.processors <= extra))
            may[begun] = False
            places = np.flatnonzero(may)
            for place in places[np.argsort(keys[places], kind="stable")].tolist():
                job = queue[place]
                count = needed[job]
                if count > free:
                    continue
                if now + requested[job] > shadow:
                    if count > extra:
                        continue
                    extra -= count
                free -= count
                begin(job)
                begun.append(place)
        for place in sorted(begun, reverse=True):
            del queue[place]
    return start


def sorted_by(key: Key, jobs: JobTable, queue: Sequence[int], now: float) -> list[int]:
    """The waiting jobs, the smallest key first."""
    if len(queue) == 1:
        return [queue[0]]
    rows = np.array(queue)
    sorted_rows: list[int] = rows[np.argsort(key(waiting_rows(jobs, rows), now), kind="stable")].tolist()
    return sorted_rows


def waiting_rows(jobs: JobTable, rows: Whole) -> WaitingRows:
    """What a key sees of these jobs."""
    return WaitingRows(jobs.submit_seconds[rows], jobs.requested_seconds[rows], jobs.processors[rows])


def reservation(ends: Sequence[float], held: Sequence[int], free: int, first: int) -> tuple[float, int]:
    """When the first of the queue can start, if requests hold, and what it leaves over then.

    Args:
        ends: expected ends of running jobs, sorted; `held` their processors.
        free: processors now, fewer than `first`, which the job needs.
    """
    available, place = free, -1
    while available < first:
        place += 1
        available += held[place]
    available += sum(held[place + 1 : bisect_right(ends, ends[place])])
    return ends[place], available - first
