"""What a workload and a platform are like: sizes, run times, load, users; nodes and devices."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from jpo.plugins.cluster.grid import Scenario
from jpo.plugins.cluster.metrics import JobFigures, spread


@dataclass(frozen=True, slots=True)
class WorkloadDescription:
    """A workload on its machine.

    Attributes:
        span_seconds: from the first submit to the last.
        load: processor seconds that jobs need / those that there are in the span; None: all come at once.
        shares: of the jobs, 0 to 1, by name: those on one processor, on a power of two, that run longer than requested, that need
            GPUs, that can run with several numbers of tasks; accuracy: average of run / requested, 1 at most.
        nodes: by node type how many there are; empty: equal processors.
    """

    workload: str
    jobs: int
    users: int
    processors: int
    span_seconds: float
    load: float | None
    run_seconds: JobFigures
    requested_seconds: JobFigures
    sizes: JobFigures
    shares: dict[str, float]
    nodes: dict[str, int]


def describe(scenario: Scenario) -> WorkloadDescription:
    """Describe a workload of at least one job."""
    jobs, site = scenario.jobs, scenario.site
    span = float(jobs.submit_seconds[-1] - jobs.submit_seconds[0])
    sizes = jobs.processors
    nodes = Counter(node.name for _, node in site.platform.nodes) if site else {}
    work = float(jobs.run_seconds @ sizes)
    return WorkloadDescription(
        workload=scenario.name,
        jobs=len(jobs),
        users=len(np.unique(jobs.users[jobs.users >= 0])),
        processors=scenario.processors,
        span_seconds=span,
        load=work / (scenario.processors * span) if span else None,
        run_seconds=spread(jobs.run_seconds),
        requested_seconds=spread(jobs.requested_seconds),
        sizes=spread(sizes.astype(np.float64)),
        shares={
            "serial": float((sizes == 1).mean()),
            "power_of_two": float(((sizes & (sizes - 1)) == 0).mean()),
            "overruns": float((jobs.run_seconds > jobs.requested_seconds).mean()),
            "accuracy": float(np.minimum(jobs.run_seconds / jobs.requested_seconds, 1.0).mean()),
            "gpu_jobs": float((site.demand.gpus > 0).mean()) if site else 0.0,
            "elastic_jobs": float(site.demand.elasticity.resizable.mean()) if site and site.demand.elasticity else 0.0,
        },
        nodes=dict(nodes),
    )
