"""Join of a run and its pods by (namespace, pod): what the run used, and how the cluster saw it end.

Pure functions over what cluster.py read. A pod that served several runs, or existed much longer than its run, says nothing about
that run; its single samples (time_series.py), taken during the run, still do. Of several pods, totals need all to be known.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jpo.records import RunStatus
from jpo.telemetry.prometheus import cluster
from jpo.telemetry.prometheus.cluster import Pod, PodUsage
from jpo.telemetry.prometheus.discovery import RunBounds
from jpo.telemetry.prometheus.pod_lifetimes import Job, Lifetime

SLACK_SECONDS, SLACK = 120.0, 0.05
"""A pod that existed longer than its run by more than this time and this share of it did other things as well."""


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """Facts of the cluster about the pods in a scope.

    Attributes:
        lifetimes, usage: by pod, as far as known.
        shared: pods of more than one run.
        job_sizes: how many pods each job had.
        since: from when on `usage` was measured, unix seconds.
    """

    lifetimes: Mapping[Pod, Lifetime] = field(default_factory=dict)
    usage: Mapping[Pod, PodUsage] = field(default_factory=dict)
    shared: frozenset[Pod] = frozenset()
    job_sizes: Mapping[Job, float] = field(default_factory=dict)
    since: float = math.inf


@dataclass(frozen=True, slots=True)
class Joined:
    """Values of the cluster for one run, by fields of outcome.MeasuredValues; `container`: the trainer's, if it is known."""

    values: Mapping[str, float] = field(default_factory=dict)
    seen_to_end: RunStatus | None = None
    container: str | None = None


def bounds(pods: Collection[Pod], lifetimes: Mapping[Pod, Lifetime], until: float) -> tuple[float | None, float | None]:
    """Start of a run's first pod and completion of its last; None, None unless both are known of every pod.

    A pod that was not seen to complete may be a notebook, which existed long before its run. A name that several pods had says
    nothing about any one of them.
    """
    lifetimes_here = [cluster.of(lifetimes, pod) for pod in pods]
    spans = [
        (lifetime.started_at, lifetime.completed_at)
        for lifetime in lifetimes_here
        if lifetime and not lifetime.reused and lifetime.started_at is not None and lifetime.completed_at is not None
    ]
    if not spans or len(spans) < len(lifetimes_here):
        return None, None
    # A node's clock may be slightly ahead of Prometheus'.
    return min(start for start, _ in spans), min(max(end for _, end in spans), until)


def shared(pods_of_runs: Iterable[Iterable[Pod]]) -> frozenset[Pod]:
    """The pods that several runs name."""
    owners = Counter(pod for pods in pods_of_runs for pod in pods)
    return frozenset(pod for pod, count in owners.items() if count > 1)


def joined(pods: Mapping[Pod, str | None], run: RunBounds, facts: ClusterFacts, *, container: str | None = None) -> Joined:
    """What the cluster says about a run with these pods, each with the container that the run names.

    `container`: the trainer's container as jpo.toml names it; it precedes the run's own label, and that the busiest container.
    """
    lifetimes = [lifetime for pod in pods if (lifetime := cluster.of(facts.lifetimes, pod))]
    usages = [usage for pod in pods if (usage := cluster.of(facts.usage, pod))]
    # A log shipper or proxy next to the trainer uses less CPU time.
    busy = {name: used.get("cpu_seconds", 0.0) for usage in usages for name, used in usage.containers.items()}
    container = container or next(filter(None, pods.values()), None) or max(busy, key=busy.__getitem__, default=None)
    values = {"pods": float(len(pods))} if pods else {}
    if jobs := {lifetime.job for lifetime in lifetimes if lifetime.job} & facts.job_sizes.keys():
        values["pods_of_job"] = sum(facts.job_sizes[job] for job in jobs)
    if len(lifetimes) == len(pods) and (cpus := _requested(lifetimes, container)):
        values["cpus_requested"] = cpus
    its_own = not facts.shared & pods.keys() and all(_served_only(lifetime, run, facts.since) for lifetime in lifetimes)
    if its_own and len(usages) == len(pods):
        values |= _container_usage(usages, container) | _gpu_usage(usages)
    return Joined(values, _seen_to_end([lifetime for lifetime in lifetimes if _overlaps(lifetime, run)], container), container)


def _served_only(lifetime: Lifetime, run: RunBounds, since: float) -> bool:
    """Whether a pod served this run and nothing else; of pods with one name, whether only the last was measured."""
    start, end = run.started_at, run.ended_at
    slack = max(SLACK_SECONDS, SLACK * (end - (end if start is None else start)))
    last_seen = lifetime.there_at if lifetime.completed_at is None else lifetime.completed_at
    early = lifetime.working_since is not None and start is not None and start - lifetime.working_since > slack
    late = last_seen is not None and last_seen - end > slack
    mixed = lifetime.reused and lifetime.started_at is not None and since < lifetime.started_at - slack
    return _overlaps(lifetime, run) and not (early or late or mixed)


def _overlaps(lifetime: Lifetime, run: RunBounds) -> bool:
    """Whether the pod started before the run ended; False for a later pod of the same name."""
    return lifetime.started_at is None or lifetime.started_at <= run.ended_at


def _requested(lifetimes: Sequence[Lifetime], container: str | None) -> float | None:
    """CPUs requested by the trainer's containers that ran together; of several pods None unless the times of all are known."""
    if len(lifetimes) == 1:
        return lifetimes[0].cpus.get(str(container))
    spans = [
        (lifetime.started_at, lifetime.completed_at, lifetime.cpus[str(container)])
        for lifetime in lifetimes
        if container in lifetime.cpus and lifetime.started_at is not None and lifetime.completed_at is not None
    ]
    if len(spans) < len(lifetimes):
        return None
    return max((sum(cpus for start, end, cpus in spans if start <= moment < end) for moment, _, _ in spans), default=None)


def _container_usage(usages: Sequence[PodUsage], container: str | None) -> dict[str, float]:
    """CPU and memory of the trainer; over several pods of one run, CPU time is added up, and peaks are the highest of any pod."""
    used = [usage.containers[container] for usage in usages if container in usage.containers] if container else []
    cpu = [totals["cpu_seconds"] for totals in used if "cpu_seconds" in totals]
    count = sum(totals.get("memory_count", 0.0) for totals in used)
    values = {
        "cpu_seconds": sum(cpu) if len(cpu) == len(usages) else 0.0,
        "memory_mean_bytes": sum(totals.get("memory_sum", 0.0) for totals in used) / count if count else 0.0,
        "memory_p95_bytes": max((totals["memory_p95"] for totals in used if "memory_p95" in totals), default=0.0),
        "memory_bytes": max((totals["memory_highest"] for totals in used if "memory_highest" in totals), default=0.0),
    }
    return {name: value for name, value in values.items() if value}


def _gpu_usage(usages: Sequence[PodUsage]) -> dict[str, float]:
    """Utilisation (a mean over time and GPUs), memory and energy of the GPUs."""
    gpus = [usage.gpus for usage in usages]
    count = sum(totals.get("gpu_count", 0.0) for totals in gpus)
    values: dict[str, float] = {}
    if count:
        values["gpu_utilisation"] = sum(totals.get("gpu_sum", 0.0) for totals in gpus) / count
    if memory := [totals["gpu_memory"] for totals in gpus if "gpu_memory" in totals]:
        values["gpu_memory_bytes"] = max(memory)
    seen, metered = (sum(totals.get(name, 0.0) for totals in gpus) for name in ("gpus", "gpus_metered"))
    if seen:
        values["gpus_seen"] = seen
    if metered >= max(1.0, seen):
        values["energy_joules"] = sum(totals.get("gpu_energy", 0.0) for totals in gpus)
    return values


def _seen_to_end(lifetimes: Sequence[Lifetime], container: str | None) -> RunStatus | None:
    """How the last pod ended, and those that ran at the same time; a pod that is deleted at once shows nothing."""
    last_start = max((lifetime.started_at or 0.0 for lifetime in lifetimes), default=0.0)
    last = [lifetime for lifetime in lifetimes if lifetime.completed_at is None or lifetime.completed_at > last_start]
    ends = {_end(lifetime, container) for lifetime in last}
    return next((worst for worst in (RunStatus.OOM_KILLED, RunStatus.FAILED, RunStatus.SUCCEEDED) if worst in ends), None)


def _end(lifetime: Lifetime, container: str | None) -> RunStatus | None:
    """How a pod ended; a container that ran out of memory and then succeeded was restarted."""
    if lifetime.phases == {"Succeeded"}:
        return RunStatus.SUCCEEDED
    if not lifetime.reused and (container in lifetime.oom_killed or (container is None and lifetime.oom_killed)):
        return RunStatus.OOM_KILLED
    return RunStatus.FAILED if lifetime.phases == {"Failed"} else None
