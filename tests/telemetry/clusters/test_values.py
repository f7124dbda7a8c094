"""What the cluster says of runs, against the truth of the generator: within 2% on Prometheus and VictoriaMetrics."""

from __future__ import annotations

import pytest

from jpo.records import RunStatus
from jpo.telemetry.prometheus.names import Names

TWO_PERCENT = 0.02
MAIN = ("plain", "four-gpus", "untold", "oom", "failed", "diverged", "restarted", "gap", "concurrent-1", "concurrent-2",
        "vanished", "doubled", "sentinel", "sliced-1", "sliced-2", "cpu-only")  # fmt: skip


def about(value):
    return pytest.approx(value, rel=TWO_PERCENT)


@pytest.fixture(scope="session")
def runs(reading):
    return {run.run_id: run for run in reading("exported").runs}


@pytest.mark.parametrize("run_id", MAIN)
def test_time_and_samples(runs, truths, run_id):
    truth, outcome = truths("exported")[run_id], runs[run_id].outcome
    assert outcome.duration_seconds == about(truth.seconds)
    assert outcome.samples == about(100 * truth.seconds)
    assert outcome.throughput_samples_per_second == about(100)


@pytest.mark.parametrize("run_id", MAIN)
def test_cpu_is_the_trainers_alone(runs, truths, run_id):
    truth, outcome = truths("exported")[run_id], runs[run_id].outcome
    assert outcome.cpu_cores_mean == about(1.2 * truth.cores)
    assert outcome.cpu_cores_p95 == about(2 * truth.cores)
    assert outcome.cpu_utilisation == about(1.2 * truth.cores / 8)


@pytest.mark.parametrize("run_id", [run_id for run_id in MAIN if run_id != "gap"])
def test_memory_is_the_trainers_over_all_its_containers(runs, run_id):
    outcome = runs[run_id].outcome
    assert (outcome.memory_mean_gib, outcome.memory_p95_gib) == (about(0.5 * 1 + 0.4 * 2 + 0.1 * 3), about(3))
    assert outcome.memory_gib == 3


@pytest.mark.parametrize("run_id", [run_id for run_id in MAIN if run_id != "cpu-only"])
def test_gpu_utilisation_is_a_mean_over_gpus(runs, truths, run_id):
    gpus = truths("exported")[run_id].gpus
    assert runs[run_id].outcome.gpu_utilisation == about(0.8 - 0.1 * (gpus - 1) / 2)


@pytest.mark.parametrize("run_id", [run_id for run_id in MAIN if run_id not in ("cpu-only", "sentinel")])
def test_gpu_memory_is_of_one_gpu_and_energy_of_all(runs, truths, run_id):
    truth, outcome = truths("exported")[run_id], runs[run_id].outcome
    assert outcome.gpu_memory_gib == about(10 + truth.gpus - 1)
    assert outcome.energy_joules == about(300 * truth.gpus * truth.seconds)


def test_what_a_gpu_does_not_know_is_masked(runs):
    assert (runs["sentinel"].outcome.gpu_memory_gib, runs["sentinel"].outcome.energy_joules) == (None, None)


def test_a_run_without_gpus_has_none_idle(runs):
    outcome = runs["cpu-only"].outcome
    assert (outcome.gpu_utilisation, outcome.gpu_memory_gib, outcome.energy_joules) == (None, None, None)


@pytest.mark.parametrize(
    ("run_id", "status", "val_loss"),
    [
        ("plain", RunStatus.SUCCEEDED, 0.25),
        ("untold", RunStatus.SUCCEEDED, 0.25),
        ("oom", RunStatus.OOM_KILLED, 0.25),
        ("failed", RunStatus.FAILED, 0.25),
        ("diverged", RunStatus.DIVERGED, None),
        ("restarted", RunStatus.SUCCEEDED, 0.25),  # its first attempt ran out of memory
        ("vanished", RunStatus.SUCCEEDED, 0.25),  # no word from the cluster, but all epochs
    ],
)
def test_how_a_run_ended(runs, run_id, status, val_loss):
    assert (runs[run_id].status, runs[run_id].outcome.val_loss) == (status, val_loss)


def test_a_run_that_goes_on_is_not_there_and_not_passed_over(reading, runs):
    assert "going" not in runs
    assert reading("exported").watermark < 1_700_000_000 + 12 * 3600 - 900


def test_a_pod_of_several_runs_is_measured_by_its_samples_during_each(runs):
    assert runs["same-pod-1"].outcome.cpu_cores_mean == about(1.2)
    assert runs["same-pod-2"].outcome.cpu_cores_mean == about(2.4)
    assert runs["same-pod-2"].outcome.energy_joules is None  # no samples of that are kept


@pytest.mark.parametrize("run_id", ["plain", "two"])
def test_gpu_exporters_that_honour_labels(reading, truths, run_id):
    outcome = next(run.outcome for run in reading("honoured").runs if run.run_id == run_id)
    gpus = truths("honoured")[run_id].gpus
    assert (outcome.gpu_utilisation, outcome.energy_joules) == (about(0.85 - 0.05 * gpus), about(300 * 1200 * gpus))


def test_without_a_containers_name_the_busiest_is_the_trainer(reading):
    outcome = reading("honoured").runs[0].outcome
    assert (outcome.cpu_cores_mean, outcome.cpu_cores_p95, outcome.memory_gib) == (about(2.4), about(4), 3)


def test_cpus_that_the_run_does_not_name_are_those_which_its_container_asked_for(reading):
    assert reading("honoured").runs[0].outcome.cpu_utilisation == about(2.4 / 5)


@pytest.mark.parametrize("model", ["amd", "renamed"])
def test_other_exporters_and_other_names(reading, model):
    (run,) = reading(model).runs
    outcome = run.outcome
    assert (outcome.gpu_utilisation, outcome.gpu_memory_gib, outcome.energy_joules) == (about(0.75), about(11), about(720_000))
    assert (outcome.samples, outcome.memory_gib, outcome.cpu_cores_mean) == (about(120_000), 3, about(2.4))
    assert run.parameters["learning_rate"] == 0.01


def test_a_container_that_is_named_is_the_one_that_counts(reading):
    outcome = next(
        run.outcome for run in reading("exported", names=Names.of({}, {}, "log-shipper")).runs if run.run_id == "plain"
    )
    assert (outcome.cpu_cores_mean, outcome.memory_gib) == (about(0.24), 5)


def test_what_a_pushgateway_holds_does_not_make_a_run_endless(reading):
    told, untold = reading("pushed").runs
    for run in (told, untold):
        assert run.outcome.duration_seconds == about(1200)
        assert (run.outcome.cpu_cores_mean, run.outcome.cpu_cores_p95) == (about(2.4), about(4))
        assert (run.outcome.memory_mean_gib, run.outcome.gpu_utilisation) == (about(1.6), None)
    assert reading("pushed", until=11.9, watermark=1.0).requests == 1


def test_without_push_times_a_run_is_over_when_its_samples_stand_still(reading):
    (run,) = reading("unpushed").runs
    assert (run.outcome.duration_seconds, run.status) == (about(1200), RunStatus.SUCCEEDED)
    assert reading("unpushed", until=7.0).runs == ()  # not yet six hours after its end


def test_a_run_without_pod_labels_speaks_for_itself(reading):
    (run,) = reading("unlabelled").runs
    assert (run.outcome.cpu_cores_mean, run.outcome.memory_gib, run.outcome.energy_joules) == (about(2.4), 3, None)
