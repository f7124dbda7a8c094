"""How much room a cluster has for a run: what quota, Kueue's queue and the nodes say. What may not be read is not known."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jpo.plugins.launch.engines.kubernetes.answers import Answer, condition, items, table, text, whole_number
from jpo.plugins.launch.engines.kubernetes.quantities import GIB, amount
from jpo.plugins.launch.engines.kubernetes.session import UNREADABLE, Session
from jpo.plugins.launch.engines.kubernetes.settings import KubernetesTable
from jpo.plugins.launch.job import Needs, Room

CPU, MEMORY = "cpu", "memory"
KUEUE = (("kueue.x-k8s.io", "v1beta1"), ("kueue.x-k8s.io", "v1beta2"))
RUNNING = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
"""Pods that take something of a node, as a field selector."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What one place allows, and what of it is free, by resource; in CPUs, bytes and GPUs.

    Attributes:
        name: as messages say it, e.g. "quota of namespace ml".
        most: of one run; what is not named is not limited here.
        waiting: runs that wait for it before this one.
        largest: of nodes, what the largest one has for one pod; None: no nodes.
    """

    name: str
    most: Mapping[str, float]
    free: Mapping[str, float]
    waiting: int = 0
    largest: Mapping[str, float] | None = None


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


def quotas(found: Sequence[Answer], namespace: str) -> Iterator[Limit]:
    """ResourceQuotas; requests and limits of a run are the same, so that either binds. Those of a scope are not counted."""
    for quota in found:
        if table(quota, "spec").get("scopes") or table(quota, "spec").get("scopeSelector"):
            continue
        hard, used = table(quota, "status", "hard"), table(quota, "status", "used")
        most, free = dict[str, float](), dict[str, float]()
        for key, said in hard.items():
            resource = key.removeprefix("requests.").removeprefix("limits.")
            if (whole := amount(said)) is not None:
                most[resource] = min(whole, most.get(resource, whole))
                left = max(0.0, whole - (amount(used.get(key)) or 0.0))
                free[resource] = min(left, free.get(resource, left))
        yield Limit(f"quota {text(quota, 'metadata', 'name')} of namespace {namespace}", most, free)


def queue(cluster_queue: Answer, local_queue: Answer) -> Limit:
    """A ClusterQueue of Kueue: a run takes one flavor of a resource, and may borrow up to the flavor's limit."""
    most, free = dict[str, float](), dict[str, float]()
    borrows = bool(text(cluster_queue, "spec", "cohort") or text(cluster_queue, "spec", "cohortName"))
    reserved = {
        (text(flavor, "name"), text(resource, "name")): amount(resource.get("total")) or 0.0
        for flavor in items(cluster_queue, "status", "flavorsReservation")
        for resource in items(flavor, "resources")
    }
    for group in items(cluster_queue, "spec", "resourceGroups"):
        for flavor in items(group, "flavors"):
            for resource in items(flavor, "resources"):
                name, nominal = text(resource, "name"), amount(resource.get("nominalQuota")) or 0.0
                limit = amount(resource.get("borrowingLimit"))
                extra = (limit if limit is not None else float("inf")) if borrows else 0.0
                left = max(0.0, nominal - reserved.get((text(flavor, "name"), name), 0.0))
                most[name] = max(most.get(name, 0.0), nominal + extra)
                free[name] = max(free.get(name, 0.0), left)
    finite = {name: value for name, value in most.items() if value != float("inf")}
    waiting = whole_number(local_queue, "status", "pendingWorkloads") or 0
    return Limit(f"queue {text(cluster_queue, 'metadata', 'name')}", finite, free, waiting)


def nodes(found: Sequence[Answer], pods: Sequence[Answer], selector: Mapping[str, str], tolerated: Sequence[str] = ()) -> Limit:
    """Nodes that take a run's pods, less what the pods on them asked for; `tolerated`: taints, "KEY" or "KEY=VALUE"."""
    usable = {text(node, "metadata", "name"): node for node in found if _usable(node, selector, tolerated)}
    most, taken, largest = defaultdict[str, float](float), defaultdict[str, float](float), defaultdict[str, float](float)
    for node in usable.values():
        for resource, said in table(node, "status", "allocatable").items():
            most[resource] += amount(said) or 0.0
            largest[resource] = max(largest[resource], amount(said) or 0.0)
    for pod in pods:
        if text(pod, "spec", "nodeName") in usable and text(pod, "status", "phase") not in ("Succeeded", "Failed"):
            for container in items(pod, "spec", "containers"):
                for resource, said in table(container, "resources", "requests").items():
                    taken[resource] += amount(said) or 0.0
    free = {resource: max(0.0, whole - taken[resource]) for resource, whole in most.items()}
    return Limit(f"{len(usable)} {'node' if len(usable) == 1 else 'nodes'}", most, free, largest=largest)


def room_of(limits: Sequence[Limit], needs: Needs, gpu_resource: str) -> Room:
    """The least of all that limits; a run starts at once where all it asks for is known to be free and nobody waits before it."""
    keys = {"gpus": gpu_resource, "cpus": CPU, "memory_gib": MEMORY}
    largest = [limit.largest for limit in limits if limit.largest is not None]
    each_node = [{resource: needs.nodes * whole for resource, whole in each.items()} for each in largest]
    most, free = (
        {name: _least(key, allowed) for name, key in keys.items()}
        for allowed in ([*(limit.most for limit in limits), *each_node], [limit.free for limit in limits])
    )
    asked = {name: getattr(needs, name) for name in keys}
    fits = all(not want or ((left := free[name]) is not None and want <= left) for name, want in asked.items())
    at_once = bool(limits) and fits and not any(limit.waiting for limit in limits)
    note = "; ".join(_said(limit, gpu_resource) for limit in limits if limit.most)
    return Room(
        **most, **{f"free_{name}": value for name, value in free.items()}, wait_seconds=0.0 if at_once else None, note=note
    )


def beyond(limits: Sequence[Limit], needs: Needs, gpu_resource: str) -> tuple[str, str] | None:
    """What of a run could never be there, and the most that could; None where nothing is known to be in the way."""
    asked = {gpu_resource: float(needs.gpus), CPU: needs.cpus, MEMORY: needs.memory_gib and needs.memory_gib * GIB}
    for limit in limits:
        for resource, want in asked.items():
            most = limit.most.get(resource, 0.0 if limit.largest is not None else None)
            if want and most is not None and want > most:
                return f"asks for {_amount(resource, want)}", f"{limit.name}: {_amount(resource, most)}"
            each = None if limit.largest is None else limit.largest.get(resource, 0.0)
            if want and each is not None and want / needs.nodes > each:
                said = f"asks for {_amount(resource, want / needs.nodes)} on each of {needs.nodes} nodes"
                return said, f"the largest of {limit.name}: {_amount(resource, each)}"
    return None


def gpus_of(pod: Answer, gpu_resource: str) -> float:
    asked = (table(container, "resources", "requests").get(gpu_resource) for container in items(pod, "spec", "containers"))
    return sum(amount(each) or 0.0 for each in asked)


def _usable(node: Answer, selector: Mapping[str, str], tolerated: Sequence[str]) -> bool:
    labels = table(node, "metadata", "labels")
    taints = (each for each in items(node, "spec", "taints") if text(each, "effect") in ("NoSchedule", "NoExecute"))
    open_to_us = all({text(each, "key"), f"{text(each, 'key')}={text(each, 'value')}"} & {*tolerated} for each in taints)
    can_start = condition(node, "Ready") and table(node, "spec").get("unschedulable") is not True
    return bool(can_start and open_to_us and all(labels.get(key) == value for key, value in selector.items()))


def _least(resource: str, allowed: Sequence[Mapping[str, float]]) -> float | None:
    """The least amount of a resource, memory in GiB; None where none names it."""
    least = min((amounts[resource] for amounts in allowed if resource in amounts), default=None)
    return least / GIB if least is not None and resource == MEMORY else least


def _said(limit: Limit, gpu_resource: str) -> str:
    shown = [_amount(key, limit.most[key]) for key in (gpu_resource, CPU, MEMORY) if key in limit.most]
    return f"{limit.name}: {', '.join(shown)}" if shown else limit.name


def _amount(resource: str, value: float) -> str:
    if resource == MEMORY:
        return f"{value / GIB:.4g} GiB"
    return f"{value:.6g} {'CPUs' if resource == CPU else 'GPUs'}"
