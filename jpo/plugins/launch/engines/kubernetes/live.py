"""A pod that goes on, for whoever lets its request follow what it does (`jpo phases follow`): cores and bytes of its trainer.

Requests follow and limits stay, so that nothing is killed by them. A pod whose requests are its limits must stay so, says
Kubernetes: its CPU follows with its limit, which slows it down at most, and its memory stays.
"""

from collections.abc import Mapping, Sequence
from math import inf

from jpo.errors import LaunchError
from jpo.plugins.launch.engines.kubernetes.answers import Answer, condition, items, moment, table, text
from jpo.plugins.launch.engines.kubernetes.pods import CONTAINER
from jpo.plugins.launch.engines.kubernetes.quantities import GIB, amount, cpu_quantity, memory_quantity
from jpo.plugins.launch.engines.kubernetes.session import Session

METRICS = ("metrics.k8s.io", "v1beta1")


class LivePod:
    """A pod by its namespace and name. LaunchError: JPO-E765, it does not run, or has several containers, none of them CONTAINER.

    Attributes:
        first: cores and bytes that it requested when it was found; infinite: none.
        least: below which its request cannot go.
        pod: namespace and name, by which a server of metrics knows it.
    """

    def __init__(self, session: Session, name: str) -> None:
        self.name, self._session = name, session
        namespace, _, pod = name.partition("/")
        self.pod, self._last, self._over = (namespace, pod), -inf, False
        found = self._found()
        names = [text(each, "name") for each in items(found, "spec", "containers")]
        self._container = CONTAINER if CONTAINER in names or not names else names[0]
        if text(found, "status", "phase") != "Running" or (len(names) > 1 and self._container != CONTAINER):
            finding = f"has {len(names)} containers" if found and len(names) > 1 else "names no running pod"
            raise LaunchError(name, finding, f"name one that runs, with one container or one named {CONTAINER}", code="JPO-E765")
        self._uid, resources = text(found, "metadata", "uid"), self._resources(found)
        asked, limits = table(resources, "requests"), table(resources, "limits")
        self._guaranteed = bool(limits) and all(asked.get(key, limits.get(key)) == limits.get(key) for key in ("cpu", "memory"))
        self.first = self.held()
        self.least = (0.0, self.first[1] if self._guaranteed else 0.0)

    def samples(self) -> Sequence[tuple[float, float, float]] | None:
        """What the cluster's metrics server measured since the last look: seconds, cores, bytes; None: the pod has ended."""
        found = self._found()
        if text(found, "status", "phase") != "Running" or text(found, "metadata", "uid") != self._uid:
            self._over = True
            return None
        namespace, name = self.pod
        answer = self._session.find(
            "CustomObjectsApi", "get_namespaced_custom_object", *METRICS, namespace, "pods", name, absent=(403, 404)
        )
        usage = next((each for each in items(answer, "containers") if text(each, "name") == self._container), {})
        cores, size = (amount(table(usage, "usage").get(key)) for key in ("cpu", "memory"))
        at = moment(answer, "timestamp")
        if at is None or cores is None or size is None or at == self._last:
            return ()
        self._last = at
        return ((at, cores, size),)

    def held(self) -> tuple[float, float]:
        asked = table(self._resources(self._found()), "requests")
        cores, size = (amount(asked.get(key)) for key in ("cpu", "memory"))
        return inf if cores is None else cores, inf if size is None else size

    def give(self, request: tuple[float, float]) -> None:
        """Resize it in place. LaunchError: JPO-E753, the cluster refuses, in its words; JPO-E765, the node has no room for it.
        Nothing happens where `samples` said that it has ended."""
        if self._over:
            return
        wanted: Mapping[str, str] = {"cpu": cpu_quantity(request[0]), "memory": memory_quantity(request[1] / GIB)}
        changed = {"requests": {"cpu": wanted["cpu"]}, "limits": {"cpu": wanted["cpu"]}}
        resources = changed if self._guaranteed else {"requests": wanted}
        body = {"spec": {"containers": [{"name": self._container, "resources": resources}]}}
        namespace, name = self.pod
        answer = self._session.find("CoreV1Api", "patch_namespaced_pod_resize", name, namespace, body)
        pending = condition(answer, "PodResizePending")
        if text(pending, "reason") == "Infeasible":
            raise LaunchError(self.name, f"cannot be resized: {text(pending, 'message'):.200}", "ask for less", code="JPO-E765")

    def _found(self) -> Answer:
        return self._session.find("CoreV1Api", "read_namespaced_pod", self.pod[1], self.pod[0])

    def _resources(self, pod: Answer) -> Answer:
        mine = (each for each in items(pod, "spec", "containers") if text(each, "name") == self._container)
        return table(next(mine, {}), "resources")
