"""What the cluster says of the use of a run's pods: cAdvisor of CPU and memory, DCGM or AMD of GPUs; lives.py has the rest.

The only tie between these metrics and a run is (namespace, pod), which jpo_run_info carries; the join is made here, not in
PromQL. Which of the possible names a server has for these pods is looked up in its index first, so that no query asks in vain.
What is not there stays absent: a CPU-only cluster has no GPU utilisation, not one of zero.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os.path import commonprefix
from typing import NamedTuple, TypeVar

from jpo.errors import TelemetryError
from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.answers import Row, TooMuch
from jpo.telemetry.prometheus.names import METRICS
from jpo.telemetry.prometheus.queries import COUNT, GAIN, HIGHEST, LAST, P95, SUM, TOTAL
from jpo.telemetry.prometheus.scope import Look

Found = TypeVar("Found")

NO_INDEX = ("JPO-E101", "JPO-E104", "JPO-E105")
"""Codes of a server, or of the proxy before it, that answers queries and nothing else."""
BYTES_PER_MIB = 2.0**20
GPU_UTILISATION = {"gpu_utilisation_ratio": 1.0, "gpu_utilisation_percent": 0.01}
GPU_MEMORY = {"gpu_memory_bytes": 1.0, "gpu_memory_mib": BYTES_PER_MIB}
GPU_ENERGY = {"gpu_energy_joules_total": 1.0, "gpu_energy_millijoules_total": 1e-3, "gpu_energy_microjoules_total": 1e-6}
"""Roles of one quantity, and what makes their unit JPO's."""

OF_CONTAINERS = {
    "cpu_seconds": ("container_cpu_seconds_total", "sum", TOTAL),
    "memory_sum": ("container_memory_bytes", "sum", SUM),
    "memory_count": ("container_memory_bytes", "sum", COUNT),
    "memory_p95": ("container_memory_bytes", "max", P95),
    "memory_highest": ("container_memory_bytes", "max", HIGHEST),
}
"""A restarted container is a second series with another id: their sums belong together."""
OF_GPUS = {
    "gpu_sum": (GPU_UTILISATION, "", "sum", SUM, 1.5),
    "gpu_count": (GPU_UTILISATION, "", "sum", COUNT, 1.5),
    "gpus": (GPU_UTILISATION, "", "count", LAST, 1.5),
    "gpu_memory": (GPU_MEMORY, "", "max", HIGHEST, 1e15),
    "gpu_energy": (GPU_ENERGY, 'GPU_I_ID=""', "sum", GAIN, 1e12),
    "gpus_metered": (GPU_ENERGY, 'GPU_I_ID=""', "count", GAIN, 1e12),
}
"""Roles, more matchers, how GPUs and samples become one number, and, in JPO's unit, more than any GPU can have: a field which it
does not support shows 9223372036854775794 or the like. A slice of a GPU (MIG: GPU_I_ID) shows the energy of the whole GPU."""
COUNTS = ("gpu_count", "gpus", "gpus_metered")
"""Of these, without a unit."""


class Pod(NamedTuple):
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Place:
    """One way in which series name their pod, as scraped with honor_labels or without, and what is there.

    Attributes:
        labels: those of namespace, pod and container.
        chosen: matchers of the pods, without braces.
        metrics: names of the series which these pods have.
    """

    labels: tuple[str, str, str]
    chosen: str
    metrics: frozenset[str]

    def names(self, look: Look, role: str) -> Iterator[str]:
        return (name for name in look.names.alternatives(role) if name in self.metrics)

    @property
    def pod(self) -> str:
        """The labels that say which pod, for `by`."""
        return ", ".join(self.labels[:2])

    def selector(self, *matchers: str) -> str:
        """Of the pods, the series that also fit these matchers; empty ones are left out."""
        return "{" + ",".join(filter(None, (self.chosen, *matchers))) + "}"

    def containers(self, look: Look) -> str:
        """The trainer's container, or all real ones: a pod's own series and its pause container double them."""
        label, given = self.labels[2], look.names.container
        return self.selector(f"{label}={queries.quoted(given)}" if given else f'{label}!="",{label}!="POD"')


@dataclass(frozen=True, slots=True)
class Usage:
    """What a pod used: by container and quantity of OF_CONTAINERS, and by quantity of OF_GPUS in seconds, bytes, joules."""

    containers: dict[str, dict[str, float]] = field(default_factory=dict)
    gpus: dict[str, float] = field(default_factory=dict)


def places(look: Look, pods: Collection[Pod]) -> tuple[Place, ...]:
    """Where these pods are found, in a request for each way to name them; none without pods."""
    if not pods:
        return ()
    namespaces, names = sorted({pod.namespace for pod in pods}), sorted({pod.name for pod in pods})
    found = []
    for labels in look.names.places():
        chosen = f"{labels[1]}=~{_pattern(names)}"
        if any(namespaces):
            chosen = f"{labels[0]}=~{_pattern(namespaces)}," + chosen
        if metrics := _metrics(look, "{" + chosen + "}"):
            found.append(Place(labels, chosen, metrics))
    return tuple(found)


def _metrics(look: Look, chosen: str) -> frozenset[str]:
    """Names of the chosen series; where the server lets nobody see its index, all that may be there."""
    try:
        return frozenset(look.client.label_values("__name__", chosen, look.begin, look.until))
    except TelemetryError as error:
        if error.code not in NO_INDEX or isinstance(error, TooMuch):
            raise
    return frozenset(name for role in METRICS for name in look.names.alternatives(role))


def _pattern(texts: list[str]) -> str:
    """Many pods are chosen by what their names have in common: those of other jobs are dropped when the rows are read."""
    start = commonprefix(texts)  # noqa: RUF071 (names, not paths)
    return queries.one_of(texts) or queries.quoted(re.escape(start) + ".*" if start else ".+")


def of(known: Mapping[Pod, Found], pod: Pod) -> Found | None:
    """What is known of a pod; one whose run does not say the namespace is found by its name, if only one has it."""
    if pod.namespace or pod in known:
        return known.get(pod)
    namesakes = [found for other, found in known.items() if other.name == pod.name]
    return namesakes[0] if len(namesakes) == 1 else None


def uses(look: Look, found: tuple[Place, ...]) -> dict[str, str]:
    """Queries for what the pods used in the window, all their containers and GPUs; none without cAdvisor and GPU exporter."""
    span = queries.window(look.begin, look.until)
    asked: dict[str, str] = {}
    for n, place in enumerate(found):
        asked |= _of_containers(look, place, span, n)
        asked |= _of_gpus(look, place, span, n)
    return asked


def usage(rows: Iterable[tuple[str, Row]]) -> dict[Pod, Usage]:
    """What `uses` brought, in the order in which it was asked: where two exporters tell of one pod, the first is believed."""
    used: dict[Pod, Usage] = defaultdict(Usage)
    for key, row in rows:
        quantity, factor, *_ = key.split()
        pod = used[pod_of(row.labels)]
        if quantity in OF_GPUS:
            pod.gpus.setdefault(quantity, row.value * (1.0 if quantity in COUNTS else float(factor)))
        elif quantity in OF_CONTAINERS:
            pod.containers.setdefault(row.labels.get("container", ""), {}).setdefault(quantity, row.value)
    return dict(used)


def _of_containers(look: Look, place: Place, span: str, n: int) -> dict[str, str]:
    container, identifier = f"{place.pod}, {place.labels[2]}", look.names.label("container_id")
    series = place.containers(look) + span
    return {
        f"{quantity} 1 {name} {n}": f"{over} by ({container}) (max by ({container}, {identifier}) ({how.format(name + series)}))"
        for quantity, (role, over, how) in OF_CONTAINERS.items()
        for name in place.names(look, role)
    }


def _of_gpus(look: Look, place: Place, span: str, n: int) -> dict[str, str]:
    """A GPU that several pods share shows the use of all of them: over the GPUs of one pod there is a mean, never a sum."""
    gpu = ", ".join([place.pod, *look.names.labelled("node"), *look.names.labelled("gpu")])
    asked = {}
    for quantity, (roles, matcher, over, how, most) in OF_GPUS.items():
        series = place.selector(matcher) + span
        for role, factor in roles_in_order(look, roles):
            for name in place.names(look, role):
                known = f"{how.format(name + series)} and {HIGHEST.format(name + series)} < {most / factor:.0f}"
                asked[f"{quantity} {factor} {name} {n}"] = f"{over} by ({place.pod}) (max by ({gpu}) ({known}))"
    return asked


def roles_in_order(look: Look, roles: Mapping[str, float]) -> list[tuple[str, float]]:
    """What the site named comes before what is tried by default."""
    return sorted(roles.items(), key=lambda item: item[0] not in look.names.metrics)


def pod_of(labels: Mapping[str, str]) -> Pod:
    return Pod(labels.get("namespace", ""), labels.get("pod", ""))
