"""Nodes and partitions of a cluster, by `scontrol show`: how much room there is, and what could never run. Quotas of an account
and a QOS, by sacctmgr: SLURM lets a job wait for ever that asks for more."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from jpo.plugins.launch.engines.slurm.programs import pairs
from jpo.plugins.launch.engines.slurm.request import MIB_PER_GIB, cpus_per_node, gpus_per_node, memory_mib_per_node
from jpo.plugins.launch.job import Needs, Room

GPUS = re.compile(r"(?:^|,)gpu(?::([^:(,=]+))?:(\d+)")
"""Of Gres and GresUsed: "gpu:a100:4(S:0-1)", "gpu:2"."""
NOT_NOW = re.compile(r"DOWN|DRAIN|FAIL|NOT_RESPONDING|POWERING_DOWN|INVAL|MAINT|REBOOT|UNKNOWN|PLANNED_DOWN|FUTURE|\*")
"""In the state of a node on which nothing can start now."""
WORD = re.compile(r"[_\-.\s]+")
LONGEST_LIMIT = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)")
QOS_FIELDS = ("Name", "MaxTRES", "MaxTRESPU", "GrpTRES")
ASSOCIATION_FIELDS = ("Account", "DefaultQOS", "MaxTRES", "GrpTRES")
LIMITS = ("MaxTRES", "MaxTRESPU", "GrpTRES")
"""Of one job, of all jobs of a user, of all jobs together: none of them lets a job ask for more."""
AMOUNT = re.compile(r"(\d+(?:\.\d+)?)([KMGTP]?)")
MIB = {"K": 2**-10, "M": 1, "": 1, "G": 2**10, "T": 2**20, "P": 2**30}


@dataclass(frozen=True, slots=True)
class Node:
    """One node. Types of GPUs in SLURM's words, "" where it gives none; memory in MiB; `up`: something could start now."""

    name: str
    partitions: frozenset[str]
    cpus: int
    free_cpus: int
    memory_mib: int
    free_memory_mib: int
    gpus: dict[str, int]
    free_gpus: dict[str, int]
    up: bool

    def gpus_of(self, gpu_type: str | None) -> int:
        return _count(self.gpus, gpu_type)

    def free_gpus_of(self, gpu_type: str | None) -> int:
        return _count(self.free_gpus, gpu_type) if self.up else 0


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition; None: no limit."""

    name: str
    default: bool
    state: str
    longest_seconds: float | None
    most_nodes: int | None


@dataclass(frozen=True, slots=True)
class SlurmQuota:
    """One limit: whose ("QOS small"), SLURM's name of it, and the most of each resource, memory in MiB."""

    owner: str
    name: str
    most: dict[str, float]

    def __str__(self) -> str:
        return f"{self.name} of {self.owner}: " + ", ".join(f"{resource}={amount:g}" for resource, amount in self.most.items())


def nodes_of(text: str) -> list[Node]:
    """Nodes by `scontrol --details --oneliner show node`."""
    return [_node(pairs(line)) for line in text.splitlines() if line.startswith("NodeName=")]


def partitions_of(text: str) -> list[Partition]:
    """Partitions by `scontrol --oneliner show partition`."""
    return [_partition(pairs(line)) for line in text.splitlines() if line.startswith("PartitionName=")]


def chosen(partitions: Iterable[Partition], names: str | None) -> list[Partition]:
    """Those where a job would go; without a name the default's; none: SLURM will say so."""
    wanted = names.split(",") if names else []
    return [each for each in partitions if (each.name in wanted if names else each.default)]


def as_spelled(needs: Needs, nodes: Iterable[Node]) -> Needs:
    """The same needs with the type of GPU as the cluster has it, "nvidia_a100-sxm4-80gb"; None where it tells no types."""
    if not needs.gpu_type:
        return needs
    wanted, amounts = needs.gpu_type.lower(), Counter[str]()
    for node in nodes:
        amounts.update(node.gpus)
    same = [name for name in amounts if name.lower() == wanted]
    if fitting := same or [name for name in amounts if wanted in WORD.split(name.lower())]:
        return replace(needs, gpu_type=max(fitting, key=amounts.__getitem__))
    return replace(needs, gpu_type=None) if set(amounts) <= {""} else needs


def shortcoming(needs: Needs, nodes: Sequence[Node], partitions: Sequence[Partition]) -> tuple[str, str] | None:
    """Why these needs can never be met there, and what would be; None: they can, though perhaps not now."""
    where = [node for node in nodes if node.partitions & {each.name for each in partitions}]
    if not where:
        return None
    place = "partition " + ", ".join(each.name for each in partitions)
    each_node = " on one node" if needs.nodes == 1 else f" on each of {needs.nodes} nodes"
    gpu = f"GPUs of type {needs.gpu_type}" if needs.gpu_type else "GPUs"
    asked = (
        (gpu, gpus_per_node(needs), [node.gpus_of(needs.gpu_type) for node in where]),
        ("CPUs", cpus_per_node(needs), [node.cpus for node in where]),
        ("MiB of memory", memory_mib_per_node(needs), [node.memory_mib for node in where]),
    )
    for what, amount, there in asked:
        if amount and sum(each >= amount for each in there) < needs.nodes:
            most = _most_each(there, needs)
            remedy = f"ask for at most {most}" if most else "choose another type or partition"
            return f"asks for {amount} {what}{each_node}, and {place} has {f'at most {most}' if most else 'none'}", remedy
    limits = [len(where) if each.most_nodes is None else each.most_nodes for each in partitions]
    most_nodes = min(len(where), max(limits))
    if needs.nodes > most_nodes:
        return f"asks for {needs.nodes} nodes, and {place} gives at most {most_nodes}", f"ask for at most {most_nodes}"
    return None


def room_of(needs: Needs, nodes: Sequence[Node], partitions: Sequence[Partition]) -> Room:
    """Room in these partitions, for a run of as many nodes; GPUs of the type that is asked for."""
    names = {each.name for each in partitions}
    where = [node for node in nodes if node.partitions & names]
    up = [node for node in where if node.up]
    notes = [f"partition {each.name} is {each.state}" for each in partitions if each.state != "UP"]
    if where and len(up) < len(where):
        notes.append(f"{len(where) - len(up)} of {len(where)} nodes cannot start anything now")
    return Room(
        gpus=float(needs.nodes * _most_each([node.gpus_of(needs.gpu_type) for node in where], needs)) if where else None,
        cpus=float(needs.nodes * _most_each([node.cpus for node in where], needs)) if where else None,
        memory_gib=needs.nodes * _most_each([node.memory_mib for node in where], needs) / MIB_PER_GIB if where else None,
        free_gpus=float(sum(node.free_gpus_of(needs.gpu_type) for node in up)),
        free_cpus=float(sum(node.free_cpus for node in up)),
        free_memory_gib=sum(node.free_memory_mib for node in up) / MIB_PER_GIB,
        note="; ".join(notes),
    )


def _most_each(there: Sequence[int], needs: Needs) -> int:
    """The most that a run can have on each of its nodes, by what each node has."""
    return sorted(there, reverse=True)[min(needs.nodes, len(there)) - 1]


def seconds(limit: str) -> float | None:
    """A time limit of SLURM, [days-]hours:minutes:seconds; None: there is none."""
    found = LONGEST_LIMIT.fullmatch(limit)
    if not found:
        return None
    days, hours, minutes, rest = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + rest)


def _partition(found: dict[str, str]) -> Partition:
    most = found.get("MaxNodes", "")
    most_nodes = int(most) if most.isdigit() else None
    longest = seconds(found.get("MaxTime", ""))
    return Partition(found["PartitionName"], found.get("Default") == "YES", found.get("State", ""), longest, most_nodes)


def _node(found: dict[str, str]) -> Node:
    gpus, used = _gpus(found.get("Gres", "")), _gpus(found.get("GresUsed", ""))
    cpus, memory = _whole(found.get("CPUEfctv") or found.get("CPUTot", "")), _whole(found.get("RealMemory", ""))
    return Node(
        name=found["NodeName"],
        partitions=frozenset(found.get("Partitions", "").split(",")) - {""},
        cpus=cpus,
        free_cpus=max(0, cpus - _whole(found.get("CPUAlloc", ""))),
        memory_mib=memory,
        free_memory_mib=max(0, memory - _whole(found.get("AllocMem", ""))),
        gpus=gpus,
        free_gpus={name: max(0, amount - used.get(name, 0)) for name, amount in gpus.items()},
        up=not NOT_NOW.search(found.get("State", "")),
    )


def _gpus(text: str) -> dict[str, int]:
    found = Counter[str]()
    for name, amount in GPUS.findall(re.sub(r"\([^()]*\)", "", text)):
        found[name] += int(amount)
    return dict(found)


def _count(gpus: dict[str, int], gpu_type: str | None) -> int:
    return sum(amount for name, amount in gpus.items() if gpu_type is None or name.lower() == gpu_type.lower())


def _whole(text: str) -> int:
    return int(text) if text.isdigit() else 0


def rows(text: str, fields: Sequence[str]) -> list[dict[str, str]]:
    """Lines of `sacctmgr --parsable2`."""
    return [dict(zip(fields, line.split("|"), strict=False)) for line in text.splitlines() if "|" in line]


def quotas_of(owner: str, row: dict[str, str]) -> list[SlurmQuota]:
    return [SlurmQuota(owner, name, most) for name in LIMITS if (most := _amounts(row.get(name, "")))]


def exceeded(needs: Needs, quotas: list[SlurmQuota]) -> str | None:
    """The first quota that is smaller than what one run asks for, in SLURM's words; None: it may run."""
    asked = {
        "node": float(needs.nodes),
        "cpu": float(cpus_per_node(needs) * needs.nodes),
        "mem": float(memory_mib_per_node(needs) * needs.nodes),
        "gres/gpu": float(gpus_per_node(needs) * needs.nodes),
        f"gres/gpu:{needs.gpu_type}": float(needs.gpus),
    }
    beyond = (quota for quota in quotas if any(asked.get(resource, 0) > most for resource, most in quota.most.items()))
    return next((str(quota) for quota in beyond), None)


def _amounts(tres: str) -> dict[str, float]:
    """Amounts in a text such as "cpu=4,gres/gpu=1,mem=4G"."""
    found = dict[str, float]()
    for part in tres.split(","):
        name, _, amount = part.partition("=")
        if number := AMOUNT.fullmatch(amount):
            found[name] = float(number[1]) * (MIB[number[2]] if name == "mem" else 1)
    return found
