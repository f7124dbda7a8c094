"""Of which execution an exported series is: by the labels of pods, containers and jobs, else by what its legend says besides.

In Prometheus a pod's containers, the pod as a whole (a container without a name) and its pause container (POD) stand beside each
other: containers count, the other two do not where there are any. What one file has
by pod and another one by container is by pod.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

from jpo.plugins.phases.files.quantities import MEASURES, Meaning
from jpo.plugins.phases.files.series import ExportedSeries

PODS = ("pod", "pod_name", "exported_pod", "kubernetes_pod_name", "pod.id")
NAMESPACES = ("namespace", "exported_namespace", "kubernetes_namespace")
CONTAINERS = ("container", "container_name", "exported_container", "name")
JOBS = ("exec_id", "execution", "run_id", "job_name", "exported_job", "task", "job", "instance")
NOBODY = frozenset(
    re.findall(
        r"\w+",
        "__name__ cpu device gpu id image node instance job endpoint metrics_path service namespace prometheus "
        "prometheus_replica mode interface hostname modelname uuid pci_bus_id",
    )
)
"""Labels of other things than whose a series is."""
PAUSE = "POD"
Part = tuple[str, str, str]
"""File, feature and pod."""


def executions(series: Sequence[ExportedSeries], meanings: Sequence[Meaning], label: str | None = None) -> list[str | None]:
    """The execution of each series; "": nobody says, and the file has one; None: the series is a sum of others, or of no pod.

    `label`: that the user names; None: the usual ones.
    """
    if label is not None and any(label in one.labels for one in series):
        return [one.labels.get(label) or None for one in series]
    within: dict[Part, set[str]] = defaultdict(set)  # containers of a pod by which one file tells a feature
    parts = [(one.file, meaning.feature, _first(one, PODS)) for one, meaning in zip(series, meanings, strict=True)]
    for one, part in zip(series, parts, strict=True):
        within[part] |= {_first(one, CONTAINERS)} - {"", PAUSE}
    of_pods: dict[str, list[set[str]]] = defaultdict(list)
    for (_, _, pod), containers in within.items():
        of_pods[pod].append(containers)
    several = {pod for pod, known in of_pods.items() if pod and all(known) and len(set().union(*known)) > 1}  # known by all files
    with_pods = {(file, feature) for file, feature, pod in parts if pod}
    whose = [
        None if not part[2] and part[:2] in with_pods else _execution(one, meaning, within[part], several)
        for one, meaning, part in zip(series, meanings, parts, strict=True)
    ]
    spaces: dict[str | None, set[str]] = defaultdict(set)
    for one, execution in zip(series, whose, strict=True):
        spaces[execution].add(_first(one, NAMESPACES))
    return [
        f"{_first(one, NAMESPACES)}/{execution}"
        if execution and len(spaces[execution]) > 1 and all(spaces[execution])
        else execution
        for one, execution in zip(series, whose, strict=True)
    ]


def _execution(one: ExportedSeries, meaning: Meaning, containers: set[str], several: set[str]) -> str | None:
    if not one.labels:
        return _without_measures(one.title) if meaning.is_in_legend else "" if one.title.lower() == "value" else one.title
    pod, container = _first(one, PODS), _first(one, CONTAINERS)
    if container == PAUSE or (pod and containers and container not in containers):
        return None
    if pod:
        return f"{pod}/{container}" if pod in several else pod
    rest = [text for label, text in one.labels.items() if label.lower() not in NOBODY and text]
    return container or _first(one, JOBS[:-2]) or ",".join(rest) or _first(one, JOBS)


def _first(one: ExportedSeries, labels: Sequence[str]) -> str:
    """The first of these labels that says something."""
    return next((text for label in labels if (text := one.labels.get(label, "").strip())), "")


def _without_measures(legend: str) -> str:
    """A legend without the words of what is measured at its ends."""
    parts = re.findall(r"[A-Za-z]+|[0-9]+|[^A-Za-z0-9]", legend)
    is_word = [part.isalnum() and part.lower() not in MEASURES for part in parts]
    if True not in is_word:
        return ""
    first, last = is_word.index(True), len(parts) - is_word[::-1].index(True)
    return "".join(parts[first:last])
