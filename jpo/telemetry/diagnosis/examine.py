"""All probes of a server, for `jpo doctor`: those of probes.py, and which quantities of a run the cluster measures."""

from collections.abc import Mapping
from functools import partial

from jpo.errors import TelemetryError
from jpo.http.endpoint import Endpoint
from jpo.http.quoting import quote
from jpo.records import Identity
from jpo.telemetry import contract
from jpo.telemetry.diagnosis.inquiry import Finding, Inquiry, Probe, answered
from jpo.telemetry.diagnosis.pod_labels import POD_STATE, labelled
from jpo.telemetry.diagnosis.probes import clock, reporting, retention, workload
from jpo.telemetry.prometheus.names import Names

OF_PODS = {
    "CPU": ("container_cpu_seconds_total",),
    "memory": ("container_memory_bytes",),
    "GPU": ("gpu_utilisation_percent", "gpu_utilisation_ratio"),
    "GPU memory": ("gpu_memory_mib", "gpu_memory_bytes"),
    "energy": ("gpu_energy_millijoules_total", "gpu_energy_microjoules_total", "gpu_energy_joules_total"),
}
"""By quantity of a run: the roles (prometheus/names.py) of which the cluster measures one per pod."""
OF_JOBS = {"CPU": contract.CPU_SECONDS, "memory": contract.MEMORY_BYTES}
"""By quantity: the metric with which the job reports it itself."""
OF_GPUS = ("GPU", "GPU memory", "energy")


def server(inquiry: Inquiry) -> Finding:
    """Does the server answer queries, and what is it?"""
    _ = inquiry.clock_offset_seconds  # a query: a server's status page may be open to all
    about = answered(version, inquiry)
    return Finding("ok", f"{inquiry.client.session.place} answers; {about.text}")


def version(inquiry: Inquiry) -> Finding:
    number = inquiry.client.status("buildinfo").get("version")
    return Finding("ok", f"version {quote(number)}" if number else "reports no version, like VictoriaMetrics and many proxies")


def measured(quantity: str, inquiry: Inquiry) -> Finding:
    """Is there a metric for this quantity of a run?"""
    by_job = (OF_JOBS[quantity],) if quantity in OF_JOBS else ()
    if existing := inquiry.existing(*by_job, *OF_PODS[quantity]):
        return Finding("ok", f"from {', '.join(existing)}")
    if renamed := next(filter(None, map(inquiry.renamed, OF_PODS[quantity])), None):
        return renamed
    if quantity in OF_GPUS and not inquiry.run_ids:
        return Finding("unknown", "not measured, and there is no run to show whether GPUs are used")
    if quantity in OF_GPUS and {"", "0", "0.0"}.issuperset(inquiry.values("gpus", inquiry.workload_selector)):
        return Finding("ok", "not measured, and no run asks for GPUs")
    names = [name for role in (*by_job, *OF_PODS[quantity]) for name in inquiry.names.alternatives(role)]
    text = f"nothing measures it ({' or '.join(names[:2])}), so it is left out"
    return Finding("warning", text, "let the server scrape one of them", "JPO-W145")


def joinable(inquiry: Inquiry) -> Finding:
    """Can what the cluster measures per pod be joined to the runs?"""
    by_pod = inquiry.existing(*(role for roles in OF_PODS.values() for role in roles))
    if not by_pod or not inquiry.run_ids:
        return Finding("ok", "nothing to join")
    labels = inquiry.names.labelled("pod")
    if any(inquiry.client.label_values(label, inquiry.workload_selector, inquiry.since, inquiry.until) for label in labels):
        return Finding("ok", "the runs report their pods")
    text = f"{inquiry.run_info} has no label {' or '.join(labels)}, so {by_pod[0]} belongs to no run"
    return Finding("warning", text, "scrape the job by its pod, or let it export pod and namespace", "JPO-W146")


def pod_state(inquiry: Inquiry) -> Finding:
    """Does kube-state-metrics report how pods ended? Only where there are pods."""
    if existing := inquiry.existing(*POD_STATE):
        return Finding("ok", f"from {', '.join(existing)}")
    if not inquiry.existing("container_cpu_seconds_total", "container_memory_bytes"):
        return Finding("ok", "no pods")
    text = f"nothing reports how pods ended ({inquiry.names.metric(POD_STATE[0])}): runs killed for memory count as silent"
    return Finding("warning", text, "let the server scrape kube-state-metrics", "JPO-W145")


def rules(inquiry: Inquiry) -> Finding:
    """Are JPO's recording rules in use?"""
    recorded = sum(name.startswith("jpo:") for name in inquiry.metrics)
    return Finding("ok", f"{recorded} in use" if recorded else "none in use; they are optional")


PROBES: Mapping[str, Probe] = {
    "server": server,
    "clock": clock,
    "retention": retention,
    "reports": reporting,
    "workload": workload,
    "labelled pods": labelled,
    **{quantity: partial(measured, quantity) for quantity in OF_PODS},
    "pods": joinable,
    "pod state": pod_state,
    "rules": rules,
}
"""All probes, in the order in which doctor reports them."""


def examine(source: Endpoint, identity: Identity | None, *, since: float, until: float, names: Names) -> dict[str, Finding]:
    """Findings of all probes, good or bad, by the names of PROBES, within the source's one deadline.

    A server that does not answer at all is the only finding, a "problem" with its error: nothing else is asked of it.

    `identity`: None when it is not known. `since`, `until`: as of an Inquiry; until is now by our clock.
    """
    from jpo.telemetry.prometheus.client import Client  # loads requests

    with Client(source) as client:
        inquiry = Inquiry(client, identity, since, until, names)
        try:
            findings = {"server": server(inquiry)}
        except TelemetryError as error:
            return {"server": Finding("problem", f"{error.place}: {error.finding}", error.remedy, error.code, error)}
        answers = {name: answered(probe, inquiry) for name, probe in PROBES.items() if name != "server"}
        findings |= {name: finding for name, finding in answers.items() if finding.text}
        if warnings := tuple(client.session.warnings):
            text = f"the server answered in part, what seems absent may exist: {warnings[0]}"
            findings["completeness"] = Finding("warning", text, "check the stores behind it", "JPO-E113")
        return findings
