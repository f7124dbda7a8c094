"""What may be read limits a run; what may not is not known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from kubernetes_cluster import Cluster

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.kubernetes.settings import KubernetesTable
from jpo.plugins.launch.job import LaunchJob, Needs

READY = [{"type": "Ready", "status": "True"}]
NODE = {
    "metadata": {"name": "a"},
    "spec": {},
    "status": {"allocatable": {"nvidia.com/gpu": "4", "cpu": "32"}, "conditions": READY},
}
POD = {
    "spec": {"nodeName": "a", "containers": [{"resources": {"requests": {"nvidia.com/gpu": "3"}}}]},
    "status": {"phase": "Running"},
}
RESOURCES = [{"name": "nvidia.com/gpu", "nominalQuota": "4"}]
QUEUE = {
    "metadata": {"name": "gpus"},
    "spec": {"resourceGroups": [{"flavors": [{"name": "a100", "resources": RESOURCES}]}]},
    "status": {"flavorsReservation": [{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "total": "3"}]}]},
}
LOCAL = {"spec": {"clusterQueue": "gpus"}, "status": {"pendingWorkloads": 0}}


def test_the_launcher_refuses_by_what_it_may_read(
    new_launcher: Any, cluster: Cluster, job: LaunchJob, setup: KubernetesTable
) -> None:
    cluster.denied.clear()
    cluster.read_only["/api/v1/nodes"] = {"items": [NODE]}
    cluster.read_only["/api/v1/pods"] = {"items": [POD]}
    assert new_launcher().room(Needs()).free_gpus == 1
    with pytest.raises(LaunchError, match="1 node: 4 GPUs") as caught:
        new_launcher().refuse(replace(job, needs=Needs(gpus=6)))
    assert caught.value.code == "JPO-E755"
    new_launcher(setup.model_copy(update={"autoscaled": True})).refuse(replace(job, needs=Needs(gpus=6)))


def test_a_queue_is_read_where_it_may_be(new_launcher: Any, cluster: Cluster, job: LaunchJob, setup: Any) -> None:
    kueue = "/apis/kueue.x-k8s.io/v1beta1"
    cluster.read_only[f"{kueue}/namespaces/ml/localqueues/team-a"] = LOCAL
    queued = new_launcher(setup.model_copy(update={"queue": "team-a"}))
    assert queued.room(Needs(gpus=1)).gpus == 8  # the quota alone
    cluster.read_only[f"{kueue}/clusterqueues/gpus"] = QUEUE
    assert queued.room(Needs(gpus=1)).free_gpus == 1
    with pytest.raises(LaunchError, match="queue gpus: 4 GPUs"):
        queued.refuse(replace(job, needs=Needs(gpus=5)))


def test_a_cluster_without_nodes_makes_them_when_asked(new_launcher: Any, cluster: Cluster, job: LaunchJob) -> None:
    cluster.denied.clear()
    new_launcher().refuse(replace(job, needs=Needs(gpus=6)))
    assert new_launcher().room(Needs()).cpus is None
