"""A queue sorted by keys that do not change, without backfilling or with EASY; first come, first served needs no queue.

Jobs are numbered by their rank in the order of the key, so the queue is a sorted list of whole numbers.

EASY: the first of the queue has a reservation, at the earliest moment by which the requested times of running jobs leave enough
processors (the shadow time). Another job may start before its turn if it fits now and either ends by then, as requested, or takes
only what the first one leaves over at that moment (the extra processors). Jobs that overran their request count with the end that
was expected, which lies in the past.

Source: Mu'alem, Feitelson, "Utilization, Predictability, Workloads, and User Runtime Estimates in Scheduling the IBM SP2 with
Backfilling", IEEE TPDS 2001.
"""

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import islice

import numpy as np

from jpo.plugins.cluster.queueing.processors import ProcessorPool
from jpo.plugins.cluster.queueing.selection import ranked
from jpo.plugins.cluster.workload.jobs import NEVER, JobTable, Seconds

LONG = 256
"""Waiting jobs from which on it is faster to look at all of them at once for those that may go before their turn."""


def first_come(jobs: JobTable, processors: int) -> list[float]:
    """When each job starts in the order of arrival where none may go before its turn: one pass over them is the simulation."""
    free, now = processors, 0.0
    running: list[tuple[float, int]] = []  # end, processors
    starts = []
    columns = jobs.submit_seconds.tolist(), jobs.run_seconds.tolist(), jobs.processors.tolist()
    for submit, run, needed in zip(*columns, strict=True):
        if submit > now:
            now = submit
        while free < needed:  # ends up to now are taken as they are needed: what is free beyond that changes nothing
            end, held = heappop(running)
            free += held
            if end > now:
                now = end
        starts.append(now)
        free -= needed
        heappush(running, (now + run, needed))
    return starts


def in_turn(jobs: JobTable, processors: int, keys: Seconds, *, backfilling: bool) -> list[float]:
    """When each job starts; with `backfilling` by the rules of EASY, candidates in the order of the key."""
    order, ranks = ranked(keys)
    ranked_needed, ranked_requested = jobs.processors[order], jobs.requested_seconds[order]
    machine = ProcessorPool(jobs, processors, order)
    needed = machine.needed
    submit = [*jobs.submit_seconds.tolist(), NEVER]
    queue = array("q")
    coming, last = 0, len(ranks)
    shadow, extra = NEVER, 0
    while coming < last or queue:
        now, end = submit[coming], machine.next_end()
        if end <= now:
            now = end
            machine.end_until(now)
        elif backfilling and submit[coming + 1] > now and queue and ranks[coming] > queue[0]:
            # One job more, behind the first of the queue, and nothing else has changed since the last pass.
            passed, extra = machine.pass_by((ranks[coming],), now, shadow, extra)
            if not passed:
                insort(queue, ranks[coming])
            coming += 1
            continue
        while submit[coming] <= now:
            insort(queue, ranks[coming])
            coming += 1
        begun = 0
        for job in queue:
            if needed[job] > machine.free:
                break
            machine.begin(job, now)
            begun += 1
        del queue[:begun]
        if not (backfilling and queue and machine.free):  # nothing can start before an end, which asks anew
            continue
        shadow, extra = machine.reservation(needed[queue[0]])
        others: Iterable[int] = islice(queue, 1, None)
        if len(queue) > LONG:
            rows = np.array(queue)[1:]
            counts = ranked_needed[rows]
            may = (counts <= machine.free) & ((counts <= extra) | (now + ranked_requested[rows] <= shadow))
            others = rows[may].tolist()
        passed, extra = machine.pass_by(others, now, shadow, extra)
        for job in passed:
            del queue[bisect_left(queue, job)]
    return [machine.starts[job] for job in ranks]
