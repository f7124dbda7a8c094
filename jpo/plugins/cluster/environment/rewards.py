"""Rewards that telescope: each metric as a quantity that grows while time passes and ends as the metric itself.

The reward of a step is minus the growth of each quantity (plus, of utilisation), so that an episode's rewards add up to minus the
metric, whatever the agent did in between. Between two events everything is constant or linear, so this is exact.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from jpo.plugins.cluster.machine.bill import watts
from jpo.plugins.cluster.machine.simulation import Simulation
from jpo.plugins.cluster.metrics import TAU_SECONDS

METRICS = ("wait", "slowdown", "turnaround", "makespan", "utilisation", "energy", "edp")
"""Components of a reward: average wait (s), average bounded slowdown, average turnaround (s), makespan (s), utilisation of the
devices that do the work, energy (J), energy-delay product (J s). Smaller is better but for utilisation."""
METERED = ("energy", "edp")
"""Those that are known only where processors say what they draw."""
OBJECTIVES = {
    "avg_job_slowdown": "slowdown",
    "avg_job_completion": "turnaround",
    "utilization": "utilisation",
    "avg_utilization": "utilisation",
    "makespan": "makespan",
    "energy_consumption": "energy",
    "edp": "edp",
}
"""HDeepRM's six objectives, by their names there; that of utilisation has two, of earlier and later versions."""


class EpisodeLedger:
    """The metrics of an episode so far."""

    def __init__(self, simulation: Simulation, devices: int, work: list[int]) -> None:
        """`devices`: of the kind that does the work; `work`: how many of them each job holds."""
        self._simulation, self._devices, self._work = simulation, devices, work
        self._metered = simulation.platform.metered
        self._run: list[float] = simulation.jobs.run_seconds.tolist()
        self._submit: list[float] = simulation.jobs.submit_seconds.tolist()
        self._first = self._submit[0]
        self._waiting = self._present = self._busy = 0
        self._growth = 0.0  # of slowdowns, per second
        self._short: dict[int, None] = {}  # waiting jobs that run shorter than TAU_SECONDS
        self._held = [0] * len(simulation.state.types)
        platform = simulation.platform
        self._draws = [watts(kind, 0, platform.power) for kind in simulation.state.types]
        self._watts = sum(self._draws)
        self._watts_of = cache(lambda place, busy: watts(simulation.state.types[place], busy, platform.power))
        self.wait = self.slowdown = self.turnaround = self.joules = self.area = 0.0
        self._now = self._first

    def came(self, job: int) -> None:
        self._waiting += 1
        self._present += 1
        self.slowdown += 1.0  # what it is at least
        run = self._run[job]
        if run >= TAU_SECONDS:
            self._growth += 1.0 / run
        else:
            self._short[job] = None

    def started(self, job: int) -> None:
        self._waiting -= 1
        self._busy += self._work[job]
        run = self._run[job]
        if run >= TAU_SECONDS:
            self._growth -= 1.0 / run
        else:
            del self._short[job]
        if self._metered:
            self._hold(job, 1)

    def ended(self, job: int) -> None:
        self._present -= 1
        self._busy -= self._work[job]
        if self._metered:
            self._hold(job, -1)

    def _hold(self, job: int, sign: int) -> None:
        for place, count in self._simulation.allocations[job].cores:
            self._held[place] += sign * count
            draw = self._watts_of(place, self._held[place])
            self._watts += draw - self._draws[place]
            self._draws[place] = draw

    def pass_time(self, now: float) -> None:
        """Time passes up to `now`, with what was the case since the last event."""
        seconds = now - self._now
        if seconds <= 0:
            return
        self.wait += self._waiting * seconds
        self.turnaround += self._present * seconds
        self.slowdown += self._growth * seconds
        for job in self._short:
            self.slowdown += self._slowdown(job, now) - self._slowdown(job, self._now)
        self.area += self._busy * seconds
        self.joules += self._watts * seconds
        self._now = now

    def _slowdown(self, job: int, now: float) -> float:
        return max(1.0, (now - self._submit[job] + self._run[job]) / TAU_SECONDS)

    def metrics(self) -> NDArray[np.float64]:
        """Every metric so far, in the order of METRICS; energy is 0 on a platform that is not metered."""
        jobs, span = len(self._run), self._now - self._first
        of_jobs = self.wait / jobs, self.slowdown / jobs, self.turnaround / jobs
        utilisation = self.area / (self._devices * span) if span else 0.0
        return np.array((*of_jobs, span, utilisation, self.joules, self.joules * span))


SIGNS = np.array([-1.0, -1.0, -1.0, -1.0, 1.0, -1.0, -1.0])
