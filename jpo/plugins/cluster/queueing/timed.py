"""A queue whose keys change with time, without backfilling or with EASY.

At each pass at which something is free every waiting job gets its key. The smallest is looked for, and only those are sorted that
may go before their turn. Where the queue is long, a Tournament knows who is first without a look at all of them.
"""

from array import array
from bisect import bisect_left, bisect_right

import numpy as np

from jpo.plugins.cluster.queueing.processors import ProcessorPool
from jpo.plugins.cluster.queueing.selection import JobSelection, Key, waiting_rows
from jpo.plugins.cluster.queueing.tournament import Tournament
from jpo.plugins.cluster.workload.jobs import NEVER, JobTable, Whole

SHORT = 256
"""Waiting jobs up to which it is faster to sort all than to look first for those that may go before their turn."""
LONG = 1024
"""Waiting jobs from which on a tournament is faster."""


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
    seen = waiting_rows(jobs, queue)
    keys = key(seen, now)
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
        may = (seen.processors <= machine.free) & ((now + seen.requested_seconds <= shadow) | (seen.processors <= extra))
        may[places] = False
        turns = np.flatnonzero(may)
        turns = turns[keys[turns].argsort(kind="stable")]
    return begun + machine.pass_by(queue[turns].tolist(), now, shadow, extra)[0]


def _by_tournament(tournament: Tournament, machine: ProcessorPool, now: float, *, backfilling: bool) -> list[int]:
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
