"""The pod of a run: its command, environment, resources and rights.

Nothing of it is a shell's text. A dollar sign is doubled, since the kubelet puts variables in place of $(NAME) in commands and
values. Requests equal limits, so that a run has what its config.ini says, no less and no more, whatever else is on the node.
"""

import os.path
import re
from collections.abc import Mapping
from pathlib import Path

from jpo.plugins.launch.engines.kubernetes.quantities import cpu_quantity, memory_quantity
from jpo.plugins.launch.engines.kubernetes.settings import KubernetesTable
from jpo.plugins.launch.job import LaunchJob, Needs
from jpo.wording.slug import slug

CONTAINER = "trainer"
CONFIG_FOLDER, RUNS_FOLDER = "/jpo/config", "/jpo/runs"
PORT_OF_RANKS = 29500
"""torch.distributed's own."""
GRACE_SECONDS = 60
"""For a training script to save what it has after SIGTERM, and to be scraped once more."""
PYTHON = re.compile(r"(.*/)?python(\d+(\.\d+)?)?")
TORCH = {"pytorch", "torch", "lightning", "pytorch-lightning", "transformers", "huggingface"}
"""Frameworks, as slugs, whose script is started once per GPU by torch.distributed.run."""
WITH_VALUE = {"-W", "-X"}
"""Options of Python that take the next argument."""


def pod_spec(job: LaunchJob, setup: KubernetesTable, name: str) -> dict[str, object]:
    """The pod of a run, the same for each of its nodes; `name` is that of its Job, ConfigMap and Service."""
    volumes = [{"name": "config", "configMap": {"name": name}}]
    volumes += [{"name": f"claim-{n}", "persistentVolumeClaim": {"claimName": claim}} for n, claim in enumerate(setup.claims)]
    if RUNS_FOLDER not in setup.claims.values():
        volumes.append({"name": "runs", "emptyDir": {}})
    if job.needs.gpus:  # data loaders and NCCL share memory; Docker's 64 MiB are too few for them
        volumes.append({"name": "shared-memory", "emptyDir": {"medium": "Memory"}})
    longest, user = job.longest_seconds, setup.user
    ids = {"runAsUser": user, "runAsGroup": user, "fsGroup": user} if user else {}
    spec = {
        "restartPolicy": "Never",
        "activeDeadlineSeconds": None if longest is None else min(2**31 - 1, max(1, round(longest))),
        "terminationGracePeriodSeconds": GRACE_SECONDS,
        "enableServiceLinks": False,
        "automountServiceAccountToken": setup.service_account is not None,
        "serviceAccountName": setup.service_account,
        "subdomain": name if job.needs.nodes > 1 else None,
        "nodeSelector": setup.selector(job.needs.gpu_type),
        "tolerations": [_toleration(taint) for taint in setup.tolerated(job.needs.gpus)],
        "imagePullSecrets": [{"name": each} for each in setup.image_pull_secrets],
        "securityContext": {"runAsNonRoot": user != 0, **ids, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [_container(job, setup, name)],
        "volumes": volumes,
    }
    return _without_empty(spec)


def resources(needs: Needs, gpu_resource: str) -> dict[str, str]:
    """What each of the run's pods asks for; what it does not say is left to the cluster."""
    asked = {"cpu": cpu_quantity(needs.cpus / needs.nodes)} if needs.cpus is not None else {}
    asked |= {"memory": memory_quantity(needs.memory_gib / needs.nodes)} if needs.memory_gib is not None else {}
    return asked | ({gpu_resource: str(needs.gpus // needs.nodes)} if needs.gpus else {})


def _container(job: LaunchJob, setup: KubernetesTable, name: str) -> dict[str, object]:
    asked = resources(job.needs, setup.gpu_resource)
    mounts: list[dict[str, object]] = [{"name": "config", "mountPath": CONFIG_FOLDER, "readOnly": True}]
    if setup.workdir:  # for a script that opens it by its name
        there = os.path.normpath(f"{setup.workdir}/{os.path.relpath(job.config_ini, job.folder)}")
        mounts.append({"name": "config", "mountPath": there, "subPath": "config.ini", "readOnly": True})
    mounts += [{"name": f"claim-{n}", "mountPath": path} for n, path in enumerate(setup.claims.values())]
    if RUNS_FOLDER not in setup.claims.values():
        mounts.append({"name": "runs", "mountPath": RUNS_FOLDER})
    if job.needs.gpus:
        mounts.append({"name": "shared-memory", "mountPath": "/dev/shm"})  # noqa: S108 - in the container
    container = {
        "name": CONTAINER,
        "image": setup.image,
        "command": [_unexpanded(part) for part in command(job)],
        "env": _environment(job, setup.metrics_port, name),
        "workingDir": setup.workdir,
        "ports": [{"name": "metrics", "containerPort": setup.metrics_port}] if setup.metrics_port else [],
        "envFrom": [{"secretRef": {"name": secret}} for secret in setup.environment_from],
        "resources": {"requests": asked, "limits": dict(asked)} if asked else {},
        "volumeMounts": mounts,
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    return _without_empty(container)


def _without_empty(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value not in (None, [], {})}


def command(job: LaunchJob) -> tuple[str, ...]:
    """The command in the container: config.ini is found where it is mounted, and one process per GPU is started.

    A Python script of PyTorch on several GPUs or nodes goes through torch.distributed.run. Any other program finds the nodes in
    PET_NNODES, PET_NODE_RANK, PET_NPROC_PER_NODE, MASTER_ADDR and MASTER_PORT, which torchrun reads by itself.
    """
    found = tuple(_in_container(part, job) for part in job.command)
    several = job.needs.gpus > 1 or job.needs.nodes > 1
    if not several or slug(job.identity.framework) not in TORCH or not PYTHON.fullmatch(found[0]):
        return found
    script = 1
    while script < len(found) and found[script].startswith("-") and found[script] not in ("-m", "-c", "-"):
        script += 2 if found[script] in WITH_VALUE else 1
    if script == len(found) or found[script] in ("-c", "-") or found[script : script + 2] == ("-m", "torch.distributed.run"):
        return found
    return (*found[:script], "-m", "torch.distributed.run", *found[script:])


def names_config(job: LaunchJob) -> bool:
    """Whether an argument of the command is the run's config.ini."""
    return any(_is_config(part.rpartition("=")[2], job) for part in job.command)


def _in_container(part: str, job: LaunchJob) -> str:
    """An argument, alone or behind "=", as the container has it: config.ini where it is mounted, files of the run's folder from
    the folder in which it starts."""
    option, equals, value = part.rpartition("=")
    if _is_config(value, job):
        return f"{option}{equals}{CONFIG_FOLDER}/config.ini"
    below = value.startswith(f"{job.folder}/") and ".." not in Path(value).parts
    return f"{option}{equals}{Path(value).relative_to(job.folder)}" if below else part


def _is_config(value: str, job: LaunchJob) -> bool:
    return bool(value) and "://" not in value and os.path.normpath(job.folder / value) == os.path.normpath(job.config_ini)


def _environment(job: LaunchJob, metrics_port: int | None, name: str) -> list[dict[str, object]]:
    """Variables: the job's own, then JPO's; where config.ini and the run log are is known here alone."""
    needs = job.needs
    given = {**job.environment, "JPO_RUN_ID": job.run_id, "JPO_CONFIG": f"{CONFIG_FOLDER}/config.ini"}
    given |= {"JPO_RUNLOG_DIR": RUNS_FOLDER, "JPO_RUNLOG_ECHO": "1"}
    given |= {"JPO_METRICS_PORT": str(metrics_port)} if metrics_port else {}
    processes = max(1, needs.gpus // needs.nodes)
    if needs.cpus is not None:  # of a limited container the libraries see all cores of the node
        threads = str(max(1, int(needs.cpus / needs.nodes / processes)))
        given = {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, **given}
    if needs.nodes > 1 or processes > 1:
        first = f"{name}-0.{name}" if needs.nodes > 1 else "localhost"
        given |= {"PET_NNODES": str(needs.nodes), "PET_NPROC_PER_NODE": str(processes)}
        given |= {"MASTER_ADDR": first, "MASTER_PORT": str(PORT_OF_RANKS)}
        given |= {"PET_MASTER_ADDR": first, "PET_MASTER_PORT": str(PORT_OF_RANKS)}
    variables: list[dict[str, object]] = [{"name": key, "value": _unexpanded(value)} for key, value in given.items()]
    of_the_pod = {"POD_NAME": "metadata.name", "POD_NAMESPACE": "metadata.namespace"}
    if needs.nodes > 1:
        of_the_pod["PET_NODE_RANK"] = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
    variables += [{"name": key, "valueFrom": {"fieldRef": {"fieldPath": path}}} for key, path in of_the_pod.items()]
    return variables


def _toleration(taint: str) -> dict[str, object]:
    key, equals, value = taint.partition("=")
    return {"key": key, **({"operator": "Equal", "value": value} if equals else {"operator": "Exists"})}


def _unexpanded(text: str) -> str:
    return text.replace("$", "$$")
