"""What a server knows of the runs of a workload that have not ended: two requests where none goes on.

What a Pushgateway holds is reported for ever: such a run goes on only while something is pushed, or its samples move. The clock
of the server is asked, not ours: where ours is ahead, everything would seem silent.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from jpo.http.endpoint import Endpoint
from jpo.records import KUBERNETES, Identity, Running
from jpo.telemetry import contract
from jpo.telemetry.outcome import BYTES_PER_GIB, NoEvidence, Own, configuration, own_values
from jpo.telemetry.prometheus import cluster, discovery, queries
from jpo.telemetry.prometheus.cluster import Pod, PodUsage
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.prometheus.pods import grouping, kube_state
from jpo.telemetry.prometheus.pods import labels as pod_labels
from jpo.telemetry.prometheus.pods import seen_pods as labelled
from jpo.telemetry.prometheus.pods.grouping import LabelledPod
from jpo.telemetry.prometheus.reported import Description, described
from jpo.telemetry.prometheus.scope import Scope

RECENT_SECONDS = 900.0
"""Over which utilisation and throughput are measured; a run that was silent for longer does not go on."""
STALLED_SECONDS = 1800.0
"""A pushed run of which it is not known when it was pushed goes on while its samples moved in this time."""
SLACK_SECONDS = 60.0
"""By which the clock of a run may be ahead of the server's; a start further on tells nothing."""
REPORTED = {
    "epochs_done": (contract.EPOCH, "max_over_time({0})"),
    "samples": (contract.SAMPLES, "max_over_time({0})"),
    "samples_per_second": (contract.SAMPLES, "increase({0})"),
}
OF_CONTAINERS = {
    "cpu_seconds": ("container_cpu_seconds_total", "sum", "increase({0})"),
    "memory_bytes": ("container_memory_bytes", "max", "max_over_time({0})"),
}
OF_GPUS = {"utilisation": (cluster.GPU_UTILISATION, "", "avg", "avg_over_time({0})", 1.5)}
"""As the tables of prometheus/cluster.py."""


@dataclass(slots=True)
class Now:
    """What is known of one run so far."""

    run_id: str
    started_at: float | None
    silent: bool = False
    source: str = "prometheus"
    texts: dict[str, str] = field(default_factory=dict)
    pods: dict[Pod, str | None] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)


def going_on(source: Endpoint, identity: Identity, *, names: Names) -> tuple[Running, ...]:
    """The runs of a workload that go on now, those that started first first. Raises TelemetryError: JPO-E101 to E109, E113."""
    from jpo.telemetry.prometheus.client import Client  # loads requests

    with Client(source) as client:
        now = client.clock()
        scope = Scope(client, names, identity, now - RECENT_SECONDS, now, now - RECENT_SECONDS)
        marks, _, going = discovery.seen(scope)
        runs = _reporting(scope, marks)
        reporting = {pod for run in runs for pod in run.pods}
        runs += _labelled(scope, [pod for pod in going if pod.pod not in reporting], {run.run_id for run in runs})
        _measure(scope, runs)
    found = (_running(run, identity, now, names.own) for run in runs)
    return tuple(sorted(found, key=lambda run: (run.started_at or now, run.run_id)))


def _reporting(scope: Scope, marks: Mapping[str, discovery.Marks]) -> list[Now]:
    """The runs that report themselves and have not ended."""
    open_runs = discovery.running(marks, scope.until)
    silent = {run_id for run_id, of_run in marks.items() if "going" not in of_run and not {"end", "pushed"} & of_run.keys()}
    if not (wanted := sorted(open_runs | silent)):
        return []
    span, chosen = queries.window(scope.begin, scope.until), scope.chosen(wanted)
    run = scope.names.label("run_id")
    asked = {
        name: f"max by ({run}) ({how.format(scope.names.metric(role) + chosen + span)})" for name, (role, how) in REPORTED.items()
    }
    samples = scope.names.metric(contract.SAMPLES) + chosen
    asked["unmoved"] = f"max by ({run}) ({samples} == {samples} offset {STALLED_SECONDS:.0f}s)"
    asked |= queries.descriptions(scope.names, chosen, span)
    rows, values = [], defaultdict[str, dict[str, float]](dict)
    for key, row in scope.ask_all(asked):
        if key in REPORTED or key == "unmoved":
            values[row.labels.get("run_id", "")][key] = row.value
        else:
            rows.append((key, row))
    descriptions = described(rows, scope.names)
    found = []
    for run_id in wanted:
        description = descriptions.get(run_id, Description())
        if description.endings:
            continue
        # What no pod reports comes from a gateway, which repeats it for ever.
        if not description.pods and "unmoved" in values[run_id] and "pushed" not in marks[run_id]:
            continue
        texts = dict(next(iter(sorted(description.configurations)), ()))
        known = {name: value for name, value in values[run_id].items() if name in REPORTED}
        start = marks[run_id].get("start")
        found.append(Now(run_id, start, run_id in silent, texts=texts, pods=description.pods, values=known))
    return found


def _labelled(scope: Scope, going: Collection[labelled.PodId], reporting: Collection[str]) -> list[Now]:
    """The runs that labelled pods are, none of services and of what is only queued."""
    if not going:
        return []
    rows = [(labelled.SEEN, row.labels) for _, row in scope.ask_all({labelled.SEEN: labelled.going(scope)})]
    pods = {pod: labels for pod, labels in labelled.pods_of(rows, scope, (labelled.SEEN,)).items() if pod in going}
    labellings = cluster.labellings(scope, {pod.pod for pod in pods})
    known = scope.ask_all(kube_state.asked(scope, labellings))
    of_pods, busy = kube_state.by_pod(known, pods), kube_state.by_container(known, kube_state.CONTAINER_BUSY)
    begun = kube_state.by_container(known, kube_state.CONTAINER_STARTED)
    working = []
    for pod, labels in pods.items():
        container = grouping.trainer(of_pods[pod], busy.get(pod.pod, {}), scope.names.container)
        start = begun.get(pod.pod, {}).get(container or "", of_pods[pod].started_at)
        if start is not None:
            said = {**of_pods[pod].annotations, **labels}
            run_id = pod_labels.run_id(labels, scope.names)
            working.append(LabelledPod(pod, of_pods[pod], said, run_id, container, start, None))
    runs = [run for run in grouping.runs_of(working) if run.run_id not in reporting]
    return [
        Now(
            run.run_id,
            run.started_at,
            source=KUBERNETES,
            texts={**run.requests, **pod_labels.parameters(run.pods[-1].labels, scope.names)},
            pods={pod.id.pod: pod.container for pod in run.pods},
        )
        for run in runs
    ]


def _measure(scope: Scope, runs: Collection[Now]) -> None:
    """Add what the cluster measured of the runs' pods in the last minutes."""
    labellings = cluster.labellings(scope, {pod for run in runs for pod in run.pods})
    usage = cluster.usage(scope.ask_all(cluster.usage_queries(scope, labellings, OF_CONTAINERS, OF_GPUS)))
    for run in runs:
        of_pods = [usage.get(pod, PodUsage()) for pod in run.pods]
        if not of_pods:
            continue
        cpu_seconds, memory_bytes = (
            [[used[quantity] for used in pod.containers.values() if quantity in used] for pod in of_pods]
            for quantity in OF_CONTAINERS
        )
        gpus = [pod.gpus["utilisation"] for pod in of_pods if pod.gpus]
        if all(cpu_seconds):
            run.values["cpu_cores"] = sum(sum(of_pod) / RECENT_SECONDS for of_pod in cpu_seconds)
        if all(memory_bytes):
            run.values["memory_gib"] = max(map(max, memory_bytes)) / BYTES_PER_GIB
        if len(gpus) == len(of_pods):
            run.values["gpu_utilisation"] = sum(gpus) / len(gpus)


def _running(run: Now, identity: Identity, now: float, own: Own) -> Running:
    try:
        parameters = {**configuration(run.texts), **own_values(run.texts, own.parameters)}
    except NoEvidence:  # it will be said once it is over
        parameters = {}
    values = {name: value for name, value in run.values.items() if 0 <= value < math.inf}
    start = run.started_at if run.started_at is not None and 0 < run.started_at <= now + SLACK_SECONDS else None
    # What it did since it started, if that was less than the window ago.
    shorter = RECENT_SECONDS / min(RECENT_SECONDS, max(60.0, now - start)) if start is not None else 1.0
    if "cpu_cores" in values:
        values["cpu_cores"] *= shorter
    if "samples_per_second" in values:
        values["samples_per_second"] *= shorter / RECENT_SECONDS
    if "gpu_utilisation" in values:
        values["gpu_utilisation"] = min(1.0, values["gpu_utilisation"])
    return Running(run.run_id, identity, parameters, start, now, run.source, run.silent, assumed=(), **values)
