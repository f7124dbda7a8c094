"""What quota, queues and nodes say, and what follows when they say nothing."""

from __future__ import annotations

from typing import Any

import pytest

from jpo.plugins.launch.engines.kubernetes.room import beyond, nodes, queue, quotas, room_of
from jpo.plugins.launch.job import Needs, Room

GPU = "nvidia.com/gpu"
READY = [{"type": "Ready", "status": "True"}]
LOCAL = {"spec": {"clusterQueue": "gpus"}, "status": {"pendingWorkloads": 0}}


def quota(hard: dict[str, str], used: dict[str, str], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "team"}, "spec": spec, "status": {"hard": hard, "used": used}}


def node(name: str, gpus: str, cpus: str = "32", **more: Any) -> dict[str, Any]:
    allocatable = {"cpu": cpus, "memory": "128Gi", GPU: gpus}
    metadata = {"name": name, "labels": more.pop("labels", {})}
    return {"metadata": metadata, "spec": more, "status": {"allocatable": allocatable, "conditions": READY}}


def pod(where: str, gpus: str, phase: str = "Running") -> dict[str, Any]:
    spec = {"nodeName": where, "containers": [{"resources": {"requests": {GPU: gpus, "cpu": "500m"}}}]}
    return {"spec": spec, "status": {"phase": phase}}


def flavor(name: str, nominal: str, **more: str) -> dict[str, Any]:
    return {"name": name, "resources": [{"name": GPU, "nominalQuota": nominal, **more}]}


def cluster_queue(*flavors: dict[str, Any], reserved: dict[str, str], **spec: Any) -> dict[str, Any]:
    used = [{"name": name, "resources": [{"name": GPU, "total": total}]} for name, total in reserved.items()]
    groups = [{"coveredResources": [GPU], "flavors": list(flavors)}]
    return {"metadata": {"name": "gpus"}, "spec": {"resourceGroups": groups, **spec}, "status": {"flavorsReservation": used}}


def test_a_quota_binds_by_requests_and_limits_alike() -> None:
    (limit,) = quotas([quota({f"requests.{GPU}": "8", "limits.cpu": "64", "requests.cpu": "32"}, {f"requests.{GPU}": "5"})], "ml")
    assert (limit.most[GPU], limit.free[GPU], limit.most["cpu"]) == (8, 3, 32)
    assert limit.name == "quota team of namespace ml"


def test_a_quota_of_some_pods_only_is_not_counted() -> None:
    assert [*quotas([quota({"cpu": "1"}, {}, scopes=["BestEffort"])], "ml")] == []


def test_nodes_that_take_no_pods_do_not_count() -> None:
    broken = node("c", "8")
    broken["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    found = nodes([node("a", "4"), node("b", "8", unschedulable=True), broken], [pod("a", "1"), pod("a", "2", "Succeeded")], {})
    assert (found.most[GPU], found.free[GPU], found.free["cpu"]) == (4, 3, 31.5)


def test_nodes_whose_taints_are_not_tolerated_do_not_count() -> None:
    taints = [{"key": "dedicated", "value": "ml", "effect": "NoSchedule"}, {"key": "x", "effect": "PreferNoSchedule"}]
    tainted, control = node("a", "4", taints=taints), node("b", "0", taints=[{"key": "control-plane", "effect": "NoSchedule"}])
    assert nodes([tainted, control], [], {}).name == "0 nodes"
    for tolerated in ("dedicated", "dedicated=ml"):
        assert nodes([tainted, control], [], {}, (tolerated,)).most[GPU] == 4
    assert nodes([tainted], [], {}, ("dedicated=other",)).name == "0 nodes"


def test_a_selector_chooses_nodes() -> None:
    found = nodes([node("a", "4", labels={"pool": "x"}), node("b", "8")], [], {"pool": "x"})
    assert (found.name, found.most[GPU]) == ("1 node", 4)


def test_a_run_takes_one_flavor_of_a_queue() -> None:
    found = queue(cluster_queue(flavor("a100", "4"), flavor("t4", "16"), reserved={"a100": "1", "t4": "15"}), LOCAL)
    assert (found.most[GPU], found.free[GPU]) == (16, 3)


def test_a_queue_in_a_cohort_may_borrow() -> None:
    assert GPU not in queue(cluster_queue(flavor("a100", "4"), reserved={}, cohort="all"), LOCAL).most
    limited = queue(cluster_queue(flavor("a100", "4", borrowingLimit="2"), reserved={}, cohortName="all"), LOCAL)
    assert limited.most[GPU] == 6


def test_the_least_of_all_counts() -> None:
    limits = [*quotas([quota({GPU: "8"}, {GPU: "2"})], "ml"), nodes([node("a", "16")], [pod("a", "12")], {})]
    room = room_of(limits, Needs(gpus=4), GPU)
    assert (room.gpus, room.free_gpus, room.cpus, room.wait_seconds) == (8, 4, 32, 0.0)
    assert room_of(limits, Needs(gpus=5), GPU).wait_seconds is None
    assert "quota team of namespace ml: 8 GPUs" in room.note


def test_who_waits_in_the_queue_is_before_us() -> None:
    limit = queue(cluster_queue(flavor("a100", "4"), reserved={}), {"status": {"pendingWorkloads": 3}})
    assert room_of([limit], Needs(gpus=1), GPU).wait_seconds is None


def test_nothing_is_known_where_nothing_may_be_read() -> None:
    assert room_of([], Needs(gpus=1), GPU) == Room()
    assert beyond([], Needs(gpus=1), GPU) is None


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        (Needs(gpus=9), ("asks for 9 GPUs", "quota team of namespace ml: 8 GPUs")),
        (Needs(cpus=33), ("asks for 33 CPUs", "1 node: 32 CPUs")),
        (Needs(memory_gib=200), ("asks for 200 GiB", "1 node: 128 GiB")),
        (Needs(gpus=8, cpus=32, memory_gib=128), None),
    ],
)
def test_what_could_never_be_there(needs: Needs, said: object) -> None:
    assert beyond([*quotas([quota({GPU: "8"}, {})], "ml"), nodes([node("a", "64")], [], {})], needs, GPU) == said


def test_nodes_without_gpus_have_none_of_them() -> None:
    limit = nodes([{"metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4"}, "conditions": READY}}], [], {})
    assert beyond([limit], Needs(gpus=1), GPU) == ("asks for 1 GPUs", "1 node: 0 GPUs")


def test_a_node_of_its_own_must_hold_each_pod() -> None:
    small = nodes([node("a", "4"), node("b", "4")], [], {})
    assert beyond([small], Needs(gpus=8), GPU) is not None
    assert beyond([small], Needs(gpus=8, nodes=2), GPU) is None
