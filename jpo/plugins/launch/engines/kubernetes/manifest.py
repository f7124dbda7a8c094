"""The objects of a run as `kubectl apply` takes them: a Job, a ConfigMap with its config.ini, a Service for several pods; and
their names and labels, made of the run's id."""

import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import PurePosixPath

from jpo.errors import LaunchError, quoted
from jpo.plugins.launch.credentials import refuse_credentials
from jpo.plugins.launch.engines.kubernetes.pods import names_config, pod_spec
from jpo.plugins.launch.engines.kubernetes.settings import KubernetesTable
from jpo.plugins.launch.job import LaunchJob
from jpo.records import Identity, Parameters, plain, plain_values
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
LARGEST_CONFIG_BYTES = 1_000_000
"""A ConfigMap holds 1 MiB with its names."""
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
LABEL_KEY = re.compile(r"(?:[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
SECRET = {"TOKEN", "PASSWORD", "PASSWD", "SECRET", "KEY", "CREDENTIALS"}
"""Words in names of variables that hold secrets; JPO_ variables are values of config.ini."""
VARIABLE = re.compile(r"[ -<>-~]+")
"""Kubernetes' rule for names of variables since 1.34: printable ASCII but "="."""


def manifest(job: LaunchJob, setup: KubernetesTable, *, namespace: str, config: bytes = b"") -> dict[str, object]:
    """A List of the run's objects, which `jpo run --dry-run` shows and the launcher submits; nothing is asked of a cluster.

    LaunchError as of `refuse_unsayable`.
    """
    refuse_unsayable(job, setup, config)
    own = {"name": object_name(job.run_id), "namespace": namespace}
    labelled = {**own, "labels": run_labels(job.run_id)}
    objects = [_job(job, setup, own), _config_map(config, labelled)]
    if job.needs.nodes > 1:
        objects.append(_service(labelled))
    return {"apiVersion": "v1", "kind": "List", "items": objects}


def digest(job: LaunchJob) -> str:
    """What tells a job from another one of the same id; of the same job it is the same wherever it is asked for."""
    described = (job.command, sorted(job.environment.items()), sorted(asdict(job.needs).items()), job.longest_seconds)
    parameters = sorted((name, str(value)) for name, value in plain_values(job.parameters).items())
    return hashlib.sha256(repr((job.run_id, job.identity.labels, described, parameters)).encode()).hexdigest()[:32]


def _job(job: LaunchJob, setup: KubernetesTable, own: Mapping[str, str]) -> dict[str, object]:
    queue = {QUEUE: setup.queue} if setup.queue else {}
    labels, annotations = parameter_notes(job.parameters)
    notes = {RUN_ID: job.run_id, JOB_DIGEST: digest(job)}
    nodes = job.needs.nodes
    pod = {"labels": {**labels, **pod_labels(job.run_id, job.identity)}, "annotations": {**annotations, RUN_ID: job.run_id}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**own, "labels": {**pod_labels(job.run_id, job.identity), **queue}, "annotations": notes},
        "spec": {
            "backoffLimit": 0,  # one pod is one run
            **({"completions": nodes, "parallelism": nodes, "completionMode": "Indexed"} if nodes > 1 else {}),
            **({"suspend": True} if setup.queue else {}),  # Kueue lets it start
            "template": {"metadata": pod, "spec": pod_spec(job, setup, object_name(job.run_id))},
        },
    }


def _config_map(config: bytes, metadata: Mapping[str, object]) -> dict[str, object]:
    try:
        data: dict[str, object] = {"data": {"config.ini": config.decode("utf-8")}}
    except UnicodeDecodeError:
        data = {"binaryData": {"config.ini": b64encode(config).decode()}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **data}


def _service(metadata: Mapping[str, object]) -> dict[str, object]:
    """Headless: gives the pods of a run names by which they find each other, before they are ready."""
    selector = {"batch.kubernetes.io/job-name": str(metadata["name"])}
    spec = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def refuse_unsayable(job: LaunchJob, setup: KubernetesTable, config: bytes = b"") -> None:
    """LaunchError for what no manifest can say (JPO-E763) or may hold (JPO-E770), before a server is asked."""
    refuse, table = partial(LaunchError, code="JPO-E763"), "jpo.toml: [launch.kubernetes]"
    if not setup.image:
        raise refuse(table, "names no image", 'image = "registry.example.com/train:1", with the training code in it')
    if setup.workdir is None and not names_config(job):
        finding = "names no workdir, and the command no config.ini: the run would have the image's own values"
        raise refuse(table, finding, 'workdir = "/workspace", where the image has the code')
    names = {"queue": setup.queue, "service_account": setup.service_account}
    for key in ("environment_from", "image_pull_secrets", "claims"):
        names |= {f"{key}: {name:.80}": name for name in getattr(setup, key)}
    for key, name in names.items():
        if name is not None and not SUBDOMAIN.fullmatch(name):
            raise refuse(f"{table} {key}", "is not a Kubernetes name", "write small letters, digits, - and .")
    for path in (*setup.claims.values(), *filter(None, [setup.workdir])):
        if not PurePosixPath(path).is_absolute() or ":" in path or ".." in PurePosixPath(path).parts:
            raise refuse(table, f"{quoted(path)} is not an absolute path without :", 'as in claims = { datasets = "/data" }')
    for key, value in setup.selector(job.needs.gpu_type).items():
        if not _is_label(key, value):
            finding = f"{key}={quoted(value)} cannot be a label of nodes"
            raise refuse(f"{table} node_selector", finding, "`kubectl get nodes --show-labels` shows what is")
    for taint in setup.tolerations:
        key, _, value = taint.partition("=")
        if not _is_label(key, value):
            raise refuse(f"{table} tolerations", f"{quoted(taint)} is not a taint", 'write "dedicated=ml", or "spot"')
    for name in job.environment:
        if not name.startswith("JPO_") and SECRET & set(name.upper().split("_")):
            remedy = "put it into a Secret, and name that with environment_from"
            finding = f"the variable {name:.80} looks like a secret, which a manifest must not contain"
            raise LaunchError(f"run {job.run_id}", finding, remedy, code="JPO-E770")
        if not VARIABLE.fullmatch(name):
            raise refuse(f"run {job.run_id}", f"{quoted(name)} cannot be the name of a variable", "rename it")
    if len(config) > LARGEST_CONFIG_BYTES:
        finding = f"has {len(config)} bytes, and a ConfigMap takes {LARGEST_CONFIG_BYTES}"
        raise refuse("config.ini", finding, "move tables of data out of it")
    refuse_credentials(job, config, "a manifest", "put it into a Secret, name that with environment_from, and read the variable")


def _is_label(key: str, value: str) -> bool:
    return LABEL_KEY.fullmatch(key) is not None and (not value or LABEL_VALUE.fullmatch(value) is not None)


def object_name(run_id: str) -> str:
    """The name of a run's objects: of DNS-1123, and another one for each id, so that an id that is none ends with a digest."""
    if DNS_LABEL.fullmatch(run_id) and len(run_id) <= LONGEST_NAME - len("jpo-"):
        return f"jpo-{run_id}"
    digest = hashlib.sha256(run_id.encode()).hexdigest()[:DIGEST]
    kept = "-".join(re.findall(r"[a-z0-9]+", run_id.lower()))[: LONGEST_NAME - len("jpo--") - DIGEST]
    return f"jpo-{kept.rstrip('-')}-{digest}"


def run_labels(run_id: str) -> dict[str, str]:
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
