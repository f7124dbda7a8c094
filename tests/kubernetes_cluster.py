"""A cluster that behaves: an API server on loopback that stores objects, checks them, and plays what becomes of their pods.

It is not Kubernetes. What it does is what Kubernetes' documentation says of Jobs, pods, garbage collection and the API; objects
are checked against the schemas of Kubernetes' own OpenAPI (kubernetes-validate). Time is the caller's.
"""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import kubernetes_validate

VERSION = "1.37"
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
LABEL = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")
INDEX = "batch.kubernetes.io/job-completion-index"
KINDS = {"jobs": "Job", "configmaps": "ConfigMap", "services": "Service", "pods": "Pod"}
DISCOVERY = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "groups": [{"name": "batch", "versions": [{"groupVersion": "batch/v1", "version": "v1"}]}]},
    **{
        path: {
            "kind": "APIResourceList",
            "groupVersion": version,
            "resources": [{"name": name, "kind": KINDS[name], "namespaced": True, "verbs": ["create", "get"]} for name in names],
        }
        for path, version, names in (("/api/v1", "v1", ("configmaps", "services")), ("/apis/batch/v1", "batch/v1", ("jobs",)))
    },
}
"""What kubectl asks first: which kinds there are."""
PATH = re.compile(
    r"/(?:api/v1|apis/(?P<group>[^/]+)/v\w+)(?:/namespaces/(?P<ns>[^/]+))?/(?P<kind>\w+)(?:/(?P<name>[^/]+)(?:/(?P<sub>\w+))?)?"
)


@dataclass
class Play:
    """What becomes of a pod.

    Attributes:
        seconds: how long its container runs.
        waiting: reason and message of a container that cannot start.
        unschedulable: the scheduler's words while it waits for a node.
        ended: what its terminated state says besides times, e.g. {"reason": "OOMKilled", "exitCode": 137}.
        status: what its status says once it has ended, e.g. {"reason": "Evicted"}.
    """

    seconds: float = 1.0
    exit_code: int = 0
    output: str = ""
    waiting: tuple[str, str] | None = None
    unschedulable: str = ""
    ended: Mapping[str, Any] = field(default_factory=dict)
    status: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Fault:
    """What happens to the next requests of this method and path instead of an answer, `times` times.

    Attributes:
        status: of HTTP; 0: the connection is dropped.
        accepted: the request takes effect all the same.
        body: sent instead of an answer; with a larger Content-Length among the `fields` it is one that was cut.
    """

    method: str
    path: str
    status: int
    times: int = 1
    accepted: bool = False
    message: str = "trouble"
    fields: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class Cluster:
    """Objects and what becomes of them.

    Attributes:
        plays: what becomes of a pod, given its command.
        denied, granted, used: (verb, resource) that the caller may not, may (None: all others), and has asked for.
        read_only: path -> object that is there to be read: quotas, nodes, Kueue's.
        asked: "METHOD /path" of every request.
        tokens: those that are accepted; empty: any.
        started: run ids of the pods whose container began.
    """

    def __init__(self, clock: Callable[[], float], plays: Callable[[list[str]], Play]) -> None:
        self.clock, self.plays = clock, plays
        self.objects = dict[tuple[str, str, str], dict[str, Any]]()
        self.faults, self.denied = list[Fault](), set[tuple[str, str]]()
        self.granted: set[tuple[str, str]] | None = None
        self.used = set[tuple[str, str]]()
        self.read_only = dict[str, dict[str, Any]]()
        self.asked, self.tokens = list[str](), set[str]()
        self.started = list[str]()
        self.lock, self.numbers = threading.RLock(), count(1)
        self.url = ""

    # --- what the API does ---------------------------------------------------------------------------------------------------

    def answer(self, method: str, path: str, query: Mapping[str, list[str]], body: Any) -> tuple[int, Any]:
        self.advance()
        if path in DISCOVERY:
            return 200, DISCOVERY[path]
        found = PATH.fullmatch(path)
        if found is None:
            return problem(404, "the server could not find the requested resource")
        namespace, kind, name, sub = (found[part] or "" for part in ("ns", "kind", "name", "sub"))
        resource = f"{kind}/{sub}" if sub else kind
        verb = {"GET": "get" if name else "list", "POST": "create", "PATCH": "patch", "DELETE": "delete"}[method]
        self.used.add((verb, resource))
        if (verb, resource) in self.denied or (self.granted is not None and (verb, resource) not in self.granted):
            group = found["group"] or ""
            where = f' in the namespace "{namespace}"' if namespace else " at the cluster scope"
            user = "system:serviceaccount:ml:ci"
            said = f'User "{user}" cannot {verb} resource "{resource}" in API group "{group}"{where}'
            return problem(403, f"{resource}.{group} is forbidden: {said}")
        if path in self.read_only and method == "GET":
            return 200, self.read_only[path]
        if kind not in KINDS:
            return (200, {"items": []}) if method == "GET" and not name else problem(404, f'{kind} "{name}" not found')
        key = (kind, namespace, name)
        if method == "POST":
            return self.create(kind, namespace, body)
        if not name:
            return 200, {"kind": "List", "items": [o for o in self.of(kind, namespace) if selected(o, query)]}
        if key not in self.objects:
            return problem(404, f'{kind} "{name}" not found')
        if sub == "log":
            return self.log(self.objects[key])
        if method == "GET":
            return 200, self.objects[key]
        if method == "DELETE":
            return self.delete(key, body or {})
        return self.patch(key, body, sub)

    def create(self, kind: str, namespace: str, body: dict[str, Any]) -> tuple[int, Any]:
        try:
            kubernetes_validate.validate(body, VERSION, strict=True)
        except kubernetes_validate.ValidationError as error:
            return problem(422, f"{KINDS[kind]} is invalid: {error.message}")
        metadata = body["metadata"]
        name = metadata["name"]
        labelled = [metadata, body.get("spec", {}).get("template", {}).get("metadata", {})]
        bad = [value for each in labelled for value in each.get("labels", {}).values() if not LABEL.fullmatch(value)]
        if not NAME.fullmatch(name) or bad:
            return problem(422, f'{KINDS[kind]}.batch "{name}" is invalid: metadata: Invalid value: {[name, *bad]}')
        if (kind, namespace, name) in self.objects:
            return problem(409, f'{kind}.batch "{name}" already exists')
        owned = {"uid": f"00000000-0000-4000-8000-{next(self.numbers):012}", "namespace": namespace}
        made = {**body, "metadata": {**metadata, **owned, "creationTimestamp": written(self.clock())}, "status": {}}
        self.objects[kind, namespace, name] = made
        return 201, made

    def delete(self, key: tuple[str, str, str], body: dict[str, Any]) -> tuple[int, Any]:
        found = self.objects[key]
        wanted = body.get("preconditions", {}).get("uid", found["metadata"]["uid"])
        if wanted != found["metadata"]["uid"]:
            return problem(409, "the UID in the precondition does not match")
        if key[0] == "jobs" and body.get("propagationPolicy") == "Foreground":
            found["metadata"].setdefault("deletionTimestamp", written(self.clock()))
            return 200, found
        del self.objects[key]
        return 200, {"kind": "Status", "status": "Success"}

    def patch(self, key: tuple[str, str, str], body: dict[str, Any], sub: str) -> tuple[int, Any]:
        found = self.objects[key]
        if sub == "resize":
            asked = body["spec"]["containers"][0]["resources"]
            if "nvidia.com/gpu" in asked["requests"]:
                return problem(422, "Pod is invalid: spec: Forbidden: only cpu and memory resources are mutable")
            had = found["spec"]["containers"][0].get("resources", {})
            made = merged(had, asked)
            if (had.get("requests") == had.get("limits")) != (made.get("requests") == made.get("limits")):
                return problem(422, "Pod is invalid: spec: Invalid value: Pod QOS Class may not change as a result of resizing")
            found["spec"]["containers"][0]["resources"] = made
        else:
            self.objects[key] = found = merged(found, body)
        return 200, found

    def log(self, pod: dict[str, Any]) -> tuple[int, Any]:
        if not pod["status"].get("containerStatuses") or "waiting" in pod["status"]["containerStatuses"][0]["state"]:
            return problem(400, f'container "trainer" in pod "{pod["metadata"]["name"]}" is waiting to start')
        return 200, self.play(pod).output.encode()

    def of(self, kind: str, namespace: str = "") -> list[dict[str, Any]]:
        return [found for (k, ns, _), found in self.objects.items() if k == kind and namespace in ("", ns)]

    # --- what controllers and kubelets do --------------------------------------------------------------------------------------

    def advance(self) -> None:
        now = self.clock()
        for job in self.of("jobs"):
            self.reconcile(job, now)
        alive = {found["metadata"]["uid"] for found in self.objects.values()}
        for key, found in [*self.objects.items()]:
            if any(owner["uid"] not in alive for owner in found["metadata"].get("ownerReferences") or ()):
                del self.objects[key]

    def reconcile(self, job: dict[str, Any], now: float) -> None:
        metadata, spec, status = job["metadata"], job["spec"], job["status"]
        pods = [pod for pod in self.of("pods") if pod["metadata"]["ownerReferences"][0]["uid"] == metadata["uid"]]
        over = next((c for c in status.get("conditions", ()) if c["type"] in ("Complete", "Failed")), None)
        if "deletionTimestamp" in metadata:
            if now > read(metadata["deletionTimestamp"]) + 1:  # pods have ended
                del self.objects["jobs", metadata["namespace"], metadata["name"]]
        elif over:
            ttl = spec.get("ttlSecondsAfterFinished")
            if ttl is not None and now > read(over["lastTransitionTime"]) + ttl:
                del self.objects["jobs", metadata["namespace"], metadata["name"]]
        elif spec.get("suspend"):
            status["conditions"] = [{"type": "Suspended", "status": "True", "message": "Job suspended"}]
        elif "startTime" not in status:
            status.update(startTime=written(now), conditions=[])
            for index in range(spec.get("completions", 1)):
                self.new_pod(job, index)
        else:
            for pod in pods:
                self.kubelet(pod, now)
            self.judge(job, pods)

    def new_pod(self, job: dict[str, Any], index: int) -> None:
        metadata, template = job["metadata"], job["spec"]["template"]
        name = f"{metadata['name']}-{index}-{next(self.numbers):05}"
        owner = {"kind": "Job", "uid": metadata["uid"], "name": metadata["name"], "apiVersion": "batch/v1", "controller": True}
        own = {"name": name, "namespace": metadata["namespace"], "uid": f"pod-{next(self.numbers)}", "ownerReferences": [owner]}
        notes = {**template["metadata"].get("annotations", {}), INDEX: str(index)}
        made = {**template["metadata"], **own, "annotations": notes, "creationTimestamp": written(self.clock())}
        spec = json.loads(json.dumps(template["spec"]))
        self.objects["pods", metadata["namespace"], name] = {"metadata": made, "spec": spec, "status": {"phase": "Pending"}}

    def kubelet(self, pod: dict[str, Any], now: float) -> None:
        play, status = self.play(pod), pod["status"]
        if status["phase"] not in ("Pending", "Running"):
            return
        configs = [volume["configMap"]["name"] for volume in pod["spec"].get("volumes", ()) if "configMap" in volume]
        if "startTime" not in status and any(
            ("configmaps", pod["metadata"]["namespace"], name) not in self.objects for name in configs
        ):
            play = replace(play, waiting=play.waiting or ("ContainerCreating", ""))
        if play.unschedulable:
            held = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": play.unschedulable}
            status["conditions"] = [held]
            return
        pod["spec"]["nodeName"] = "node-7"
        status["conditions"] = [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": pod["metadata"]["creationTimestamp"]}
        ]
        if play.waiting:
            reason, message = play.waiting
            status["containerStatuses"] = [{"name": "trainer", "state": {"waiting": {"reason": reason, "message": message}}}]
            return
        if "startTime" not in status:
            self.started.append(pod["metadata"]["labels"]["jpo.dev/run-id"])
        began = status.setdefault("startTime", written(now))
        deadline = pod["spec"].get("activeDeadlineSeconds", float("inf"))
        end = read(began) + min(play.seconds, deadline)
        if now < end:
            status.update(phase="Running", containerStatuses=[{"name": "trainer", "state": {"running": {"startedAt": began}}}])
            return
        late = play.seconds > deadline
        code = 143 if late else play.exit_code
        state = {
            "exitCode": code,
            "reason": "Completed" if code == 0 else "Error",
            "startedAt": began,
            "finishedAt": written(end),
        }
        status["containerStatuses"] = [{"name": "trainer", "state": {"terminated": {**state, **play.ended}}}]
        failed = code != 0 or play.ended.get("exitCode") or play.status
        status.update(phase="Failed" if failed else "Succeeded", **play.status)
        if late:
            status.update(reason="DeadlineExceeded", message="Pod was active on the node longer than the specified deadline")

    def judge(self, job: dict[str, Any], pods: list[dict[str, Any]]) -> None:
        phases = [pod["status"]["phase"] for pod in pods]
        if "Failed" in phases or len(pods) < job["spec"].get("completions", 1):
            end = {"type": "Failed", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}
        elif phases and set(phases) == {"Succeeded"}:
            end = {"type": "Complete", "reason": "CompletionsReached", "message": "Reached expected number of succeeded pods"}
        else:
            return
        job["status"]["conditions"] = [{**end, "status": "True", "lastTransitionTime": written(self.clock())}]

    def play(self, pod: dict[str, Any]) -> Play:
        return self.plays(pod["spec"]["containers"][0]["command"])


def problem(status: int, message: str) -> tuple[int, Any]:
    return status, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": status}


def merged(old: Any, new: Any) -> Any:
    """RFC 7396."""
    if not isinstance(new, dict):
        return new
    base = old if isinstance(old, dict) else {}
    changed = {key: merged(base.get(key), value) for key, value in new.items() if value is not None}
    return {**{key: value for key, value in base.items() if key not in new}, **changed}


def selected(found: dict[str, Any], query: Mapping[str, list[str]]) -> bool:
    wanted = [each.split("=", 1) for each in ",".join(query.get("labelSelector", [])).split(",") if each]
    return all(found["metadata"].get("labels", {}).get(key) == value for key, value in wanted)


def written(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        cluster, url = self.server.cluster, urlsplit(self.path)
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        with cluster.lock:
            cluster.asked.append(f"{self.command} {url.path}")
            fault = next(
                (f for f in cluster.faults if f.times and f.method == self.command and re.fullmatch(f.path, url.path)), None
            )
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if cluster.tokens and token not in cluster.tokens:
                status, answer = problem(401, "Unauthorized")
            elif fault is None or fault.accepted:
                status, answer = cluster.answer(self.command, url.path, parse_qs(url.query), body)
            if fault is not None:
                fault.times -= 1
                if fault.status == 0:
                    self.close_connection = True
                    return
                status, answer = fault.status, fault.body or problem(fault.status, fault.message)[1]
                self.close_connection = bool(fault.body)
            told = answer if isinstance(answer, bytes) else {"kind": "List" if "items" in answer else "Object", **answer}
            content = told if isinstance(told, bytes) else json.dumps(told).encode()
        self.send_response_only(status)
        fields = {
            "Date": formatdate(cluster.clock(), usegmt=True),
            "Content-Length": str(len(content)),
            **(fault.fields if fault else {}),
        }
        fields |= {"Content-Type": "text/plain" if isinstance(answer, bytes) else "application/json"}
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_PATCH = do_DELETE = do_GET  # noqa: N815 - http.server's names

    def log_message(self, *_: object) -> None:
        """Quiet."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.cluster = cluster

    def handle_error(self, *_: object) -> None:
        """Clients that hang up are no news."""


@contextmanager
def serving(cluster: Cluster, certificate: Path | None = None) -> Iterator[str]:
    """Address of the cluster's API server, as long as the context; with a certificate and its key in one file, by TLS."""
    with Server(cluster) as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        cluster.url = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}"
        try:
            yield cluster.url
        finally:
            server.shutdown()
            thread.join()


def kubeconfig(file: Path, url: str, *, namespace: str = "ml", token: str = "secret-token") -> Path:  # noqa: S107
    """A kubeconfig of one context, "lab"."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": url}}],
        "users": [{"name": "ci", "user": {"token": token}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "ci", "namespace": namespace}}],
    }
    file.write_text(json.dumps(config))
    return file
