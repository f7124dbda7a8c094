"""What [sla] promises, held against everything that could be suggested: which candidates keep it, and why none does.

What is not known breaks no promise. It chooses nothing: of the candidates that are left, `advise` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from jpo.cost.sla import SLA_TARGETS
from jpo.errors import NothingAdmissible
from jpo.optimizer.request import Request
from jpo.optimizer.surrogate import Surrogate
from jpo.records import USD, Candidates, Currency
from jpo.wording import numbers

if TYPE_CHECKING:
    from jpo.records import Bools, Floats

AT_BEST = {
    "time_max": "takes at least",
    "cost_max": "costs at least",
    "throughput_min": "does at most, in samples/s,",
    "memory_max_gib": "needs at least, in GiB,",
    "gpu_util_min": "has a GPU utilisation of at most",
    "cpu_util_min": "has a CPU utilisation of at most",
    "val_loss_max": "ends with a validation loss of at least",
}
"""What is expected of configurations that keep another promise."""


@dataclass(frozen=True, eq=False, slots=True)
class Promised:
    """A promise about which something is known: what is expected at every candidate and whether it is kept there, (K,) each."""

    name: str
    limit: float
    expected: Floats
    kept: Bools
    currency: Currency = USD

    def best(self, rows: Bools) -> float:
        """What comes nearest to the limit among these candidates."""
        best = np.nanmin if SLA_TARGETS[self.name].at_most else np.nanmax
        return float(best(self.expected[rows]))

    def written(self, value: float) -> str:
        """The limit, or what is expected, with its unit."""
        return numbers.written(self.name, value, self.currency)


def promised(surrogate: Surrogate, request: Request) -> Iterator[Promised]:
    """The promises about which something is known; where nothing is known of a candidate (NaN), it keeps them."""
    for name, limit in request.targets.items():
        promise = SLA_TARGETS[name]
        expected = surrogate.expected(promise.quantity)
        if expected is not None:
            edge = promise.edge(limit)
            kept = ~(expected > edge if promise.at_most else expected < edge)
            yield Promised(name, limit, expected, kept, request.currency)


def within_sla(surrogate: Surrogate, request: Request) -> Candidates:
    """The candidates without those that are expected to break the SLA.

    Raises:
        NothingAdmissible: JPO-E402, nothing is left; names the promise and what comes nearest, or the promises that exclude each
            other.
    """
    allowed = surrogate.candidates.admissible
    targets = tuple(promised(surrogate, request))
    for one in targets:
        if not (allowed & one.kept).any():
            remedy = "relax it, or widen the limits in [parameters]"
            raise NothingAdmissible(f"[sla] {one.name}", _out_of_reach(one, allowed), remedy, code="JPO-E402")
    keeps = np.logical_and.reduce([allowed, *(one.kept for one in targets)])
    if not keeps.any():
        remedy = "relax one of them, or widen the limits in [parameters]"
        raise NothingAdmissible("[sla]", _contradiction(targets, allowed), remedy, code="JPO-E402")
    return replace(surrogate.candidates, admissible=keeps)


def _out_of_reach(one: Promised, allowed: Bools) -> str:
    """That nothing keeps a promise, and what comes nearest."""
    limit, nearest = one.written(one.limit), one.written(one.best(allowed))
    if nearest == limit:
        nearest = f"a little {'more' if SLA_TARGETS[one.name].at_most else 'less'}"
    return f"no admissible configuration is expected to keep {limit}; the nearest expects {nearest}"


def _contradiction(targets: Sequence[Promised], allowed: Bools) -> str:
    """Why promises that can be kept one by one cannot be kept together."""
    pairs = [(one, other) for one, other in combinations(targets, 2) if not (allowed & one.kept & other.kept).any()]
    if not pairs:
        return f"{', '.join(one.name for one in targets)} cannot be kept together, though any two of them can"
    one, other = pairs[0]
    texts = [
        f"what keeps {kept.name} {AT_BEST[broken.name]} {broken.written(broken.best(allowed & kept.kept))}"
        for kept, broken in ((one, other), (other, one))
    ]
    names = " and ".join(f"{each.name} ({each.written(each.limit)})" for each in (one, other))
    return f"{names} contradict each other: {'; '.join(texts)}"
