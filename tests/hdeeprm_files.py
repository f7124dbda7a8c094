"""Options and platform files as HDeepRM has them."""

from __future__ import annotations

import copy
from typing import Any

OPTIONS: dict[str, Any] = {
    "seed": 7,
    "nb_resources": 4,
    "nb_jobs": 2,
    "workload_file_path": "log.swf",
    "platform_file_path": "platform.json",
    "pybatsim": {
        "log_level": "INFO",
        "env": {
            "objective": "energy_consumption",
            "actions": {"selection": [{"shortest": ["high_gflops", "low_power"]}, {"first": ["high_mem_bw"]}], "void": True},
            "observation": "small",
            "queue_sensitivity": 0.05,
        },
        "agent": {"type": "LEARNING", "run": "train", "hidden": 16, "lr": 0.005, "gamma": 0.99},
    },
}
PROCESSOR = {"type": "CPU", "cores": 2, "mem_bw": 32, "dpflops_per_cycle": 4}
PLATFORM: dict[str, Any] = {
    "clusters": [{"id": "c", "nodes": [{"type": "Two", "number": 3}], "local_links": {"type": "x", "latency": "0us"}}],
    "global_links": {"type": "x", "latency": "0us"},
    "job_limits": {"max_time": 1, "reference_machine": {"clock_rate": 0.5, "dpflop_vector_width": 2}},
    "types": {
        "node": {
            "Two": {
                "id": "two",
                "processors": [{"type": "A", "number": 1}, {"type": "B", "number": 1}],
                "memory": {"capacity": 32},
            }
        },
        "processor": {"A": {**PROCESSOR, "clock_rate": 1.0, "power": 80}, "B": {**PROCESSOR, "clock_rate": 1.1, "power": 100}},
    },
}


def changed(document: dict[str, Any], keys: str, value: object) -> dict[str, Any]:
    """A copy with one key set, or removed where the value is None."""
    found = copy.deepcopy(document)
    *way, last = keys.split(".")
    inner = found
    for key in way:
        inner = inner[key]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return found
