"""How pods lived: kube-state-metrics' account, and where that is not scraped, what cAdvisor shows of it beside their use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from jpo.telemetry import contract
from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.cluster import Place, Pod, pod_of
from jpo.telemetry.prometheus.queries import HIGHEST, LAST, LOWEST
from jpo.telemetry.prometheus.scope import Look

OOM = "OOMKilled"
JOBS = 'owner_kind=~".*Job"'
"""What has pods that do one thing together: Job, PyTorchJob, MPIJob ...; a Workflow's do one thing after the other."""
ASKED = {
    "started": ("pod_start_time_seconds", "", "", "max", HIGHEST),
    "first_started": ("pod_start_time_seconds", "", "", "min", LOWEST),
    "container_started": ("container_start_time_seconds", "", "", "min", LOWEST),
    "completed": ("pod_completion_time_seconds", "", "", "max", HIGHEST),
    "phase": ("pod_phase", 'phase=~"Succeeded|Failed"', "phase", "max", LAST),
    "oom_killed": ("container_terminated_reason", f'reason="{OOM}"', "reason", "max", HIGHEST),
    "cpus": ("container_requests", 'resource="cpu"', "resource", "max", HIGHEST),
    "job": ("pod_owner", JOBS, "owner_name", "max", LAST),
    "gateway": ("gateway_info", "", "", "max", HIGHEST),
    "there": ("container_memory_bytes", "", "", "max", LAST),
}
"""Role, which of its series, the label that these differ in, and how series and their samples become one number."""
SAME_SECONDS = 1.0
"""Start times of one pod differ by less."""


Job = tuple[str, str]
"""What a pod belongs to, by namespace and name."""


@dataclass(frozen=True, slots=True)
class Life:
    """How a pod lived; what nobody saw is None or empty.

    Attributes:
        started_at, completed_at: unix seconds; of the last, where several pods had the name one after the other.
        working_since: unix seconds; its containers may have started long after it, when their images had been fetched.
        there_at: unix seconds at which its containers were still there.
        phases: "Succeeded" or "Failed".
        oom_killed: containers that ran out of memory.
        cpus: what each container asked for.
        reused: several pods had the name one after the other, as those of a StatefulSet do.
        gateway: it passes on what jobs elsewhere say (Pushgateway, node_exporter): its own life and use are no run's.
    """

    started_at: float | None = None
    completed_at: float | None = None
    working_since: float | None = None
    there_at: float | None = None
    phases: frozenset[str] = frozenset()
    oom_killed: frozenset[str] = frozenset()
    cpus: Mapping[str, float] = field(default_factory=dict)
    job: Job | None = None
    reused: bool = False
    gateway: bool = False


Told = Sequence[tuple[str, Mapping[str, str], float]]
"""Rows about one pod: key of ASKED, labels, value."""


def lives(look: Look, places: Sequence[Place]) -> dict[Pod, Life]:
    """The pods of which anything is known; one request for a few pods, more where their names are long."""
    asked: dict[str, str] = {}
    for n, place in enumerate(places):
        asked |= _asked(look, place, n)
    told: dict[Pod, list[tuple[str, Mapping[str, str], float]]] = defaultdict(list)
    for key, row in look.ask_all(asked):
        told[pod_of(row.labels)].append((key.split()[0], row.labels, row.value))
    return {pod: _life(rows, look.until) for pod, rows in told.items()}


def sizes(look: Look, places: Sequence[Place], jobs: Collection[Job]) -> dict[str, str]:
    """Queries for how many pods these jobs had: a run may name only the one of them that reports.

    Where the jobs are too many to name, their pods are taken to be among those which are chosen already.
    """
    owner = queries.one_of(sorted({name for _, name in jobs}), queries.LONGEST_PATTERN_ALONE)
    asked = {}
    for n, place in enumerate(places if jobs else ()):
        chosen = f"{{{JOBS},owner_name=~{owner}}}" if owner else place.selector(JOBS)
        for name in place.names(look, "pod_owner"):
            last = LAST.format(name + chosen + queries.window(look.begin, look.until))
            asked[f"size {name} {n}"] = f"count by ({place.labels[0]}, owner_name) (max by ({place.pod}, owner_name) ({last}))"
    return asked


def job_of(labels: Mapping[str, str]) -> Job:
    return labels.get("namespace", ""), labels.get("owner_name", "")


def _asked(look: Look, place: Place, n: int) -> dict[str, str]:
    span = queries.window(look.begin, look.until)
    lately = queries.window(look.until - contract.STALE_SECONDS, look.until)
    asked = {}
    for key, (role, matcher, label, over, how) in ASKED.items():
        by = ", ".join([place.pod, label, place.labels[2]] if label else [place.pod])
        for name in place.names(look, role):
            chosen = place.containers(look) if key == "container_started" else place.selector(matcher)
            samples = name + chosen + (lately if key == "there" else span)
            asked[f"{key} {name} {n}"] = f"{over} by ({by}) ({how.format(samples)})"
    return asked


def _life(rows: Told, until: float) -> Life:
    value_of = {key: value for key, _, value in rows}
    started = value_of.get("started", value_of.get("container_started"))
    reused = "started" in value_of and value_of["started"] - value_of.get("first_started", 0.0) > SAME_SECONDS
    return Life(
        started_at=started,
        completed_at=value_of.get("completed"),
        working_since=started if reused else value_of.get("container_started", started),
        there_at=until - contract.STALE_SECONDS if "there" in value_of else None,
        phases=frozenset(labels.get("phase", "") for key, labels, value in rows if key == "phase" and value == 1),
        oom_killed=frozenset(labels.get("container", "") for key, labels, value in rows if key == "oom_killed" and value == 1),
        cpus={labels.get("container", ""): value for key, labels, value in rows if key == "cpus"},
        job=next((job_of(labels) for key, labels, _ in rows if key == "job"), None),
        reused=reused,
        gateway="gateway" in value_of,
    )
