"""Of which execution an exported series is: by the labels of pods, containers and jobs, else by what its legend says besides.

In Prometheus a pod's containers, the pod as a whole (a container without a name) and its pause container (POD) stand beside each
other: containers count, the other two do not where there are any.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from jpo.phases.files.quantities import MEASURES, Meaning
from jpo.phases.files.series import ExportedSeries

PODS = ("pod", "pod_name", "exported_pod", "kubernetes_pod_name", "pod.id")
CONTAINERS = ("container", "container_name", "exported_container", "name")
JOBS = ("exec_id", "execution", "run_id", "job_name", "exported_job", "task", "job", "instance")
NOBODY = {
    "__name__",
    "cpu",
    "device",
    "gpu",
    "id",
    "image",
    "node",
    "instance",
    "job",
    "endpoint",
    "metrics_path",
    "service",
    "namespace",
}
NOBODY |= {"prometheus", "prometheus_replica", "mode", "interface", "hostname", "modelname", "uuid", "pci_bus_id"}
"""Labels of other things than whose a series is."""
PAUSE = "POD"


def executions(series: Sequence[ExportedSeries], meanings: Sequence[Meaning], label: str | None = None) -> list[str | None]:
    """The execution of each series; "": nobody says, and the file has one; None: the series is a sum of others, or of no pod.

    Args:
        label: that the user names; None: the usual ones.
    """
    if label is not None and any(label in one.labels for one in series):
        return [one.labels.get(label) or None for one in series]
    containers: dict[str, set[str]] = defaultdict(set)
    for one in series:
        if (pod := _first(one, PODS)) and (container := _first(one, CONTAINERS)) not in ("", PAUSE):
            containers[pod].add(container)
    has_pods = any(_first(one, PODS) for one in series)
    return [_execution(one, meaning, containers, has_pods) for one, meaning in zip(series, meanings, strict=True)]


def _execution(one: ExportedSeries, meaning: Meaning, containers: dict[str, set[str]], has_pods: bool) -> str | None:
    if not one.labels:
        return _of_legend(one.title) if meaning.is_in_legend else "" if one.title.lower() == "value" else one.title
    pod, container = _first(one, PODS), _first(one, CONTAINERS)
    if pod:
        others = containers.get(pod, set())
        if container == PAUSE or (others and container not in others):
            return None
        return f"{pod}/{container}" if len(others) > 1 else pod
    if has_pods:
        return None
    if container == PAUSE:
        return None
    rest = [text for label, text in one.labels.items() if label.lower() not in NOBODY and text]
    return container or _first(one, JOBS[:-2]) or ",".join(rest) or _first(one, JOBS)


def _first(one: ExportedSeries, labels: Sequence[str]) -> str:
    """The first of these labels that says something."""
    return next((text for label in labels if (text := one.labels.get(label, "").strip())), "")


def _of_legend(legend: str) -> str:
    """A legend without the words of what is measured at its ends."""
    parts = re.findall(r"[A-Za-z]+|[0-9]+|[^A-Za-z0-9]", legend)
    is_word = [part.isalnum() and part.lower() not in MEASURES for part in parts]
    if True not in is_word:
        return ""
    first, last = is_word.index(True), len(parts) - is_word[::-1].index(True)
    return "".join(parts[first:last])
