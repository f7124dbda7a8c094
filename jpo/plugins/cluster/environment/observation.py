"""Observation: what an agent sees, as many numbers on any platform, each between -1 and 1.

First figures of the whole (FIGURES), then a row for each of the K jobs that actions number (OF_A_JOB), zeros where there is none.
Shares are of what the platform has; times are logarithms, 0 at a second and 1 at a month. Only what a scheduler knows: requested
times, no true ones.
"""

import math

import numpy as np
from numpy.typing import NDArray

from jpo.plugins.cluster.environment.episode import Episode

FIGURES = ("free_cpus", "free_gpus", "waiting", "running", "longest_wait", "jobs_seen", "slots_used", "queue_change")
OF_A_JOB = ("is_there", "fits", "wait", "requested", "area", "cpus", "gpus", "tasks", "wait_by_requested")
MONTH_LOG = math.log1p(30 * 86_400.0)
MANY = 1000.0
"""Waiting or running jobs that count as 1."""


class Observer:
    def __init__(self, episode: Episode) -> None:
        jobs, demand = episode.jobs, episode.demand
        self._episode = episode
        self._slots = episode.options.slots if episode.options.mode != "pair" else min(episode.options.slots, 32)
        platform = episode.simulation.platform
        self._cpus, self._gpus = platform.cores("cpu") or 1, platform.cores("gpu") or 1
        cpus, gpus = demand.tasks * demand.cpus / self._cpus, demand.tasks * demand.gpus / self._gpus
        self._area = jobs.requested_seconds * np.maximum(cpus, gpus)
        requested, area = (np.log1p(seconds) / MONTH_LOG for seconds in (jobs.requested_seconds, self._area))
        there, later = np.ones(len(jobs)), np.zeros(len(jobs))  # what changes with time is filled in when it is seen
        columns = (there, later, later, requested, area, cpus, gpus, np.log1p(demand.tasks) / 10, later)
        self._fixed = np.column_stack(columns).clip(-1, 1).astype(np.float32)
        self._submit, self._requested = jobs.submit_seconds, jobs.requested_seconds
        self._came: list[float] = jobs.submit_seconds.tolist()
        self._waiting = 0
        self.size = size(self._slots)

    def observe(self, mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        """What there is to see now; shape (size,). `mask`: the actions that are open."""
        episode = self._episode
        state, now = episode.simulation.state, episode.simulation.now
        jobs = episode.waiting()[: self._slots]
        seen = np.zeros(self.size, dtype=np.float32)
        longest = 0.0
        if jobs:
            places = np.array(jobs)
            rows = self._fixed[places]
            wait = now - self._submit[places]
            rows[:, 2] = np.log1p(wait) / MONTH_LOG
            rows[:, 8] = wait / (wait + self._requested[places])
            if episode.options.mode != "pair":
                rows[:, 1] = mask[: len(jobs)]
            seen[len(FIGURES) : len(FIGURES) + rows.size] = rows.ravel()
            came = self._came
            longest = math.log1p(now - min([came[job] for job in jobs])) / MONTH_LOG
            if longest > 1.0:
                np.clip(seen, -1.0, 1.0, out=seen)
        free_cpus, free_gpus = state.left
        running, coming = len(episode.simulation.running), episode.simulation.coming
        seen[: len(FIGURES)] = (
            free_cpus / self._cpus,
            free_gpus / self._gpus,
            min(len(jobs) / MANY, 1.0),
            min(running / MANY, 1.0),
            min(longest, 1.0),
            min(coming / (len(self._submit) or 1), 1.0),
            len(jobs) / self._slots,
            self._queue_change(len(jobs)),
        )
        return seen

    def _queue_change(self, waiting: int) -> float:
        """How much the queue has grown (1) or shrunk (-1) since the last look, in units of the sensitivity; as in HDeepRM."""
        before, self._waiting = self._waiting, waiting
        if not before or not waiting:
            return float(waiting > 0)
        change = (waiting - before) / min(waiting, before)
        return max(-1.0, min(1.0, change / self._episode.options.queue_sensitivity))


def size(slots: int) -> int:
    return len(FIGURES) + slots * len(OF_A_JOB)
