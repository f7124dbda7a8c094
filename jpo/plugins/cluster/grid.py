"""Grid: every rule on every workload with every seed, one process or several."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from jpo.plugins.cluster.machine.bill import Bill, bill
from jpo.plugins.cluster.machine.discipline import Discipline, run
from jpo.plugins.cluster.machine.simulation import Schedule
from jpo.plugins.cluster.metrics import QueueMetrics, queue_metrics
from jpo.plugins.cluster.platform.platform import Platform
from jpo.plugins.cluster.queueing.selection import selection
from jpo.plugins.cluster.queueing.simulate import Rule, simulate
from jpo.plugins.cluster.workload.demand import DemandTable
from jpo.plugins.cluster.workload.jobs import JobTable
from jpo.records import Spread, Track

WORTH_PROCESSES = 300_000
"""Jobs to simulate in all from which on processes save more time than they take to begin."""


@dataclass(frozen=True, slots=True)
class Site:
    """A heterogeneous platform, what jobs need of it, and whether jobs are ended at their requested time."""

    platform: Platform
    demand: DemandTable
    kill: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """A workload on a machine.

    Attributes:
        name: of the workload, as reports show it.
        processors: of the machine; with a site: GPUs where a job needs one, else CPU cores.
        seed: that it was drawn with, and that rules draw with.
        site: where nodes and devices differ; None: equal processors.
    """

    name: str
    jobs: JobTable
    processors: int
    seed: int = 0
    site: Site | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came of a scenario under a rule.

    `jobs_per_second`: simulated jobs in a second of this machine's time, without reading. `resizes`: how often running jobs got
    more or fewer tasks; None: they never do.
    """

    workload: str
    processors: int
    rule: Rule
    seed: int
    metrics: QueueMetrics
    jobs_per_second: float
    bill: Bill | None = None
    resizes: int | None = None

    @property
    def figures(self) -> dict[str, Any]:
        """Every figure by its name in JSON."""
        return {
            **self.metrics.named(),
            "jobs_per_second": self.jobs_per_second,
            **({} if self.resizes is None else {"resizes": self.resizes}),
            **({"resources": self.rule.resources or "first", **asdict(self.bill)} if self.bill else {}),
        }


def evaluate(scenario: Scenario, rule: Rule) -> Evaluation:
    """Simulate a scenario under a rule; every job fits the machine."""
    jobs, processors, site = scenario.jobs, scenario.processors, scenario.site
    owed: Bill | None = None
    resizes: int | None = None
    began = time.perf_counter()
    if site is None:
        starts = simulate(jobs, processors, rule, seed=scenario.seed)
        seconds = time.perf_counter() - began
        metrics = queue_metrics(jobs, starts, processors)
    else:
        schedule = run(jobs, site.demand, site.platform, discipline(site, rule, scenario.seed))
        seconds = time.perf_counter() - began
        metrics = schedule_metrics(jobs, site.demand, processors, schedule)
        owed, resizes = bill(jobs, site.demand, site.platform, schedule), schedule.resizes if rule.elastic else None
    speed = len(jobs) / max(seconds, 1e-9)
    return Evaluation(scenario.name, processors, rule, scenario.seed, metrics, speed, owed, resizes)


def schedule_metrics(jobs: JobTable, demand: DemandTable, processors: int, schedule: Schedule) -> QueueMetrics:
    """The metrics of a schedule on a platform of so many GPUs if a job needs one, else CPU cores."""
    each = demand.gpus if demand.gpus.any() else demand.cpus
    besides = None
    if schedule.expansions:
        who, begins, ends = (np.array(column) for column in list(zip(*schedule.expansions, strict=True))[:3])
        besides = begins, ends, each[who]
    return queue_metrics(
        jobs,
        schedule.starts,
        processors,
        run_seconds=schedule.ends - schedule.starts,
        held=(demand.tasks if schedule.least_tasks is None else schedule.least_tasks) * each,
        besides=besides,
    )


def discipline(site: Site, rule: Rule, seed: int) -> Discipline:
    chosen = selection(rule.selection, seed=seed)
    return Discipline(chosen, rule.resources or "first", rule.backfilling, site.kill, seed, rule.elastic)


def evaluate_all(scenarios: Sequence[Scenario], rules: Sequence[Rule], *, spread: Spread, track: Track) -> tuple[Evaluation, ...]:
    """Every rule on every scenario, scenario by scenario; by other processes if there is enough to do."""
    pieces = [(scenario, rule) for scenario in scenarios for rule in rules]
    much = sum(len(scenario.jobs) for scenario in scenarios) * len(rules) > WORTH_PROCESSES
    with spread(len(pieces) if much else 1) as workers:
        found = workers(evaluate, pieces)
        return tuple(next(found) for _ in track(range(len(pieces)), "evaluate"))
