"""Runs of labelled pods, read from real servers."""

from __future__ import annotations

import pytest

from jpo.records import KUBERNETES, RunStatus
from jpo.telemetry.prometheus.names import Names

SINCE = 1_700_000_000.0


def by_pod(found):
    return {run.run_id.partition("@")[0]: run for run in found.runs}


@pytest.fixture(scope="module")
def alone(look):
    return by_pod(look("alone"))


def test_each_pod_is_a_run_and_ends_as_the_cluster_saw_it(alone):
    ends = {name: run.status for name, run in alone.items()}
    assert ends == {
        "nightly-1": RunStatus.SUCCEEDED,
        "oom": RunStatus.OOM_KILLED,
        "failed": RunStatus.FAILED,
        "evicted": RunStatus.STOPPED,
        "deleted": RunStatus.STOPPED,
        "restarted": RunStatus.SUCCEEDED,
        "twice-seen": RunStatus.SUCCEEDED,
        "waited": RunStatus.SUCCEEDED,
        "gap": RunStatus.SUCCEEDED,
    }
    assert {run.source for run in alone.values()} == {KUBERNETES}
    assert {name for name, run in alone.items() if run.fell_silent} == {"deleted"}, "it may have succeeded: nobody saw it"


def test_what_the_cluster_measured_is_within_two_percent(alone, truths):
    for name, run in alone.items():
        pod, outcome = truths.get(name, truths["plain"]), run.outcome
        assert run.started_at == pytest.approx(pod.start, abs=1), "neither the wait for a node nor fetching images is training"
        assert outcome.duration_seconds == pytest.approx(1800, rel=0.02), name
        assert outcome.cpu_cores_mean == pytest.approx(2.0, rel=0.02), name
        assert outcome.memory_gib == 2.0, name
        assert outcome.gpu_utilisation == pytest.approx(0.8), name
        assert outcome.energy_joules == pytest.approx(300 * 1800, rel=0.02), name
        assert outcome.cpu_utilisation == pytest.approx(0.5, rel=0.02), name


def test_loss_and_progress_are_never_guessed(alone):
    for run in alone.values():
        unknown = (run.outcome.val_loss, run.outcome.train_loss, run.outcome.epochs, run.outcome.samples, run.outcome.converged)
        assert unknown == (None,) * 5


def test_requests_are_parameters(alone):
    assert alone["nightly-1"].parameters == {"gpus": 1.0, "cpus": 4.0, "memory_gib": 8.0}


def test_time_series_come_with_them(look):
    found = look("alone", until=2.0)
    assert {series.quantity for series in found.series} == {"cpu_cores", "memory_gib", "gpu_utilisation"}


def test_init_containers_and_sidecars_are_not_the_trainer(look, truths):
    runs = by_pod(look("containers"))
    assert set(runs) == {"with-init", "with-sidecar", "outlived"}, "what trains, is queued or restarts is no finished run"
    for name, run in runs.items():
        assert run.started_at == pytest.approx(truths[name].start, abs=1)
        assert run.outcome.cpu_cores_mean == pytest.approx(2.0, rel=0.03)
    for sidecar in (runs["with-sidecar"], runs["outlived"]):
        assert (sidecar.status, sidecar.outcome.duration_seconds) == (RunStatus.SUCCEEDED, pytest.approx(1800, rel=0.03))


def test_a_service_is_never_a_finished_run(look):
    found = look("served")
    assert (found.runs, found.skipped) == ((), ())


def test_a_job_that_was_retried_is_one_run(look):
    (run,) = look("retried").runs
    assert (run.status, run.run_id.partition("@")[0]) == (RunStatus.SUCCEEDED, "evening")
    assert run.ended_at - run.started_at == pytest.approx(3.5 * 3600, abs=60)


def test_a_job_is_not_over_while_another_attempt_may_follow(look):
    assert look("retrying", until=12.0).runs == ()
    (run,) = look("retrying", until=12.2).runs
    assert run.status is RunStatus.FAILED


def test_pods_of_one_job_are_one_run_with_all_their_gpus(look):
    (run,) = look("together").runs
    assert run.parameters == {"gpus": 4.0}, "CPUs and memory may be meant per pod"
    assert run.outcome.cpu_cores_mean == pytest.approx(4.0, rel=0.03)
    assert run.outcome.energy_joules == pytest.approx(4 * 300 * 1800, rel=0.02)


def test_a_job_that_is_made_anew_under_the_same_name_is_another_run(look):
    first, second = look("again").runs
    assert first.run_id != second.run_id
    begun = [pytest.approx(SINCE + hours * 3600, abs=60) for hours in (1, 8)]  # when the node took the second, not its container
    assert [first.started_at, second.started_at] == begun
    cores = [run.outcome.cpu_cores_mean for run in (first, second)]
    assert cores == [pytest.approx(2.0, rel=0.03), pytest.approx(1.0, rel=0.03)], "from single samples: the totals are mixed"
    assert [run.outcome.energy_joules for run in (first, second)] == [None, None]


def test_the_run_id_of_a_label_joins_pods_and_must_belong_to_one_run(look):
    found = look("named")
    assert [run.run_id for run in found.runs] == ["run-1"]
    assert [(skipped.run_id, skipped.code) for skipped in found.skipped] == [("run-2", "JPO-W122")]


def test_a_pod_that_reports_itself_is_one_run(look):
    runs = look("reporting").runs
    assert [(run.source, run.run_id.partition("@")[0]) for run in runs] == [("prometheus", "own-id"), (KUBERNETES, "silent")]
    assert (runs[0].outcome.val_loss, runs[0].parameters["batch_size"]) == (0.3, 32.0)


def test_labels_and_annotations_say_parameters(look):
    found = look("said")
    (run,) = found.runs
    assert run.parameters == {
        "batch_size": 64.0,
        "learning_rate": 0.001,
        "epochs": 3.0,
        "gpus": 1.0,
        "cpus": 4.0,
        "memory_gib": 8.0,
    }
    (skipped,) = found.skipped
    assert (skipped.code, "'auto' is not a usable whole number" in skipped.reason) == ("JPO-W121", True)


def test_kube_state_metrics_may_be_scraped_without_honor_labels(look):
    (run,) = look("exported").runs
    assert (run.run_id.partition("@")[0], run.status) == ("moved", RunStatus.SUCCEEDED)
    assert run.outcome.cpu_cores_mean == pytest.approx(2.0, rel=0.02)


def test_other_labels_may_be_named(look):
    names = Names.of({}, {}, None, {"dataset": "no.such/label"})
    assert look("alone", names=names).runs == ()


def test_nothing_new_takes_one_request_however_long_pods_stay(look):
    first = look("alone", until=3.4)
    mark = (first.watermark - SINCE) / 3600
    again = look("alone", until=3.45, watermark=mark)
    assert (len(first.runs), again.runs, again.requests) == (3, (), 1)
    assert look("served", until=3.0).requests == 1, "nor does a service"


def test_ten_runs_take_as_many_requests_as_one(look):
    assert look("alone").requests <= 12
    assert look("alone", until=1.5).requests <= 10


def test_a_pod_that_vanished_just_now_may_still_go_on(look):
    first = look("small", until=12.0)
    assert [run.run_id.partition("@")[0] for run in first.runs] == ["early"]
    again = look("small", until=12.3, watermark=(first.watermark - SINCE) / 3600)
    assert [run.run_id.partition("@")[0] for run in again.runs] == ["late"]


def test_runs_are_read_night_by_night_as_at_once(look):
    mark, ids = None, []
    for until in range(1, 13):
        found = look("alone", until=float(until), watermark=mark)
        ids += [run.run_id for run in found.runs]
        mark = mark if found.watermark is None else (found.watermark - SINCE) / 3600
    assert list(dict.fromkeys(ids)) == [run.run_id for run in look("alone").runs]
