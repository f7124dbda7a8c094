"""Instances: instances that hold a job, in the order in which they are asked for. Prices come in by value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from jpo.cost import Instance
from jpo.plugins.launch.job import Needs

MOST_TIMES_DEARER = 4.0
"""Multiple of the cheapest fitting instance's on-demand price beyond which none is rented: no p5 for a job that a g5 holds."""
MOST_ATTEMPTS = 12
"""Refusals after which a launch gives up: AWS limits calls, and who waits wants to hear of it."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One instance type, spot or on demand."""

    instance_type: str
    spot: bool

    def usd_per_hour(self, offer: Instance) -> float | None:
        """Its price, given the offer of its type; None: unknown."""
        return offer.usd_per_hour_spot if self.spot else offer.usd_per_hour

    def __str__(self) -> str:
        return f"{self.instance_type} {'spot' if self.spot else 'on-demand'}"


def holds(offer: Instance, needs: Needs) -> bool:
    """Whether one such instance has all that is asked for; a job without GPUs gets none, which others could use."""
    enough = offer.gpus >= needs.gpus and offer.vcpus >= (needs.cpus or 0) and offer.memory_gib >= (needs.memory_gib or 0)
    return enough and (not needs.gpus or _has_type(offer, needs))


def attempts(offers: Sequence[Instance], needs: Needs, *, spot: bool) -> tuple[Attempt, ...]:
    """What is tried for a job, the cheapest first; a spot price that is unknown counts as at most the one on demand."""
    fitting = [offer for offer in offers if holds(offer, needs)]
    most = MOST_TIMES_DEARER * min((offer.usd_per_hour for offer in fitting), default=math.inf)
    priced = [(offer.usd_per_hour, 1, Attempt(offer.instance, spot=False)) for offer in fitting if offer.usd_per_hour <= most]
    if spot:
        by_spot = ((offer, offer.usd_per_hour_spot) for offer in fitting)
        known = [(offer.usd_per_hour if usd is None else usd, 0, Attempt(offer.instance, spot=True)) for offer, usd in by_spot]
        priced += [one for one in known if one[0] <= most]
    return tuple(attempt for _, _, attempt in sorted(priced, key=lambda one: (one[0], one[1], one[2].instance_type)))


def largest(offers: Sequence[Instance], needs: Needs) -> str:
    """What could be had at most, for the remedy of a refusal."""
    of_type = [offer for offer in offers if _has_type(offer, needs)]
    if needs.gpus and not of_type:
        types = sorted({name for offer in offers for name in _gpu_types(offer)})
        return f"ask for GPUs of a type that the catalogue has: {', '.join(types) or 'none'}"
    most = max(of_type or offers, key=lambda offer: (offer.gpus, offer.vcpus, offer.memory_gib), default=None)
    if most is None:
        return "name a catalogue with instances of this region in [prices], or other families in [launch.aws]"
    has = f"{most.gpus} GPUs, {most.vcpus:g} vCPUs and {most.memory_gib:g} GiB"
    return f"ask for at most what one instance has: {most.instance} has {has}"


def _has_type(offer: Instance, needs: Needs) -> bool:
    return needs.gpu_type is None or needs.gpu_type.strip().lower() in _gpu_types(offer)


def _gpu_types(offer: Instance) -> tuple[str, ...]:
    """Names by which its GPUs may be asked for: "a100", "a100-80gb"."""
    return (offer.gpu_type, offer.gpu_label) if offer.gpus else ()
