"""A run and its pods brought together by (namespace, pod): whose use it was, and how the cluster saw the run end.

Pure functions over what cluster.py read. A pod which did more than one run, or lived much longer than its run, says nothing of
that run; its single samples (traces.py), taken during the run, still do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jpo.records import RunStatus
from jpo.telemetry import cluster
from jpo.telemetry.cluster import Life, Pod, Usage
from jpo.telemetry.discovery import Bounds

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


def bounds(pods: Iterable[Pod], lives: Mapping[Pod, Life], until: float) -> tuple[float | None, float | None]:
    """When the first pod of a run started, and when the last completed; None while one is not known to have done so."""
    known = [cluster.of(lives, pod) for pod in pods]
    starts = [life.started_at for life in known if life and life.started_at is not None]
    ends = [life.completed_at for life in known if life and life.completed_at is not None]
    # A node's clock may be a little ahead of Prometheus'.
    return min(starts, default=None), min(max(ends), until) if ends and len(ends) == len(known) else None


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
    given: str | None = None,
) -> Joined:
    """What the cluster says of a run with these pods, each with the container that the run names.

    Args:
        several: pods of more than one run.
        given: the trainer's container in jpo.toml; it goes before the run's own word, and this before the busiest container.
    """
    theirs = [life for pod in pods if (life := cluster.of(lives, pod))]
    usages = [usage for pod in pods if (usage := cluster.of(used, pod))]
    container = given or next((name for name in pods.values() if name), None) or _busiest(usages)
    values = {"cpus_requested": cpus} if (cpus := _requested(theirs, container)) else {}
    if not several & pods.keys() and all(_all_its_life(life, run) for life in theirs):
        values |= _of_container(usages, container) | _of_gpus(usages)
    return Joined(values, _seen_to_end(theirs, container), container)


def _busiest(usages: Sequence[Usage]) -> str | None:
    """The container with the most CPU time: a log shipper or proxy beside the trainer has less."""
    busy = {name: used.get("cpu_seconds", 0.0) for usage in usages for name, used in usage.containers.items()}
    return max(busy, key=lambda name: busy[name], default=None)


def _all_its_life(life: Life, run: Bounds) -> bool:
    start, end = run.started_at, run.ended_at
    slack = max(SLACK_SECONDS, SLACK * (end - (end if start is None else start)))
    early = life.started_at is not None and start is not None and start - life.started_at > slack
    late = life.completed_at is not None and life.completed_at - end > slack
    return not early and not late


def _requested(lives: Sequence[Life], container: str | None) -> float | None:
    return next((life.cpus[container] for life in lives if container in life.cpus), None) if container else None


def _of_container(usages: Sequence[Usage], container: str | None) -> dict[str, float]:
    """CPU and memory of the trainer; over several pods of one run, time is added up and the highest is the highest."""
    used = [usage.containers[container] for usage in usages if container in usage.containers] if container else []
    count = sum(one.get("memory_count", 0.0) for one in used)
    found = {
        "cpu_seconds": sum(one["cpu_seconds"] for one in used if "cpu_seconds" in one),
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
    if energy := [one["gpu_energy"] for one in gpus if "gpu_energy" in one]:
        values["energy_joules"] = sum(energy)
    return values


def _seen_to_end(lives: Sequence[Life], container: str | None) -> RunStatus | None:
    """How the last pod ended. A container that ran out of memory and then succeeded was started again; a pod that is deleted at
    once shows nothing."""
    if not lives:
        return None
    last = max(lives, key=lambda life: life.started_at or 0.0)
    if last.phase == "Succeeded":
        return RunStatus.SUCCEEDED
    if last.oom_killed and (container is None or container in last.oom_killed):
        return RunStatus.OOM_KILLED
    return RunStatus.FAILED if last.phase == "Failed" else None
