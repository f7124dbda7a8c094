"""What a configuration costs per hour: in USD where the user named prices, on a relative scale where not.

A run's energy and dated price tables of clouds come later; the prices here are what stands in jpo.toml.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from jpo.records import Run

_RELATIVE_WEIGHTS = {"gpus": 2.1, "cpus": 0.04, "memory_gib": 0.005}
"""How much a GPU, a CPU and a GiB count against each other when no price is known: relative weights, not prices. They have the
proportions of the example jpo.toml, only rank configurations and are never shown as USD."""
_IDLE_SHARE = 0.02
"""A configuration without GPUs whose CPUs have no price still occupies a machine: this share of one GPU."""


@dataclass(frozen=True, slots=True)
class Prices:
    """USD per hour of one GPU, one CPU and one GiB of memory. None: not named; it then counts as included in the others."""

    usd_per_gpu_hour: float | None = None
    usd_per_cpu_hour: float | None = None
    usd_per_gib_hour: float | None = None

    def __post_init__(self) -> None:
        for name, price in zip(("gpu", "cpu", "gib"), self._in_order(), strict=True):
            if price is not None and not (math.isfinite(price) and price >= 0):
                raise ValueError(f"usd_per_{name}_hour = {price} is not a price; it must be a number of at least 0")

    def _in_order(self) -> tuple[float | None, float | None, float | None]:
        return self.usd_per_gpu_hour, self.usd_per_cpu_hour, self.usd_per_gib_hour

    def by_parameter(self) -> dict[str, float]:
        """The named prices by the parameter that they multiply."""
        pairs = zip(_RELATIVE_WEIGHTS, self._in_order(), strict=True)
        return {name: price for name, price in pairs if price is not None}


def usd_per_hour(parameters: Mapping[str, float], prices: Prices) -> float | None:
    """Price of one hour of this configuration; None when it uses GPUs without a price, or nothing that has one."""
    priced = prices.by_parameter()
    if parameters.get("gpus", 0.0) > 0 and "gpus" not in priced:
        return None
    parts = [price * parameters[name] for name, price in priced.items() if parameters.get(name, 0.0) > 0]
    return sum(parts) if parts else None


def log_rate(parameters: Mapping[str, float], prices: Prices) -> float:
    """Natural log of a configuration's price per hour; only differences between configurations of one workload mean anything.

    Args:
        parameters: all of them, held ones included: a CPU more matters less beside four GPUs.
        prices: when they do not cover what the workload names, the relative weights 2.1 : 0.04 : 0.005 (GPU : CPU : GiB) count.

    Returns:
        Always finite; 0 for all when nothing that has a price is named, or everything is free.
    """
    weights = {name: price for name, price in prices.by_parameter().items() if name in parameters}
    if not weights or (parameters.get("gpus", 0.0) > 0 and "gpus" not in weights):
        weights = {name: weight for name, weight in _RELATIVE_WEIGHTS.items() if name in parameters}
    least = _IDLE_SHARE * max(weights.values(), default=0.0)
    rate = sum(weight * parameters[name] for name, weight in weights.items())
    return math.log(rate if rate > 0 else least) if least > 0 else 0.0


def run_cost_usd(run: Run, prices: Prices) -> float | None:
    """What a run cost: as measured, else its hours times the price of its parameters; None when neither is known."""
    if run.outcome.cost_usd is not None:
        return run.outcome.cost_usd
    rate, seconds = usd_per_hour(run.parameters, prices), run.outcome.duration_seconds
    return None if rate is None or seconds is None else rate * seconds / 3600
