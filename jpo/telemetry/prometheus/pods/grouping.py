"""Which labelled pods are one run, when it began and ended, and how.

Pure functions over what kube_state.py read. The run id of the labels joins pods, else the job that owns them, else each is a run
of its own. A job of one name that is made anew every night is a run each time: its id says where and when it began.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from jpo.records import RunStatus
from jpo.telemetry.outcome import BYTES_PER_GIB
from jpo.telemetry.prometheus.pods.kube_state import PodLife
from jpo.telemetry.prometheus.pods.seen_pods import PodId

RETRY_SECONDS = 420.0
"""The pod of a job's next attempt is made within six minutes after one that failed (the limit of Kubernetes' back-off)."""
CLUSTER = "cluster"
"""The label by which clusters are usually told apart where one server, such as Thanos, has several."""
OUTSIDE = ("Evicted", "Preempting", "NodeLost", "NodeAffinity", "Shutdown", "Terminated", "UnexpectedAdmissionError")
"""Why a pod failed, if it was not its own fault."""


@dataclass(frozen=True, eq=False, slots=True)
class LabelledPod:
    """A labelled pod of which it is known whether it is over.

    Attributes:
        labels: all that its labels and annotations say, by their names in Prometheus.
        started_at: unix seconds at which its trainer began to work; None: not observed.
        ended_at: unix seconds; None: it goes on, or may.
        end_seen: kube-state-metrics reported how it ended; else it was only last seen at `ended_at`.
    """

    id: PodId
    life: PodLife
    labels: Mapping[str, str]
    run_id: str | None
    container: str | None
    started_at: float | None
    ended_at: float | None
    end_seen: bool = True

    @property
    def status(self) -> RunStatus | None:
        """How it ended; None where it was not seen."""
        if self.ended_at is None or not self.end_seen:
            return None
        reasons = self.life.reasons(self.container)
        if self.life.phases == {"Succeeded"} or reasons == {"Completed"}:
            return RunStatus.SUCCEEDED
        if "OOMKilled" in reasons:
            return RunStatus.OOM_KILLED
        if self.life.failed_for & {*OUTSIDE}:
            return RunStatus.STOPPED
        return RunStatus.FAILED if reasons or self.life.phases == {"Failed"} else None


@dataclass(frozen=True, eq=False, slots=True)
class PodRun:
    """A run of one or more labelled pods."""

    run_id: str
    pods: tuple[LabelledPod, ...]

    @property
    def started_at(self) -> float | None:
        """Unix seconds at which its first pod began to work; None where one of them is not known."""
        starts = [pod.started_at for pod in self.pods]
        return min((start for start in starts if start is not None), default=None) if None not in starts else None

    @property
    def ended_at(self) -> float | None:
        """Unix seconds of its last end; None while one of its pods goes on."""
        ends = [pod.ended_at for pod in self.pods]
        return max((end for end in ends if end is not None), default=None) if None not in ends else None

    @property
    def status(self) -> RunStatus | None:
        """How its last attempt ended: the worst of the pods that ran at the same time, as far as it is known of any."""
        ends = {pod.status for pod in self._last_attempt}
        order = (RunStatus.OOM_KILLED, RunStatus.FAILED, RunStatus.STOPPED, RunStatus.SUCCEEDED)
        return next((worst for worst in order if worst in ends), None)

    @property
    def _last_attempt(self) -> list[LabelledPod]:
        last_start = max(pod.started_at or 0.0 for pod in self.pods)
        return [pod for pod in self.pods if pod.ended_at is None or pod.ended_at > last_start]

    @property
    def contradictory(self) -> bool:
        """Whether several of its pods succeeded one after the other: then they are several runs under one id."""
        well = sorted(((pod.started_at or 0.0), pod.ended_at or 0.0) for pod in self.pods if pod.status is RunStatus.SUCCEEDED)
        return any(later[0] >= earlier[1] for earlier, later in pairwise(well))

    @property
    def requests(self) -> dict[str, str]:
        """What its containers asked for, as parameters: all GPUs; CPUs and memory of a run in one pod, since those of several may
        be meant per pod or in all."""
        together = self._last_attempt
        asked = [pod.life.requests.get(pod.container or "") for pod in together]
        if not asked or not all(asked):
            return {}
        said = {"gpus": f"{sum(_gpus(request or {}) for request in asked):g}"}
        if len(together) == 1 and asked[0]:
            if "cpu" in asked[0]:
                said["cpus"] = repr(asked[0]["cpu"])
            if "memory" in asked[0]:
                said["memory_gib"] = repr(asked[0]["memory"] / BYTES_PER_GIB)
        return said


def _gpus(request: Mapping[str, float]) -> float:
    """GPUs among the resources of a container: nvidia_com_gpu, gpu_intel_com_i915, slices as nvidia_com_mig_1g_5gb."""
    return sum(value for resource, value in request.items() if "gpu" in resource or "_mig_" in resource)


def trainer(life: PodLife, busy: Mapping[str, float], named: str | None) -> str | None:
    """The container that trains: the one that settings name, else the only one, the only one with GPUs, or the busiest.

    `busy` has CPU seconds by container, those of init containers among them.
    """
    if named:
        return named
    containers = life.containers or {*busy}
    with_gpus = [name for name, request in life.requests.items() if _gpus(request)]
    if len(with_gpus) == 1:
        return with_gpus[0]
    return max(sorted(containers), key=lambda name: busy.get(name, 0.0), default=None)


def runs_of(pods: Iterable[LabelledPod]) -> Iterator[PodRun]:
    """The runs that these pods are; pods of services are none."""
    by_key: dict[tuple[str, str, str], list[LabelledPod]] = defaultdict(list)
    for pod in pods:
        if not pod.life.serves:
            by_key[key_of(pod)].append(pod)
    for (kind, place, name), together in by_key.items():
        if kind == "run id":
            yield PodRun(name, tuple(together))
        else:
            for attempts in _executions(together):
                # A CronJob of several namespaces or clusters begins everywhere in the same second.
                begun = min((pod.started_at for pod in attempts if pod.started_at is not None), default=None)
                at = "" if begun is None else f"@{place}-{datetime.fromtimestamp(begun, UTC):%Y%m%dT%H%M%S}"
                yield PodRun(name + at, tuple(attempts))


def key_of(pod: LabelledPod) -> tuple[str, str, str]:
    """What pods of one run have in common; a job made anew has the same."""
    if pod.run_id:
        return "run id", "", pod.run_id
    place = "/".join(filter(None, (pod.labels.get(CLUSTER), pod.id.pod.namespace)))
    return "job" if pod.life.job else "pod", place, pod.life.job or pod.id.pod.name


def _executions(pods: Sequence[LabelledPod]) -> Iterator[list[LabelledPod]]:
    """Pods of one name by execution: those that ran at the same time, and the next attempt after a failed one."""
    current: list[LabelledPod] = []
    for pod in sorted(pods, key=lambda pod: pod.started_at or pod.life.created_at or 0.0):
        if current and not _belongs(pod, current):
            yield current
            current = []
        current.append(pod)
    if current:
        yield current


def _belongs(pod: LabelledPod, earlier: Sequence[LabelledPod]) -> bool:
    ends = [before.ended_at for before in earlier]
    end = max((end for end in ends if end is not None), default=0.0)
    if None in ends or (pod.started_at or 0.0) < end:
        return True
    made_at = pod.life.created_at or pod.started_at or 0.0
    return made_at - end <= RETRY_SECONDS and all(before.status is not RunStatus.SUCCEEDED for before in earlier)
