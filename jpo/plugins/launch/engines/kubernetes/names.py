"""Names and labels of a run's objects on Kubernetes, made of its id."""

from __future__ import annotations

import hashlib
import re

from jpo.records import Identity, Parameters, plain
from jpo.wording.slug import LABEL_VALUE, slug

RUN_ID = "jpo.dev/run-id"
"""Label and annotation."""
JOB_DIGEST = "jpo.dev/job"
"""Annotation: digest of command, environment, needs and parameters, by which a job is told from another one of the same id."""
CANCELLED = "jpo.dev/cancelled"
"""Annotation of the ConfigMap of a cancelled run: the uid of its Job, which is gone."""
CANCELLED_AT = "jpo.dev/cancelled-at"
MANAGED_BY = {"app.kubernetes.io/managed-by": "jpo"}
QUEUE = "kueue.x-k8s.io/queue-name"
LONGEST_NAME = 52
"""Characters: of 63 of a host name, with "-" and the index of a pod behind it."""
DIGEST = 8
DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def object_name(run_id: str) -> str:
    """The name of a run's objects: of DNS-1123, and another one for each id, so that an id that is none ends with a digest."""
    if DNS_LABEL.fullmatch(run_id) and len(run_id) <= LONGEST_NAME - len("jpo-"):
        return f"jpo-{run_id}"
    digest = hashlib.sha256(run_id.encode()).hexdigest()[:DIGEST]
    kept = "-".join(re.findall(r"[a-z0-9]+", run_id.lower()))[: LONGEST_NAME - len("jpo--") - DIGEST]
    return f"jpo-{kept.rstrip('-')}-{digest}"


def run_labels(run_id: str) -> dict[str, str]:
    """Labels of every object of a run."""
    return {**MANAGED_BY, RUN_ID: run_id}


def pod_labels(run_id: str, identity: Identity) -> dict[str, str]:
    """Labels by which JPO, Prometheus and people find the pods of a run: docs/prometheus.md has them."""
    workload = {f"jpo-{part}": slug(name) for part, name in identity.labels.items()}
    return {**run_labels(run_id), **workload, "jpo-run-id": run_id}


def parameter_notes(parameters: Parameters) -> tuple[dict[str, str], dict[str, str]]:
    """Labels and annotations that say the run's parameters; what no label can hold, such as a negative number, is annotated."""
    notes = {f"jpo-{name.replace('_', '-')}": _as_metrics_say(plain(value)) for name, value in parameters.items()}
    labels = {key: text for key, text in notes.items() if LABEL_VALUE.fullmatch(text)}
    return labels, {key: text for key, text in notes.items() if key not in labels}


def _as_metrics_say(value: object) -> str:
    """64.0 -> "64", 0.001 -> "0.001"."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)
