"""Lives of labelled pods, as kube-state-metrics tells them: by uid, since a recreated job may give its pods the same names.

Every number is the highest or last of its series: kube-state-metrics restarts, and runs in pairs, so that each may exist twice.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.answers import AnswerRow
from jpo.telemetry.prometheus.cluster import Labelling, Pod, pod_of
from jpo.telemetry.prometheus.pods import labels as pod_labels
from jpo.telemetry.prometheus.pods.seen_pods import LIVE, PodId, pod_id
from jpo.telemetry.prometheus.queries import HIGHEST, LAST, LOWEST
from jpo.telemetry.prometheus.scope import Scope

SERVICES = ("ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Deployment")
"""Owners that start their pods again for ever: what they own is a service, however it is labelled."""
WORKS_TOGETHER = "Job"
"""What the kinds of owners end with whose pods are one run: Job, PyTorchJob, MPIJob, TFJob."""
CONTAINER_STARTED, CONTAINER_BUSY = "container started", "container busy"
ASKED = {
    "created_at": ("pod_created_time_seconds", "", "", HIGHEST),
    "started_at": ("pod_start_time_seconds", "", "", HIGHEST),
    "completed_at": ("pod_completion_time_seconds", "", "", HIGHEST),
    "phase": ("pod_phase", 'phase=~"Succeeded|Failed"', "phase", LAST),
    "live": ("pod_phase", LIVE, "phase", ""),
    "reason": ("pod_status_reason", "", "reason", LAST),
    "terminated": ("container_terminated_reason", "", "reason", LAST),
    "just terminated": ("container_terminated_reason", "", "reason", ""),
    "restarts": ("container_restarts_total", "", "", HIGHEST),
    "request": ("container_requests", "", "resource", LAST),
    "owner": ("pod_owner", "", "owner_kind, owner_name", LAST),
    "annotations": ("pod_annotations", "", "", LAST),
}
"""Role, which of its series, the label in which these differ, and how their samples become one number; "": the one of now."""
OF_CONTAINERS = ("terminated", "just terminated", "restarts", "request")
WHOLE = ("annotations",)
"""Those of which every label counts."""


@dataclass(slots=True)
class PodLife:
    """Life of one pod; what was not observed is None or empty. Times are unix seconds.

    Attributes:
        created_at, started_at: between them it was pending, maybe for hours, until a node took it.
        completed_at: of its last container.
        phases, failed_for: "Succeeded" or "Failed"; "Evicted" and the like.
        live: it is pending or running now.
        terminated, just_terminated: by container, why it ended, each time that it did, and now: one that was started again has
            not just ended. Init containers are not among them.
        requests: by container and resource, as kube-state-metrics names it: cpu (cores), memory (bytes), nvidia_com_gpu.
        owner: kind and name of what made it.
        annotations: by their names in Prometheus.
    """

    created_at: float | None = None
    started_at: float | None = None
    completed_at: float | None = None
    live: bool = False
    phases: set[str] = field(default_factory=set)
    failed_for: set[str] = field(default_factory=set)
    terminated: dict[str, set[str]] = field(default_factory=dict)
    just_terminated: dict[str, str] = field(default_factory=dict)
    restarted: set[str] = field(default_factory=set)
    requests: dict[str, dict[str, float]] = field(default_factory=dict)
    owner: tuple[str, str] = ("", "")
    annotations: dict[str, str] = field(default_factory=dict)

    @property
    def containers(self) -> set[str]:
        """Its containers as far as kube-state-metrics names them, without init containers."""
        return {*self.requests, *self.terminated}

    def reasons(self, container: str | None) -> set[str]:
        """Why a container ended for good; empty where it was started again, and the last time was not seen."""
        name = container or ""
        if name in self.just_terminated:
            return {self.just_terminated[name]}
        seen = self.terminated.get(name, set())
        return set() if name in self.restarted and not self.phases else seen

    @property
    def serves(self) -> bool:
        """Whether it belongs to a service, which never ends."""
        return self.owner[0] in SERVICES

    @property
    def job(self) -> str | None:
        """The job whose pods work together on one run; None for a pod by itself."""
        return self.owner[1] if self.owner[0].endswith(WORKS_TOGETHER) else None


def asked(scope: Scope, labellings: Sequence[Labelling]) -> dict[str, str]:
    """Queries for the lives of the pods that the labellings select, and for when their containers began to work."""
    span, queries_of = queries.window(scope.begin, scope.until), {}
    for n, labelling in enumerate(labellings):
        for key, (role, matcher, label, how) in ASKED.items():
            by = ", ".join(filter(None, (labelling.pod, "uid", label, labelling.labels[2] if key in OF_CONTAINERS else "")))
            for name in labelling.names(scope, role):
                chosen = name + labelling.selector(matcher)
                samples = how.format(chosen + span) if how else chosen
                queries_of[f"{key}|{name}|{n}"] = samples if key in WHOLE else f"max by ({by}) ({samples})"
        by, containers = f"{labelling.pod}, {labelling.labels[2]}", labelling.containers(scope) + span
        for name in labelling.names(scope, "container_start_time_seconds"):
            queries_of[f"{CONTAINER_STARTED}|{name}|{n}"] = f"min by ({by}) ({LOWEST.format(name + containers)})"
        for name in labelling.names(scope, "container_cpu_seconds_total"):
            queries_of[f"{CONTAINER_BUSY}|{name}|{n}"] = f"max by ({by}) ({HIGHEST.format(name + containers)})"
    return queries_of


def by_pod(rows: Collection[tuple[str, AnswerRow]], pods: Collection[PodId]) -> dict[PodId, PodLife]:
    """The lives of these pods, from the answers to `asked`; those of other pods are among the rows."""
    by_pod = {pod: PodLife() for pod in pods}
    by_name: dict[Pod, list[PodLife]] = defaultdict(list)
    for pod, life in by_pod.items():
        by_name[pod.pod].append(life)
    for key, row in rows:
        found = by_pod.get(pod_id(row.labels))
        namesakes = by_name[pod_of(row.labels)]
        if found is None and "uid" not in row.labels and len(namesakes) == 1:  # of a kube-state-metrics before 2.0
            found = namesakes[0]
        if found:
            _add(found, key.partition("|")[0], row.labels, row.value)
    return by_pod


def by_container(rows: Collection[tuple[str, AnswerRow]], what: str) -> Mapping[Pod, Mapping[str, float]]:
    """By pod and container: when it began to work (unix seconds), or its CPU seconds."""
    values: dict[Pod, dict[str, float]] = defaultdict(dict)
    for key, row in rows:
        if key.startswith(what) and row.value > 0:
            values[pod_of(row.labels)].setdefault(row.labels.get("container", ""), row.value)
    return values


def _add(life: PodLife, key: str, labels: Mapping[str, str], value: float) -> None:
    container = labels.get("container", "")
    if key in ("created_at", "started_at", "completed_at"):
        setattr(life, key, value)
    elif key == "request":
        life.requests.setdefault(container, {})[labels.get("resource", "")] = value
    elif key == "restarts" and value > 0:
        life.restarted.add(container)
    elif key == "annotations":
        pod_labels.add({name: text for name, text in labels.items() if name.startswith("annotation_")}, life.annotations)
    elif value == 1 and key == "owner":
        life.owner = labels.get("owner_kind", ""), labels.get("owner_name", "")
    elif value == 1 and key == "phase":
        life.phases.add(labels.get("phase", ""))
    elif value == 1 and key == "reason":
        life.failed_for.add(labels.get("reason", ""))
    elif value == 1 and key == "live":
        life.live = True
    elif value == 1 and key == "just terminated":
        life.just_terminated[container] = labels.get("reason", "")
    elif value == 1 and key == "terminated":
        life.terminated.setdefault(container, set()).add(labels.get("reason", ""))
