"""Offers: instances that hold a job, in the order in which they are asked for, and how many vCPUs of a kind EC2 lets an account
run in a region, by market. Prices come in by value."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jpo.cost import Instance
from jpo.errors import LaunchError
from jpo.plugins.launch.engines.aws.answers import answer
from jpo.plugins.launch.job import Needs

MOST_TIMES_DEARER = 4.0
"""Multiple of the cheapest fitting instance's on-demand price beyond which none is rented: no p5 for a job that a g5 holds."""
MOST_ATTEMPTS = 12
"""Refusals after which a launch gives up: AWS limits calls, and who waits wants to hear of it."""
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


@dataclass(frozen=True, slots=True)
class Attempt:
    """One instance type, spot or on demand; `where`: a region, or the zone in it that has the spot price."""

    instance_type: str
    spot: bool
    where: str

    def __str__(self) -> str:
        return f"{self.instance_type} {'spot' if self.spot else 'on-demand'} {self.where}"

    @property
    def region(self) -> str:
        """Of a zone "us-east-1b", or of a local one "us-east-1-bos-1a"."""
        found = re.match(r"[a-z]+(-[a-z]+)+-\d+", self.where)
        return found[0] if found else self.where


def holds(offer: Instance, needs: Needs) -> bool:
    """Whether one such instance has all that is asked for; a job without GPUs gets none, which others could use."""
    enough = offer.gpus >= needs.gpus and offer.vcpus >= (needs.cpus or 0) and offer.memory_gib >= (needs.memory_gib or 0)
    return enough and (not needs.gpus or _has_type(offer, needs))


def priced(offers: Sequence[Instance], needs: Needs, *, spot: bool) -> dict[Attempt, float]:
    """What is tried for a job with its price of an hour, the cheapest first; a spot price that is unknown counts as the one on
    demand, which it never exceeds."""
    fitting = [offer for offer in offers if holds(offer, needs)]
    most = MOST_TIMES_DEARER * min((offer.usd_per_hour for offer in fitting), default=math.inf)
    found = {Attempt(offer.instance, spot=False, where=offer.region): offer.usd_per_hour for offer in fitting}
    for offer in fitting if spot else ():
        usd = offer.usd_per_hour if offer.usd_per_hour_spot is None else offer.usd_per_hour_spot
        found[Attempt(offer.instance, spot=True, where=offer.zone or offer.region)] = usd
    in_order = sorted(found, key=lambda one: (found[one], not one.spot, one.instance_type, one.where))
    return {attempt: found[attempt] for attempt in in_order if found[attempt] <= most}


def largest(offers: Sequence[Instance], needs: Needs) -> str:
    """What could be had at most, for the remedy of a refusal."""
    of_type = [offer for offer in offers if _has_type(offer, needs)]
    if needs.gpus and not of_type:
        types = sorted({name for offer in offers for name in _gpu_types(offer)})
        return f"ask for GPUs of a type that the catalogue has: {', '.join(types) or 'none'}"
    most = max(of_type or offers, key=lambda offer: (offer.gpus, offer.vcpus, offer.memory_gib), default=None)
    if most is None:
        return "read prices of its regions with `jpo prices refresh`, or name other families in [launch.aws]"
    has = f"{most.gpus} GPUs, {most.vcpus:g} vCPUs and {most.memory_gib:g} GiB"
    return f"ask for at most what one instance has: {most.instance} has {has}"


def _has_type(offer: Instance, needs: Needs) -> bool:
    return needs.gpu_type is None or needs.gpu_type.strip().lower() in _gpu_types(offer)


def _gpu_types(offer: Instance) -> tuple[str, ...]:
    """Names by which its GPUs may be asked for: "a100", "a100-80gb"."""
    return (offer.gpu_type, offer.gpu_label) if offer.gpus else ()


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
