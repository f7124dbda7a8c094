"""Right-sizing: one request and limit of CPU and memory for a workload whose runs cannot be resized on the way.

CPU may be short for a moment and only slows a run down; memory must not. So the request of CPU covers the most demanding
phase that matters by its 95th percentile, its limit the peak, and memory is requested and limited alike, at the peak, both
with headroom.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jpo.errors import UsageError
from jpo.plugins.phases.chain import Ints
from jpo.plugins.phases.table import GIB
from jpo.plugins.phases.traces import CPU, MEMORY, Traces

HEADROOM = 0.15
"""Above a peak, as KRR and the vertical pod autoscaler have it: the next run may use more than any before."""
MARGIN = 0.05
"""Above the 95th percentile of CPU, of which nothing fails when it is short."""
MATTERS = 0.05
"""Share of the samples from which a phase decides over the request of CPU; the peak decides over the limit in any case."""
LEAST_CORES, LEAST_GIB = 0.1, 0.0625
"""Nothing is requested below 100 millicores and 64 MiB."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Requests and limits of a workload.

    Attributes:
        cpu_request, cpu_limit: cores, in hundredths.
        memory_gib: request and limit, in 64ths of a GiB (16 MiB).
        cpu_peak, memory_peak_gib: what was measured.
        decisive: the phase whose CPU decided over the request.
        idle_cpu, idle_memory: shares of cpu_request and memory_gib that runs left unused on average; below 0: more was used.
        executions, samples: how much it rests on.
    """

    cpu_request: float
    cpu_limit: float
    memory_gib: float
    cpu_peak: float
    memory_peak_gib: float
    decisive: int
    idle_cpu: float
    idle_memory: float
    executions: int
    samples: int

    @property
    def whole_cpus(self) -> int:
        """For a config.ini, which counts CPUs: enough for the peak."""
        return max(1, math.ceil(self.cpu_limit - 1e-9))


def rightsize(traces: Traces, phases: Ints, *, headroom: float = HEADROOM) -> Sizes:
    """Sizes for the workload of these traces; `headroom`: share above the peak.

    Raises UsageError: JPO-E731, the traces lack CPU or memory; JPO-E734, headroom below 0.
    """
    if not headroom >= 0:
        raise UsageError("--headroom", f"{headroom} is below 0", "never below what was used", code="JPO-E734")
    used = traces.narrowed((CPU, MEMORY)).stacked
    shares = np.bincount(phases) / len(phases)
    quantiles = {int(phase): float(np.quantile(used[phases == phase, 0], 0.95)) for phase in np.flatnonzero(shares >= MATTERS)}
    decisive = max(quantiles, key=lambda phase: quantiles[phase]) if quantiles else int(shares.argmax())
    cpu_peak, memory_peak = float(used[:, 0].max()), float(used[:, 1].max()) / GIB
    limit = max(LEAST_CORES, _up(cpu_peak * (1 + headroom), 100))
    request = min(limit, max(LEAST_CORES, _up(quantiles.get(decisive, cpu_peak) * (1 + MARGIN), 100)))
    memory = max(LEAST_GIB, _up(memory_peak * (1 + headroom), 64))
    return Sizes(
        cpu_request=request,
        cpu_limit=limit,
        memory_gib=memory,
        cpu_peak=cpu_peak,
        memory_peak_gib=memory_peak,
        decisive=decisive,
        idle_cpu=1 - float(used[:, 0].mean()) / request,
        idle_memory=1 - float(used[:, 1].mean()) / GIB / memory,
        executions=len(traces.executions),
        samples=traces.samples,
    )


def _up(value: float, parts: int) -> float:
    """The next value in whole parts of one: 1.2345 in hundredths is 1.24."""
    return math.ceil(round(value * parts, 6)) / parts


def config_lines(sizes: Sizes) -> Sequence[str]:
    return "[resources]", f"cpus = {sizes.whole_cpus}", f"memory_gib = {_up(sizes.memory_gib, 100):g}"


def patch_lines(sizes: Sizes, container: str) -> Sequence[str]:
    """A strategic merge patch for what has a pod template (Job, Deployment), as YAML.

    Raises UsageError: JPO-E734, no container of Kubernetes can have this name.
    """
    if not re.fullmatch("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", container):
        finding = f"{container!r:.80} is not a container name"
        raise UsageError("--container", finding, "small letters, digits and hyphens, e.g. trainer", code="JPO-E734")
    lines = ["spec:", "  template:", "    spec:", "      containers:", f"        - name: {container}", "          resources:"]
    for side, cores in (("requests", sizes.cpu_request), ("limits", sizes.cpu_limit)):
        lines += [f"            {side}:", f"              cpu: {round(cores * 1000)}m"]
        lines += [f"              memory: {round(sizes.memory_gib * 1024)}Mi"]
    return lines
