"""Kubernetes as an engine: one Job of batch/v1 is one run; Kueue or the scheduler decides when it starts.

    settings.py    KubernetesTable: image, nodes, queue, rights
    pods.py        the pod of a run: command, environment, resources, security
    manifest.py    the run's objects: Job, ConfigMap with its config.ini, Service where it has several pods; names and labels
    quantities.py  "1500m", "64Gi": amounts as Kubernetes writes them
    answers.py     what the API server answers, read without trusting its shape
    session.py     the connection: which cluster, bounded retries, refusals in the server's words
    output.py      what pods printed, and the run log in it
    status.py      Job and pods -> JobStatus
    room.py        quota, queues and nodes, as far as they may be read -> Room
    launcher.py    KubernetesLauncher
    live.py        a pod that goes on: its samples, and its request, which may follow them

A run's pod is started once: its Job makes no second one. What is left of a run that is over goes an hour after it was
collected; what is cancelled goes at once.
"""

from jpo.plugins.launch.engines import Engine

ENGINE = Engine(
    "jpo.plugins.launch.engines.kubernetes.launcher:launcher",
    table="jpo.plugins.launch.engines.kubernetes.settings:KubernetesTable",
    credentials=("context",),
)
