"""A run and its pods brought together by (namespace, pod): whose use it was, and how the cluster saw the run end.

Pure functions over what cluster.py read. A pod which did more than one run, or lived much longer than its run, says nothing of
that run; its single samples (traces.py), taken during the run, still do. Of several pods, totals count only where all are known.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jpo.records import RunStatus
from jpo.telemetry.prometheus import cluster
from jpo.telemetry.prometheus.cluster import Pod, Usage
from jpo.telemetry.prometheus.discovery import Bounds
from jpo.telemetry.prometheus.pod_lifetimes import Job, Life

UNKNOWN: Mapping[Job, float] = {}
SLACK_SECONDS, SLACK = 120.0, 0.05
"""A pod which lived longer than its run by more than this time and this share of it did other things too."""


@dataclass(frozen=True, slots=True)
class Joined:
    """What the cluster says of one run.

    Attributes:
        values: fields of measured.Values.
        container: the trainer's, if it could be told.
    """

    values: Mapping[str, float] = field(default_factory=dict)
    seen_to_end: RunStatus | None = None
    container: str | None = None


def bounds(pods: Collection[Pod], lives: Mapping[Pod, Life], until: float) -> tuple[float | None, float | None]:
    """When the first pod of a run started, and when the last completed; None while one is not known to have done so.

    Both or none: a pod that nobody saw complete may be a notebook, which was there long before its run. A name that several pods
    had says nothing of one of them.
    """
    known = [cluster.of(lives, pod) for pod in pods]
    spans = [
        (life.started_at, life.completed_at)
        for life in known
        if life and not life.reused and life.started_at is not None and life.completed_at is not None
    ]
    if not spans or len(spans) < len(known):
        return None, None
    # A node's clock may be a little ahead of Prometheus'.
    return min(start for start, _ in spans), min(max(end for _, end in spans), until)


def shared(pods_of_runs: Iterable[Iterable[Pod]]) -> frozenset[Pod]:
    """The pods that several runs name."""
    owners = Counter(pod for pods in pods_of_runs for pod in pods)
    return frozenset(pod for pod, count in owners.items() if count > 1)


def joined(
    pods: Mapping[Pod, str | None],
    run: Bounds,
    lives: Mapping[Pod, Life],
    used: Mapping[Pod, Usage],
    several: frozenset[Pod],
    *,
    sizes: Mapping[Job, float] = UNKNOWN,
    since: float = math.inf,
    given: str | None = None,
) -> Joined:
    """What the cluster says of a run with these pods, each with the container that the run names.

    Args:
        several: pods of more than one run.
        sizes: how many pods each job had.
        since: from when on `used` was measured, unix seconds.
        given: the trainer's container in jpo.toml; it goes before the run's own word, and this before the busiest container.
    """
    theirs = [life for pod in pods if (life := cluster.of(lives, pod))]
    usages = [usage for pod in pods if (usage := cluster.of(used, pod))]
    container = given or next((name for name in pods.values() if name), None) or _busiest(usages)
    values = {"pods": float(len(pods))} if pods else {}
    if jobs := {life.job for life in theirs if life.job} & sizes.keys():
        values["pods_of_job"] = sum(sizes[job] for job in jobs)
    if len(theirs) == len(pods) and (cpus := _requested(theirs, container)):
        values["cpus_requested"] = cpus
    if len(usages) == len(pods) and not several & pods.keys() and all(_all_its_life(life, run, since) for life in theirs):
        values |= _of_container(usages, container) | _of_gpus(usages)
    return Joined(values, _seen_to_end([life for life in theirs if _overlaps(life, run)], container), container)


def _busiest(usages: Sequence[Usage]) -> str | None:
    """The container with the most CPU time: a log shipper or proxy beside the trainer has less."""
    busy = {name: used.get("cpu_seconds", 0.0) for usage in usages for name, used in usage.containers.items()}
    return max(busy, key=lambda name: busy[name], default=None)


def _all_its_life(life: Life, run: Bounds, since: float) -> bool:
    """Whether a pod did this run and nothing else; of pods with one name, whether only the last was measured."""
    start, end = run.started_at, run.ended_at
    slack = max(SLACK_SECONDS, SLACK * (end - (end if start is None else start)))
    last_seen = life.there_at if life.completed_at is None else life.completed_at
    early = life.working_since is not None and start is not None and start - life.working_since > slack
    late = last_seen is not None and last_seen - end > slack
    mixed = life.reused and life.started_at is not None and since < life.started_at - slack
    return _overlaps(life, run) and not (early or late or mixed)


def _overlaps(life: Life, run: Bounds) -> bool:
    """False for a later pod of the same name."""
    return life.started_at is None or life.started_at <= run.ended_at


def _requested(lives: Sequence[Life], container: str | None) -> float | None:
    """CPUs of the trainer's containers that were there together; None of several pods if not all say from when to when."""
    if len(lives) == 1:
        return lives[0].cpus.get(str(container))
    spans = [
        (life.started_at, life.completed_at, life.cpus[str(container)])
        for life in lives
        if container in life.cpus and life.started_at is not None and life.completed_at is not None
    ]
    if len(spans) < len(lives):
        return None
    return max((sum(cpus for start, end, cpus in spans if start <= moment < end) for moment, _, _ in spans), default=None)


def _of_container(usages: Sequence[Usage], container: str | None) -> dict[str, float]:
    """CPU and memory of the trainer; over several pods of one run, time is added up and the highest is the highest."""
    used = [usage.containers[container] for usage in usages if container in usage.containers] if container else []
    cpu = [one["cpu_seconds"] for one in used if "cpu_seconds" in one]
    count = sum(one.get("memory_count", 0.0) for one in used)
    found = {
        "cpu_seconds": sum(cpu) if len(cpu) == len(usages) else 0.0,
        "memory_mean_bytes": sum(one.get("memory_sum", 0.0) for one in used) / count if count else 0.0,
        "memory_p95_bytes": max((one["memory_p95"] for one in used if "memory_p95" in one), default=0.0),
        "memory_bytes": max((one["memory_highest"] for one in used if "memory_highest" in one), default=0.0),
    }
    return {name: value for name, value in found.items() if value}


def _of_gpus(usages: Sequence[Usage]) -> dict[str, float]:
    """The mean is over time and GPUs."""
    gpus = [usage.gpus for usage in usages]
    count = sum(one.get("gpu_count", 0.0) for one in gpus)
    values: dict[str, float] = {}
    if count:
        values["gpu_utilisation"] = sum(one.get("gpu_sum", 0.0) for one in gpus) / count
    if memory := [one["gpu_memory"] for one in gpus if "gpu_memory" in one]:
        values["gpu_memory_bytes"] = max(memory)
    seen, metered = (sum(one.get(name, 0.0) for one in gpus) for name in ("gpus", "gpus_metered"))
    if seen:
        values["gpus_seen"] = seen
    if metered >= max(1.0, seen):
        values["energy_joules"] = sum(one.get("gpu_energy", 0.0) for one in gpus)
    return values


def _seen_to_end(lives: Sequence[Life], container: str | None) -> RunStatus | None:
    """How the last pod ended, and those that were there beside it; a pod that is deleted at once shows nothing."""
    last_start = max((life.started_at or 0.0 for life in lives), default=0.0)
    ends = {_end(life, container) for life in lives if life.completed_at is None or life.completed_at > last_start}
    return next((worst for worst in (RunStatus.OOM_KILLED, RunStatus.FAILED, RunStatus.SUCCEEDED) if worst in ends), None)


def _end(life: Life, container: str | None) -> RunStatus | None:
    """How a pod ended. A container that ran out of memory and then succeeded was started again."""
    if life.phases == {"Succeeded"}:
        return RunStatus.SUCCEEDED
    if not life.reused and (container in life.oom_killed or (container is None and life.oom_killed)):
        return RunStatus.OOM_KILLED
    return RunStatus.FAILED if life.phases == {"Failed"} else None
