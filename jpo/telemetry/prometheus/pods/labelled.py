"""The runs of a scope that report nothing themselves: found by the labels of their pods, measured by the cluster alone.

A pod that reports jpo_run_info is that run's. What nothing measures here, losses and progress, stays unknown.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from jpo.records import RunStatus, Skipped
from jpo.telemetry import contract
from jpo.telemetry.outcome import CONTRADICTORY, UNTOLD, MeasuredRun, MeasuredValues
from jpo.telemetry.prometheus import cluster, joined, queries
from jpo.telemetry.prometheus.cluster import Labelling, Pod, pod_of
from jpo.telemetry.prometheus.discovery import NewRuns, RunBounds
from jpo.telemetry.prometheus.joined import ClusterFacts
from jpo.telemetry.prometheus.pod_lifetimes import Lifetime
from jpo.telemetry.prometheus.pods import grouping, kube_state, seen_pods
from jpo.telemetry.prometheus.pods import labels as pod_labels
from jpo.telemetry.prometheus.pods.grouping import RETRY_SECONDS, LabelledPod, PodRun
from jpo.telemetry.prometheus.pods.kube_state import PodLife
from jpo.telemetry.prometheus.pods.seen_pods import PodId
from jpo.telemetry.prometheus.scope import Scope

SILENT_SECONDS = 900.0
"""A pod whose end was not seen is over when nothing was measured of it for this long: longer than most gaps between scrapes."""
OUTLIVED_SECONDS = 120.0
"""Two scrapes at most lie between the last sample of a trainer and its end."""
ALL, REPORTING = "labelled pods", "reporting pods"


@dataclass(frozen=True, slots=True)
class Watched:
    """Pods of a scope with all that their labels say, their lives, and by container when it started and its CPU seconds."""

    pods: Mapping[PodId, Mapping[str, str]]
    lifetimes: Mapping[PodId, PodLife]
    started: Mapping[Pod, Mapping[str, float]]
    busy: Mapping[Pod, Mapping[str, float]]
    labellings: tuple[Labelling, ...]


def labelled_runs(scope: Scope, seen: Collection[PodId], going: Collection[PodId]) -> NewRuns:
    """Runs of labelled pods that ended since the scope's watermark; nothing is asked where all that are `seen` are `going`."""
    new = frozenset(seen) - frozenset(going)
    if not new:
        return NewRuns()
    watched = _watched(scope)
    judged, unsure = _judged(scope, watched, new)
    runs = [run for run in grouping.runs_of(judged) if any(pod.id in new for pod in run.pods)]
    over = {run: run.ended_at for run in runs}
    failed = (RunStatus.FAILED, RunStatus.OOM_KILLED)  # its job may make a pod for another attempt yet
    retried = [run for run in runs if run.status in failed and any(pod.life.job for pod in run.pods)]
    waiting = {run: end for run in retried if (end := over[run]) is not None and scope.until - end < RETRY_SECONDS}
    bounds = {
        run: RunBounds(run.started_at, min(end, scope.until), closed=False)
        for run, end in over.items()
        if end is not None and scope.mark < end and run not in waiting
    }
    reasons = {run: _why_not(run, scope) for run in bounds}
    whole = {run: bounds[run] for run, why in reasons.items() if why is None}
    return NewRuns(
        runs=tuple(_measured(scope, whole, watched)) if whole else (),
        skipped=tuple(Skipped(run.run_id, *why) for run, why in reasons.items() if why),
        over=tuple(bounds.values()),
        undecided=(*unsure, *waiting.values()),
        open_ids=tuple(run.run_id for run, end in over.items() if end is None or run in waiting),
        labellings=watched.labellings,
    )


def _watched(scope: Scope) -> Watched:
    """All labelled pods of the scope that do not report themselves, and their lives."""
    span, names = queries.window(scope.begin, scope.until), scope.names
    places = ", ".join((names.label("run_id"), *names.labelled("namespace"), *names.labelled("pod")))
    info = f"max by ({places}) (last_over_time({names.metric(contract.RUN_INFO)}{scope.chosen()}{span}))"
    rows = [(key, row.labels) for key, row in scope.ask_all({ALL: seen_pods.all_of(scope), REPORTING: info})]
    reports = [labels for key, labels in rows if key == REPORTING]
    reporting, ids = {pod_of(labels) for labels in reports if "pod" in labels}, {labels.get("run_id") for labels in reports}
    pods = {
        pod: labels
        for pod, labels in seen_pods.pods_of(rows, scope, (ALL,)).items()
        if pod.pod not in reporting and (pod_labels.run_id(labels, names) or object()) not in ids
    }
    labellings = cluster.labellings(scope, {pod.pod for pod in pods})
    known = scope.ask_all(kube_state.asked(scope, labellings))
    started, busy = (kube_state.by_container(known, what) for what in (kube_state.CONTAINER_STARTED, kube_state.CONTAINER_BUSY))
    return Watched(pods, kube_state.by_pod(known, pods), started, busy, labellings)


def _judged(scope: Scope, watched: Watched, new: Collection[PodId]) -> tuple[list[LabelledPod], list[float]]:
    """The pods, each with its start and end, and when those were measured last that may still go on. Pods that never began to
    work are left out."""
    pods = [_pod(pod, labels, watched, scope) for pod, labels in watched.pods.items()]
    wanted = {grouping.key_of(pod) for pod in pods if pod.id in new}
    pods = [pod for pod in pods if grouping.key_of(pod) in wanted and not pod.life.serves]
    # What lives goes on with its trainer, as far as kube-state-metrics knows.
    ended = (pod for pod in pods if not pod.life.live or pod.container in pod.life.just_terminated)
    unclear = [pod for pod in ended if pod.ended_at is None]
    # A pod is over with its last container, which may be a sidecar that outlived the trainer for hours.
    asked = [*unclear, *(pod for pod in pods if pod.ended_at is not None and len(pod.life.containers) > 1)]
    last_seen = _last_seen(scope, watched.labellings, asked) if asked else {}
    now = min(scope.until, scope.client.clock()) if unclear else scope.until
    judged, unsure = list[LabelledPod](), list[float]()
    for pod in pods:
        last = last_seen.get((pod.id.pod, pod.container or ""))
        if pod not in asked:
            judged.append(pod)
        elif pod.ended_at is not None:
            earlier = last is not None and pod.ended_at - last > OUTLIVED_SECONDS
            judged.append(replace(pod, ended_at=last) if earlier else pod)
        elif last is not None and now - last <= SILENT_SECONDS:
            unsure.append(last)
            judged.append(pod)
        elif last is not None:
            end_seen = bool(pod.life.phases or pod.life.reasons(pod.container))
            judged.append(replace(pod, ended_at=max(last, pod.started_at or last), end_seen=end_seen))
    return judged, unsure


def _pod(pod: PodId, labels: Mapping[str, str], watched: Watched, scope: Scope) -> LabelledPod:
    life = watched.lifetimes[pod]
    container = grouping.trainer(life, watched.busy.get(pod.pod, {}), scope.names.container)
    began = watched.started.get(pod.pod, {}).get(container or "")
    # Of several pods with one name the earliest start is known: it is this pod's if it lies in its time.
    its_own = began is not None and (life.started_at or began) - 1 <= began <= (life.completed_at or began)
    return LabelledPod(
        pod,
        life,
        {**life.annotations, **labels},
        pod_labels.run_id(labels, scope.names),
        container,
        began if its_own else life.started_at,
        life.completed_at,
    )


def _last_seen(scope: Scope, labellings: Sequence[Labelling], pods: Sequence[LabelledPod]) -> dict[tuple[Pod, str], float]:
    """When containers of these pods were measured last. Reads their single samples: there is no other way to the time of one."""
    narrow, last = scope.since_start_of(pod.started_at for pod in pods), dict[tuple[Pod, str], float]()
    for labelling in cluster.narrowed(labellings, {pod.id.pod for pod in pods}):
        measured = (*labelling.names(scope, "container_memory_bytes"), *labelling.names(scope, "container_cpu_seconds_total"))
        for name in measured[:1]:
            for row in narrow.ask(name + labelling.containers(scope) + queries.window(narrow.begin, narrow.until), samples=True):
                key = pod_of(row.labels), row.labels.get("container", "")
                last[key] = max(row.points[-1][0], last.get(key, 0.0))
    return last


def _why_not(run: PodRun, scope: Scope) -> tuple[str, str] | None:
    """Why nothing can be learnt from it, with the code of its kind."""
    if run.contradictory:
        return "several of its pods succeeded one after the other; a run id must belong to one run", CONTRADICTORY
    if run.started_at is None:
        return "nothing says when its pod started (kube_pod_start_time)", UNTOLD
    if run.started_at < scope.begin:
        return "it started before the window, so its values would be partial", UNTOLD
    return None


def _measured(scope: Scope, whole: Mapping[PodRun, RunBounds], watched: Watched) -> list[MeasuredRun]:
    narrow = scope.since_start_of(bounds.started_at for bounds in whole.values())
    labellings = cluster.narrowed(watched.labellings, {pod.id.pod for run in whole for pod in run.pods})
    usage = cluster.usage(narrow.ask_all(cluster.usage_queries(narrow, labellings)))
    namesakes = Counter(pod.pod for pod in watched.pods)
    shared = frozenset(pod for pod, count in namesakes.items() if count > 1)
    lifetimes = {}
    for pod in (pod for run in whole for pod in run.pods):
        cpus = {name: request["cpu"] for name, request in pod.life.requests.items() if "cpu" in request}
        lifetimes[pod.id.pod] = Lifetime(pod.started_at, pod.ended_at, pod.started_at, cpus=cpus)
    facts = ClusterFacts(lifetimes, usage, shared, {}, since=narrow.begin)
    return [_run(scope, run, bounds, facts) for run, bounds in whole.items()]


def _run(scope: Scope, run: PodRun, bounds: RunBounds, facts: ClusterFacts) -> MeasuredRun:
    container = next((pod.container for pod in run.pods if pod.container), None)
    pods = {pod.id.pod: pod.container for pod in run.pods}
    found = joined.joined(pods, bounds, facts, container=container)
    said = {**run.requests, **pod_labels.parameters(run.pods[-1].labels, scope.names)}
    if seen := found.values.get("gpus_seen"):  # devices that Kubernetes allocates by claims are not among the requests
        said = {**said, "gpus": f"{seen:g}"} if said.get("gpus") == "0" else said
    return MeasuredRun(
        run_id=run.run_id,
        identity=scope.identity,
        parameters=said,
        started_at=bounds.started_at,
        ended_at=bounds.ended_at,
        closed=False,
        statuses=frozenset(),
        values=MeasuredValues(**found.values, metrics={}),
        seen_to_end=run.status,
        labelled=True,
        pods=tuple(pods),
        container=container,
    )
