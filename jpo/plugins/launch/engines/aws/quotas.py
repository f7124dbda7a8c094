"""Quotas of EC2: how many vCPUs of a kind an account may run in a region, by market. Unknown where AWS does not say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.aws.answers import answer
from jpo.plugins.launch.engines.aws.offers import Attempt

CODES: Mapping[str, tuple[str, str, str]] = {
    "standard": ("Standard (A, C, D, H, I, M, R, T, Z) instances", "L-1216C47A", "L-34B43A08"),
    "g": ("G and VT instances", "L-DB2E81BA", "L-3819A6DF"),
    "p": ("P instances", "L-417A185B", "L-7212CCBC"),
}
"""Kind of instance: its name, and the codes of its quotas on demand and spot, as Service Quotas lists them."""


@dataclass(frozen=True, slots=True)
class Quota:
    """One quota: its name, and its vCPUs."""

    name: str
    vcpus: float

    def __str__(self) -> str:
        return f"quota of {self.name}: {self.vcpus:g} vCPUs"


def kind_of(instance_type: str) -> str | None:
    """The kind of instances whose quota counts for a type: "g5.xlarge" -> "g"; None: one that is not known here."""
    found = re.match(r"([a-z]+)\d", instance_type)
    family = found[1] if found else ""
    if family in ("g", "gr", "vt"):
        return "g"
    if family == "p":
        return "p"
    special = ("inf", "trn", "dl", "hpc", "mac", "high")
    return "standard" if family[:1] in set("acdhimrtz") and family not in special else None


def quota_of(client: Any, attempt: Attempt) -> Quota | None:
    """The quota that counts for an attempt; None: unknown, as where the credentials may not ask."""
    kind = kind_of(attempt.instance_type)
    if kind is None or (attempt.spot and attempt.instance_type.startswith(("p5", "p6"))):  # several quotas over the years
        return None
    name, on_demand, spot = CODES[kind]
    code = spot if attempt.spot else on_demand
    try:
        found = answer("AWS Service Quotas", lambda: client.get_service_quota(ServiceCode="ec2", QuotaCode=code))
        return Quota(f"{name}, {'spot' if attempt.spot else 'on demand'}", float(found["Quota"]["Value"]))
    except (LaunchError, KeyError, TypeError, ValueError):
        return None
