"""First come, first served without backfilling: jobs start in their order, so one pass over them is the whole simulation."""

from __future__ import annotations

from heapq import heappop, heappush

from jpo.plugins.cluster.workload.jobs import JobTable


def first_come(jobs: JobTable, processors: int) -> list[float]:
    """When each job starts, in seconds; all of them fit the machine."""
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
