"""Conservative backfilling: every waiting job has a reservation, and none may start before its turn if that delays another's.

Reservations are made in the order of the key, each at the earliest moment at which its processors are free for as long as it
requests. They are made anew when a job ends or one comes that goes before others; a job that comes last is added. A job that
overran its request is expected to end at any moment: what it holds counts as free from just after now.

Source: Mu'alem, Feitelson, IEEE TPDS 2001, as ranked.py; conservative with compression in the order of the queue.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from heapq import heappop, heappush

from jpo.cluster.queueing.selection import JobSelection
from jpo.cluster.queueing.timed import sorted_by
from jpo.cluster.workload.jobs import JobTable

NEVER = float("inf")


class Profile:
    """How many processors are free from each moment on, as far as requests say."""

    def __init__(self, now: float, free: int, running: Iterable[tuple[float, int]]) -> None:
        """`running`: expected end and processors of each running job; those that are past end just after now."""
        self._times, self._free = [now], [free]
        soon = math.nextafter(now, math.inf)
        for end, count in sorted((max(end, soon), count) for end, count in running):
            if end == self._times[-1]:
                self._free[-1] += count
            else:
                self._times.append(end)
                self._free.append(self._free[-1] + count)

    def reserve(self, count: int, seconds: float, now: float) -> float:
        """Take processors as early as they are free for so long; the moment."""
        times, free = self._times, self._free
        at = max(bisect_right(times, now) - 1, 0)
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
        return begin

    def _split(self, moment: float) -> int:
        """The place of a moment, made a step of the profile."""
        place = bisect_left(self._times, moment)
        if place == len(self._times) or self._times[place] != moment:
            self._times.insert(place, moment)
            self._free.insert(place, self._free[place - 1])
        return place


def conservative(jobs: JobTable, processors: int, selection: JobSelection) -> list[float]:
    """When each job starts."""
    submit, run = [*jobs.submit_seconds.tolist(), NEVER], jobs.run_seconds.tolist()
    requested, needed = jobs.requested_seconds.tolist(), jobs.processors.tolist()
    keys = [0.0] * len(run) if selection.timed else selection.key(jobs, 0.0).tolist()
    start = [0.0] * len(run)
    running: list[tuple[float, int]] = []  # end, job
    queue: list[tuple[float, int]] = []  # key, job
    planned: dict[int, float] = {}
    profile = Profile(0.0, processors, [])
    free, coming, last = processors, 0, len(run)
    while coming < last or queue:
        now = submit[coming]
        if running and running[0][0] < now:
            now = running[0][0]
        anew = selection.timed or not queue
        while running and running[0][0] <= now:
            free += needed[heappop(running)[1]]
            anew = True
        while submit[coming] <= now:
            anew = anew or (bool(queue) and (keys[coming], coming) < queue[-1])
            insort(queue, (keys[coming], coming))
            coming += 1
        overran = any(start[job] + requested[job] <= now for _, job in running) if not anew else False
        if anew or overran:
            profile = Profile(now, free, ((start[job] + requested[job], needed[job]) for _, job in running))
            planned = {}
        if not queue:
            continue
        in_turn = (
            sorted_by(selection.key, jobs, sorted(job for _, job in queue), now) if selection.timed else [j for _, j in queue]
        )
        for job in in_turn:
            if job not in planned:
                planned[job] = profile.reserve(needed[job], requested[job], now)
            if planned[job] <= now:
                start[job] = now
                free -= needed[job]
                heappush(running, (now + run[job], job))
        queue = [(key, job) for key, job in queue if planned[job] > now]
    return start
