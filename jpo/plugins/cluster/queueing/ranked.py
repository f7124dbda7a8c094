"""A queue sorted by keys that do not change, without backfilling or with EASY.

Jobs are numbered by their rank in the order of the key, so the queue is a sorted list of whole numbers.

EASY: the first of the queue has a reservation, at the earliest moment by which the requested times of running jobs leave enough
processors (the shadow time). Another job may start before its turn if it fits now and either ends by then, as requested, or takes
only what the first one leaves over at that moment (the extra processors). Jobs that overran their request count with the end that
was expected, which lies in the past.

Source: Mu'alem, Feitelson, "Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2 with
Backfilling", IEEE TPDS 2001.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import islice

import numpy as np

from jpo.plugins.cluster.workload.jobs import NEVER, JobTable, Seconds

LONG = 256
"""Waiting jobs from which on it is faster to look at all of them at once for those that may go before their turn."""


def in_order(jobs: JobTable, processors: int, keys: Seconds) -> list[float]:
    """When each job starts where none may go before its turn."""
    order = np.argsort(keys, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    submit, ranks = [*jobs.submit_seconds.tolist(), NEVER], rank.tolist()
    run, needed = jobs.run_seconds[order].tolist(), jobs.processors[order].tolist()
    start = [0.0] * len(ranks)
    running: list[tuple[float, int]] = []  # end, processors
    queue: list[int] = []
    free, coming, last = processors, 0, len(ranks)
    while coming < last or queue:
        now = submit[coming]
        if queue and running[0][0] < now:
            now = running[0][0]
        while running and running[0][0] <= now:
            free += heappop(running)[1]
        while submit[coming] <= now:
            insort(queue, ranks[coming])
            coming += 1
        begun = 0
        for job in queue:
            if needed[job] > free:
                break
            free -= needed[job]
            start[job] = now
            heappush(running, (now + run[job], needed[job]))
            begun += 1
        if begun:
            del queue[:begun]
    return [start[job] for job in ranks]


def easy(jobs: JobTable, processors: int, keys: Seconds) -> list[float]:
    """When each job starts with EASY backfilling; candidates are looked at in the order of the key."""
    order = np.argsort(keys, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    submit, ranks = [*jobs.submit_seconds.tolist(), NEVER], rank.tolist()
    ranked_needed, ranked_requested = jobs.processors[order], jobs.requested_seconds[order]
    run, needed, requested = jobs.run_seconds[order].tolist(), ranked_needed.tolist(), ranked_requested.tolist()
    start = [0.0] * len(ranks)
    running: list[tuple[float, int]] = []  # end, job
    ends: list[float] = []  # expected ends of running jobs, sorted
    held: list[int] = []  # their processors
    queue = array("q")
    free, coming, last = processors, 0, len(ranks)
    shadow, extra = NEVER, 0

    def begin(job: int) -> None:
        start[job] = now
        expected = now + requested[job]
        place = bisect_right(ends, expected)
        ends.insert(place, expected)
        held.insert(place, needed[job])
        heappush(running, (now + run[job], job))

    while coming < last or queue:
        now = submit[coming]
        if running and running[0][0] <= now:
            now = running[0][0]
            while running and running[0][0] <= now:
                job = heappop(running)[1]
                count = needed[job]
                free += count
                place = bisect_left(ends, start[job] + requested[job])
                while held[place] != count:  # of equal ends any with as many processors will do
                    place += 1
                del ends[place], held[place]
        elif submit[coming + 1] > now:  # one job more, and nothing else has changed since the last pass
            job = ranks[coming]
            coming += 1
            if not queue:
                if needed[job] <= free:
                    free -= needed[job]
                    begin(job)
                    continue
            elif job > queue[0]:
                count = needed[job]
                if count <= free and (now + requested[job] <= shadow or count <= extra):
                    if now + requested[job] > shadow:
                        extra -= count
                    free -= count
                    begin(job)
                else:
                    insort(queue, job)
                continue
            queue.insert(0, job)
        while submit[coming] <= now:
            insort(queue, ranks[coming])
            coming += 1
        if not queue:
            continue
        begun = 0
        for job in queue:
            if needed[job] > free:
                break
            free -= needed[job]
            begin(job)
            begun += 1
        if begun:
            del queue[:begun]
            if not queue:
                continue
        if not free:  # nothing can start before an end, which asks anew
            continue
        first = needed[queue[0]]
        available = free
        for place, count in enumerate(held):  # noqa: B007 - its last value is the place of the reservation
            available += count
            if available >= first:
                break
        shadow = ends[place]
        for count in held[place + 1 : bisect_right(ends, shadow)]:
            available += count
        extra = available - first
        passed = []
        others: Iterable[int] = islice(queue, 1, None)
        if len(queue) > LONG:
            rows = np.array(queue)[1:]
            counts = ranked_needed[rows]
            rows = rows[(counts <= free) & ((counts <= extra) | (now + ranked_requested[rows] <= shadow))]
            others = rows.tolist()
        for job in others:
            count = needed[job]
            if count <= free:
                if now + requested[job] > shadow:
                    if count > extra:
                        continue
                    extra -= count
                free -= count
                begin(job)
                passed.append(job)
                if not free:
                    break
        for job in passed:
            del queue[bisect_left(queue, job)]
    return [start[job] for job in ranks]
