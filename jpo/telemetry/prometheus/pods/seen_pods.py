"""Which labelled pods were there since the watermark: two queries that go with the first request of every scope.

Pods that completed up to the watermark may be listed for weeks, and those of services for ever: neither costs a further request.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.cluster import Pod, pod_of
from jpo.telemetry.prometheus.pods import labels as pod_labels
from jpo.telemetry.prometheus.scope import Scope

SEEN, OPEN = "labelled pod", "labelled pod that is running"
LIVE = 'phase=~"Pending|Running|Unknown"'


class PodId(NamedTuple):
    """One pod; its name may be another one's the next night. `uid` is empty where it is not reported."""

    pod: Pod
    uid: str


def asked(scope: Scope, span: str) -> dict[str, str]:
    """Queries for the pods of the workload that were there in the window and are not known to have completed up to the watermark,
    and for those that are pending or running now; none where runs are looked for by their ids."""
    if scope.run_ids:
        return {}
    alike, seen = same_pod(scope), f"last_over_time({_labelled(scope)}{span})"
    if math.isfinite(scope.mark):
        # Those that were seen to be complete then: one sample of each pod of the cluster, not a window of them.
        completed = f"{scope.names.metric('pod_completion_time_seconds')} offset {max(1, int(scope.until - scope.mark))}s"
        seen += f" unless {alike} ({completed} <= {scope.mark:.3f})"
    # Next to a sidecar a trainer may be over though its pod is not.
    terminated = scope.names.metric("container_terminated_reason")
    return {SEEN: seen, OPEN: f"{going(scope)} unless {alike} ({terminated} == 1)"}


def going(scope: Scope) -> str:
    live = f"{scope.names.metric('pod_phase')}{{{LIVE}}} == 1"
    return f"{_labelled(scope)} and {same_pod(scope)} ({live})"


def all_of(scope: Scope) -> str:
    return f"last_over_time({_labelled(scope)}{queries.window(scope.begin, scope.until)})"


def same_pod(scope: Scope) -> str:
    """The labels by which two series of kube-state-metrics are of one pod, whether or not it was scraped with honor_labels."""
    places = (*scope.names.labelled("namespace"), *scope.names.labelled("pod"))
    return f"on ({', '.join((*places, 'uid'))})"


def pods_of(rows: Iterable[tuple[str, Mapping[str, str]]], scope: Scope, kinds: Sequence[str]) -> dict[PodId, dict[str, str]]:
    """The pods in rows of these kinds, each with all that its labels say; those whose labels only look alike are left out."""
    pods: dict[PodId, dict[str, str]] = {}
    for kind, labels in rows:
        if kind in kinds and pod_labels.is_of(scope.identity, labels, scope.names):
            pod_labels.add(labels, pods.setdefault(pod_id(labels), {}))
    return pods


def pod_id(labels: Mapping[str, str]) -> PodId:
    return PodId(pod_of(labels), labels.get("uid", ""))


def _labelled(scope: Scope) -> str:
    return scope.names.metric("pod_labels") + pod_labels.selector(scope.identity, scope.names)
