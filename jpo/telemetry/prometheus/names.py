"""Names of metrics and labels: the defaults, and those of a site that renamed them.

A role is what JPO needs; its name says the unit, so that an exporter with other units is a role of its own. METRICS and LABELS
are the whole table: each role with its possible names, tried together. `[prometheus.metrics]` and `[prometheus.labels]`
in jpo.toml give a role one name instead. Names are checked here, because they go into queries as they are.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from jpo.errors import UsageError, quoted
from jpo.records import COUNTS, PARAMETERS, Quality
from jpo.telemetry import contract
from jpo.telemetry.outcome import NONE_OWN, Own

METRICS: Mapping[str, tuple[str, ...]] = {
    **{name: (name,) for name in contract.METRICS},
    "push_time_seconds": ("push_time_seconds",),  # Pushgateway's own: when a group was pushed last
    # cAdvisor, in the kubelet
    "container_cpu_seconds_total": ("container_cpu_usage_seconds_total",),
    "container_memory_bytes": ("container_memory_working_set_bytes",),
    "container_start_time_seconds": ("container_start_time_seconds",),
    # kube-state-metrics
    "pod_start_time_seconds": ("kube_pod_start_time",),
    "pod_created_time_seconds": ("kube_pod_created",),
    "pod_completion_time_seconds": ("kube_pod_completion_time",),
    "pod_phase": ("kube_pod_status_phase",),
    "container_terminated_reason": ("kube_pod_container_status_terminated_reason",),
    "container_restarts_total": ("kube_pod_container_status_restarts_total",),
    "pod_owner": ("kube_pod_owner",),
    "container_requests": ("kube_pod_container_resource_requests",),
    "pod_labels": ("kube_pod_labels",),  # only what its flag --metric-labels-allowlist names
    "pod_annotations": ("kube_pod_annotations",),  # --metric-annotations-allowlist
    "pod_status_reason": ("kube_pod_status_reason",),
    # NVIDIA's dcgm-exporter; AMD's device-metrics-exporter, whose names were seen in both cases
    "gpu_utilisation_ratio": (),
    "gpu_utilisation_percent": ("DCGM_FI_DEV_GPU_UTIL", "gpu_gfx_activity", "GPU_GFX_ACTIVITY"),
    "gpu_memory_bytes": (),
    "gpu_memory_mib": ("DCGM_FI_DEV_FB_USED", "gpu_used_vram", "GPU_USED_VRAM"),
    "gpu_energy_joules_total": (),
    "gpu_energy_millijoules_total": ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",),
    "gpu_energy_microjoules_total": ("gpu_energy_consumed", "GPU_ENERGY_CONSUMED"),
    # what passes on the metrics of jobs that run elsewhere
    "gateway_info": ("pushgateway_build_info", "node_exporter_build_info"),
    # recording_rules.yml
    "recorded_cpu_cores": ("jpo:cpu_cores:rate2m",),
}
LABELS: Mapping[str, tuple[str, ...]] = {
    **{name: (name,) for name in ("run_id", "dataset", "model", "framework", "hardware", "status", *PARAMETERS, *COUNTS)},
    **{count: (count, *others) for count, others in contract.ALSO_CALLED.items()},
    # Scraped without honor_labels, an exporter's labels of the workload move to exported_*, and pod is the exporter's own.
    "namespace": ("namespace", "exported_namespace"),
    "pod": ("pod", "exported_pod"),
    "container": ("container", "exported_container"),
    "container_id": ("id",),
    "node": ("Hostname", "hostname"),
    "gpu": ("UUID", "uuid", "gpu_uuid", "gpu_id", "gpu", "GPU_I_ID"),
}
POD_LABELS = ("dataset", "model", "framework", "hardware", "run_id", *PARAMETERS, *COUNTS)
"""What a pod's labels can say, besides parameters of the team's own: batch_size in jpo-batch-size, a label or an annotation, if
no site names another."""
NONE: Mapping[str, str] = {}
METRIC_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


@dataclass(frozen=True, slots=True)
class Names:
    """The names in force.

    Attributes:
        metrics, labels: what a site calls a role instead of its names in METRICS and LABELS; build them with `of`, which checks.
        container: the trainer's container in its pod; None: the one that the run reports, else the busiest.
        site_pod_labels: by role of POD_LABELS, or a parameter of the team's own, what a site calls the labels by which pods say
            what they train (pods/labels.py).
        own: names of the team's own: labels of parameters, and one metric, the value of OWN_METRIC's label `metric`.
    """

    metrics: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    container: str | None = None
    site_pod_labels: Mapping[str, str] = field(default_factory=dict)
    own: Own = NONE_OWN

    @property
    def own_metric(self) -> Quality | None:
        """The metric of the team's own, None where none is asked for."""
        return next(iter(self.own.metrics.values()), None)

    @classmethod
    def of(
        cls,
        metrics: Mapping[str, str],
        labels: Mapping[str, str],
        container: str | None = None,
        pod_labels: Mapping[str, str] = NONE,
        *,
        own: Own = NONE_OWN,
    ) -> Self:
        """The names of a site; UsageError JPO-E302 for a role that does not exist or a name that cannot be one."""
        _check("metrics", metrics, METRICS, METRIC_NAME)
        _check("labels", labels, {**LABELS, **{name: (name,) for name in own.parameters}}, LABEL_NAME)
        if container is not None and not container.strip():
            remedy = "name the trainer's container, or leave it out"
            raise UsageError("[prometheus] container", "is empty", remedy, code="JPO-E302")
        in_prometheus = {role: exposed(name) for role, name in pod_labels.items()}
        _check("pod_labels", in_prometheus, dict.fromkeys((*POD_LABELS, *own.parameters), ()), LABEL_NAME)
        return cls(dict(metrics), dict(labels), container, in_prometheus, own)

    def alternatives(self, role: str) -> tuple[str, ...]:
        """All possible names of a role's metric; empty when only a site can know."""
        return (self.metrics[role],) if role in self.metrics else METRICS[role]

    def metric(self, role: str) -> str:
        """The name of a metric that has one, or the first of several."""
        return self.alternatives(role)[0]

    def labelled(self, role: str) -> tuple[str, ...]:
        """All possible names of a role's label."""
        return (self.labels[role],) if role in self.labels else (*self.own.spelt.get(role, ()), *LABELS.get(role, (role,)))

    def label(self, role: str) -> str:
        """The name of a label that has one, or the first of several."""
        return self.labelled(role)[0]

    def pod_labels(self) -> tuple[tuple[str, str, str], ...]:
        """The labels of namespace, pod and container that go together: as scraped with honor_labels, and without."""
        namespaces, pods, containers = (self.labelled(role) for role in ("namespace", "pod", "container"))
        ways = range(max(len(namespaces), len(pods), len(containers)))
        return tuple((namespaces[n % len(namespaces)], pods[n % len(pods)], containers[n % len(containers)]) for n in ways)

    def pod_label(self, role: str) -> str:
        """The name in Prometheus of the label of pods that says this."""
        return self.site_pod_labels.get(role) or exposed(f"jpo-{role}")

    def roles(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Labels under JPO's names. Where both exist, exported_pod is the workload's and pod the exporter's."""
        named = ((role, name) for role in (*LABELS, *self.own.parameters) for name in self.labelled(role))
        return {role: labels[name] for role, name in named if labels.get(name)}


def exposed(key: str) -> str:
    """The name that kube-state-metrics gives a label of pods: app.kubernetes.io/name -> label_app_kubernetes_io_name.

    What begins with label_ or annotation_ has it already. Source: kube-state-metrics, internal/store/utils.go.
    """
    if not key.strip() or key.startswith(("label_", "annotation_")):
        return key
    plain = re.sub(r"[^a-zA-Z0-9_]", "_", key)
    return "label_" + re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", plain).lower()


def _check(table: str, names: Mapping[str, str], roles: Mapping[str, tuple[str, ...]], syntax: re.Pattern[str]) -> None:
    place = f"[prometheus.{table}]"
    for role, name in names.items():
        if role not in roles:
            similar = difflib.get_close_matches(role, roles, n=1, cutoff=0.5) or list(roles)[:1]
            finding = f"{quoted(role)} is nothing that JPO asks for"
            raise UsageError(place, finding, f"the nearest is {similar[0]}; the guide lists all", code="JPO-E302")
        if not syntax.fullmatch(name):
            what = "metric" if syntax is METRIC_NAME else "label"
            finding = f"{role} = {quoted(name)} cannot be the name of a {what}"
            raise UsageError(place, finding, "write letters, digits and underscores", code="JPO-E302")
