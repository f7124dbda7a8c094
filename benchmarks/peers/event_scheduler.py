"""A scheduler simulator as they are usually written (pyss, RLScheduler): objects for jobs and events, all sorted anew.

Only a comparator: no product path uses it. After the structure of pyss (github.com/dinesh121991/pyss): an event queue, a
scheduler that is asked at each event, and for EASY the schedule of running jobs worked out at each pass.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Job:
    number: int
    submit: float
    run: float
    requested: float
    processors: int
    start: float = -1.0


@dataclass(order=True)
class Event:
    moment: float
    kind: int  # ends before arrivals
    order: int
    job: Job = field(compare=False)


def simulate(jobs: list[Job], processors: int, key: Callable[[Job], float], *, easy: bool) -> list[float]:
    """When each job starts."""
    count = itertools.count()
    events = [Event(job.submit, 1, next(count), job) for job in jobs]
    heapq.heapify(events)
    waiting: list[Job] = []
    running: list[Job] = []
    while events:
        now = events[0].moment
        while events and events[0].moment == now:
            event = heapq.heappop(events)
            if event.kind == 0:
                running.remove(event.job)
            else:
                waiting.append(event.job)
        for job in _startable(waiting, running, processors, now, key, easy=easy):
            job.start = now
            waiting.remove(job)
            running.append(job)
            heapq.heappush(events, Event(now + job.run, 0, next(count), job))
    return [job.start for job in jobs]


def _startable(
    waiting: list[Job], running: list[Job], processors: int, now: float, key: Callable[[Job], float], *, easy: bool
) -> list[Job]:
    free = processors - sum(job.processors for job in running)
    queue = sorted(waiting, key=lambda job: (key(job), job.submit, job.number))
    chosen: list[Job] = []
    while queue and queue[0].processors <= free:
        chosen.append(queue.pop(0))
        free -= chosen[-1].processors
    if not (queue and easy):
        return chosen
    head = queue.pop(0)
    ends = sorted(
        [(job.start + job.requested, job.processors) for job in running]
        + [(now + job.requested, job.processors) for job in chosen]
    )
    available, shadow = free, now
    for shadow, held in ends:  # noqa: B007 - its last value is the moment of the reservation
        available += held
        if available >= head.processors:
            break
    extra = free + sum(held for end, held in ends if end <= shadow) - head.processors
    for job in queue:
        if job.processors > free:
            continue
        if now + job.requested > shadow:
            if job.processors > extra:
                continue
            extra -= job.processors
        chosen.append(job)
        free -= job.processors
    return chosen
