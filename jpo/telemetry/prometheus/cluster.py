"""Resource usage of a run's pods as the cluster measures it: CPU and memory from cAdvisor, GPUs from DCGM or AMD's exporter.

The only link between these metrics and a run is (namespace, pod), which jpo_run_info carries; the join is made in joined.py, not
in PromQL. Which of the possible names a server has for these pods is read from its index first, so that no query is in vain.
What is not measured stays absent: a CPU-only cluster has no GPU utilisation, rather than one of zero.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from os.path import commonprefix
from typing import NamedTuple, TypeVar

from jpo.telemetry.prometheus import queries
from jpo.telemetry.prometheus.answers import AnswerRow
from jpo.telemetry.prometheus.names import METRICS
from jpo.telemetry.prometheus.queries import COUNT, GAIN, HIGHEST, LAST, P95, SUM, TOTAL
from jpo.telemetry.prometheus.scope import Scope

PodValue = TypeVar("PodValue")
BYTES_PER_MIB = 2.0**20
GPU_UTILISATION = {"gpu_utilisation_ratio": 1.0, "gpu_utilisation_percent": 0.01}
GPU_MEMORY = {"gpu_memory_bytes": 1.0, "gpu_memory_mib": BYTES_PER_MIB}
GPU_ENERGY = {"gpu_energy_joules_total": 1.0, "gpu_energy_millijoules_total": 1e-3, "gpu_energy_microjoules_total": 1e-6}
"""Roles of one quantity, and the factor to JPO's unit."""
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
"""Roles, further matchers, how GPUs and samples become one number, and, in JPO's unit, a bound above what any GPU can have: a
field that a GPU does not support shows 9223372036854775794 or such. A slice (MIG: GPU_I_ID) shows the energy of the whole GPU."""
COUNTS = ("gpu_count", "gpus", "gpus_metered")
"""Those of OF_GPUS without a unit."""
ContainerQueries = Mapping[str, tuple[str, str, str]]
GpuQueries = Mapping[str, tuple[Mapping[str, float], str, str, str, float]]


class Pod(NamedTuple):
    """A pod by namespace and name; the namespace is empty where the run does not report it."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Labelling:
    """The labels by which series name their namespace, pod and container (they depend on honor_labels), and the metrics found.

    `chosen`: matchers of the pods, without braces.
    """

    labels: tuple[str, str, str]
    chosen: str
    metrics: frozenset[str]

    def names(self, scope: Scope, role: str) -> Iterator[str]:
        """The names of a role's metric that these pods have."""
        return (name for name in scope.names.alternatives(role) if name in self.metrics)

    @property
    def pod(self) -> str:
        """The labels that say which pod, for `by`."""
        return ", ".join(self.labels[:2])

    def selector(self, *matchers: str) -> str:
        """The selector of the pods' series that also fit these matchers; empty ones are left out."""
        return "{" + ",".join(filter(None, (self.chosen, *matchers))) + "}"

    def containers(self, scope: Scope) -> str:
        """The selector of the trainer's container, or of all but a pod's own series and pause container, which double them."""
        label, container = self.labels[2], scope.names.container
        return self.selector(f"{label}={queries.quoted(container)}" if container else f'{label}!="",{label}!="POD"')


@dataclass(frozen=True, slots=True)
class PodUsage:
    """Usage of a pod: by container and quantity, and of its GPUs by quantity, in seconds, bytes, ratios and joules."""

    containers: dict[str, dict[str, float]] = field(default_factory=dict)
    gpus: dict[str, float] = field(default_factory=dict)


def labellings(scope: Scope, pods: Collection[Pod]) -> tuple[Labelling, ...]:
    """The labellings under which these pods are found, with one request for each; none without pods."""
    if not pods:
        return ()
    result = []
    for labels in scope.names.pod_labels():
        chosen = _matchers(labels, pods)
        metrics = scope.indexed("__name__", "{" + chosen + "}", scope.begin)
        if metrics is None:  # all that may exist
            metrics = frozenset(name for role in METRICS for name in scope.names.alternatives(role))
        if metrics:
            result.append(Labelling(labels, chosen, metrics))
    return tuple(result)


def narrowed(labellings: Iterable[Labelling], pods: Collection[Pod]) -> tuple[Labelling, ...]:
    """The labellings, for these of their pods."""
    return tuple(replace(labelling, chosen=_matchers(labelling.labels, pods)) for labelling in labellings)


def _matchers(labels: tuple[str, str, str], pods: Collection[Pod]) -> str:
    namespaces, names = sorted({pod.namespace for pod in pods}), sorted({pod.name for pod in pods})
    chosen = f"{labels[1]}=~{_pattern(names)}"
    return f"{labels[0]}=~{_pattern(namespaces)},{chosen}" if any(namespaces) else chosen


def _pattern(texts: list[str]) -> str:
    """A pattern for these texts; many are matched by their common beginning, and pods of other jobs are dropped on reading."""
    start = commonprefix(texts)  # noqa: RUF071 (names, not paths)
    return queries.one_of(texts) or queries.quoted(re.escape(start) + ".*" if start else ".+")


def of(values: Mapping[Pod, PodValue], pod: Pod) -> PodValue | None:
    """The value of a pod; a pod without a namespace is found by its name, if only one has that name."""
    if pod.namespace or pod in values:
        return values.get(pod)
    namesakes = [value for other, value in values.items() if other.name == pod.name]
    return namesakes[0] if len(namesakes) == 1 else None


def usage_queries(
    scope: Scope,
    labellings: tuple[Labelling, ...],
    of_containers: ContainerQueries = OF_CONTAINERS,
    of_gpus: GpuQueries = OF_GPUS,
) -> dict[str, str]:
    """Queries for what the pods' containers and GPUs used in the window; none without cAdvisor and GPU exporter.

    A GPU that several pods share shows the use of all: take means over a pod's GPUs, never sums.
    """
    span, asked = queries.window(scope.begin, scope.until), dict[str, str]()
    for n, labelling in enumerate(labellings):
        container, identifier = f"{labelling.pod}, {labelling.labels[2]}", scope.names.label("container_id")
        for quantity, (role, over, how) in of_containers.items():
            for name in labelling.names(scope, role):
                samples = how.format(name + labelling.containers(scope) + span)
                asked[f"{quantity} 1 {name} {n}"] = f"{over} by ({container}) (max by ({container}, {identifier}) ({samples}))"
        gpu = ", ".join([labelling.pod, *scope.names.labelled("node"), *scope.names.labelled("gpu")])
        for quantity, (roles, matcher, over, how, most) in of_gpus.items():
            series = labelling.selector(matcher) + span
            for role, factor in roles_in_order(scope, roles):
                unit = 1.0 if quantity in COUNTS else factor
                for name in labelling.names(scope, role):
                    plausible = f"{how.format(name + series)} and {HIGHEST.format(name + series)} < {most / factor:.0f}"
                    asked[f"{quantity} {unit} {name} {n}"] = f"{over} by ({labelling.pod}) (max by ({gpu}) ({plausible}))"
    return asked


def usage(rows: Iterable[tuple[str, AnswerRow]]) -> dict[Pod, PodUsage]:
    """Usage by pod from the answers to `usage_queries`, in their order: where two exporters measure one pod, the first counts."""
    by_pod: dict[Pod, PodUsage] = defaultdict(PodUsage)
    for key, row in rows:
        quantity, factor, *_ = key.split()
        pod, container = by_pod[pod_of(row.labels)], row.labels.get("container")
        used = pod.gpus if container is None else pod.containers.setdefault(container, {})
        used.setdefault(quantity, row.value * float(factor))
    return dict(by_pod)


def roles_in_order(scope: Scope, roles: Mapping[str, float]) -> list[tuple[str, float]]:
    """Roles and factors; those that the site named precede those tried by default."""
    return sorted(roles.items(), key=lambda item: item[0] not in scope.names.metrics)


def pod_of(labels: Mapping[str, str]) -> Pod:
    return Pod(labels.get("namespace", ""), labels.get("pod", ""))
