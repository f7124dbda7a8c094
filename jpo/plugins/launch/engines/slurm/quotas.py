"""Quotas of an account and a QOS, by sacctmgr: SLURM lets a job wait for ever that asks for more than its quota."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from jpo.plugins.launch.engines.slurm.request import cpus_per_node, gpus_per_node, memory_mib_per_node
from jpo.plugins.launch.job import Needs

QOS_FIELDS = ("Name", "MaxTRES", "MaxTRESPU", "GrpTRES")
ASSOCIATION_FIELDS = ("Account", "DefaultQOS", "MaxTRES", "GrpTRES")
LIMITS = ("MaxTRES", "MaxTRESPU", "GrpTRES")
"""Of one job, of all jobs of a user, of all jobs together: none of them lets a job ask for more."""
AMOUNT = re.compile(r"(\d+(?:\.\d+)?)([KMGTP]?)")
MIB = {"K": 2**-10, "M": 1, "": 1, "G": 2**10, "T": 2**20, "P": 2**30}


@dataclass(frozen=True, slots=True)
class SlurmQuota:
    """One limit: whose ("QOS small"), SLURM's name of it, and the most of each resource, memory in MiB."""

    owner: str
    name: str
    most: dict[str, float]

    def __str__(self) -> str:
        return f"{self.name} of {self.owner}: " + ", ".join(f"{resource}={amount:g}" for resource, amount in self.most.items())


def rows(text: str, fields: Sequence[str]) -> list[dict[str, str]]:
    """Lines of `sacctmgr --parsable2`."""
    return [dict(zip(fields, line.split("|"), strict=False)) for line in text.splitlines() if "|" in line]


def quotas_of(owner: str, row: dict[str, str]) -> list[SlurmQuota]:
    """The limits in one row of sacctmgr."""
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
