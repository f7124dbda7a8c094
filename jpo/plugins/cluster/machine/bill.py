"""Bill of a schedule: energy, cost and deadlines, worked out afterwards from who held what when."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from jpo.plugins.cluster.machine.occupancy import Occupancy
from jpo.plugins.cluster.machine.simulation import Schedule
from jpo.plugins.cluster.platform.platform import Platform, PowerShares, ProcessorType
from jpo.plugins.cluster.workload.demand import DemandTable
from jpo.plugins.cluster.workload.jobs import JobTable, Seconds

SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Bill:
    """What a schedule costs, from the first submit to the last end.

    Attributes:
        energy_joules: sum over processors of the integral of what they draw, see `watts`.
        edp_joule_seconds: energy x makespan, the energy-delay product. Both are None where no processor says what it draws.
        cost_usd: of each node its price x the time in which at least one job is on it; None where no node has a price.
        gpu_utilisation, cpu_utilisation: held GPU (or CPU core) seconds / (GPUs x makespan); None where there are none.
        sla_misses: jobs that ended after their deadline; None where no job has one.
        killed: jobs that were ended at their requested time.
    """

    energy_joules: float | None
    edp_joule_seconds: float | None
    cost_usd: float | None
    gpu_utilisation: float | None
    cpu_utilisation: float | None
    sla_misses: int | None
    killed: int


def watts(processor: ProcessorType, busy: int, power: PowerShares) -> float:
    """What a processor draws with so many busy cores.

    All busy: their watts. None busy: the idle share of all cores. In between: busy cores in full, the others their share beside
    busy ones, and what the processor would draw when idle.
    """
    idle = power.idle * processor.cores
    if not busy:
        return idle * processor.watts
    if busy == processor.cores:
        return busy * processor.watts
    return (busy + power.beside_busy * (processor.cores - busy) + idle) * processor.watts


def bill(jobs: JobTable, demand: DemandTable, platform: Platform, schedule: Schedule) -> Bill:
    """The bill of a schedule of at least one job."""
    state = Occupancy(platform)
    begin, end = float(jobs.submit_seconds.min()), float(schedule.ends.max())
    changes: dict[int, list[tuple[float, int]]] = defaultdict(list)
    visits: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for _, start, stop, holding in schedule.stays():
        for place, count in holding.cores:
            changes[place] += ((start, count), (stop, -count))
        for node in {state.node[place] for place, _ in holding.cores}:
            visits[node] += ((start, 1), (stop, -1))
    energy, held = 0.0, {"cpu": 0.0, "gpu": 0.0}
    for place, processor in enumerate(state.types):
        for seconds, busy in spans(changes[place], begin, end):
            energy += seconds * watts(processor, busy, platform.power)
            held[processor.kind] += seconds * busy
    hours = (
        (node.usd_per_hour, sum(seconds for seconds, there in spans(visits[place], begin, end) if there))
        for place, (_, node) in enumerate(platform.nodes)
    )
    makespan = end - begin
    gpus, cpus = platform.cores("gpu"), platform.cores("cpu")
    due = np.isfinite(demand.deadlines)
    return Bill(
        energy_joules=energy if platform.metered else None,
        edp_joule_seconds=energy * makespan if platform.metered else None,
        cost_usd=sum(price * seconds for price, seconds in hours) / SECONDS_PER_HOUR if platform.priced else None,
        gpu_utilisation=held["gpu"] / (gpus * makespan) if gpus and makespan else None,
        cpu_utilisation=held["cpu"] / (cpus * makespan) if cpus and makespan else None,
        sla_misses=int((schedule.ends - jobs.submit_seconds > demand.deadlines)[due].sum()) if due.any() else None,
        killed=sum(schedule.killed),
    )


def energy_of_jobs(platform: Platform, schedule: Schedule) -> Seconds:
    """What each job draws, in joules; shape (jobs,).

    The jobs on a processor share what it draws by the cores that they hold; while nobody is on it, what it draws is nobody's.
    """
    types = Occupancy(platform).types
    found = np.zeros(len(schedule.starts))
    stays = list(schedule.stays())
    who, starts, ends = (np.array([stay[column] for stay in stays]) for column in range(3))
    on: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row, stay in enumerate(stays):
        for place, count in stay.holding.cores:
            on[place].append((row, count))
    for place, held in on.items():
        rows, counts = np.array(held).T
        jobs = who[rows]
        moments, where = np.unique(np.concatenate((starts[rows], ends[rows])), return_inverse=True)
        busy = np.cumsum(np.bincount(where, np.concatenate((counts, -counts)), len(moments))).round().astype(np.int64)[:-1]
        draws = [watts(types[place], one, platform.power) / one if one else 0.0 for one in busy.tolist()]
        # joules of each core that was always busy
        by_then = np.concatenate(([0.0], np.cumsum(np.array(draws) * np.diff(moments))))
        np.add.at(found, jobs, counts * (by_then[where[len(jobs) :]] - by_then[where[: len(jobs)]]))
    return found


def spans(changes: Iterable[tuple[float, int]], begin: float, end: float) -> Iterable[tuple[float, int]]:
    """How long how many were there, from begin to end: (seconds, count) pairs."""
    now, count = begin, 0
    for moment, change in sorted(changes):
        if moment > now:
            yield moment - now, count
            now = moment
        count += change
    if end > now:
        yield end - now, count
