"""Names of parameters in config.ini, and numbers from the text of their values.

The only table of such names: the guard's second look uses it, and commands pass it to the part of jpo that reads config.ini. It
does not decide which section counts; that is the reader's work.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from constraints.quoted import quoted

COUNTS = ("batch_size_per_device", "gradient_accumulation_steps", "gpus_per_node", "nodes")
"""In whose terms a file may say batch_size and gpus; constraints/counting.py puts them together."""

WHOLE = frozenset({"batch_size", "num_layers", "epochs", "gpus", *COUNTS})
"""Parameters that are whole numbers."""

WELL_KNOWN: Mapping[str, tuple[str, ...]] = {
    "batch_size": ("batch_size", "batchsize", "batch-size", "train_batch_size", "global_batch_size", "minibatch_size", "bs"),
    "learning_rate": ("learning_rate", "learningrate", "learning-rate", "lr", "base_lr", "initial_lr", "init_lr", "lr0"),
    "num_layers": ("num_layers", "num-layers", "n_layers", "n_layer", "nlayers", "num_hidden_layers", "layers"),
    "epochs": ("epochs", "num_epochs", "num-epochs", "n_epochs", "max_epochs", "num_train_epochs", "train_epochs"),
    "gpus": ("gpus", "num_gpus", "num-gpus", "n_gpus", "n_gpu", "ngpus", "gpu_count", "world_size"),
    "cpus": ("cpus", "num_cpus", "num-cpus", "n_cpus", "ncpus", "cpu_count", "cpu_threads", "num_threads", "threads"),
    "memory_gib": (
        *("memory_gib", "mem_gib", "ram_gib", "memory_gb", "mem_gb", "ram_gb"),
        *("memory_mib", "mem_mib", "ram_mib", "memory_mb", "mem_mb", "ram_mb", "memory", "mem", "ram"),
    ),
    "batch_size_per_device": (
        *("batch_size_per_device", "per_device_train_batch_size", "per_device_batch_size", "device_batch_size"),
        *("batch_size_per_gpu", "per_gpu_train_batch_size", "per_gpu_batch_size", "samples_per_gpu", "local_batch_size"),
        *("train_micro_batch_size_per_gpu", "micro_batch_size_per_gpu", "micro_batch_size", "batch_per_gpu", "batch_per_device"),
    ),
    "gradient_accumulation_steps": (
        *("gradient_accumulation_steps", "accumulate_grad_batches", "gradient_accumulation", "grad_accumulation_steps"),
        *("grad_accum_steps", "accumulation_steps", "accum_steps", "accum_iter"),
    ),
    "gpus_per_node": ("gpus_per_node", "gpus-per-node", "num_gpus_per_node", "n_gpus_per_node", "nproc_per_node", "devices"),
    "nodes": ("nodes", "num_nodes", "num-nodes", "n_nodes", "nnodes"),
}
"""Parameter -> option names in lower case, the most usual first. `batch_size` is over all GPUs and accumulation steps."""

LENIENT = frozenset({"devices"})
"""Names that yield where the file has the total, too: Lightning's `devices` may be anything elsewhere."""

IDENTITY: Mapping[str, tuple[str, ...]] = {
    "dataset": ("dataset", "dataset_name", "data_set", "data", "task_name"),
    "model": ("model", "model_name", "model_name_or_path", "pretrained_model_name_or_path", "arch", "architecture", "network"),
    "framework": ("framework", "backend", "library"),
}
"""Part of a workload's identity -> option names in lower case, the most usual first."""

GIB: Mapping[str, float] = {"k": 1e3 / 2**30, "m": 1e6 / 2**30, "g": 1e9 / 2**30, "t": 1e12 / 2**30} | {
    "ki": 2.0**-20,
    "mi": 2.0**-10,
    "gi": 1.0,
    "ti": 2.0**10,
}
"""Memory unit in lower case, without the B -> GiB. As in Kubernetes quantities: G is 10^9 bytes, Gi is 2^30."""

EXAMPLE: Mapping[str, str] = {"learning_rate": "0.01", "memory_gib": "16Gi", "cpus": "8", "gpus": "2"}

NUMBER = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?:\s*([kmgt]i?)b?)?", re.IGNORECASE | re.ASCII)
LONGEST = 64  # characters; no number written by a person is longer
LARGEST_WHOLE = 2**53 - 1  # beyond it different whole numbers are the same float


def parse_value(name: str, option: str, text: str) -> float | None:
    """The number of a value's text, in JPO's unit (memory in GiB).

    Args:
        name: the parameter, a key of WELL_KNOWN.
        option: the option's name in the file; `memory_gb` and the like say the unit of a plain number.
        text: the value without comment and surrounding blanks.

    Returns:
        The number; None for a memory size whose unit neither text nor option gives: JPO must not change it.

    Raises:
        ValueError: not a finite number, or not a whole one where only those make sense; one line with a remedy.
    """
    match = NUMBER.fullmatch(text) if len(text) <= LONGEST else None
    if match is None or (match[2] and name != "memory_gib"):
        raise ValueError(_not_a(name, option, text))
    unit = 1.0 if name != "memory_gib" else memory_unit_gib(option, text)
    if unit is None:
        return None
    value = float(match[1]) * unit
    if not math.isfinite(value) or (name in WHOLE and (not value.is_integer() or abs(value) > LARGEST_WHOLE)):
        raise ValueError(_not_a(name, option, text))
    return value


def memory_unit_gib(option: str, text: str) -> float | None:
    """GiB per unit of a memory size: by its own suffix (`16Gi`, `512 MB`), else by the option's name (`memory_gb`), else None."""
    match = NUMBER.fullmatch(text)
    if match and match[2]:
        return GIB[match[2].lower()]
    named = re.search(r"[_-]([kmgt]i?)b$", option.lower())
    return GIB[named[1]] if named else None


def _not_a(name: str, option: str, text: str) -> str:
    kind = "whole number" if name in WHOLE else "memory size" if name == "memory_gib" else "finite number"
    return f"{option} = {quoted(text)} is not a {kind}; write e.g. {option} = {EXAMPLE.get(name, '32')}"
