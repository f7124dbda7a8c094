"""Conservative backfilling: every waiting job has a reservation, and none may start before its turn if that delays another's.

Reservations are made in the order of the key, each at the earliest moment at which its processors are free for as long as it
requests. They are made anew when a job ends or one comes that goes before others; a job that comes last is added. A job that
overran its request is expected to end at any moment: what it holds counts as free from just after now.

Only the jobs that start now matter, since the rest is made anew: no more is reserved where none of those that follow could begin
now even if it were the next. Queues may be long that way.

Source: Mu'alem, Feitelson, IEEE TPDS 2001, as ranked.py; conservative with compression in the order of the queue.
"""

import math
from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable

import numpy as np

from jpo.plugins.cluster.queueing.processors import ProcessorPool
from jpo.plugins.cluster.queueing.selection import JobSelection, ranked, waiting_rows
from jpo.plugins.cluster.workload.jobs import NEVER, JobTable, Seconds, Whole


class Profile:
    """How many processors are free from each moment on, as far as requests say."""

    def __init__(self, now: float, free: int, running: Iterable[tuple[float, int]]) -> None:
        """`running`: expected end and processors of each running job; those that are past end just after now."""
        self._times, self._free = [now], [free]
        self._found: dict[int, tuple[list[float], list[float]]] = {}  # by processors: times requested, and when they began
        soon = math.nextafter(now, math.inf)
        for end, count in sorted((max(end, soon), count) for end, count in running):
            if end == self._times[-1]:
                self._free[-1] += count
            else:
                self._times.append(end)
                self._free.append(self._free[-1] + count)

    def reserve(self, count: int, seconds: float, now: float) -> float:
        """Take processors as early as they are free for so long; the moment.

        What is free only shrinks, so that a job begins no earlier than one of as many processors that requested no more time.
        """
        times, free = self._times, self._free
        lengths, begins = self._found.setdefault(count, ([], []))
        step = bisect_right(lengths, seconds)
        at = max(bisect_right(times, max(begins[step - 1], now) if step else now) - 1, 0)
        while True:
            while free[at] < count:
                at += 1
            begin = max(times[at], now)
            after = at + 1
            while after < len(times) and times[after] < begin + seconds and free[after] >= count:
                after += 1
            if after == len(times) or times[after] >= begin + seconds:
                break
            at = after
        first, last = self._split(begin), self._split(begin + seconds)
        for place in range(first, last):
            free[place] -= count
        beyond = step
        while beyond < len(begins) and begins[beyond] <= begin:
            beyond += 1
        lengths[step:beyond], begins[step:beyond] = [seconds], [begin]
        return begin

    def until(self, now: float) -> Seconds:
        """By number of processors, from none on: up to when so many stay free from now on; shape (free now + 1,)."""
        at = max(bisect_right(self._times, now) - 1, 0)
        left = self._free[at]
        found = np.full(left + 1, NEVER)
        for place in range(at + 1, len(self._times)):
            count = self._free[place]
            if count < left:
                found[count + 1 : left + 1] = self._times[place]
                left = count
                if not left:
                    break
        return found

    def _split(self, moment: float) -> int:
        """The place of a moment, made a step of the profile."""
        place = bisect_left(self._times, moment)
        if place == len(self._times) or self._times[place] != moment:
            self._times.insert(place, moment)
            self._free.insert(place, self._free[place - 1])
        return place


def conservative(jobs: JobTable, processors: int, selection: JobSelection) -> list[float]:
    timed = selection.timed
    order, ranks = ranked(jobs.submit_seconds if timed else selection.key(waiting_rows(jobs), 0.0))
    counts, requests = jobs.processors[order], jobs.requested_seconds[order]
    machine, submit = ProcessorPool(jobs, processors, order), [*jobs.submit_seconds.tolist(), NEVER]
    queue = array("q")  # jobs by their rank in the order of the key, or of arrival where it changes
    planned: dict[int, float] = {}
    profile = Profile(0.0, processors, [])
    coming, last, complete = 0, len(jobs), True
    while coming < last or queue:
        now = min(submit[coming], machine.next_end())
        anew = timed or not queue or not complete or machine.next_end() <= now
        machine.end_until(now)
        while submit[coming] <= now:
            anew = anew or (bool(queue) and ranks[coming] < queue[-1])
            insort(queue, ranks[coming])
            coming += 1
        if not (queue and machine.free):
            complete = complete and not queue
            continue
        if anew or (machine.ends and machine.ends[0] <= now):
            profile = Profile(now, machine.free, zip(machine.ends, machine.held, strict=True))
            planned = {}
        rows = np.array(queue)
        if timed and len(rows) > 1:
            rows = rows[np.argsort(selection.key(waiting_rows(jobs, rows), now), kind="stable")]
        begun = []
        in_turn, turn, look, final = rows.tolist(), 0, 0, len(rows)
        while turn < final:
            if turn == look:
                final = turn + could_begin(counts[rows[turn:]], now + requests[rows[turn:]], profile.until(now))
                look = 2 * turn + 1
                continue
            job = in_turn[turn]
            turn += 1
            if job not in planned:
                planned[job] = profile.reserve(machine.needed[job], machine.requested[job], now)
            if planned[job] <= now:
                machine.begin(job, now)
                begun.append(job)
        complete = len(planned) >= len(queue)
        for job in begun:
            del queue[bisect_left(queue, job)], planned[job]
    return [machine.starts[job] for job in ranks]


def could_begin(counts: Whole, ends: Seconds, until: Seconds) -> int:
    """How many of the waiting jobs, in their order, there are up to the last one that could begin now if it were the next.

    Each takes `counts` processors and would end as requested; `until`: of Profile.
    """
    fitting = np.flatnonzero(counts < len(until))
    fitting = fitting[ends[fitting] <= until[counts[fitting]]]
    return int(fitting[-1]) + 1 if len(fitting) else 0
