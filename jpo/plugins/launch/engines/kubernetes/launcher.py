"""KubernetesLauncher: a run is a Job whose name comes from its id, so that it is there once however often it is submitted.

The Job is made first and owns the rest, so that whoever deletes it leaves nothing. Its id for JPO is namespace/name@uid: a Job
that was made anew under the name is another one.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from jpo.errors import LaunchError
from jpo.files.reading import contents
from jpo.plugins.launch.credentials import config_of
from jpo.plugins.launch.engines import Surroundings
from jpo.plugins.launch.engines.kubernetes import manifest as objects
from jpo.plugins.launch.engines.kubernetes.answers import Answer, items, moment, place, table, text
from jpo.plugins.launch.engines.kubernetes.live import LivePod
from jpo.plugins.launch.engines.kubernetes.output import fetch_output
from jpo.plugins.launch.engines.kubernetes.pods import CONTAINER, resources
from jpo.plugins.launch.engines.kubernetes.quantities import amount
from jpo.plugins.launch.engines.kubernetes.room import CPU, MEMORY, ask_kueue, beyond, gpus_of, limits_of, room_of
from jpo.plugins.launch.engines.kubernetes.session import NOT_LOGGED_IN, UNREADABLE, Connected, Refused, Session
from jpo.plugins.launch.engines.kubernetes.settings import KubernetesTable
from jpo.plugins.launch.engines.kubernetes.status import finished, status_of
from jpo.plugins.launch.excerpt import engine_words
from jpo.plugins.launch.job import JobState, JobStatus, LaunchJob, Needs, Room
from jpo.plugins.launch.output_sync import OutputSync
from jpo.records import RunStatus

KEPT_SECONDS = 3600
"""How long a Job that is collected stays, for kube-state-metrics to show how it ended."""
GONE = (404, 409)
"""Statuses of an object that is not there any more, or whose name another one has."""
PAUSE_SECONDS = 10.0
"""Between two looks at what a run printed: the whole of it is read, up to the 10 MiB that a kubelet keeps."""


class KubernetesLauncher:
    """Launcher of Jobs on Kubernetes.

    `ledger`: where the output of a run that goes on is kept up to date, for who follows it and in case its pod is deleted; None:
    output comes home when the run is over.
    """

    name = "kubernetes"

    def __init__(self, session: Session, setup: KubernetesTable, ledger: Path | None = None) -> None:
        self.session, self._setup = session, setup
        self._output = OutputSync(ledger, PAUSE_SECONDS)

    def plan(self, job: LaunchJob, config: bytes = b"") -> dict[str, object]:
        """The objects that `submit` would make, as a List; no server is asked.

        The namespace is that of kubeconfig, and without one "default", as kubectl has it.
        """
        try:
            namespace = self.session.namespace
        except LaunchError:
            namespace = "default"
        return objects.manifest(job, self._setup, namespace=namespace, config=config)

    def room(self, needs: Needs) -> Room:
        return room_of([*limits_of(self.session, self._setup, needs, in_use=True)], needs, self._setup.gpu_resource)

    def refuse(self, job: LaunchJob) -> None:
        objects.refuse_unsayable(job, self._setup, config_of(job))
        known = limits_of(self.session, self._setup, job.needs)
        limits = [limit for limit in known if limit.largest is None or not self._setup.autoscaled]
        if found := beyond(limits, job.needs, self._setup.gpu_resource):
            asked, most = found
            raise LaunchError(f"run {job.run_id}", f"{asked}; {most}", "ask for at most that", code="JPO-E755")

    def submit(self, job: LaunchJob, folder: Path) -> str:
        wanted, *others = self._objects(job, folder)
        return self._completed(self._made(job, wanted), others)

    def _objects(self, job: LaunchJob, folder: Path) -> tuple[Answer, ...]:
        """The run's Job, and what goes with it."""
        config = b""
        if (file := folder / "config.ini").exists():
            config = contents(file, objects.LARGEST_CONFIG_BYTES + 1, partial(LaunchError, str(file), code="JPO-E763"))
        return items(objects.manifest(job, self._setup, namespace=self.session.namespace, config=config), "items")

    def _completed(self, made: Answer, others: Sequence[Answer]) -> str:
        try:
            for each in others:
                self._add(each, made)
        except Refused as error:
            if error.status not in NOT_LOGGED_IN:  # it may be running
                self._delete(made)  # without its config.ini it would wait for ever
            raise
        return _engine_id(made)

    def _made(self, job: LaunchJob, wanted: Answer) -> Answer:
        """The run's Job as it is on the cluster: made now, or before. An answer that nobody can read is settled by its name."""
        which, namespace = f"Job {objects.object_name(job.run_id)}", self.session.namespace
        try:
            return self.session.ask("BatchV1Api", "create_namespaced_job", namespace, wanted)
        except LaunchError as error:
            if isinstance(error, Refused) and error.status != 409:
                raise
            found = self.session.find("BatchV1Api", "read_namespaced_job", objects.object_name(job.run_id), namespace)
            if not found:
                raise
        remedy = "give the new run an id of its own"
        if not _is_of(found, job):
            raise LaunchError(which, "is there already, and is another run's", remedy, code="JPO-E750")
        if text(found, "metadata", "deletionTimestamp"):
            raise LaunchError(which, "is being deleted", remedy, code="JPO-E753")
        return found

    def find(self, job: LaunchJob, folder: Path) -> str | None:
        found = self.session.find("BatchV1Api", "read_namespaced_job", objects.object_name(job.run_id), self.session.namespace)
        if not _is_of(found, job) or text(found, "metadata", "deletionTimestamp"):
            return None
        return self._completed(
            found, self._objects(job, folder)[1:]
        )  # who made the Job may have been killed before it made these

    def _add(self, wanted: Answer, owner: Answer) -> None:
        """Make an object that goes with the Job; of an earlier Job of the name there may be one that is still to go."""
        kind = {"ConfigMap": "config_map", "Service": "service"}[text(wanted, "kind")]
        name, namespace = place(owner)
        reference = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": text(owner, "metadata", "uid")}
        body = {**wanted, "metadata": {**table(wanted, "metadata"), "ownerReferences": [reference]}}
        for _ in range(2):
            try:
                self.session.ask("CoreV1Api", f"create_namespaced_{kind}", namespace, body)
                return
            except LaunchError as error:
                found = self.session.find("CoreV1Api", f"read_namespaced_{kind}", name, namespace, absent=UNREADABLE)
                if _owns(owner, found):
                    return  # also where it may not be made any more: a quota of objects is looked at first
                taken = isinstance(error, Refused) and error.status == 409
                if not taken or not objects.MANAGED_BY.items() <= table(found, "metadata", "labels").items():
                    raise
                self.session.ask("CoreV1Api", f"delete_namespaced_{kind}", name, namespace)
        raise LaunchError(f"{text(wanted, 'kind')} {name}", "of an earlier run does not go", "try again", code="JPO-E754")

    def status(self, engine_id: str) -> JobStatus:
        namespace, name, uid = _parts(engine_id)
        job = self._job(namespace, name, uid)
        if not job:
            return self._gone(namespace, name, uid)
        pods = self._pods(job)
        status = status_of(job, pods, now=self.session.now, events=() if pods else self._events(job))
        if status.state is JobState.RUNNING:
            self._keep_up(job, pods)
        if status.state is JobState.WAITING and table(job, "spec").get("suspend") is True:
            return JobStatus(JobState.WAITING, reason=self._queued(job) or status.reason)
        return status

    def _job(self, namespace: str, name: str, uid: str) -> Answer:
        """The Job; empty where it is gone, another one has its name, or it is none of JPO's, whatever the ledger says."""
        found = self.session.find("BatchV1Api", "read_namespaced_job", name, namespace)
        ours = objects.MANAGED_BY.items() <= table(found, "metadata", "labels").items()
        return found if ours and text(found, "metadata", "uid") == uid else {}

    def _keep_up(self, job: Answer, pods: Sequence[Answer], *, at_once: bool = False) -> None:
        """Bring home what a run that goes on has printed so far."""
        run_id = text(job, "metadata", "annotations", objects.RUN_ID)
        self._output.bring(run_id, self.session.now, partial(fetch_output, self.session, pods), at_once=at_once)

    def _gone(self, namespace: str, name: str, uid: str) -> JobStatus:
        found = self.session.find("CoreV1Api", "read_namespaced_config_map", name, namespace)
        notes = table(found, "metadata", "annotations")
        if notes.get(objects.CANCELLED) == uid:
            at = moment(notes, objects.CANCELLED_AT)
            return JobStatus(JobState.ENDED, ended_as=RunStatus.STOPPED, reason="cancelled", ended_at=at)
        reason = f"namespace {namespace} has no Job {name} of this run (any more): was it deleted?"
        return JobStatus(JobState.UNKNOWN, reason=reason)

    def _pods(self, job: Answer) -> tuple[Answer, ...]:
        selector = f"{objects.RUN_ID}={text(job, 'metadata', 'labels', objects.RUN_ID)}"
        found = self.session.ask("CoreV1Api", "list_namespaced_pod", place(job)[1], label_selector=selector)
        return tuple(pod for pod in items(found, "items") if _owns(job, pod))

    def _events(self, job: Answer) -> tuple[Answer, ...]:
        """What the cluster says of a Job that has no pods: only events know of a quota that is exceeded."""
        selector = f"involvedObject.uid={text(job, 'metadata', 'uid')},type=Warning"
        found = self.session.find("CoreV1Api", "list_namespaced_event", place(job)[1], absent=(403,), field_selector=selector)
        return items(found, "items")

    def _queued(self, job: Answer) -> str:
        """Why Kueue lets a Job wait, in its words."""
        if not self._setup.queue:
            return ""
        found = ask_kueue(self.session, "list_namespaced_custom_object", place(job)[1], "workloads")
        said = [each for one in items(found, "items") if _owns(job, one) for each in items(one, "status", "conditions")]
        for kind in ("QuotaReserved", "Admitted", "Evicted"):
            for each in said:
                if text(each, "type") == kind and text(each, "message"):
                    return engine_words(f"queue {self._setup.queue}", text(each, "message"))
        return f"waits in queue {self._setup.queue}"

    def resize(self, engine_id: str, needs: Needs) -> None:
        """Give a run that goes on other CPUs and memory, in place (Kubernetes 1.33 and later).

        Raises LaunchError: JPO-E765, no pod of it runs, or it would be other GPUs; JPO-E753, the cluster refuses, in its words.
        """
        refuse = partial(LaunchError, f"run {engine_id}", code="JPO-E765")
        job = self._job(*_parts(engine_id))
        running = [pod for pod in self._pods(job) if text(pod, "status", "phase") == "Running"] if job else []
        if not running:
            raise refuse("has no pod that runs", "only what runs can be resized")
        gpus = self._setup.gpu_resource
        asked = resources(needs, gpus)
        if any(gpus_of(pod, gpus) != amount(asked.get(gpus, "0")) for pod in running):
            raise refuse("keeps its GPUs as long as it runs", "give the next run others")
        changed = {key: value for key, value in asked.items() if key in (CPU, MEMORY)}
        if not changed:
            raise refuse("has neither CPUs nor memory of its own to change", "name them in config.ini")
        body = {"spec": {"containers": [{"name": CONTAINER, "resources": {"requests": changed, "limits": changed}}]}}
        for pod in running:
            self.session.ask("CoreV1Api", "patch_namespaced_pod_resize", *place(pod), body)

    def live(self, engine_id: str) -> LivePod:
        """Its pod that runs. LaunchError JPO-E765: there is none, or there are several."""
        job = self._job(*_parts(engine_id))
        pods = self._pods(job) if job else ()
        if len(pods) != 1:
            remedy = "follow one as NAMESPACE/POD"
            raise LaunchError(f"run {engine_id}", f"has {len(pods)} pods", remedy, code="JPO-E765")
        return LivePod(self.session, "/".join(place(pods[0])[::-1]))

    def cancel(self, engine_id: str) -> None:
        job = self._job(*_parts(engine_id))
        if not job or finished(job) or text(job, "metadata", "deletionTimestamp"):
            return
        self._keep_up(job, self._pods(job), at_once=True)  # its pods go with it
        self._mark(job)
        self._delete(job)

    def _mark(self, job: Answer) -> None:
        """Let the run's ConfigMap outlive its Job, until it is collected, and say that the run was cancelled."""
        now = self.session.now
        at = "" if now is None else datetime.fromtimestamp(now, UTC).isoformat().replace("+00:00", "Z")
        notes = {objects.CANCELLED: text(job, "metadata", "uid"), objects.CANCELLED_AT: at}
        body = {"metadata": {"annotations": notes, "ownerReferences": None}}
        try:
            self.session.ask("CoreV1Api", "patch_namespaced_config_map", *place(job), body)
        except Refused as error:
            if error.status in NOT_LOGGED_IN:  # later it may be marked
                raise

    def _delete(self, job: Answer) -> None:
        body = {"propagationPolicy": "Foreground", "preconditions": {"uid": text(job, "metadata", "uid")}}
        self.session.find("BatchV1Api", "delete_namespaced_job", *place(job), absent=GONE, body=body)

    def collect(self, engine_id: str, folder: Path) -> None:
        namespace, name, uid = _parts(engine_id)
        job = self._job(namespace, name, uid)
        if not job:
            self._unmark(namespace, name, uid)
            return
        fetch_output(self.session, self._pods(job), folder)
        if finished(job):
            kept = {"spec": {"ttlSecondsAfterFinished": KEPT_SECONDS}}
            self.session.ask("BatchV1Api", "patch_namespaced_job", name, namespace, kept)
        else:  # it could not start, and must not do so later
            self._delete(job)

    def _unmark(self, namespace: str, name: str, uid: str) -> None:
        """Remove the last that is left of a cancelled run."""
        found = self.session.find("CoreV1Api", "read_namespaced_config_map", name, namespace, absent=GONE)
        if table(found, "metadata", "annotations").get(objects.CANCELLED) == uid:
            body = {"preconditions": {"uid": text(found, "metadata", "uid")}}
            try:
                self.session.find("CoreV1Api", "delete_namespaced_config_map", name, namespace, absent=GONE, body=body)
            except LaunchError:  # done all the same, nobody will say later how the run ended
                if self.session.find("CoreV1Api", "read_namespaced_config_map", name, namespace):
                    raise


def launcher(table: KubernetesTable, here: Surroundings) -> KubernetesLauncher:
    """As its table and the process that launches have it; nothing is asked yet."""
    session = Session(lambda: Connected(table.context, here.environ.get("KUBECONFIG")), time.sleep, table.namespace)
    return KubernetesLauncher(session, table, here.ledger)


def _is_of(found: Answer, job: LaunchJob) -> bool:
    notes = table(found, "metadata", "annotations")
    return (notes.get(objects.RUN_ID), notes.get(objects.JOB_DIGEST)) == (job.run_id, objects.digest(job))


def _owns(job: Answer, found: Answer) -> bool:
    """Whether an object belongs to this very Job."""
    return any(text(each, "uid") == text(job, "metadata", "uid") for each in items(found, "metadata", "ownerReferences"))


def _engine_id(job: Answer) -> str:
    namespace, name, uid = (text(job, "metadata", key) for key in ("namespace", "name", "uid"))
    return f"{namespace}/{name}@{uid}"


def _parts(engine_id: str) -> tuple[str, str, str]:
    """Namespace, name and uid of a Job; empty where an id is none of this launcher's."""
    path, _, uid = engine_id.partition("@")
    namespace, _, name = path.partition("/")
    return namespace, name, uid
