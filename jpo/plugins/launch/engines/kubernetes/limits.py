"""What of quota, queues and nodes this account may read: each that it may not is left out, and then not known."""

from __future__ import annotations

from collections.abc import Iterator

from jpo.plugins.launch.engines.kubernetes.answers import Answer, items, text
from jpo.plugins.launch.engines.kubernetes.room import Limit, nodes, queue, quotas
from jpo.plugins.launch.engines.kubernetes.session import UNREADABLE, Session
from jpo.plugins.launch.engines.kubernetes.settings import KubernetesTable
from jpo.plugins.launch.job import Needs

KUEUE = (("kueue.x-k8s.io", "v1beta1"), ("kueue.x-k8s.io", "v1beta2"))
RUNNING = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
"""Pods that take something of a node, as a field selector."""


def limits_of(session: Session, setup: KubernetesTable, needs: Needs, *, in_use: bool = False) -> Iterator[Limit]:
    """What limits a run; what of the nodes is in use takes a look at every pod, and is asked for by `in_use`."""
    namespace = session.namespace
    if found := session.find("CoreV1Api", "list_namespaced_resource_quota", namespace, absent=UNREADABLE):
        yield from quotas(items(found, "items"), namespace)
    if setup.queue:
        local = ask_kueue(session, "get_namespaced_custom_object", namespace, "localqueues", setup.queue)
        name = text(local, "spec", "clusterQueue")
        if name and (found := ask_kueue(session, "get_cluster_custom_object", "clusterqueues", name)):
            yield queue(found, local)
    if there := items(session.find("CoreV1Api", "list_node", absent=UNREADABLE), "items"):  # else they are made when asked for
        pods: Answer = {}
        if in_use:
            pods = session.find("CoreV1Api", "list_pod_for_all_namespaces", absent=UNREADABLE, field_selector=RUNNING)
        yield nodes(there, items(pods, "items"), setup.selector(needs.gpu_type), setup.tolerated(needs.gpus))


def ask_kueue(session: Session, function: str, *arguments: str) -> Answer:
    """An answer of Kueue in the first of its versions that is served."""
    answers = (session.find("CustomObjectsApi", function, *version, *arguments, absent=UNREADABLE) for version in KUEUE)
    return next((answer for answer in answers if answer), {})
