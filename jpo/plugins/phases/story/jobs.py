"""Executions of traces as training jobs whose phases a fitted model names, so that `phase_pack` can be judged on them.

Traces say how much CPU was used, and nothing of memory bandwidth, by which `phase_pack` packs: a core that is busy is taken to
want so many GB/s. In each phase a job wants what its executions used there on average.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

from jpo.plugins.phases.chain import Ints, entries
from jpo.plugins.phases.files.read import read_traces
from jpo.plugins.phases.model_file import read_model
from jpo.plugins.phases.table import GIB
from jpo.plugins.phases.traces import CPU, MEMORY, Floats


def phase_jobs(traces: Path, model: Path, gbps_per_core: float) -> Iterator[tuple[Mapping[str, float | str], str]]:
    """Each execution as a table of training jobs has it, by the names of its columns, and its phases; counted from the first one.

    What it asked for is its peak.

    `gbps_per_core`: memory bandwidth that a busy core wants.

    Raises UsageError: JPO-E730, JPO-E731, of the traces; JPO-E732, of the model.
    """
    fitted, found = read_model(model), read_traces(traces)
    phases = fitted.predict(found)
    cores = found.narrowed((CPU,)).stacked[:, 0]
    used = np.bincount(phases, cores) / np.maximum(np.bincount(phases), 1)
    first = min(execution.times[0] for execution in found.executions)
    memory, parts = found.features.index(MEMORY), zip(found.executions, found.split(phases), found.split(cores), strict=True)
    for execution, own, busy in sorted(parts, key=lambda one: one[0].times[0]):
        asked = max(math.ceil(busy.max()), 1)
        submit, gib = float(execution.times[0] - first), round(float(execution.values[:, memory].max() / GIB), 6)
        times = {"submit_seconds": submit, "duration_seconds": execution.seconds}
        stays = stays_of(execution.times, own)
        said = " ".join(f"{seconds:g}:{gbps_per_core * used[phase] / asked:.4g}" for seconds, phase in stays)
        yield {"id": execution.name, **times, "cpus": asked, "memory_gib": gib}, said


def stays_of(times: Floats, phases: Ints) -> Iterator[tuple[float, int]]:
    """How long an execution stays in which phase: from the first sample there to the first one in another, or to the end."""
    for start, after in pairwise([*entries(phases), len(times) - 1]):
        if times[after] > times[start]:
            yield float(times[after] - times[start]), int(phases[start])
