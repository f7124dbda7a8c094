"""A pod that goes on, on a cluster that behaves: its samples, its request, and what Kubernetes lets be changed."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from pathlib import Path

import pytest
from kubernetes_cluster import Cluster, Fault
from launches import VirtualClock

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.kubernetes.live import LivePod
from jpo.plugins.launch.engines.kubernetes.session import Connected, Session

POD = ("pods", "ml", "train-0")
METRICS = "/apis/metrics.k8s.io/v1beta1/namespaces/ml/pods/train-0"
RESIZE = "/api/v1/namespaces/ml/pods/train-0/resize"
REQUESTS, LIMITS = {"cpu": "2", "memory": "1Gi"}, {"cpu": "4", "memory": "4Gi"}
Follow = Callable[..., LivePod]


@pytest.fixture
def follow(cluster: Cluster, clock: VirtualClock, tmp_path: Path) -> Follow:
    def make(requests: object = REQUESTS, limits: object = LIMITS, names: tuple[str, ...] = ("job",)) -> LivePod:
        resources = {"requests": requests, "limits": limits}
        cluster.objects[POD] = {
            "metadata": {"name": "train-0", "namespace": "ml", "uid": "u1"},
            "spec": {"containers": [{"name": name, "resources": resources} for name in names]},
            "status": {"phase": "Running"},
        }
        return LivePod(Session(lambda: Connected(None, str(tmp_path / "kubeconfig")), clock.sleep), "ml/train-0")

    return make


def resources_of(cluster: Cluster) -> object:
    return cluster.objects[POD]["spec"]["containers"][0]["resources"]


def measured(at: str, cpu: str = "250m", memory: str = "128Mi") -> dict[str, object]:
    return {"timestamp": at, "containers": [{"name": "job", "usage": {"cpu": cpu, "memory": memory}}]}


def test_requests_follow_and_limits_stay(follow: Follow, cluster: Cluster) -> None:
    pod = follow()
    assert (pod.first, pod.least) == ((2.0, 2.0**30), (0.0, 0.0))
    pod.give((0.5, 2.0**28))
    assert resources_of(cluster) == {"requests": {"cpu": "500m", "memory": "256Mi"}, "limits": LIMITS}
    assert pod.held() == (0.5, 2.0**28)


def test_of_a_guaranteed_pod_cpu_follows_with_its_limit_and_memory_stays(follow: Follow, cluster: Cluster) -> None:
    pod = follow(LIMITS, LIMITS)
    assert pod.least == (0.0, 2.0**32)
    pod.give((0.5, 2.0**32))
    assert resources_of(cluster) == {"requests": {"cpu": "500m", "memory": "4Gi"}, "limits": {"cpu": "500m", "memory": "4Gi"}}
    assert follow({}, LIMITS).least == (0.0, inf)  # requests that are not said are the limits


def test_samples_are_those_of_the_metrics_server_each_once(follow: Follow, cluster: Cluster) -> None:
    pod = follow()
    assert pod.samples() == ()
    cluster.read_only[METRICS] = measured("2026-11-30T10:00:00Z")
    assert pod.samples() == ((1796032800.0, 0.25, 128.0 * 2**20),)
    assert pod.samples() == ()
    cluster.read_only[METRICS] = measured("2026-11-30T10:00:20Z", cpu="many")
    assert pod.samples() == ()


def test_a_pod_that_ended_or_was_made_anew_has_no_samples(follow: Follow, cluster: Cluster) -> None:
    pod = follow()
    cluster.objects[POD]["metadata"]["uid"] = "u2"
    assert pod.samples() is None
    cluster.objects[POD]["metadata"]["uid"] = "u1"
    cluster.objects[POD]["status"]["phase"] = "Succeeded"
    assert pod.samples() is None
    del cluster.objects[POD]
    assert pod.samples() is None


def test_a_change_of_others_at_the_same_moment_is_no_refusal(follow: Follow, cluster: Cluster) -> None:
    cluster.faults.append(Fault("PATCH", RESIZE, 409, times=2, message="the object has been modified"))
    pod = follow()
    pod.give((0.5, 2.0**28))
    assert pod.held() == (0.5, 2.0**28)


def test_a_pod_that_ended_is_given_nothing(follow: Follow, cluster: Cluster) -> None:
    pod = follow()
    cluster.objects[POD]["metadata"]["uid"] = "u2"
    assert pod.samples() is None
    pod.give((0.5, 2.0**28))
    assert resources_of(cluster) == {"requests": REQUESTS, "limits": LIMITS}


def test_what_the_cluster_refuses_is_said_in_its_words(follow: Follow, cluster: Cluster) -> None:
    pod = follow()
    cluster.faults.append(Fault("PATCH", RESIZE, 403, message="quota says no"))
    with pytest.raises(LaunchError, match="quota says no") as caught:
        pod.give((0.5, 2.0**28))
    assert caught.value.code == "JPO-E753"
    cluster.objects[POD]["status"]["conditions"] = [
        {"type": "PodResizePending", "status": "True", "reason": "Infeasible", "message": "Node didn't have enough capacity"}
    ]
    with pytest.raises(LaunchError, match="enough capacity") as caught:
        pod.give((0.5, 2.0**28))
    assert caught.value.code == "JPO-E765"


def test_what_does_not_run_or_has_several_containers_is_refused(follow: Follow, cluster: Cluster, clock: VirtualClock) -> None:
    with pytest.raises(LaunchError, match="has 2 containers"):
        follow(names=("a", "b"))
    assert follow(names=("a", "trainer")).first == (2.0, 2.0**30)
    with pytest.raises(LaunchError, match="names no running pod") as caught:
        LivePod(follow()._session, "ml/other")
    assert caught.value.code == "JPO-E765"
