"""Schedulers as the papers say it, slow and plain, and random traces: what the fast ones are compared with."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from jpo.plugins.cluster.workload.jobs import JobTable

MACHINE = 8
Rank = Callable[[int, float], tuple[float, ...]]


def traces(*, perfect: bool = False) -> st.SearchStrategy[JobTable]:
    """Up to 14 jobs that come together often, on a machine of MACHINE processors; some overrun their requests."""
    one = st.tuples(st.integers(0, 12), st.integers(0 if not perfect else 1, 9), st.integers(1, 9), st.integers(1, MACHINE))
    return st.lists(one, min_size=1, max_size=14).map(lambda rows: table(rows, perfect=perfect))


def table(rows: list[tuple[int, int, int, int]], *, perfect: bool) -> JobTable:
    columns = np.array(sorted(rows, key=lambda row: row[0]), dtype=np.float64).T
    requested = columns[1] if perfect else columns[2]
    users = np.zeros(len(rows), dtype=np.int64)
    return JobTable(np.arange(len(rows)), columns[0], columns[1], requested, columns[3].astype(np.int64), users)


def brute_force(jobs: JobTable, rank: Rank, *, backfilling: bool) -> list[float]:
    """No backfilling, or EASY: at each event everything is worked out anew."""
    submit, run, requested, needed = (
        column.tolist() for column in (jobs.submit_seconds, jobs.run_seconds, jobs.requested_seconds, jobs.processors)
    )
    start: dict[int, float] = {}
    done: set[int] = set()
    now = -1.0

    def free() -> int:
        return MACHINE - sum(needed[job] for job in start if job not in done)

    while len(start) < len(jobs):
        moments = [submit[job] for job in range(len(jobs)) if submit[job] > now]
        moments += [start[job] + run[job] for job in start if job not in done]
        now = min(moments)
        while ended := {job for job in start if start[job] + run[job] <= now} - done:
            done |= ended
        queue = sorted(
            (job for job in range(len(jobs)) if submit[job] <= now and job not in start), key=lambda job: rank(job, now)
        )
        while queue and needed[queue[0]] <= free():
            start[queue.pop(0)] = now
        if not (queue and backfilling):
            continue
        head, *others = queue
        running = [job for job in start if job not in done]
        shadow = math.inf
        for moment in sorted({start[job] + requested[job] for job in running}, reverse=True):
            available = free() + sum(needed[job] for job in running if start[job] + requested[job] <= moment)
            if available >= needed[head]:
                shadow, extra = moment, available - needed[head]
        for job in others:
            if needed[job] > free():
                continue
            if now + requested[job] > shadow:
                if needed[job] > extra:
                    continue
                extra -= needed[job]
            start[job] = now
    return [start[job] for job in range(len(jobs))]


def most_held(jobs: JobTable, starts: np.ndarray) -> int:
    """The most processors that are held at once; an end at the moment of a start comes first."""
    ends = starts + jobs.run_seconds
    return max(int(jobs.processors[(starts <= moment) & (ends > moment)].sum()) for moment in starts)
