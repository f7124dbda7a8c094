"""Nodes and partitions in SLURM's words; lines as SLURM 22.05 prints them."""

from __future__ import annotations

import pytest

from jpo.plugins.launch.engines.slurm.nodes import as_spelled, chosen, nodes_of, partitions_of, room_of, seconds, shortcoming
from jpo.plugins.launch.job import Needs

NODE = (
    "NodeName={name} Arch=x86_64 CoresPerSocket=1 CPUAlloc={used} CPUEfctv=8 CPUTot=8 CPULoad=4.9 Gres={gres} GresDrain=N/A "
    "GresUsed={gres_used} NodeAddr=127.0.0.1 OS=Linux 6.1 #1 SMP @0 RealMemory=4096 AllocMem=1024 State={state} "
    "Partitions=main,{partition} CfgTRES=cpu=8,mem=4G Reason=State=IDLE Gres=gpu:100 [root@2026-11-23T01:36:21]"
)
PARTITIONS = """\
PartitionName=main AllowGroups=ALL Default=YES MaxNodes=UNLIMITED MaxTime=UNLIMITED Nodes=a,b State=UP TotalNodes=2
PartitionName=short AllowGroups=ALL Default=NO MaxNodes=1 MaxTime=1-02:03:04 Nodes=a State=DOWN TotalNodes=1
"""


def node(
    name: str = "a", gres: str = "gpu:a100:4(S:0-1)", gres_used: str = "gpu:a100:1(IDX:0,2)", state: str = "MIXED", used: int = 3
) -> str:
    return NODE.format(name=name, gres=gres, gres_used=gres_used, state=state, used=used, partition="short")


def test_a_node_has_what_it_says_before_the_free_text() -> None:
    (found,) = nodes_of(node())
    assert (found.name, found.partitions, found.up) == ("a", {"main", "short"}, True)
    assert (found.cpus, found.free_cpus, found.memory_mib, found.free_memory_mib) == (8, 5, 4096, 3072)
    assert (found.gpus_of("a100"), found.gpus_of("A100"), found.gpus_of(None), found.gpus_of("h100")) == (4, 4, 4, 0)
    assert found.free_gpus_of(None) == 3


@pytest.mark.parametrize(
    ("gres", "amounts"),
    [
        ("gpu:4", {"": 4}),
        ("gpu:tesla:2,gpu:kepler:1,nic:3", {"tesla": 2, "kepler": 1}),
        ("(null)", {}),
        ("craynetwork:4,gpu:v100:2(S:0)", {"v100": 2}),
        ("gpu:3090:2", {"3090": 2}),
    ],
)
def test_gpus_are_told_by_type(gres: str, amounts: dict[str, int]) -> None:
    assert nodes_of(node(gres=gres, gres_used="(null)"))[0].gpus == amounts


@pytest.mark.parametrize("state", ["DOWN*", "IDLE+DRAIN", "IDLE*", "UNKNOWN+INVALID_REG", "MAINT", "DOWN+NOT_RESPONDING"])
def test_a_node_that_cannot_start_anything_has_nothing_free(state: str) -> None:
    nodes = nodes_of(node() + "\n" + node("b", state=state))
    room = room_of(Needs(gpus=1), nodes, chosen(partitions_of(PARTITIONS), None))
    assert (room.gpus, room.free_gpus, room.free_cpus) == (4.0, 3.0, 5.0)
    assert room.note == "1 of 2 nodes cannot start anything now"


def test_the_most_of_one_run_is_what_its_nodes_have() -> None:
    """A suggestion keeps within it, and SLURM refuses more than fits on the nodes that a run asks for."""
    nodes, partitions = nodes_of(node() + "\n" + node("b", gres="gpu:a100:2")), chosen(partitions_of(PARTITIONS), None)
    one, two, three = (room_of(Needs(gpus=6, nodes=count), nodes, partitions) for count in (1, 2, 3))
    assert (one.gpus, two.gpus, three.gpus) == (4.0, 4.0, 6.0)
    assert room_of(Needs(), [], partitions).gpus is None


def test_a_partition_that_is_down_is_said() -> None:
    assert room_of(Needs(), nodes_of(node()), chosen(partitions_of(PARTITIONS), "short")).note == "partition short is DOWN"


def test_without_a_name_the_default_partition_is_meant() -> None:
    partitions = partitions_of(PARTITIONS)
    assert [each.name for each in chosen(partitions, None)] == ["main"]
    assert [each.name for each in chosen(partitions, "short,main")] == ["main", "short"]
    assert chosen(partitions, "nope") == []
    assert (partitions[1].longest_seconds, partitions[1].most_nodes) == (93784.0, 1)


@pytest.mark.parametrize(
    ("needs", "finding"),
    [
        (Needs(gpus=5), "asks for 5 GPUs on one node, and partition main has at most 4"),
        (Needs(gpus=10, nodes=2), "asks for 5 GPUs on each of 2 nodes, and partition main has at most 4"),
        (Needs(gpus=1, gpu_type="h100"), "asks for 1 GPUs of type h100 on one node, and partition main has none"),
        (Needs(cpus=8.5), "asks for 9 CPUs on one node, and partition main has at most 8"),
        (Needs(memory_gib=4.5), "asks for 4608 MiB of memory on one node, and partition main has at most 4096"),
        (Needs(nodes=3), "asks for 3 nodes, and partition main gives at most 2"),
        (Needs(gpus=8, nodes=2, cpus=16, memory_gib=8), None),
    ],
)
def test_what_no_node_has_is_told(needs: Needs, finding: str | None) -> None:
    nodes = nodes_of(node() + "\n" + node("b", state="DOWN"))  # it may come back
    found = shortcoming(needs, nodes, chosen(partitions_of(PARTITIONS), None))
    assert (found and found[0]) == finding


def test_a_partition_of_few_nodes_is_told() -> None:
    found = shortcoming(Needs(nodes=2), nodes_of(node() + "\n" + node("b")), chosen(partitions_of(PARTITIONS), "short"))
    assert found == ("asks for 2 nodes, and partition short gives at most 1", "ask for at most 1")


def test_a_type_of_gpu_is_written_as_the_cluster_has_it() -> None:
    nodes = nodes_of(node(gres="gpu:nvidia_a100-sxm4-40gb:2") + "\n" + node("b", gres="gpu:A100:1,gpu:v100:4"))
    assert as_spelled(Needs(gpus=1, gpu_type="a100"), nodes).gpu_type == "A100"
    assert as_spelled(Needs(gpus=1, gpu_type="a100"), nodes[:1]).gpu_type == "nvidia_a100-sxm4-40gb"
    assert as_spelled(Needs(gpus=1, gpu_type="h100"), nodes).gpu_type == "h100"
    assert as_spelled(Needs(gpus=1), nodes).gpu_type is None
    assert as_spelled(Needs(gpus=1, gpu_type="a100"), nodes_of(node(gres="gpu:2"))).gpu_type is None


def test_time_limits() -> None:
    assert [seconds(text) for text in ("00:10:00", "2-00:00:00", "30:00", "UNLIMITED")] == [600.0, 172800.0, 1800.0, None]
