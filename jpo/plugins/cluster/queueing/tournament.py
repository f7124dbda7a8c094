"""Tournament: the first of a long queue whose keys change with time, without a look at every job.

A key orders jobs by slope x wait, a straight line each. In a tree over all jobs, sorted by processors and requested time, every
node knows the first of its part and until when that is certain: the nearest crossing of two lines that have met there. As time
goes on, only nodes whose certainty ended play again; a job that comes or goes plays its way up to the root.

Source: Basch, Guibas, Hershberger, "Data Structures for Mobile Data", J. Algorithms 1999 (kinetic tournament).
"""

import math
from heapq import heappop, heappush

import numpy as np

from jpo.plugins.cluster.queueing.selection import JobSelection, waiting_rows
from jpo.plugins.cluster.workload.jobs import NEVER, JobTable

NEAR = 1e-12
"""Share of slope x wait within which rounding may decide: the key itself is asked."""


class Tournament:
    """The waiting jobs among all jobs of a table."""

    def __init__(self, jobs: JobTable, selection: JobSelection) -> None:
        """`selection`: one whose keys have slopes."""
        assert selection.slope is not None
        order = np.lexsort((jobs.requested_seconds, jobs.processors))
        self._leaves = 1 << max(len(jobs) - 1, 1).bit_length()
        self._leaf: list[int] = (np.argsort(order) + self._leaves).tolist()
        self._slope, self._submit = selection.slope(waiting_rows(jobs)).tolist(), jobs.submit_seconds.tolist()
        self._needed, self._requested = jobs.processors.tolist(), jobs.requested_seconds.tolist()
        self._jobs, self._key = jobs, selection.key
        least = np.full(2 * self._leaves, np.iinfo(np.int64).max)  # processors of any job in the part of a node
        least[self._leaves : self._leaves + len(jobs)] = jobs.processors[order]
        below = self._leaves
        while below > 1:
            least[below // 2 : below] = np.minimum(least[below : 2 * below : 2], least[below + 1 : 2 * below : 2])
            below //= 2
        self._fewest: list[int] = least.tolist()
        self.clear()

    def clear(self) -> None:
        self._first = [-1] * (2 * self._leaves)
        self._certain = [NEVER] * (2 * self._leaves)
        self._shortest = [NEVER] * (2 * self._leaves)  # requested time of those that wait in the part of a node
        self._now = 0.0

    def go_to(self, now: float) -> None:
        """Let time pass; to be called before anything else at that time."""
        self._now = now
        certain, stack = self._certain, [1]
        late = []
        while stack:
            node = stack.pop()
            if certain[node] <= now:
                late.append(node)
                stack += (2 * node, 2 * node + 1)
        for node in reversed(late):
            self._play(node)

    def come(self, job: int) -> None:
        leaf = self._leaf[job]
        self._first[leaf], self._shortest[leaf] = job, self._requested[job]
        self._play_up(leaf)

    def go(self, job: int) -> None:
        leaf = self._leaf[job]
        self._first[leaf], self._shortest[leaf] = -1, NEVER
        self._play_up(leaf)

    def first(self) -> int:
        """The first of all; -1: nobody waits."""
        return self._first[1]

    def first_that_fits(self, free: int, extra: int, shadow: float) -> int:
        """The first that needs no more than is free, and ends by the shadow time or takes only extra processors; -1: none."""
        now, slope, submit = self._now, self._slope, self._submit
        first, shortest, fewest = self._first, self._shortest, self._fewest
        parts: list[tuple[float, int, int]] = [(0.0, first[1], 1)] if first[1] >= 0 else []
        found, found_value = -1, 0.0
        while parts:
            value, job, node = heappop(parts)
            if found >= 0 and value > found_value * (1 - NEAR):  # values are negative: clearly behind
                break
            needed = self._needed[job]
            if needed <= free and (needed <= extra or now + self._requested[job] <= shadow):
                if found < 0 or self._before(job, found):
                    found, found_value = job, value
                continue
            if node >= self._leaves:
                continue
            for part in (2 * node, 2 * node + 1):
                job = first[part]
                if job >= 0 and fewest[part] <= free and (fewest[part] <= extra or now + shortest[part] <= shadow):
                    heappush(parts, (-slope[job] * (now - submit[job]), job, part))
        return found

    def _play_up(self, leaf: int) -> None:
        node, shortest = leaf // 2, self._shortest
        while node:
            self._play(node)
            one, other = shortest[2 * node], shortest[2 * node + 1]
            shortest[node] = one if one < other else other
            node //= 2

    def _play(self, node: int) -> None:
        """Who of the two halves is first, and until when that is certain."""
        left, right = 2 * node, 2 * node + 1
        one, other = self._first[left], self._first[right]
        certain = self._certain
        if one < 0 or other < 0:
            self._first[node], certain[node] = (other, certain[right]) if one < 0 else (one, certain[left])
            return
        if self._before(other, one):
            one, other = other, one
        until = min(certain[left], certain[right])
        steeper = self._slope[other] - self._slope[one]
        if steeper > 0:
            high, low = self._slope[other] * self._submit[other], self._slope[one] * self._submit[one]
            crossing = (high - low) / steeper
            crossing -= 1e-14 * (abs(high) + abs(low)) / steeper + NEAR * abs(crossing)
            until = min(until, max(crossing, math.nextafter(self._now, NEVER)))
        self._first[node], certain[node] = one, until

    def _before(self, one: int, other: int) -> bool:
        now = self._now
        value = self._slope[one] * (now - self._submit[one])
        another = self._slope[other] * (now - self._submit[other])
        if abs(value - another) > NEAR * value:
            return bool(value > another)
        if value == another == 0.0 or (self._slope[one] == self._slope[other] and self._submit[one] == self._submit[other]):
            return one < other
        first, second = self._key(waiting_rows(self._jobs, np.array((one, other))), now).tolist()
        return (float(first), one) < (float(second), other)
