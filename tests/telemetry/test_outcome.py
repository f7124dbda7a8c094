"""The rules by which a measured run becomes a record."""

from __future__ import annotations

import pytest

from jpo.records import Identity, RunStatus, Word
from jpo.telemetry.outcome import MeasuredRun, MeasuredValues, NoEvidence, own_values, to_run


def run(*, status="succeeded", closed=True, start=100.0, end=110.0, parameters=None, **values):
    parameters = {"cpus": "2", "epochs": "3"} if parameters is None else parameters
    measured = MeasuredRun("r1", Identity("d", "m", "f"), parameters, start, end, closed, said(status), MeasuredValues(**values))
    return to_run(measured, "csv")


def said(*statuses):
    return frozenset(statuses) - {None}


def test_nothing_measured_is_none_not_zero():
    outcome = run().outcome
    assert outcome.duration_seconds == 10
    assert {outcome.samples, outcome.throughput_samples_per_second, outcome.val_loss, outcome.cpu_utilisation} == {None}
    assert {outcome.memory_gib, outcome.converged, outcome.energy_joules} == {None}


@pytest.mark.parametrize("share", ["0.1", "2", "half"])
def test_a_trial_on_part_of_the_data_is_no_run(share):
    with pytest.raises(ValueError, match="data"):
        run(parameters={"data_fraction": share})
    assert run(parameters={"data_fraction": "1"}).parameters == {}


def refused(**changes):
    with pytest.raises(NoEvidence) as caught:
        run(**changes)
    return caught.value.code


@pytest.mark.parametrize(
    "text", ["\u0663\u0662", "3_2", " 32 ", "1e400", "0x10", "+5", "auto", "nan", "inf", "-1", "0", "2.5", "1e13", ""]
)
def test_what_no_config_could_hold_is_no_parameter(text):
    assert refused(parameters={"batch_size": text}) == "JPO-W121"


@pytest.mark.parametrize("parameters", [{"learning_rate": "0"}, {"epochs": "0"}, {"cpus": "-2"}, {"memory_gib": "1e400"}])
def test_neither_is_nothing_where_something_is_needed(parameters):
    assert refused(parameters=parameters) == "JPO-W121"


def test_no_gpus_are_a_value():
    assert run(parameters={"gpus": "0", "learning_rate": "1e-05"}).parameters == {"gpus": 0, "learning_rate": 1e-05}


@pytest.mark.parametrize(
    "values", [{"samples": -5.0}, {"epoch": -1.0}, {"epoch": float("inf")}, {"converged": 0.5}, {"memory_bytes": -1.0}]
)
def test_values_that_cannot_be_are_no_evidence(values):
    assert refused(**values) == "JPO-W121"


def test_a_run_that_says_two_things_is_no_evidence():
    assert refused(status="done") == "JPO-W122"
    measured = MeasuredRun("r1", Identity("d", "m", "f"), {}, 1.0, 2.0, True, said("succeeded", "failed"), MeasuredValues())
    with pytest.raises(NoEvidence, match="as failed and as succeeded"):
        to_run(measured, "csv")


@pytest.mark.parametrize(("start", "end"), [(5.0, 4.0), (float("nan"), 4.0), (None, float("inf"))])
def test_times_that_cannot_be_are_no_evidence(start, end):
    assert refused(start=start, end=end) == "JPO-W123"


def test_without_a_start_there_is_no_duration_and_no_rate():
    outcome = run(start=None, samples=50.0, cpu_seconds=3.0).outcome
    assert (outcome.duration_seconds, outcome.throughput_samples_per_second, outcome.cpu_utilisation) == (None, None, None)
    assert outcome.samples == 50


def test_cpu_utilisation_is_relative_to_the_cpus_asked_for_and_at_most_one():
    assert run(cpu_seconds=5.0).outcome.cpu_utilisation == 5 / 10 / 2
    assert run(cpu_seconds=90.0).outcome.cpu_utilisation == 1


def test_a_run_of_no_length_has_no_rate():
    assert run(end=100.0, samples=5.0).outcome.throughput_samples_per_second is None


@pytest.mark.parametrize(("epoch", "kept"), [(None, None), (0.0, None), (1.0, 0.0)])
def test_a_loss_of_zero_counts_only_after_the_first_epoch(epoch, kept):
    assert run(val_loss=0.0, epoch=epoch).outcome.val_loss == kept


@pytest.mark.parametrize(
    ("status", "closed", "values", "expected"),
    [
        ("succeeded", True, {"val_loss": float("nan")}, RunStatus.DIVERGED),
        ("failed", True, {"train_loss": float("inf")}, RunStatus.DIVERGED),
        ("oom_killed", True, {"val_loss": float("nan")}, RunStatus.OOM_KILLED),
        ("stopped", True, {"val_loss": 0.5}, RunStatus.STOPPED),
        (None, True, {"epoch": 1.0}, RunStatus.SUCCEEDED),  # it ended early, and said so
        (None, False, {"epoch": 3.0}, RunStatus.SUCCEEDED),
        (None, False, {"epoch": 2.0}, RunStatus.FAILED),
    ],
)
def test_how_it_ended(status, closed, values, expected):
    assert run(status=status, closed=closed, **values).status == expected


def test_silence_without_epochs_is_no_verdict():
    with pytest.raises(ValueError, match="how it ended is unknown"):
        run(status=None, closed=False)


def test_unknown_parameters_are_left_out():
    assert run(parameters={"gpus": "4", "optimizer": "sgd"}).parameters == {"gpus": 4}


@pytest.mark.parametrize(
    ("status", "seen", "values", "expected"),
    [
        (None, RunStatus.SUCCEEDED, {}, RunStatus.SUCCEEDED),
        (None, RunStatus.FAILED, {"epoch": 3.0}, RunStatus.FAILED),
        (None, RunStatus.FAILED, {"val_loss": float("nan")}, RunStatus.DIVERGED),
        (None, RunStatus.OOM_KILLED, {"val_loss": float("nan")}, RunStatus.OOM_KILLED),
        ("failed", RunStatus.OOM_KILLED, {}, RunStatus.OOM_KILLED),  # the job saw a child die; the cluster knows why
        ("succeeded", RunStatus.OOM_KILLED, {}, RunStatus.SUCCEEDED),
        ("stopped", RunStatus.FAILED, {}, RunStatus.STOPPED),
    ],
)
def test_the_cluster_has_a_say_where_the_job_has_none(status, seen, values, expected):
    measured = MeasuredRun("r1", Identity("d", "m", "f"), {}, 100.0, 110.0, False, said(status), MeasuredValues(**values), seen)
    assert to_run(measured, "prometheus").status == expected


def test_cpus_of_the_run_go_before_those_its_container_asked_for():
    assert run(cpu_seconds=5.0, cpus_requested=5.0).outcome.cpu_utilisation == 5 / 10 / 2
    assert run(cpu_seconds=5.0, cpus_requested=5.0, parameters={}).outcome.cpu_utilisation == 5 / 10 / 5


def test_units_become_those_of_the_record():
    outcome = run(memory_mean_bytes=2.0**29, memory_p95_bytes=2.0**30, gpu_memory_bytes=2.0**31, gpu_utilisation=1.001).outcome
    assert (outcome.memory_mean_gib, outcome.memory_p95_gib, outcome.gpu_memory_gib, outcome.gpu_utilisation) == (0.5, 1, 2, 1)


def test_busy_cores_are_cpu_seconds_over_the_run_else_the_mean_of_its_samples():
    assert run(cpu_seconds=5.0, cpu_cores_mean=9.0).outcome.cpu_cores_mean == 0.5
    assert run(cpu_cores_mean=1.5, start=None).outcome.cpu_cores_mean == 1.5


def test_what_several_pods_asked_for_goes_before_the_runs_word_which_may_be_of_one():
    assert run(cpu_seconds=5.0, cpus_requested=8.0, pods=4.0).outcome.cpu_utilisation == 5 / 10 / 8
    assert run(cpu_seconds=5.0, pods=4.0).outcome.cpu_utilisation is None


def test_totals_of_some_of_a_runs_gpus_are_no_totals():
    measured = {"cpu_seconds": 5.0, "cpu_cores_p95": 1.0, "energy_joules": 9.0, "gpu_utilisation": 0.5, "gpus_seen": 8.0}
    some, all_of_them = run(parameters={"gpus": "32"}, **measured).outcome, run(parameters={"gpus": "8"}, **measured).outcome
    assert (some.cpu_cores_mean, some.cpu_cores_p95, some.energy_joules, some.gpu_utilisation) == (None, None, None, 0.5)
    assert (all_of_them.cpu_cores_mean, all_of_them.cpu_cores_p95, all_of_them.energy_joules) == (0.5, 1, 9)


def test_batch_and_gpus_are_recorded_in_all():
    said = {"batch_size_per_device": "8", "gradient_accumulation_steps": "4", "gpus_per_node": "2", "nodes": "2"}
    assert run(parameters=said).parameters == {"batch_size": 128, "gpus": 4}
    assert run(parameters={**said, "batch_size": "64", "gpus": "8"}).parameters == {"batch_size": 64, "gpus": 8}
    assert run(parameters={"batch_size_per_device": "8", "nodes": "n1,n2"}).parameters == {"batch_size": 8}
    assert run(parameters={"batch_size_per_device": "auto", "cpus": "2"}).parameters == {"cpus": 2}


def test_an_accuracy_is_treated_like_a_loss_before_the_first_validation():
    before = run(val_accuracy=0.0, metrics={"f1": 0.0}, epoch=0.0).outcome
    assert (before.val_accuracy, before.metrics) == (None, {})
    after = run(val_accuracy=0.0, metrics={"f1": 0.0}, epoch=3.0).outcome
    assert (after.val_accuracy, after.metrics) == (0.0, {"f1": 0.0})
    nothing = run(val_accuracy=float("nan"), metrics={"f1": float("inf")}, epoch=3.0)
    assert (nothing.status, nothing.outcome.val_accuracy, nothing.outcome.metrics) == (RunStatus.SUCCEEDED, None, {})


def test_an_accuracy_in_per_cent_is_refused_with_what_it_should_be():
    with pytest.raises(NoEvidence, match=r"val_accuracy = 93\.0 is not a ratio in 0\.\.1; 93% is 0\.93"):
        run(val_accuracy=93.0, epoch=3.0)


def test_parameters_of_the_teams_own_are_of_their_kind_and_without_quotes():
    own = {"optimizer": True, "dropout": False, "decay": False, "flag": True, "gamma": False}
    texts = {"optimizer": ' "sgd" ', "dropout": "'0.1'", "decay": "none", "flag": "x" * 65, "gamma": "inf", "other": "1"}
    assert own_values(texts, own) == {"optimizer": Word("sgd"), "dropout": 0.1}
    assert own_values({"optimizer": "0.9"}, own) == {"optimizer": Word("0.9")}
