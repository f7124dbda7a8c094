"""Counting: the global batch and all GPUs of a file that says them per device and per node, and the other way round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counting:
    """What a file says instead of batch_size and gpus. None: it does not say, which is 1.

    Attributes:
        batch_per_device: the samples of one step on one device; batch_size = that x devices x accumulation steps.
        per_node: the GPUs of one node; gpus = that x nodes.
    """

    batch_per_device: bool = False
    per_node: bool = False
    accumulation_steps: float | None = None
    nodes: float | None = None

    def spelt_out(self, values: Mapping[str, float]) -> dict[str, float]:
        """The values with what the file says of them, so that the limits of both are looked at."""
        more: dict[str, float] = {}
        if self.accumulation_steps is not None:
            more["gradient_accumulation_steps"] = self.accumulation_steps
        if self.nodes is not None:
            more["nodes"] = self.nodes
        if self.per_node and "gpus" in values:
            more["gpus_per_node"] = values["gpus"] / (self.nodes or 1.0)
        if self.batch_per_device and "batch_size" in values:
            more["batch_size_per_device"] = values["batch_size"] / samples_per_sample({**values, **more})
        return {**values, **more}


def totals(found: Mapping[str, float]) -> dict[str, float]:
    """The values of a file with batch_size and gpus, where it says them in other terms."""
    values = dict(found)
    if "gpus_per_node" in values and "gpus" not in values:
        values["gpus"] = values["gpus_per_node"] * values.get("nodes", 1.0)
    if "batch_size_per_device" in values and "batch_size" not in values:
        values["batch_size"] = values["batch_size_per_device"] * samples_per_sample(values)
    return values


def samples_per_sample(values: Mapping[str, float]) -> float:
    """Samples of the global batch for each one on a device: devices x accumulation steps."""
    return max(values.get("gpus", 1.0), 1.0) * max(values.get("gradient_accumulation_steps", 1.0), 1.0)
