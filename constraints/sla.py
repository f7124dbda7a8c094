"""Targets of [sla]: how the limit of each is read, which forecast it bounds, how that is said. A new target is a line of SLA."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from constraints.amounts import gib, joules, seconds, share, usd
from constraints.numbers import number_of
from constraints.unknown import table_of

NOISE = 0.02
"""Relative, of a loss or of what an accuracy lacks; equal runs differ by so much, and no proposal is refused for what noise
explains."""


@dataclass(frozen=True, slots=True)
class SlaTarget:
    """A target of [sla]; its limit is the smallest value that keeps it where its name ends with _min, else the largest.

    Attributes:
        read: its limit in jpo.toml; None: in a unit that [prices] may explain, see WITH_PRICES.
        quantity: of the forecast.
        rule: its name in verdicts.
        words: what is limited, the verb of a run that misses it, the unit.
        no_worse: (expected of today's values, of the proposal): what today's values break may stay as it is, but for noise.
            None: it may not.
    """

    read: Callable[[object, str], float | None] | None
    quantity: str
    rule: str
    words: tuple[str, str, str]
    no_worse: Callable[[float, float], bool] | None = None


def no_worse_loss(now: float, then: float) -> bool:
    """Whether a loss is no worse than today's."""
    return then <= now + NOISE * abs(now)


def no_worse_accuracy(now: float, then: float) -> bool:
    """Whether an accuracy is no worse than today's."""
    return 1 - then <= (1 - now) * (1 + NOISE)


_LOSS = ("validation loss", "end with a validation loss of", "")
_ACCURACY = ("validation accuracy", "end with a validation accuracy of", "")
SLA: Mapping[str, SlaTarget] = {
    "cost_max": SlaTarget(None, "cost_usd", "cost_within_budget", ("cost", "cost", "USD")),
    "time_max": SlaTarget(seconds, "duration_seconds", "time_within_sla", ("time", "take", "s")),
    "throughput_min": SlaTarget(
        partial(number_of, above=0), "throughput_samples_per_second", "throughput_within_sla", ("throughput", "do", "samples/s")
    ),
    "memory_max_gib": SlaTarget(gib, "memory_gib", "memory_within_sla", ("memory", "need", "GiB")),
    "gpu_util_min": SlaTarget(share, "gpu_utilisation", "gpu_utilisation_within_sla", ("GPU utilisation", "use", "of its GPUs")),
    "cpu_util_min": SlaTarget(share, "cpu_utilisation", "cpu_utilisation_within_sla", ("CPU utilisation", "use", "of its CPUs")),
    "val_loss_max": SlaTarget(number_of, "val_loss", "val_loss_within_sla", _LOSS, no_worse_loss),
    "accuracy_min": SlaTarget(share, "val_accuracy", "accuracy_within_sla", _ACCURACY, no_worse_accuracy),
    "energy_max": SlaTarget(None, "energy_joules", "energy_within_sla", ("energy", "take", "J")),
}


WITH_PRICES = {"cost_max": usd, "energy_max": joules}
"""Readers of limits that may be in the currency of [prices], or in kg of CO2."""


def sla_limits(tables: Mapping[str, object]) -> Mapping[str, float]:
    """The limits of [sla] by their names, cost in USD; those that jpo.toml has. Raises ValueError, as `limits_from` does."""
    known = dict.fromkeys(("time_max", *SLA))  # messages name it first; verdicts name the cost first, which comes after the price
    given, prices = table_of(tables, "sla", known), table_of(tables, "prices")
    limits = {}
    for name, target in SLA.items():
        value, place = given.get(name), f"[sla] {name}"
        limits[name] = target.read(value, place) if target.read else WITH_PRICES[name](value, prices, place)
    return {name: limit for name, limit in limits.items() if limit is not None}
