"""Runs that have not just one pod each, from start to end: tried again, side by side, long-lived, named alike, or not theirs."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from jpo.http.endpoint import Endpoint
from jpo.records import Identity, RunStatus
from jpo.telemetry.prometheus.runs import finished_runs

SINCE = 1_700_000_000.0
HOUR, DAY = 3600.0, 86400.0
STEP = 15.0
GIB = 2.0**30
CORES, CORES_ASKED = 2.0, 4.0
CONFIG = {"batch_size": "64", "epochs": "4"}

Line = tuple[str, dict[str, str], list[tuple[float, float]]]


def about(value):
    return pytest.approx(value, rel=0.02)


def times(begin, seconds, step=STEP):
    return [begin + i * step for i in range(int(seconds / step) + 1)]


def job(model, run_id, pod, begin, seconds, *, loss=0.25, tells=True, status="succeeded", step=STEP, **config) -> Iterator[Line]:
    """What a process says of itself while it runs."""
    key = {"run_id": run_id, "dataset": "digits", "model": model, "framework": "pytorch", "job": "train", "instance": f"{pod}:80"}
    where = {**key, "namespace": "ml", "pod": pod, "container": "trainer"}
    seen = times(begin, seconds, step)
    yield "jpo_run_info", {**where, **CONFIG, **config}, [(t, 1.0) for t in seen]
    yield "jpo_samples_total", where, [(t, 100.0 * (t - begin)) for t in seen]
    yield "jpo_epoch", where, [(t, 4.0 * (t - begin) // seconds) for t in seen]
    yield "jpo_train_loss", where, [(t, loss) for t in seen]
    yield "jpo_val_loss", where, [(t, loss) for t in seen]
    if tells:
        yield "jpo_run_start_time_seconds", where, [(t, SINCE + begin) for t in seen]
        yield "jpo_run_end_time_seconds", where, [(seen[-1], SINCE + begin + seconds)]
        yield "jpo_run_status", {**where, "status": status}, [(seen[-1], 1.0)]


def container(pod, begin, seconds, *, name="trainer", cores=CORES, counted=0.0) -> Iterator[Line]:
    """cAdvisor of one container, which has used `counted` CPU seconds before."""
    where, seen = {"namespace": "ml", "pod": pod, "container": name, "id": f"/{pod}/{begin}"}, times(begin, seconds)
    yield "container_cpu_usage_seconds_total", where, [(t, counted + cores * (t - begin)) for t in seen]
    yield "container_memory_working_set_bytes", where, [(t, GIB) for t in seen]
    yield "container_start_time_seconds", where, [(t, SINCE + begin - counted / cores) for t in seen]


def pod(name, begin, seconds, *, phase="Succeeded", uid="1", owner=("Job", "")) -> Iterator[Line]:
    """kube-state-metrics of one pod, and for ten minutes after."""
    where = {"namespace": "ml", "pod": name, "uid": uid}
    during, after = times(begin, seconds), times(begin + seconds + 5, 600) if phase else []
    kind, named = owner
    yield "kube_pod_owner", {**where, "owner_kind": kind, "owner_name": named or name}, [(t, 1.0) for t in during]
    yield "kube_pod_start_time", where, [(t, SINCE + begin) for t in during + after]
    yield (
        "kube_pod_container_resource_requests",
        {**where, "container": "trainer", "resource": "cpu"},
        [(t, CORES_ASKED) for t in during],
    )
    if phase:
        yield "kube_pod_completion_time", where, [(t, SINCE + begin + seconds) for t in after]
        yield "kube_pod_status_phase", {**where, "phase": phase}, [(t, 1.0) for t in after]


def gpus(name, begin, seconds, count, **labels) -> Iterator[Line]:
    """DCGM: each GPU of a pod is busy to 0.5 and takes 300 W."""
    for n in range(count):
        where = {"namespace": "ml", "pod": name, "UUID": f"GPU-{name}-{n}", "Hostname": "n1", **labels}
        yield "DCGM_FI_DEV_GPU_UTIL", where, [(t, 50.0) for t in times(begin, seconds)]
        yield "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", where, [(t, 1e9 + 3e5 * (t - begin)) for t in times(begin, seconds)]


def whole(model, run_id, name, begin, seconds, **options) -> Iterator[Line]:
    """A run in a pod of its own, seen by all."""
    yield from job(model, run_id, name, begin, seconds, **options)
    yield from container(name, begin, seconds)
    yield from pod(name, begin, seconds)


def history() -> Iterator[Line]:
    # A Job's second pod: the first one failed, with a loss that was worse.
    yield from job("retried", "r", "try-1", 600, 600, loss=2.0, status="failed")
    yield from job("retried", "r", "try-2", 1500, 1200)
    for name, begin, seconds, phase in (("try-1", 600, 600, "Failed"), ("try-2", 1500, 1200, "Succeeded")):
        yield from container(name, begin, seconds)
        yield from pod(name, begin, seconds, phase=phase)
    # Four pods side by side that all report, scraped at different seconds.
    for rank in range(4):
        yield from whole("ranks", "r", f"rank-{rank}", 600 + 3.7 * rank, 1800, gpus="4", cpus="4")
        yield from gpus(f"rank-{rank}", 600 + 3.7 * rank, 1800, 1)
    # The same, but only the first reports.
    yield from whole("rank-0", "r", "first-0", 600, 1800, gpus="4", cpus="16")
    yield from gpus("first-0", 600, 1800, 1)
    # Without GPUs nothing but the pods' owner tells that there are others; a workflow's other steps are none of the run's.
    for model, owner in (("master", ("PyTorchJob", "train")), ("step", ("Workflow", "flow"))):
        yield from job(model, "r", f"{model}-0", 600, 1200)
        for n in range(3):
            yield from container(f"{model}-{n}", 600, 1200)
            yield from pod(f"{model}-{n}", 600, 1200, owner=owner)
    # A job elsewhere that pushes: the pod is the gateway's.
    yield from job("pushed", "r", "gateway", 600, 1200)
    yield from container("gateway", 0, 3 * HOUR, cores=0.01)
    yield (
        "pushgateway_build_info",
        {"namespace": "ml", "pod": "gateway", "container": "trainer"},
        [(t, 1.0) for t in times(0, HOUR)],
    )
    # A notebook without kube-state-metrics, ten hours old and busy before.
    yield from job("notebook", "r", "notebook", 600, 1200)
    yield from container("notebook", 600, 1200, counted=36_000 * CORES)
    # A pod that goes on for hours after its run.
    yield from job("lingering", "r", "lingering", 600, 1200)
    yield from container("lingering", 600, 3 * HOUR)
    yield from pod("lingering", 600, 3 * HOUR, phase=None)
    # A pod that was there for hours before, and whose run does not say when it began.
    yield from job("waiting", "r", "waiting", 2 * HOUR, 1200, tells=False)
    yield from pod("waiting", 600, 2 * HOUR + 600, phase=None)
    # One name for the pods of all runs, which do not say when they began and ended.
    for n in range(3):
        yield from job("named-alike", f"r{n}", "worker-0", 600 + n * 2400, 1200, tells=False)
        yield from container("worker-0", 600 + n * 2400, 1200)
        yield from pod("worker-0", 600 + n * 2400, 1200, uid=str(n))
    # Ten minutes until its image was there.
    yield from job("fetched", "r", "fetched", 1200, 1200)
    yield from container("fetched", 1200, 1200)
    yield from pod("fetched", 600, 1800)
    yield from gpus("fetched", 1200, 1200, 1)
    # A slice of a GPU.
    yield from whole("slice", "r", "slice", 600, 1200)
    yield from gpus("slice", 600, 1200, 1, GPU_I_ID="3", GPU_I_PROFILE="1g.10gb")
    # Recording rules, and nothing of the cluster: the run in two pods has two such series.
    for name, model in (("one", "recorded"), ("first", "recorded-twice"), ("second", "recorded-twice")):
        yield from job(model, "r", name, 600, 1200)
        where = {"namespace": "ml", "pod": name, "run_id": "r", "dataset": "digits", "model": model, "framework": "pytorch"}
        yield "jpo:cpu_cores:rate2m", where, [(t, CORES) for t in times(600, 1200)]
    # Twenty days, and a run from before the history that ends with it.
    yield from job("weeks", "r", "weeks", 600, 20 * DAY, step=120.0)
    yield from job("weeks", "older", "older", -DAY, 21 * DAY, step=120.0)


def text(name, labels, points):
    shown = ",".join(f'{k}="{v}"' for k, v in labels.items())
    return "".join(f"{name}{{{shown}}} {value!r} {SINCE + moment:.3f}\n" for moment, value in points)


@pytest.fixture(scope="session")
def pods(serve):
    return serve("".join(text(*line) for line in history()))


@pytest.fixture
def reading(pods):
    def reading(model, until=4 * HOUR, watermark=None):
        source, identity = Endpoint(pods), Identity("digits", model, "pytorch")
        mark = None if watermark is None else SINCE + watermark
        return finished_runs(source, identity, since=SINCE, until=SINCE + until, watermark=mark)

    return reading


def test_of_a_run_that_was_tried_again_the_last_word_counts(reading):
    (run,) = reading("retried").runs
    assert (run.status, run.outcome.val_loss, run.outcome.train_loss) == (RunStatus.SUCCEEDED, 0.25, 0.25)
    assert run.outcome.duration_seconds == about(2100)
    assert run.outcome.cpu_cores_mean == about(CORES * 1800 / 2100)
    assert run.outcome.cpu_utilisation == about(CORES * 1800 / 2100 / CORES_ASKED)


def test_pods_side_by_side_are_added_up(reading):
    found = reading("ranks")
    (run,) = found.runs
    assert run.outcome.cpu_cores_mean == about(4 * CORES)
    assert run.outcome.cpu_cores_p95 == about(4 * CORES)
    assert run.outcome.cpu_utilisation == about(CORES / CORES_ASKED)  # cpus = 4 is what each of them has
    assert (run.outcome.memory_mean_gib, run.outcome.memory_p95_gib) == (1, 1)
    assert (run.outcome.gpu_utilisation, run.outcome.energy_joules) == (about(0.5), about(4 * 300 * 1800))
    (course,) = (one for one in found.series if one.quantity == "cpu_cores")
    assert course.values == about((4 * CORES,) * len(course.values))


def test_what_one_of_several_pods_took_is_not_what_the_run_took(reading):
    found = reading("rank-0")
    (run,) = found.runs
    assert (run.outcome.energy_joules, run.outcome.cpu_cores_mean, run.outcome.cpu_cores_p95) == (None, None, None)
    assert run.outcome.cpu_utilisation is None
    assert (run.outcome.gpu_utilisation, run.outcome.memory_gib) == (about(0.5), 1)
    assert "cpu_cores" not in {one.quantity for one in found.series}


def test_pods_of_a_job_that_no_run_names_are_part_of_it(reading):
    found = reading("master")
    assert (found.runs[0].outcome.cpu_cores_mean, found.runs[0].outcome.cpu_utilisation) == (None, None)
    assert "cpu_cores" not in {one.quantity for one in found.series}
    assert reading("step").runs[0].outcome.cpu_cores_mean == about(CORES)


def test_a_percentile_of_one_pod_is_not_that_of_two(reading):
    assert reading("recorded").runs[0].outcome.cpu_cores_p95 == about(CORES)
    assert reading("recorded-twice").runs[0].outcome.cpu_cores_p95 is None


def test_a_gateways_use_is_nobodys(reading):
    found = reading("pushed")
    (run,) = found.runs
    assert (run.outcome.cpu_cores_mean, run.outcome.memory_gib, found.series) == (None, None, ())


@pytest.mark.parametrize("model", ["notebook", "lingering"])
def test_what_a_pod_did_before_and_after_its_run_is_left_out(reading, model):
    (run,) = reading(model, until=2.5 * HOUR).runs
    assert (run.outcome.duration_seconds, run.outcome.cpu_cores_mean) == (about(1200), about(CORES))


def test_a_pod_that_was_there_before_does_not_say_when_its_run_began(reading):
    (run,) = reading("waiting").runs
    assert (run.started_at, run.outcome.duration_seconds) == (about(SINCE + 2 * HOUR), about(1200))


def test_pods_of_one_name_do_not_mix_up_the_times_of_their_runs(reading):
    runs = reading("named-alike").runs
    assert [run.started_at - SINCE for run in runs] == [about(600), about(3000), about(5400)]
    assert [run.outcome.duration_seconds for run in runs] == [about(1200)] * 3
    assert [run.outcome.cpu_cores_mean for run in runs] == [about(CORES)] * 3


def test_the_last_pod_of_a_name_is_its_runs_alone(reading):
    (run,) = reading("named-alike", until=600 + 2400 + 1200 + 700, watermark=600 + 1200).runs
    assert (run.run_id, run.status, run.outcome.cpu_cores_mean) == ("r1", RunStatus.SUCCEEDED, about(CORES))


def test_a_pod_that_waited_for_its_image_did_nothing_else(reading):
    (run,) = reading("fetched").runs
    assert (run.outcome.duration_seconds, run.outcome.energy_joules) == (about(1200), about(300 * 1200))


def test_the_energy_of_a_slice_is_not_known(reading):
    (run,) = reading("slice").runs
    assert (run.outcome.energy_joules, run.outcome.gpu_utilisation) == (None, about(0.5))


def test_a_run_that_began_long_before_the_last_look_is_whole(reading):
    found = reading("weeks", until=21 * DAY, watermark=19 * DAY)
    (run,) = found.runs
    assert [one.run_id for one in found.skipped] == ["older"]
    assert (run.outcome.duration_seconds, run.outcome.samples) == (about(20 * DAY), about(100 * 20 * DAY))


def test_a_clock_of_ours_that_is_ahead_does_not_end_a_run(serve):
    begin = time.time() - HOUR - SINCE
    url = serve("".join(text(*line) for line in job("skewed", "r", "skewed", begin, HOUR, tells=False)))
    source, identity, begun = Endpoint(url), Identity("digits", "skewed", "pytorch"), SINCE + begin
    found = finished_runs(source, identity, since=begun - HOUR, until=time.time() + HOUR, watermark=None)
    assert (found.runs, found.skipped, found.watermark) == ((), (), None)
