"""A schedule in full: which device did what when. For pictures, and for tools that read what Batsim writes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from jpo.plugins.cluster.grid import Scenario, discipline
from jpo.plugins.cluster.machine.bill import bill, energy_of_jobs
from jpo.plugins.cluster.machine.discipline import run
from jpo.plugins.cluster.machine.occupancy import Occupancy
from jpo.plugins.cluster.queueing.simulate import Rule, simulate
from jpo.plugins.cluster.workload.jobs import JobTable, Seconds


class DeviceStay(NamedTuple):
    """A job's devices from one moment to another."""

    job: int
    begin: float
    end: float
    devices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DeviceSchedule:
    """A schedule with its devices.

    Attributes:
        devices: by job the numbers of the cores and GPUs that it held from start to end, sorted.
        kinds: by device the name of its processor type.
        killed: by job whether it was ended at its requested time.
        joules, consumed_joules: by job what it drew, and what the machine did; None where nothing is known of energy.
        besides: what jobs that were resized held for a while. asked: by job with how many devices it came.
    """

    scenario: Scenario
    rule: Rule
    starts: Seconds
    ends: Seconds
    devices: tuple[tuple[int, ...], ...]
    kinds: tuple[str, ...]
    killed: tuple[bool, ...]
    joules: Seconds | None = None
    consumed_joules: float | None = None
    besides: tuple[DeviceStay, ...] = ()
    asked: tuple[int, ...] = ()

    @property
    def jobs(self) -> JobTable:
        return self.scenario.jobs

    def stays(self) -> Iterator[DeviceStay]:
        rows = zip(self.starts.tolist(), self.ends.tolist(), self.devices, strict=True)
        yield from (DeviceStay(job, *row) for job, row in enumerate(rows))
        yield from self.besides

    def all_devices(self) -> list[tuple[int, ...]]:
        """By job the devices that it held at any time, sorted."""
        found = [set(held) for held in self.devices]
        for stay in self.besides:
            found[stay.job].update(stay.devices)
        return [tuple(sorted(held)) for held in found]


def device_schedule(scenario: Scenario, rule: Rule) -> DeviceSchedule:
    """Simulate a scenario under a rule and give every job its devices, the lowest free numbers first."""
    jobs, site = scenario.jobs, scenario.site
    if site is None:
        starts = simulate(jobs, scenario.processors, rule, seed=scenario.seed)
        ends = starts + jobs.run_seconds
        sizes = tuple(jobs.processors.tolist())
        devices = assigned(starts, ends, [((0, count),) for count in sizes], [scenario.processors])
        kinds, unkilled = ("processor",) * scenario.processors, (False,) * len(jobs)
        return DeviceSchedule(scenario, rule, starts, ends, devices, kinds, unkilled, asked=sizes)
    schedule = run(jobs, site.demand, site.platform, discipline(site, rule, scenario.seed))
    types = Occupancy(site.platform).types
    stays = list(schedule.stays())
    begins, ends = (np.array([stay[column] for stay in stays], dtype=np.float64) for column in (1, 2))
    devices = assigned(begins, ends, [stay.holding.cores for stay in stays], [kind.cores for kind in types])
    count, tasks = len(jobs), site.demand.tasks.tolist()
    least_tasks = tasks if schedule.least_tasks is None else schedule.least_tasks.tolist()
    besides = tuple(DeviceStay(*stay[:3], held) for stay, held in zip(stays[count:], devices[count:], strict=True))
    names = tuple(kind.name for kind in types for _ in range(kind.cores))
    return DeviceSchedule(
        *(scenario, rule, schedule.starts, schedule.ends, devices[:count], names, schedule.killed),
        joules=energy_of_jobs(site.platform, schedule) if site.platform.metered else None,
        consumed_joules=bill(jobs, site.demand, site.platform, schedule).energy_joules,
        besides=besides,
        asked=tuple(len(held) * more // least for held, more, least in zip(devices[:count], tasks, least_tasks, strict=True)),
    )


def assigned(
    starts: Seconds, ends: Seconds, held: Sequence[Sequence[tuple[int, int]]], sizes: Sequence[int]
) -> tuple[tuple[int, ...], ...]:
    """The numbers of the devices, from 0, that each stay of a job held, as (processor, how many) pairs; `sizes`: by processor."""
    first = np.concatenate(([0], np.cumsum(sizes))).tolist()
    free = [list(range(first[place], first[place + 1])) for place in range(len(sizes))]
    running: list[tuple[float, int]] = []
    found: list[tuple[int, ...]] = [()] * len(held)
    for job in np.lexsort((ends, starts)).tolist():
        while running and running[0][0] <= starts[job]:
            _, gone = heappop(running)
            place_of = np.searchsorted(first, found[gone], side="right") - 1
            for device, place in zip(found[gone], place_of.tolist(), strict=True):
                heappush(free[place], device)
        found[job] = tuple(sorted(heappop(free[place]) for place, count in held[job] for _ in range(count)))
        heappush(running, (float(ends[job]), job))
    return tuple(found)


def busy_over_time(starts: Seconds, ends: Seconds, held: Sequence[int]) -> tuple[Seconds, Seconds]:
    """How many devices are busy from each moment on: moments and numbers, both of the same shape."""
    changes = np.concatenate((np.array(held, dtype=np.float64), -np.array(held, dtype=np.float64)))
    moments = np.concatenate((starts, ends))
    order = np.argsort(moments, kind="stable")
    return moments[order], np.cumsum(changes[order])


def bars(devices: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring devices, sorted, as one bar: (first, after the last) pairs."""
    found: list[tuple[int, int]] = []
    for device in devices:
        if found and found[-1][1] == device:
            found[-1] = (found[-1][0], device + 1)
        else:
            found.append((device, device + 1))
    return found


def intervals(numbers: Sequence[int]) -> str:
    """Sorted numbers as Batsim writes them: 0-3 7."""
    return " ".join(f"{first}" if after == first + 1 else f"{first}-{after - 1}" for first, after in bars(numbers))
