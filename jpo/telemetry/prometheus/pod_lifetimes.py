"""Lifetimes of pods: start, end and outcome from kube-state-metrics or, where that is not scraped, from cAdvisor."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from jpo.telemetry import contract
from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.cluster import Labelling, Pod, pod_of
from jpo.telemetry.prometheus.queries import HIGHEST, LAST, LOWEST
from jpo.telemetry.prometheus.scope import Scope

OOM = "OOMKilled"
JOBS = 'owner_kind=~".*Job"'
"""Owners whose pods work together: Job, PyTorchJob, MPIJob ...; those of a Workflow run one after the other."""
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
"""Role, which of its series, the label in which these differ, and how series and their samples become one number."""
SAME_SECONDS = 1.0
"""Start times of one pod differ by less."""
Job = tuple[str, str]
"""What a pod belongs to, by namespace and name."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Lifetime of a pod; what was not observed is None or empty.

    Attributes:
        started_at, completed_at: unix seconds; of the last pod, where several had the name one after the other.
        working_since: unix seconds; its containers may have started long after it, once their images were fetched.
        there_at: unix seconds at which its containers still existed.
        phases: "Succeeded" or "Failed".
        cpus: what each container requested.
        reused: several pods had the name one after the other, as those of a StatefulSet do.
        gateway: it passes on the metrics of jobs elsewhere (Pushgateway, node_exporter): its own lifetime and usage are no run's.
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


def lifetimes(scope: Scope, labellings: Sequence[Labelling]) -> dict[Pod, Lifetime]:
    """Lifetimes of the pods of which anything is known; one request for a few pods, more where their names are long."""
    span, recent = (queries.window(begin, scope.until) for begin in (scope.begin, scope.until - contract.STALE_SECONDS))
    asked: dict[str, str] = {}
    for n, labelling in enumerate(labellings):
        for key, (role, matcher, label, over, how) in ASKED.items():
            by = ", ".join([labelling.pod, label, labelling.labels[2]] if label else [labelling.pod])
            chosen = labelling.containers(scope) if key == "container_started" else labelling.selector(matcher)
            for name in labelling.names(scope, role):
                samples = name + chosen + (recent if key == "there" else span)
                asked[f"{key} {name} {n}"] = f"{over} by ({by}) ({how.format(samples)})"
    rows_of: dict[Pod, list[tuple[str, Mapping[str, str], float]]] = defaultdict(list)
    for key, row in scope.ask_all(asked):
        rows_of[pod_of(row.labels)].append((key.split()[0], row.labels, row.value))
    return {pod: _lifetime(rows, scope.until) for pod, rows in rows_of.items()}


def sizes(scope: Scope, labellings: Sequence[Labelling], jobs: Collection[Job]) -> dict[str, str]:
    """Queries for how many pods these jobs had: a run may name only the one that reports.

    Where the jobs are too many to name, their pods are assumed to be among those that the labelling selects.
    """
    owner = queries.one_of(sorted({name for _, name in jobs}), queries.LONGEST_PATTERN_ALONE)
    asked = {}
    for n, labelling in enumerate(labellings if jobs else ()):
        chosen = f"{{{JOBS},owner_name=~{owner}}}" if owner else labelling.selector(JOBS)
        for name in labelling.names(scope, "pod_owner"):
            last = LAST.format(name + chosen + queries.window(scope.begin, scope.until))
            pods = f"max by ({labelling.pod}, owner_name) ({last})"
            asked[f"size {name} {n}"] = f"count by ({labelling.labels[0]}, owner_name) ({pods})"
    return asked


def job_of(labels: Mapping[str, str]) -> Job:
    return labels.get("namespace", ""), labels.get("owner_name", "")


def _lifetime(rows: Sequence[tuple[str, Mapping[str, str], float]], until: float) -> Lifetime:
    """From the rows about one pod: key of ASKED, labels, value."""
    value_of = {key: value for key, _, value in rows}
    started = value_of.get("started", value_of.get("container_started"))
    reused = "started" in value_of and value_of["started"] - value_of.get("first_started", 0.0) > SAME_SECONDS
    return Lifetime(
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
