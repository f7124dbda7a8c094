"""Probe of labelled pods: runs without instrumentation, which kube-state-metrics shows only if it is configured to."""

from jpo.telemetry.diagnosis.inquiry import Finding, Inquiry
from jpo.telemetry.diagnosis.similar_names import nearest, shown
from jpo.telemetry.prometheus.pods.labels import CONFLICT, selector, slug

NOTHING = Finding("ok", "")
"""What is not worth a line: a cluster whose jobs report by themselves, or none at all."""
CODE, NOT_SHOWN = "JPO-W172", "JPO-W173"
PARTS = ("dataset", "model", "framework")
POD_STATE = ("pod_phase", "pod_completion_time_seconds", "container_terminated_reason")


def labelled(inquiry: Inquiry) -> Finding:
    """Do pods carry the labels of the workload, and can they be seen?"""
    metric, identity = inquiry.names.metric("pod_labels"), inquiry.identity
    asked_for = bool(inquiry.names.site_pod_labels)
    if identity is None or (inquiry.run_info in inquiry.metrics and not asked_for and metric not in inquiry.metrics):
        return NOTHING
    flag = f"--metric-labels-allowlist=pods=[{','.join(f'jpo-{part}' for part in PARTS)},...]"
    if metric not in inquiry.metrics:
        if not (inquiry.existing(*POD_STATE) or asked_for):
            return NOTHING
        text = f"kube-state-metrics shows no labels of pods ({metric}), so that only runs that report themselves are seen"
        return Finding("warning", text, f"start it with {flag}, if labelled pods should count", NOT_SHOWN)
    known = {part: inquiry.label_values(inquiry.names.pod_label(part), metric) for part in PARTS}
    if missing := [part for part, values in known.items() if not values]:
        return NOTHING if inquiry.run_info in inquiry.metrics and not asked_for else _missing(inquiry, metric, missing[0], flag)
    for part, values in known.items():
        wanted = slug(getattr(identity, part))
        if wanted not in map(slug, values):
            text = f"no pod is labelled {part} {shown(wanted)}; known are {', '.join(map(shown, nearest(wanted, values)))}"
            return Finding("warning", text, f"label the job's pods {_key(inquiry, part)}: {wanted}", CODE)
    pods = inquiry.label_values(inquiry.names.labelled("pod")[0], metric + selector(identity, inquiry.names))
    if not pods:
        labels = ", ".join(f"{_key(inquiry, part)}: {slug(getattr(identity, part))}" for part in PARTS)
        return Finding("warning", "pods carry each of the workload's labels, but none carries all", f"label them {labels}", CODE)
    return Finding("ok", f"{len(pods)} pod{'' if len(pods) == 1 else 's'} of {shown(str(identity))} in the last {inquiry.days}")


def _missing(inquiry: Inquiry, metric: str, part: str, flag: str) -> Finding:
    label = inquiry.names.pod_label(part)
    if inquiry.label_values(f"{label}{CONFLICT}1", metric):
        text = f"pods have two labels that become {label}; kube-state-metrics calls them {label}{CONFLICT}1 and 2"
        remedy = f'take one away, or write {part} = "{label}{CONFLICT}1" under [prometheus.pod_labels]'
        return Finding("warning", text, remedy, CODE)
    text = f"{metric} has no label {label}"
    return Finding("warning", text, f"label the job's pods, and start kube-state-metrics with {flag}", CODE)


def _key(inquiry: Inquiry, part: str) -> str:
    """The label as manifests write it, as far as that is known."""
    return inquiry.names.site_pod_labels.get(part) or f"jpo-{part}"
