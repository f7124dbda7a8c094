"""Training runs on a cluster as cAdvisor, kube-state-metrics and GPU exporters show them, made here, in both kinds of server."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from jpo.http.endpoint import Endpoint
from jpo.records import Finished, Identity
from jpo.telemetry.prometheus.names import Names
from jpo.telemetry.prometheus.runs import finished_runs

SINCE = 1_700_000_000.0
"""Runs lie in the twelve hours after it, but for those of the workload "months"."""
UNTIL = SINCE + 12 * 3600
DAY = 86400.0
STEP = 15.0
GIB = 2.0**30
SENTINEL = 9223372036854775794.0


@dataclass(frozen=True)
class Truth:
    """A run as it really was; every workload (model) is one way to see it."""

    run_id: str
    start: float
    """Seconds after SINCE."""
    model: str = "exported"
    seconds: float = 1200.0
    gpus: int = 1
    cores: float = 2.0
    """Busy cores; twice as many in the last fifth."""
    tells: bool = True
    """Whether the job exports start, end and status itself."""
    phase: str | None = "Succeeded"
    """The pod's last phase; None when it was deleted at once."""
    oom: bool = False
    nan: bool = False
    restarted: bool = False
    gap: bool = False
    doubled: bool = False
    """A pair of highly available Prometheus servers wrote everything twice."""
    sentinel: bool = False
    """The GPU does not know its memory and energy."""
    epochs_done: int = 4
    pod: str = ""
    pod_starts_early: float = 0.0
    gpu_offset: int = 0
    ends: bool = True

    @property
    def end(self) -> float:
        return self.start + self.seconds

    @property
    def name(self) -> str:
        return self.pod or f"train-{self.model}-{self.run_id}"


RUNS = (
    Truth("plain", 600),
    Truth("four-gpus", 2400, gpus=4, cores=3.0, seconds=1800),
    Truth("untold", 4800, tells=False),
    Truth("oom", 6600, tells=False, phase="Failed", oom=True, epochs_done=1),
    Truth("failed", 8400, tells=False, phase="Failed", epochs_done=1),
    Truth("diverged", 10200, tells=False, phase="Failed", nan=True),
    Truth("restarted", 12000, seconds=1800, restarted=True),
    Truth("gap", 14400, seconds=2400, gap=True),
    Truth("concurrent-1", 17400),
    Truth("concurrent-2", 18000, cores=1.0),
    Truth("vanished", 19800, tells=False, phase=None),
    Truth("doubled", 21600, doubled=True, gpus=2),
    Truth("sentinel", 23400, sentinel=True),
    Truth("sliced-1", 25200, gpu_offset=40),
    Truth("sliced-2", 25200, gpu_offset=40),
    Truth("cpu-only", 27000, gpus=0),
    Truth("same-pod-1", 28800, pod="notebook", cores=1.0),
    Truth("same-pod-2", 30600, pod="notebook", pod_starts_early=1800.0),
    Truth("going", 12 * 3600 - 900, ends=False, tells=False, phase=None),
    Truth("plain", 600, model="honoured"),
    Truth("two", 2400, model="honoured", gpus=2),
    Truth("plain", 600, model="amd", gpus=2),
    Truth("plain", 600, model="renamed", gpus=2),
    Truth("told", 600, model="pushed", gpus=0),
    Truth("untold", 2400, model="pushed", gpus=0, tells=False),
    Truth("untold", 6000, model="pushed-too", gpus=0, tells=False),
    Truth("still", 4200, model="unpushed", gpus=0, tells=False),
    Truth("untold", 600, model="unlabelled", gpus=0, tells=False),
    Truth("first", 5 * DAY, model="months"),
    Truth("border", 25 * DAY - 600, model="months", tells=False),
    Truth("last", 70 * DAY, model="months"),
)
PUSHED = ("pushed", "pushed-too", "unpushed")
RENAMED = Names.of(
    {
        "jpo_samples_total": "train_samples",
        "container_memory_bytes": "k8s_container_mem_ws",
        "gpu_utilisation_ratio": "accelerator_busy",
        "gpu_energy_joules_total": "accelerator_joules",
        "gpu_memory_bytes": "accelerator_memory",
    },
    {"pod": "k8s_pod", "namespace": "k8s_ns", "container": "k8s_container", "run_id": "run", "learning_rate": "lr"},
)


@pytest.fixture(scope="session")
def cluster(serve) -> str:
    """Address of a server that holds RUNS."""
    return serve("".join(line for run in RUNS for line in _lines(run)))


@pytest.fixture(scope="session")
def reading(cluster) -> Callable[..., Finished]:
    """`look("exported", until=3.5) -> Finished`: hours count from the beginning of the history."""

    def reading(model, *, names=None, since=0.0, until=12.0, watermark=None):
        begin = SINCE + since * 3600
        mark = None if watermark is None else SINCE + watermark * 3600
        names = names or (RENAMED if model == "renamed" else Names())
        source, identity = Endpoint(cluster), Identity("digits", model, "pytorch")
        return finished_runs(source, identity, since=begin, until=SINCE + until * 3600, watermark=mark, names=names)

    return reading


@pytest.fixture(scope="session")
def truths() -> Callable[[str], dict[str, Truth]]:
    return lambda model: {run.run_id: run for run in RUNS if run.model == model}


Line = tuple[str, dict[str, str], list[tuple[float, float]]]


def _lines(run: Truth) -> Iterator[str]:
    for name, labels, points in [*_of_job(run), *_of_containers(run), *_of_pod(run), *_of_gpus(run)]:
        labels, name = _as_named(run, labels), _metric(run, name)
        for replica in ("a", "b") if run.doubled else ("",):
            shown = ",".join(f'{k}="{v}"' for k, v in {**labels, "replica": replica}.items() if v)
            yield from (f"{name}{{{shown}}} {value!r} {SINCE + time:.3f}\n" for time, value in points)


def _as_named(run: Truth, labels: dict[str, str]) -> dict[str, str]:
    renamed = RENAMED.labels if run.model == "renamed" else {}
    return {renamed.get(name, name): value for name, value in labels.items()}


def _metric(run: Truth, name: str) -> str:
    other = {"jpo_samples_total": "train_samples", "container_memory_working_set_bytes": "k8s_container_mem_ws"}
    return other.get(name, name) if run.model == "renamed" else name


def _times(run: Truth, begin: float = 0.0, end: float = 1.0) -> list[float]:
    """Scrapes in a part of the run, as seconds after its start; none in the gap."""
    last = run.seconds if run.ends else UNTIL - SINCE - run.start
    every = [i * STEP for i in range(int(last / STEP) + 1) if begin * run.seconds <= i * STEP]
    kept = [t for t in every if t <= end * run.seconds or (end == 1.0 and not run.ends)]
    return [t for t in kept if not (run.gap and 0.4 < t / run.seconds < 0.7)]


def _busy_seconds(run: Truth, elapsed: float) -> float:
    return run.cores * (elapsed + max(0.0, elapsed - 0.8 * run.seconds))


def _memory(run: Truth, elapsed: float) -> float:
    return GIB * (1.0 if elapsed < run.seconds / 2 else 2.0 if elapsed < 0.9 * run.seconds else 3.0)


def _of_job(run: Truth) -> Iterator[Line]:
    pushed, job = run.model in PUSHED, "too" if run.model == "pushed-too" else "train"
    key = {"run_id": run.run_id, "dataset": "digits", "model": run.model, "framework": "pytorch", "job": job}
    where = {} if pushed else {"instance": f"{run.name}:8000", "namespace": "ml", "pod": run.name, "container": "trainer"}
    if run.model == "unlabelled":
        where = {"instance": "10.0.0.1:8000"}
    if run.model == "honoured":
        del where["container"]
    times = _times(run)
    after = [t for t in _lingering(run) if pushed]

    def line(name: str, value: Callable[[float], float], seen: list[float] | None = None, **labels: str) -> Line:
        shown = times if seen is None else seen
        held = [(run.start + t, value(run.seconds)) for t in after] if shown[-1:] == times[-1:] else []
        return name, {**key, **where, **labels}, [(run.start + t, value(t)) for t in shown] + held

    again = 0.5 * run.seconds if run.restarted else 0.0
    config = {"batch_size": "64", "learning_rate": "0.01", "epochs": "4"} | ({} if run.model == "honoured" else {"cpus": "8"})
    yield line("jpo_run_info", lambda t: 1.0, **config)
    yield line("jpo_samples_total", lambda t: 100.0 * (t - again if t >= again else t))
    yield line("jpo_epoch", lambda t: float(math.floor(run.epochs_done * t / run.seconds)))
    yield line("jpo_train_loss", lambda t: math.nan if run.nan and t > 0.6 * run.seconds else 1.0 - 0.5 * t / run.seconds)
    yield line("jpo_val_loss", lambda t: math.nan if run.nan and t > 0.6 * run.seconds else 0.25, [t for t in times if t > 300])
    if pushed or run.model == "unlabelled":
        yield line("jpo_cpu_seconds_total", lambda t: _busy_seconds(run, t))
        yield line("jpo_memory_bytes", lambda t: _memory(run, t))
    if run.model in ("pushed", "pushed-too"):
        yield (
            "push_time_seconds",
            {"run_id": run.run_id, "job": job},
            [(run.start + t, SINCE + run.start + min(t, run.seconds)) for t in times + after],
        )
    if run.tells:
        yield line("jpo_run_start_time_seconds", lambda t: SINCE + run.start + (again if t >= again else 0.0))
        yield line("jpo_run_end_time_seconds", lambda t: SINCE + run.end, times[-1:])
        yield line("jpo_run_status", lambda t: 1.0, times[-1:], status="succeeded")
        if run.restarted:
            yield line("jpo_run_status", lambda t: 1.0, [t for t in times if t < again][-1:], status="failed")


def _lingering(run: Truth) -> list[float]:
    return [run.seconds + i * STEP for i in range(1, int((UNTIL - SINCE - run.end) / STEP) + 1)]


def _of_containers(run: Truth) -> Iterator[Line]:
    """The trainer (a second container id after a restart), a sidecar, the pause container, and the pod as a whole."""
    if run.model in (*PUSHED, "unlabelled"):
        return
    place = {"namespace": "ml", "pod": run.name, "job": "kubelet"}
    parts = [(0.0, 0.499), (0.5, 1.0)] if run.restarted else [(0.0, 1.0)]
    early = run.pod_starts_early * 1.0
    for n, (begin, end) in enumerate(parts):
        labels = {**place, "container": "trainer", "id": f"/pods/{run.name}/{n}"}
        before = _busy_seconds(run, begin * run.seconds)
        points = [(run.start + t, early + _busy_seconds(run, t) - before) for t in _times(run, begin, end)]
        yield "container_cpu_usage_seconds_total", {**labels, "cpu": "total"}, points
        yield "container_memory_working_set_bytes", labels, [(run.start + t, _memory(run, t)) for t in _times(run, begin, end)]
        begun = SINCE + run.start + begin * run.seconds - early
        yield "container_start_time_seconds", labels, [(run.start + t, begun) for t in _times(run, begin, end)]
    for container, share in (("log-shipper", 0.1), ("POD", 0.0), ("", 1.1)):
        labels = {**place, "container": container, "id": f"/pods/{run.name}/{container}"}
        yield (
            "container_cpu_usage_seconds_total",
            {**labels, "cpu": "total"},
            [(run.start + t, share * _busy_seconds(run, t)) for t in _times(run)],
        )
        yield "container_memory_working_set_bytes", labels, [(run.start + t, 5 * GIB) for t in _times(run)]


def _of_pod(run: Truth) -> Iterator[Line]:
    """kube-state-metrics, 30 s apart and for ten minutes after the end, unless the pod is deleted at once."""
    if run.model in (*PUSHED, "unlabelled"):
        return
    place = {"namespace": "ml", "pod": run.name, "job": "kube-state-metrics"}
    during = [run.start + t for t in _times(run) if t % 30 == 0]
    after = [run.end + 30.0 * i + 20 for i in range(20)] if run.phase else []
    begun = SINCE + run.start - run.pod_starts_early
    yield "kube_pod_owner", {**place, "owner_kind": "Job", "owner_name": run.name}, [(t, 1.0) for t in during]
    yield "kube_pod_start_time", place, [(t, begun) for t in during + after]
    yield "kube_pod_completion_time", place, [(t, SINCE + run.end) for t in after]
    for phase in ("Running", "Succeeded", "Failed"):
        points = [(t, float(phase == "Running")) for t in during] + [(t, float(phase == run.phase)) for t in after]
        yield "kube_pod_status_phase", {**place, "phase": phase}, points
    reason = "OOMKilled" if run.oom else "Completed" if run.phase == "Succeeded" else "Error"
    yield (
        "kube_pod_container_status_terminated_reason",
        {**place, "container": "trainer", "reason": reason},
        [(t, 1.0) for t in after],
    )
    if run.restarted:  # between the two attempts
        labels = {**place, "container": "trainer", "reason": "OOMKilled"}
        yield "kube_pod_container_status_terminated_reason", labels, [(run.start + 0.5 * run.seconds, 1.0)]
    for resource, unit, value in (("cpu", "core", 5.0), ("memory", "byte", 8 * GIB)):
        labels = {**place, "container": "trainer", "resource": resource, "unit": unit}
        yield "kube_pod_container_resource_requests", labels, [(t, value) for t in during]


def _of_gpus(run: Truth) -> Iterator[Line]:
    """GPU n is busy to 0.8 - 0.1 n, holds 10 + n GiB and takes 300 W."""
    for n in range(run.gpus):
        times = _times(run)
        busy, held = [0.8 - 0.1 * n] * len(times), [(10.0 + n) * GIB] * len(times)
        joules = [5e6 + 300.0 * t for t in times]
        uuid = f"GPU-{run.gpu_offset or int(run.start)}-{n}"
        if run.sentinel:
            held, joules = [SENTINEL * 2**20] * len(times), [SENTINEL / 1000] * len(times)
        for name, labels, factor, values in _exporters(run, uuid, busy, held, joules):
            yield name, labels, [(run.start + t, value * factor) for t, value in zip(times, values, strict=True)]


def _exporters(run: Truth, uuid: str, busy, held, joules) -> Iterator[tuple[str, dict[str, str], float, list[float]]]:
    own = {"namespace": "ml", "pod": run.name, "container": "trainer"}
    if run.model == "amd":
        labels = {**own, "gpu_id": uuid, "hostname": "n1", "job": "amd"}
        named = ("gpu_gfx_activity", 100.0), ("gpu_used_vram", 2.0**-20), ("gpu_energy_consumed", 1e6)
    elif run.model == "renamed":
        labels = {**own, "gpu": uuid}
        named = ("accelerator_busy", 1.0), ("accelerator_memory", 1.0), ("accelerator_joules", 1.0)
    else:
        moved = {f"exported_{name}": value for name, value in own.items()}
        exporter = {"namespace": "gpu-operator", "pod": "dcgm-exporter-x7q", "container": "exporter"}
        labels = {"UUID": uuid, "Hostname": "n1", "job": "dcgm", **(own if run.model == "honoured" else {**moved, **exporter})}
        named = (
            ("DCGM_FI_DEV_GPU_UTIL", 100.0),
            ("DCGM_FI_DEV_FB_USED", 2.0**-20),
            ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 1e3),
        )
    if run.model == "renamed":  # an exporter of before, which nobody reads
        yield "DCGM_FI_DEV_GPU_UTIL", labels, 10.0, busy
    for (name, factor), values in zip(named, (busy, held, joules), strict=True):
        yield name, labels, factor, values
