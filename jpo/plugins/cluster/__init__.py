"""The cluster lab: what queues, machines and bills look like under a policy of workload management.

    workload/        jobs: logs in the Standard Workload Format, tables of training jobs, jobs drawn at random
    queueing/        equal processors: job selection (selection.py) with and without backfilling, fast enough for whole years
    platform/        clusters > nodes > processors > cores, and how they are described
    machine/         such platforms: where jobs go (placement.py), how fast they run there, energy and cost
    metrics.py       what a schedule amounts to
    grid.py          policies x workloads x seeds
    fail_condition.py  "saf+easy worse than fcfs+easy by 5%", for CI
    description.py   what a workload is like; schedule.py: one with its devices; batsim.py: as Batsim writes it
    environment/     decisions one by one, rewards that telescope, Gymnasium
    cli.py           the commands' options and help (cli_workloads.py: those of workloads); story/: what they do; report/
    agents/          who decides: rules, learners, a user's own; how they do beside rules

Nothing here reads a clock for its results: jobs_per_second alone is measured. torch is imported by agents that learn alone.
"""

from jpo.plugin import Plugin

PLUGIN = Plugin(
    "cluster", summary="policies of workload management on clusters", commands={"cluster": "jpo.plugins.cluster.cli:cluster"}
)
