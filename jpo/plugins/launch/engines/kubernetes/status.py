"""How a run goes, from its Job and pods as the API server has them; times are the cluster's own.

Sources: Kubernetes' documentation of Jobs (conditions, pod failures, disruptions), k8s.io/api core/v1 (reasons).
"""

from collections.abc import Sequence

from jpo.plugins.launch.engines.kubernetes.answers import Answer, at, condition, items, moment, table, text, whole_number
from jpo.plugins.launch.engines.kubernetes.pods import CONTAINER
from jpo.plugins.launch.excerpt import engine_words
from jpo.plugins.launch.exits import in_words
from jpo.plugins.launch.job import JobState, JobStatus
from jpo.records import RunStatus
from jpo.telemetry.prometheus.pods.grouping import OUTSIDE

IMAGE_TIMEOUT_SECONDS = 180.0
"""How long an image or a volume may fail to come: registries restart, and secrets are made a moment later."""
AT_ONCE = {"InvalidImageName", "ErrImageNeverPull"}
"""What no waiting mends."""
BLOCKING = AT_ONCE | {"ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"}
BLOCKING |= {"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CreatePodSandboxError"}
FROM_OUTSIDE = {*OUTSIDE, "NodeShutdown"}
"""Reasons of a pod's failure that are none of the run's own."""
OWN_FAULT = "ephemeral"
"""In the message of an eviction: the run filled the node's disk beyond its limit."""
NO_NEWS = "Error"
"""Reason of a container that ended with an exit code other than 0."""
INDEX = "batch.kubernetes.io/job-completion-index"


def status_of(job: Answer, pods: Sequence[Answer], *, now: float | None, events: Sequence[Answer] = ()) -> JobStatus:
    """The state of a run whose Job exists, with the Job's pods, or its events where it has none.

    Without `now`, unix seconds of the server, how long something lasts is not known, and nothing is given up.
    """
    pods = sorted(pods, key=_index)
    if complete := condition(job, "Complete"):
        return _ended(pods, RunStatus.SUCCEEDED, "", moment(complete, "lastTransitionTime"), job)
    if failed := condition(job, "Failed"):
        ended_as, reason = _how(pods, failed)
        return _ended(pods, ended_as, reason, moment(failed, "lastTransitionTime"), job)
    if text(job, "metadata", "deletionTimestamp"):
        state = JobState.RUNNING if any(map(_runs, pods)) else JobState.WAITING
        return JobStatus(state, reason="is being deleted", place=_place(pods), started_at=_started(pods))
    if at(job, "spec", "suspend") is True:
        return JobStatus(JobState.WAITING, reason=engine_words(text(condition(job, "Suspended"), "message") or "suspended"))
    if blocked := _blocked(job, pods, events, now):
        return JobStatus(JobState.ENDED, ended_as=RunStatus.FAILED, reason=blocked, place=_place(pods), ended_at=now)
    if any(_runs(pod) or text(pod, "status", "phase") in ("Succeeded", "Failed") for pod in pods):
        return JobStatus(JobState.RUNNING, reason=_remarks(pods), place=_place(pods), started_at=_started(pods))
    return JobStatus(JobState.WAITING, reason=_waits(pods, events), place=_place(pods))


def finished(job: Answer) -> bool:
    """Whether a Job will start nothing any more, by its own word."""
    return bool(condition(job, "Complete") or condition(job, "Failed"))


def _ended(pods: Sequence[Answer], ended_as: RunStatus, reason: str, at_latest: float | None, job: Answer) -> JobStatus:
    ends = [end for pod in pods if (end := moment(_container(pod), "state", "terminated", "finishedAt")) is not None]
    started, ended = _started(pods), max(ends, default=at_latest)
    if started is None and (pods or ended_as is RunStatus.SUCCEEDED):
        started = moment(job, "status", "startTime")
    if started is not None and ended is not None:
        ended = max(started, ended)
    code = 0 if ended_as is RunStatus.SUCCEEDED else _exit_code(pods)
    return JobStatus(JobState.ENDED, code, ended_as, reason, _place(pods), started, ended)


def _how(pods: Sequence[Answer], failed: Answer) -> tuple[RunStatus, str]:
    """How a failed Job ended: by the pod that failed first, since the others fail with it."""
    said = engine_words(text(failed, "reason"), text(failed, "message"))
    if text(failed, "reason") == "DeadlineExceeded":
        return RunStatus.STOPPED, said
    broken = _broken(pods)
    if not broken:
        return RunStatus.STOPPED, engine_words("its pod was deleted, or its node was lost", said)
    killed = next((pod for pod in broken if text(_terminated(pod), "reason") == "OOMKilled"), None)
    if killed is not None:
        limit = text(_container(killed, "spec", "containers"), "resources", "limits", "memory")
        return RunStatus.OOM_KILLED, engine_words("OOMKilled", f"beyond its limit of {limit}" if limit else "")
    first = broken[0]
    disruption, reason = condition(first, "DisruptionTarget"), text(first, "status", "reason")
    said_of_pod = engine_words(reason, text(first, "status", "message"))
    if reason == "DeadlineExceeded":
        return RunStatus.STOPPED, said_of_pod
    if disruption or reason in FROM_OUTSIDE:
        fault = reason == "Evicted" and OWN_FAULT in text(first, "status", "message")
        words = said_of_pod or engine_words(text(disruption, "reason"), text(disruption, "message"))
        return RunStatus.FAILED if fault else RunStatus.STOPPED, words
    if text(first, "metadata", "deletionTimestamp"):
        return RunStatus.STOPPED, "its pod was deleted"
    end = _terminated(first)
    code, why = whole_number(end, "exitCode"), text(end, "reason")
    return RunStatus.FAILED, engine_words(said_of_pod, "" if why == NO_NEWS else why, said if code is None else in_words(code))


def _blocked(job: Answer, pods: Sequence[Answer], events: Sequence[Answer], now: float | None) -> str:
    """Why a run will not start, in the cluster's words; empty where it may."""
    for pod in pods:
        waiting = table(_container(pod), "state", "waiting")
        reason = text(waiting, "reason")
        since = moment(condition(pod, "PodScheduled"), "lastTransitionTime") or moment(pod, "metadata", "creationTimestamp")
        if reason in BLOCKING and (reason in AT_ONCE or _lasts(since, now)):
            remedy = "name another one with [launch.kubernetes] user" if "runAsNonRoot" in text(waiting, "message") else ""
            return engine_words(reason, text(waiting, "message"), remedy)
    denied = [
        event for event in events if text(event, "reason") == "FailedCreate" and "exceeded quota" not in text(event, "message")
    ]
    first = min((at for event in denied if (at := _seen(event)) is not None), default=None)
    counts = ("active", "ready", "terminating", "succeeded", "failed")  # of pods that may have gone since it was asked for them
    had_pods = any(whole_number(table(job, "status"), name) for name in counts)
    return engine_words(text(denied[-1], "message")) if denied and not (pods or had_pods) and _lasts(first, now) else ""


def _lasts(since: float | None, now: float | None) -> bool:
    return since is not None and now is not None and now - since >= IMAGE_TIMEOUT_SECONDS


def _waits(pods: Sequence[Answer], events: Sequence[Answer]) -> str:
    for pod in pods:
        for name in ("PodScheduled", "PodReadyToStartContainers"):
            held = condition(pod, name, "False")
            if text(held, "message"):
                return engine_words(text(held, "reason"), text(held, "message"))
        if reason := text(_container(pod), "state", "waiting", "reason"):
            return engine_words(reason, text(_container(pod), "state", "waiting", "message"))
    return engine_words(text(events[-1], "message")) if events and not pods else ""


def _remarks(pods: Sequence[Answer]) -> str:
    """What the cluster says of pods that run: a node that is silent, a resize that waits."""
    for pod in pods:
        if text(pod, "status", "reason"):
            return engine_words(text(pod, "status", "reason"), text(pod, "status", "message"))
        pending = condition(pod, "PodResizePending") or condition(pod, "PodResizeInProgress")
        if pending:
            return engine_words(text(pending, "type"), text(pending, "reason"), text(pending, "message"))
    return ""


def _container(pod: Answer, *path: str) -> Answer:
    """The status of the run's container, or what stands of it elsewhere in its pod."""
    return next((c for c in items(pod, *(path or ("status", "containerStatuses"))) if text(c, "name") == CONTAINER), {})


def _terminated(pod: Answer) -> Answer:
    return table(_container(pod), "state", "terminated") or table(_container(pod), "lastState", "terminated")


def _runs(pod: Answer) -> bool:
    return bool(table(_container(pod), "state", "running"))


def _broken(pods: Sequence[Answer]) -> list[Answer]:
    """The pods that failed, the first one first."""
    failed = (p for p in pods if text(p, "status", "phase") == "Failed" or (whole_number(_terminated(p), "exitCode") or 0) != 0)
    return sorted(failed, key=lambda pod: (moment(_terminated(pod), "finishedAt") or float("inf"), _index(pod)))


def _exit_code(pods: Sequence[Answer]) -> int | None:
    """Of the pod that failed first; None where a signal ended it, as the kernel's after OOMKilled."""
    broken = _broken(pods)
    end = _terminated(broken[0]) if broken else {}
    signalled = text(end, "reason") == "OOMKilled" or at(end, "signal")
    return None if signalled else whole_number(end, "exitCode")


def _started(pods: Sequence[Answer]) -> float | None:
    states = [table(_container(pod), "state") for pod in pods]
    starts = [moment(state, kind, "startedAt") for state in states for kind in ("running", "terminated")]
    return min(filter(None, starts), default=None)


def _place(pods: Sequence[Answer]) -> str:
    return ", ".join(dict.fromkeys(node for pod in pods if (node := text(pod, "spec", "nodeName"))))


def _index(pod: Answer) -> int:
    said = text(pod, "metadata", "annotations", INDEX)
    return int(said) if said.isascii() and said.isdigit() else 0


def _seen(event: Answer) -> float | None:
    return moment(event, "firstTimestamp") or moment(event, "eventTime") or moment(event, "metadata", "creationTimestamp")
