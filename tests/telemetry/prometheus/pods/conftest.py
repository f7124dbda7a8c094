"""Labelled pods as cAdvisor, kube-state-metrics and dcgm-exporter show them, made here, in both kinds of server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from jpo.http.endpoint import Endpoint
from jpo.records import Finished, Identity
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.prometheus.runs import finished_runs

SINCE = 1_700_000_000.0
"""Pods lie in the twelve hours after it; every model is a workload of its own."""
HOUR = 3600.0
UNTIL = SINCE + 12 * HOUR
STEP = 30.0
GIB = 2.0**30
DATASET = "Org/Digits 10k"


@dataclass(frozen=True)
class Pod:
    """A pod as it really was: it is made, taken by a node, its images are fetched, its trainer works, and it ends."""

    name: str
    begins: float
    """Hours after SINCE at which its trainer begins to work."""
    model: str = "alone"
    hours: float = 0.5
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    owner: tuple[str, str] | None = None
    phase: str | None = "Succeeded"
    """Its last phase; None: it was deleted before anybody saw that."""
    reason: str = ""
    """Of the trainer's end, where it is not as its phase says; of the pod's, where it was thrown out."""
    pending: float = 0.0
    """Hours for which it waited for a node."""
    fetching: float = 0.01
    lingers: float = 0.2
    """Hours for which it stays after its end."""
    gpus: float = 1.0
    cores: float = 2.0
    uid: str = ""
    replicas: tuple[str, ...] = ("",)
    init: bool = False
    sidecar: bool = False
    sidecar_hours: float | None = None
    """After the trainer; None: it goes on."""
    restarted: bool = False
    blinks: bool = False
    """Its trainer ended just now with an error, and is about to be started again."""
    gap: bool = False
    goes_on: bool = False
    exported: bool = False
    reports: bool = False
    requests: dict[str, float] = field(default_factory=lambda: {"cpu": 4.0, "memory": 8 * GIB})

    @property
    def start(self) -> float:
        return SINCE + self.begins * HOUR

    @property
    def end(self) -> float:
        return UNTIL if self.goes_on else self.start + self.hours * HOUR


PODS = (
    Pod("plain", 0.5, owner=("Job", "nightly-1")),
    Pod("oom", 1.5, phase="Failed", reason="OOMKilled"),
    Pod("failed", 2.5, phase="Failed"),
    Pod("evicted", 3.5, phase="Failed", reason="Evicted"),
    Pod("deleted", 4.5, phase=None),
    Pod("restarted", 5.5, restarted=True),
    Pod("twice-seen", 6.5, replicas=("a", "b")),
    Pod("waited", 9.5, pending=3.0, fetching=0.5),
    Pod("gap", 10.2, gap=True),
    Pod("with-init", 0.5, model="containers", init=True),
    Pod("with-sidecar", 2.0, model="containers", sidecar=True, lingers=9.0),
    Pod("outlived", 3.5, model="containers", sidecar=True, sidecar_hours=1.0),
    Pod("training", 11.0, model="containers", goes_on=True),
    Pod("blinking", 11.0, model="containers", goes_on=True, blinks=True),
    Pod("queued", 11.0, model="containers", goes_on=True, phase="Pending"),
    Pod("serving-1", 1.0, model="served", owner=("ReplicaSet", "serving-7f"), phase=None, hours=3.0),
    Pod("serving-2", 4.0, model="served", owner=("ReplicaSet", "serving-7f"), goes_on=True),
    Pod("evening-a", 1.0, model="retried", owner=("Job", "evening"), phase="Failed"),
    Pod("evening-b", 4.0, model="retried", owner=("Job", "evening"), pending=2.45),
    Pod("ddp-master-0", 1.0, model="together", owner=("PyTorchJob", "ddp"), gpus=2),
    Pod("ddp-worker-0", 1.01, model="together", owner=("PyTorchJob", "ddp"), gpus=2),
    Pod("again-0", 1.0, model="again", owner=("PyTorchJob", "again"), uid="u1"),
    Pod("again-0", 8.0, model="again", owner=("PyTorchJob", "again"), uid="u2", cores=1.0),
    Pod("named-a", 1.0, model="named", labels={"label_jpo_run_id": "run-1"}),
    Pod("named-b", 1.1, model="named", labels={"label_jpo_run_id": "run-1"}),
    Pod("named-c", 3.0, model="named", labels={"label_jpo_run_id": "run-2"}),
    Pod("named-d", 5.0, model="named", labels={"label_jpo_run_id": "run-2"}),
    Pod("reporting", 1.0, model="reporting", reports=True),
    Pod("silent", 3.0, model="reporting"),
    Pod(
        "told",
        1.0,
        model="said",
        labels={"label_jpo_batch_size": "64", "label_jpo_epochs_conflict1": "3", "label_jpo_epochs_conflict2": "3"},
        annotations={"annotation_jpo_learning_rate": "1e-3", "annotation_jpo_batch_size": "128"},
    ),
    Pod("nonsense", 3.0, model="said", labels={"label_jpo_batch_size": "auto"}),
    Pod("moved", 1.0, model="exported", exported=True, owner=("Job", "moved")),
    Pod("early", 1.0, model="small"),
    Pod("late", 11.5, model="small", hours=0.45, phase=None),
    Pod("just-failed", 11.5, model="retrying", hours=0.47, phase="Failed", owner=("Job", "once-more")),
)


@pytest.fixture(scope="session")
def labelled(serve) -> str:
    """Address of a server that holds PODS."""
    return serve("".join(line for pod in PODS for line in _lines(pod)))


@pytest.fixture(scope="session")
def look(labelled) -> Callable[..., Finished]:
    """`look("alone", until=3.5) -> Finished`: hours count from the beginning of the history."""

    def look(model, *, names=None, since=0.0, until=12.0, watermark=None):
        mark = None if watermark is None else SINCE + watermark * HOUR
        identity, begin = Identity(DATASET, model, "pytorch"), SINCE + since * HOUR
        source = Endpoint(labelled)
        return finished_runs(source, identity, since=begin, until=SINCE + until * HOUR, watermark=mark, names=names or Names())

    return look


@pytest.fixture(scope="session")
def truths() -> dict[str, Pod]:
    return {pod.name: pod for pod in PODS}


Line = tuple[str, dict[str, str], list[tuple[float, float]]]


def _lines(pod: Pod) -> Iterator[str]:
    for name, labels, points in [*_of_state(pod), *_of_containers(pod), *_of_gpus(pod), *_of_run(pod)]:
        for replica in pod.replicas:
            shown = ",".join(f'{k}="{v}"' for k, v in {**labels, "prometheus_replica": replica}.items() if v)
            yield from (f"{name}{{{shown}}} {value!r} {time:.3f}\n" for time, value in points)


def _every(begin: float, end: float) -> list[float]:
    return [begin + i * STEP for i in range(int((end - begin) / STEP) + 1)]


def _scrapes(pod: Pod, begin: float, end: float) -> list[float]:
    """None in the gap, which is in the middle of the run."""
    middle = pod.start + pod.hours * HOUR / 2
    return [time for time in _every(begin, end) if not (pod.gap and abs(time - middle) < 400)]


def _of_state(pod: Pod) -> Iterator[Line]:
    """kube-state-metrics, from when the pod is made until it is deleted."""
    own = {"namespace": "ml", "pod": pod.name}
    if pod.exported:
        own = {"exported_namespace": "ml", "exported_pod": pod.name, "namespace": "monitoring", "pod": "kube-state-metrics-x"}
    place = {**own, "uid": pod.uid or f"uid-{pod.name}", "job": "kube-state-metrics"}
    made = pod.start - (pod.pending + pod.fetching) * HOUR
    taken = pod.start - pod.fetching * HOUR
    over = pod.end if pod.phase and not pod.goes_on else None
    seen = _scrapes(pod, made, pod.end if over is None else over + (pod.lingers + (pod.sidecar_hours or 0.0)) * HOUR)
    during, after = [t for t in seen if over is None or t < over], [t for t in seen if over is not None and t >= over]
    names = {"label_jpo_dataset": "org_digits-10K", "label_jpo_model": pod.model, "label_jpo_framework": "PyTorch"}
    yield "kube_pod_labels", {**place, **names, **pod.labels}, [(t, 1.0) for t in seen]
    if pod.annotations:
        yield "kube_pod_annotations", {**place, **pod.annotations}, [(t, 1.0) for t in seen]
    kind, name = pod.owner or ("<none>", "<none>")
    yield "kube_pod_owner", {**place, "owner_kind": kind, "owner_name": name}, [(t, 1.0) for t in seen]
    yield "kube_pod_created", place, [(t, made) for t in seen]
    pending = pod.goes_on and pod.phase == "Pending"
    if not pending:
        yield "kube_pod_start_time", place, [(t, taken) for t in seen if t >= taken]
    outlived = (pod.sidecar_hours or 0.0) * HOUR
    stays = over is None or (pod.sidecar and pod.sidecar_hours is None)
    if not stays and pod.reason != "Evicted":
        completed = [t for t in after if t >= pod.end + outlived]
        yield "kube_pod_completion_time", place, [(t, pod.end + outlived) for t in completed]
    for phase in ("Pending", "Running", "Succeeded", "Failed"):
        now = "Pending" if pending else "Running"
        points = [(t, float(phase == ("Pending" if t < taken else now))) for t in during]
        points += [(t, float(phase == ("Running" if stays or t < pod.end + outlived else pod.phase))) for t in after]
        yield "kube_pod_status_phase", {**place, "phase": phase}, points
    if pod.reason == "Evicted":
        yield "kube_pod_status_reason", {**place, "reason": "Evicted"}, [(t, 1.0) for t in after]
    elif after:
        reason = pod.reason or {"Succeeded": "Completed", "Failed": "Error"}[str(pod.phase)]
        labels = {**place, "container": "trainer", "reason": reason}
        yield "kube_pod_container_status_terminated_reason", labels, [(t, 1.0) for t in after]
    if pod.blinks:
        labels = {**place, "container": "trainer", "reason": "Error"}
        yield "kube_pod_container_status_terminated_reason", labels, [(t, 1.0) for t in during[-2:]]
    for resource, value in {**pod.requests, **({"nvidia_com_gpu": pod.gpus} if pod.gpus else {})}.items():
        labels = {**place, "container": "trainer", "resource": resource}
        yield "kube_pod_container_resource_requests", labels, [(t, value) for t in seen]
    if pod.sidecar:
        yield (
            "kube_pod_container_resource_requests",
            {**place, "container": "proxy", "resource": "cpu"},
            [(t, 0.1) for t in seen],
        )


def _of_containers(pod: Pod) -> Iterator[Line]:
    """cAdvisor: the trainer (another id after a restart), what else is in the pod, and the pod as a whole."""
    if pod.phase == "Pending":
        return
    place, half = {"namespace": "ml", "pod": pod.name, "job": "kubelet"}, (pod.start + pod.end) / 2
    parts = [(pod.start, half - STEP), (half, pod.end)] if pod.restarted else [(pod.start, pod.end)]
    lives = [("trainer", begin, end, pod.cores) for begin, end in parts]
    if pod.init:
        lives.append(("fetch-data", pod.start - 0.3 * HOUR, pod.start - 60, 40.0))
    if pod.sidecar:
        lives.append(("proxy", pod.start - 60, UNTIL if pod.sidecar_hours is None else pod.end + pod.sidecar_hours * HOUR, 0.1))
    for n, (container, begin, end, cores) in enumerate([*lives, ("POD", pod.start, pod.end, 0.0), ("", pod.start, pod.end, 2.5)]):
        times, labels = _scrapes(pod, begin, end), {**place, "container": container, "id": f"/{pod.uid or pod.name}/{n}"}
        held = GIB if container == "trainer" else 7 * GIB
        yield "container_cpu_usage_seconds_total", {**labels, "cpu": "total"}, [(t, cores * (t - begin)) for t in times]
        yield "container_memory_working_set_bytes", labels, [(t, held * (2.0 if t > half else 1.0)) for t in times]
        yield "container_start_time_seconds", labels, [(t, begin) for t in times]


def _of_gpus(pod: Pod) -> Iterator[Line]:
    """dcgm-exporter as its chart scrapes it: every GPU is busy to 80% and takes 300 W."""
    if pod.phase == "Pending":
        return
    place = {"exported_namespace": "ml", "exported_pod": pod.name, "exported_container": "trainer", "pod": "dcgm-exporter-1"}
    for n in range(int(pod.gpus)):
        labels, times = {**place, "UUID": f"GPU-{pod.uid or pod.name}-{n}", "job": "dcgm"}, _scrapes(pod, pod.start, pod.end)
        yield "DCGM_FI_DEV_GPU_UTIL", labels, [(t, 80.0) for t in times]
        yield "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", labels, [(t, 5e9 + 300e3 * (t - pod.start)) for t in times]


def _of_run(pod: Pod) -> Iterator[Line]:
    """What it reports by itself, if it is instrumented as well."""
    if not pod.reports:
        return
    key = {"dataset": DATASET, "model": pod.model, "framework": "pytorch", "run_id": "own-id", "namespace": "ml", "pod": pod.name}
    times = _scrapes(pod, pod.start, pod.end)
    yield "jpo_run_info", {**key, "batch_size": "32", "learning_rate": "0.1"}, [(t, 1.0) for t in times]
    yield "jpo_val_loss", key, [(t, 0.3) for t in times]
